"""The picture of a server of several sockets: positions of parts and lanes, and the links between sockets."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.report import write_report
from hostnet.report.load import load_run
from hostnet.report.numbers import percent
from hostnet.report.server import server_report
from hostnet.sockets import server_sockets

HEAD = '[server]\npreset = "{preset}"\nsockets = {count}\n'
TIMES = '[run]\nwarmup = "10 us"\nduration = "20 us"\n'
STREAM = '[workload.{name}]\nkind = "stream"\ncores = "{cores}"\nmemory = "{memory}"\nreads = 0.5\n'


def run_of(folder: Path, *parts: str, count: int = 2, preset: str = "cascade-lake-6234") -> Path:
    file = folder / "server.toml"
    file.write_text(HEAD.format(preset=preset, count=count) + "".join(parts) + TIMES)
    return hostnet.run(file).save(folder / "run")


def picture_of(directory: Path) -> str:
    """Returns the section with the picture of the host."""
    return unescape(server_report(load_run(directory)).picture or "").replace("\u00a0", " ")


def sockets(directory: Path) -> list[str]:
    """Returns the pictures of the sockets."""
    return re.findall(r"<svg[^>]*><title>The host network of this run, socket .*?</svg>", picture_of(directory))


def pools(picture: str) -> dict[str, float]:
    """Returns the entries in use of the pools, as the description of a picture has them."""
    listed = re.search(r"Entries in use of all: (.*?)(?:;|\.<)", re.sub(r"(?<=\d),(?=\d)", "", picture))
    assert listed is not None
    entries = (re.fullmatch(r"(.*?) (\d[\d.]*)( of \d+)?", entry) for entry in listed[1].split(", "))
    return {entry[1]: float(entry[2]) for entry in entries if entry is not None}


def copied_table(directory: Path, label: str) -> list[list[str]]:
    """Returns the cells of a table of the page as they are copied; the first row has the names."""
    page = write_report(directory).read_text(encoding="utf-8")
    content = page.split(f'aria-label="{label}"', 1)[1].split("</table>", 1)[0]
    return [re.findall(r'data-copied="([^"]*)"', row) for row in content.split("<tr>")[1:]]


def hops(picture: str) -> dict[str, list[str]]:
    """Returns the hops of every domain, as the description of a picture has them."""
    return {domain: found.split(", ") for domain, found in re.findall(r"; (\S+) passes (.*?)(?=;|\.<)", picture)}


def test_every_part_belongs_to_one_socket() -> None:
    config: dict[str, Any] = {
        "server": {"sockets": 2},
        "core": {"count": 8},
        "socket": {"1": {"core": {"count": 4}}},
    }
    places = server_sockets(config)
    assert [place.parts["core"] for place in places] == [range(8), range(8, 12)]
    assert [place.parts["iio"] for place in places] == [range(1), range(1, 2)]
    assert [place.config["core"]["count"] for place in places] == [8, 4]
    assert server_sockets({"server": {"sockets": 1}}) == server_sockets({}) == ()


@pytest.mark.parametrize("alone", [True, False])
def test_lanes_go_where_the_lines_are_at_home(tmp_path: Path, alone: bool) -> None:
    others = "" if alone else STREAM.format(name="near", cores="0-1", memory="local")
    directory = run_of(tmp_path, STREAM.format(name="far", cores="8-9", memory="node:0"), others)
    first, second = sockets(directory)
    assert hops(second)["C2M-Read"] == ["LFB", "CHA TOR", "CHA->UPI"]
    assert hops(second)["C2M-Write"] == ["LFB", "CHA TOR"]
    assert hops(first).get("C2M-Read") == (None if alone else ["LFB", "CHA TOR", "RPQ", "DRAM"])
    assert pools(first)["RPQ"] > 0, "it serves the other socket"
    assert "RPQ" not in pools(second)
    assert re.findall(r"(core \d+), LFB in use: \d", second)[::2] == ["core 8", "core 9"]


def test_spread_buffers_have_both_ways(tmp_path: Path) -> None:
    for picture in sockets(run_of(tmp_path, STREAM.format(name="s", cores="0,8", memory="interleave"))):
        assert hops(picture)["C2M-Read"] == ["LFB", "CHA TOR", "CHA->UPI", "RPQ", "DRAM"]


def test_pools_of_the_sockets_add_up_to_those_of_the_server(tmp_path: Path) -> None:
    disk = '[workload.d]\nkind = "fio"\njobs = [{ rw = "rw", bs = "4 KiB", iodepth = 8, size = "1 MiB", ssd = 5 }]\n'
    directory = run_of(tmp_path, STREAM.format(name="s", cores="1,9-11", memory="interleave"), disk)
    rows = load_run(directory).summary["domains"]
    whole = {row["domain"]: row["in_use_mean"] for row in rows if row["part"] == row["workload"] == "all"}
    pictures = sockets(directory)
    split = [pools(picture) for picture in pictures]
    assert {name for own in split for name in own} == {name for name in whole if "UPI " not in name}
    for name in ("LFB", "CHA TOR", "RPQ", "WPQ", "P2M-Write", "CHA->UPI"):
        assert sum(own.get(name, 0.0) for own in split) == pytest.approx(whole[name], rel=0.02)
    assert all(picture.count('class="bank"') == 2 for picture in pictures)
    assert "core 9, LFB in use" in pictures[1]
    assert "drive 5, PCIe" in pictures[1]
    assert "channel 2: " in pictures[1]
    assert "drive 5" not in pictures[0]


def test_a_socket_of_memory_alone_says_so(tmp_path: Path) -> None:
    bare = "[socket.1]\ncore.count = 0\nssd.count = 0\nmemory.channels = 3\n"
    directory = run_of(tmp_path, bare, STREAM.format(name="s", cores="0-3", memory="node:1"))
    first, second = sockets(directory)
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
    pictures = sockets(directory)
    assert f"LLC: cores {second['core_mib']:.3g}" in pictures[1]
    assert f"of {second['mib']:.3g} MiB" in pictures[0]
    assert ["cores miss the LLC" in picture for picture in pictures] == [False, True]
    heads, *rows = copied_table(directory, "LLC")
    assert heads == ["socket", "core_mib", "io_mib", "mib", "lookups\tmisses"]
    assert [row[0] for row in rows] == ["0", "1"]
    assert [row[1] for row in rows] == [str(row["core_mib"]) for row in llc["sockets"]]


def share_of(picture: str, direction: str) -> float:
    """Returns the share of a direction of UPI that is in use, in percent."""
    found = re.search(rf">{direction}</text><text[^>]*>([\d.]+) %", picture)
    assert found is not None
    return float(found[1])


def test_what_one_sends_the_other_gets(tmp_path: Path) -> None:
    directory = run_of(tmp_path, STREAM.format(name="s", cores="8-11", memory="node:0"))
    content, pictures = picture_of(directory), sockets(directory)
    assert "Socket 0" in content
    assert "Socket 1" in content
    shares = []
    for one, other in ((0, 1), (1, 0)):
        sent = share_of(pictures[one], f"to socket {other}")
        assert share_of(pictures[other], f"from socket {one}") == sent
        shares.append(sent)
    assert shares[0] > shares[1] > 0, "data weigh more than what asks for them, and lines that are written"


def test_one_socket_is_drawn_as_before(tmp_path: Path) -> None:
    directory = run_of(tmp_path, '[workload.s]\nkind = "stream"\ncores = "0"\n', count=1)
    assert sockets(directory) == []
    assert "UPI" not in picture_of(directory)
    assert picture_of(directory).count('class="host"') == 1


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
    busy = percent(whole[1]["bus_busy_share"]).replace(" ", "\u00a0")
    assert f"data bus busy <b>{busy}</b> of the time on socket 1" in server_report(run).results
