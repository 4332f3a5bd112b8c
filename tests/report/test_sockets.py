"""The picture of a server of several sockets: positions of parts and lanes, and the links between sockets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.report import write_report
from hostnet.report.domains import picture_section
from hostnet.report.headline import busiest_channels, memory_tile
from hostnet.report.host import HostView, host_of
from hostnet.report.links import ARROWS_MAX, links_picture
from hostnet.report.load import load_run
from hostnet.report.numbers import percent
from hostnet.report.picture import host_picture
from hostnet.report.sockets import sockets_of
from hostnet.sockets import server_sockets

HEAD = '[server]\npreset = "{preset}"\nsockets = {count}\n'
TIMES = '[run]\nwarmup = "10 us"\nduration = "20 us"\n'
STREAM = '[workload.{name}]\nkind = "stream"\ncores = "{cores}"\nmemory = "{memory}"\nreads = 0.5\n'


def run_of(folder: Path, *parts: str, count: int = 2, preset: str = "cascade-lake-6234") -> Path:
    file = folder / "server.toml"
    file.write_text(HEAD.format(preset=preset, count=count) + "".join(parts) + TIMES)
    return hostnet.run(file).save(folder / "run")


def sockets(directory: Path) -> tuple[HostView, ...]:
    run = load_run(directory)
    return sockets_of(run, host_of(run))


def copied_table(directory: Path, label: str) -> list[list[str]]:
    """Returns the cells of a table of the page as they are copied; the first row has the names."""
    page = write_report(directory).read_text(encoding="utf-8")
    content = page.split(f'aria-label="{label}"', 1)[1].split("</table>", 1)[0]
    return [re.findall(r'data-copied="([^"]*)"', row) for row in content.split("<tr>")[1:]]


def hops(host: HostView) -> dict[str, tuple[str, ...]]:
    return {way.domain: way.hops for way in host.ways}


def test_every_part_belongs_to_one_socket() -> None:
    table = {"core": {"count": 0}, "memory": {"channels": 4, "dram": {"subchannels": 2}}, "ssd": {"count": 1}}
    config: dict[str, Any] = {
        "server": {"sockets": 3},
        "core": {"count": 8},
        "memory": {"channels": 2, "dram": {"subchannels": 1}},
        "ssd": {"count": 4},
        "socket": {"1": table},
    }
    places = server_sockets(config)
    assert [place.parts["core"] for place in places] == [range(8), range(8, 8), range(8, 16)]
    assert [place.parts["channel"] for place in places] == [range(2), range(2, 10), range(10, 12)]
    assert [place.parts["ssd"] for place in places] == [range(4), range(4, 5), range(5, 9)]
    for part, owner in (("core 8", 2), ("channel 2", 1), ("ssd 4", 1), ("cha", 0), ("iio 2", 2)):
        assert [place.number for place in places if place.has(part)] == [owner]
    assert not any(place.has(part) for place in places for part in ("all", "upi 0-1", "core 16"))
    assert server_sockets({"server": {"sockets": 1}}) == server_sockets({}) == ()


@pytest.mark.parametrize("alone", [True, False])
def test_lanes_go_where_the_lines_are_at_home(tmp_path: Path, alone: bool) -> None:
    others = "" if alone else STREAM.format(name="near", cores="0-1", memory="local")
    directory = run_of(tmp_path, STREAM.format(name="far", cores="8-9", memory="node:0"), others)
    first, second = sockets(directory)
    assert hops(second)["C2M-Read"] == ("LFB", "CHA TOR", "CHA->UPI")
    assert hops(second)["C2M-Write"] == ("LFB", "CHA TOR")
    assert hops(first).get("C2M-Read") == (None if alone else ("LFB", "CHA TOR", "RPQ", "DRAM"))
    assert first.pools["RPQ"].in_use > 0, "it serves the other socket"
    assert "RPQ" not in second.pools
    assert [part["part"] for part in second.pools["LFB"].parts] == ["core 8", "core 9"]


def test_spread_buffers_have_both_ways(tmp_path: Path) -> None:
    for host in sockets(run_of(tmp_path, STREAM.format(name="s", cores="0,8", memory="interleave"))):
        assert hops(host)["C2M-Read"] == ("LFB", "CHA TOR", "CHA->UPI", "RPQ", "DRAM")


def test_pools_of_the_sockets_add_up_to_those_of_the_server(tmp_path: Path) -> None:
    disk = '[workload.d]\nkind = "fio"\njobs = [{ rw = "rw", bs = "4 KiB", iodepth = 8, size = "1 MiB", ssd = 5 }]\n'
    directory = run_of(tmp_path, STREAM.format(name="s", cores="1,9-11", memory="interleave"), disk)
    run = load_run(directory)
    whole = host_of(run)
    split = sockets_of(run, whole)
    assert {name for host in split for name in host.pools} == {name for name in whole.pools if "UPI " not in name}
    for name in ("LFB", "CHA TOR", "RPQ", "WPQ", "P2M-Write", "CHA->UPI"):
        parts = [host.pools[name].in_use for host in split if name in host.pools]
        assert sum(parts) == pytest.approx(whole.pools[name].in_use)
    pictures = [str(host_picture(host)) for host in split]
    assert all(picture.count('class="bank"') == 2 for picture in pictures)
    assert "core 9, LFB in use" in pictures[1]
    assert "drive 5, PCIe" in pictures[1]
    assert "channel 2: " in pictures[1]
    assert "drive 5" not in pictures[0]


def test_a_socket_of_memory_alone_says_so(tmp_path: Path) -> None:
    bare = "[socket.1]\ncore.count = 0\nssd.count = 0\nmemory.channels = 3\n"
    directory = run_of(tmp_path, bare, STREAM.format(name="s", cores="0-3", memory="node:1"))
    first, second = (str(host_picture(host)) for host in sockets(directory))
    for said in ("No cores", "No drives", "3 channels", "LLC not simulated"):
        assert said in second
    assert "8 cores" in first
    assert re.findall(r'class="lane', second) == []


def test_each_llc_shows_what_it_holds(tmp_path: Path) -> None:
    small = "[cache]\nenabled = true\nl2 = { sets = 64 }\nllc = { sets = 64 }\nfilter = { sets = 128 }\n"
    directory = run_of(tmp_path, small, STREAM.format(name="s", cores="8-9", memory="node:0"))
    llc = load_run(directory).summary["llc"]
    first, second = llc["sockets"]
    assert first["mib"] + second["mib"] == pytest.approx(llc["mib"])
    assert first["lookups"] == 0 < second["misses"] <= second["lookups"]
    assert 0 < second["core_mib"] <= second["mib"]
    pictures = [str(host_picture(host)) for host in sockets(directory)]
    assert f"LLC: cores {second['core_mib']:.3g}" in pictures[1]
    assert f"of {second['mib']:.3g} MiB" in pictures[0]
    assert ["cores miss the LLC" in picture for picture in pictures] == [False, True]
    heads, *rows = copied_table(directory, "LLC")
    assert heads == ["socket", "core_mib", "io_mib", "mib", "lookups\tmisses"]
    assert [row[0] for row in rows] == ["0", "1"]
    assert [row[1] for row in rows] == [str(row["core_mib"]) for row in llc["sockets"]]


@pytest.mark.parametrize("count", range(2, 9))
def test_every_direction_has_its_share(count: int) -> None:
    pairs = [(one, other) for one in range(count) for other in range(count) if one != other]
    links = [
        {"from": one, "to": other, "busy_share": 0.01 * (8 * one + other), "gb_per_s": 1.0, "line_gb_per_s": 0.5}
        for one, other in pairs
    ]
    drawn = str(links_picture(links))
    assert len(set(re.findall(r"<title>(socket \d to \d:[^<]*)", drawn))) == len(pairs)
    digits = 1 if count <= ARROWS_MAX else 0
    for one, other in pairs:
        assert f"{8 * one + other:.{digits}f}\u00a0%</text>" in drawn


def test_what_one_sends_the_other_gets(tmp_path: Path) -> None:
    directory = run_of(tmp_path, STREAM.format(name="s", cores="8-11", memory="node:0"))
    first, second = sockets(directory)
    section = picture_section(load_run(directory))
    assert section is not None
    assert "Socket 0" in section
    assert "Socket 1" in section
    share = {(row["from"], row["to"]): row["busy_share"] for row in first.links}
    assert share == {(row["from"], row["to"]): row["busy_share"] for row in second.links}
    assert share[0, 1] > share[1, 0] > 0, "data weigh more than what asks for them, and lines that are written"


def test_one_socket_is_drawn_as_before(tmp_path: Path) -> None:
    directory = run_of(tmp_path, '[workload.s]\nkind = "stream"\ncores = "0"\n', count=1)
    assert sockets(directory) == ()
    section = picture_section(load_run(directory))
    assert section is not None
    assert "UPI" not in section
    assert section.count('class="host"') == 1


def test_channels_of_an_idle_socket_do_not_halve_those_of_the_busy_one(tmp_path: Path) -> None:
    directory = run_of(tmp_path, STREAM.format(name="s", cores="8-9", memory="local"))
    run = load_run(directory)
    heads, *rows = copied_table(directory, "Memory channels")
    bus = heads.index("bus_busy_share")
    whole = run.summary["channels_of_sockets"]
    assert heads[0] == "socket\tchannel"
    assert [row[0] for row in rows] == ["\t0", "\t1", "\t2", "\t3", "0\t", "1\t"]
    assert [row[bus] for row in rows[-2:]] == [str(row["bus_busy_share"]) for row in whole]
    assert whole[0]["bus_busy_share"] == 0 < whole[1]["bus_busy_share"]
    assert busiest_channels(run, {})["socket"] == 1
    tile = str(memory_tile(run))
    assert f"{percent(whole[1]['bus_busy_share'])}".replace(" ", "\u00a0") in tile
