"""The picture of the host: its labels for each server, and the lengths of its bars."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.report.domains import picture_section
from hostnet.report.host import HostView, host_of, pools_of
from hostnet.report.load import load_run
from hostnet.report.parts import core_cells, drive_cells, grouped, part_strip
from hostnet.report.picture import compact, host_picture

Row = dict[str, Any]

CONFIG = {
    "core": {"count": 8},
    "cha": {"slices": 18},
    "memory": {
        "channels": 2,
        "device": "DDR4_2933",
        "dram": {"ranks": 2, "bank_groups": 4, "banks_per_group": 4, "subchannels": 1},
    },
    "pcie": {"generation": 3, "lanes": 16},
    "ssd": {"count": 4},
}

CAPACITIES = {
    "C2M-Read": 96,
    "C2M-Write": 96,
    "P2M-Write": 92,
    "P2M-Read": 200,
    "LFB": 96,
    "CHA TOR": 252,
    "RPQ": 92,
    "WPQ": 82,
    "PCIe posted": 256,
    "PCIe non-posted": 1024,
}


def row(domain: str, in_use: float, capacity: int | None, part: str = "all") -> Row:
    return {
        "domain": domain,
        "part": part,
        "workload": "all",
        "in_use_mean": in_use,
        "in_use_max": capacity,
        "capacity": capacity,
        "latency_mean_ns": 100.0,
        "throughput_gb_per_s": in_use * 0.64,
    }


def channel(number: int) -> Row:
    shares = dict.fromkeys(("bus_busy_share", "row_miss_ratio"), 0.25)
    return {"channel": number, "read_gb_per_s": 1.0, "write_gb_per_s": 2.0, **shares}


def host(*domains: str, share: float = 0.5, channels: int = 2, binding: str = "C2M-Read", **config: Any) -> HostView:
    totals = [row(domain, share * CAPACITIES[domain], CAPACITIES[domain]) for domain in domains or CAPACITIES]
    parts = [row(queue, 10.0, 46, f"channel {number}") for queue in ("RPQ", "WPQ") for number in range(channels)]
    parts += [row("LFB", 6.0, 12, f"core {number}") for number in range(6)]
    rows = tuple(channel(number) for number in range(channels))
    return HostView({**CONFIG, **config}, pools_of(totals, parts), rows, channel(-1), {binding: ("stream",)})


def lanes(picture: str) -> list[str]:
    return re.findall(r'class="lane stroke-(\w)', picture)


def test_all_hops_and_domains_are_drawn() -> None:
    picture = host_picture(host())
    for said in ("8 cores", "4 drives", "PCIe 3.0 x16", "18 slices", "2 channels", "DDR4-2933, 32 banks each"):
        assert said in picture
    for count in ("48.0 of 96", "126 of 252", "46.0 of 92", "41.0 of 82", "128 of 256", "512 of 1,024", "25.0\u00a0%"):
        assert count in picture
    assert lanes(picture) == ["a", "b", "c", "d"]
    assert "not used" not in picture


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0, 1.5])
def test_bars_are_filled_in_proportion(share: float) -> None:
    picture = host_picture(host("CHA TOR", share=share))
    tracks = [float(width) for width in re.findall(r'height="8" rx="2" width="([\d.]+)" class="track"', picture)]
    fills = [float(width) for width in re.findall(r'height="8" rx="2" width="([\d.]+)" class="fill-n"', picture)]
    busy = 0.25 * tracks[-1]
    wanted = [] if share == 0 else [min(share, 1.0) * max(tracks)]
    assert fills == pytest.approx([*wanted, busy], abs=0.06)


def test_what_a_run_does_not_use_is_there_without_numbers() -> None:
    stream = host_picture(host("C2M-Read", "LFB", "CHA TOR", "RPQ", "WPQ"))
    assert lanes(stream) == ["a"]
    assert stream.count("not used") == 4
    assert stream.count('class="hop idle"') == 3
    storage = host_picture(host("P2M-Read", "PCIe non-posted", "CHA TOR", "RPQ", "WPQ", binding="P2M-Read"))
    assert lanes(storage) == ["d"]
    assert storage.count('class="hop idle"') == 1


def test_a_lane_stops_at_the_hops_of_its_domain() -> None:
    picture = host_picture(host())
    mark = r'<circle cx="[\d.]+" cy="([\d.]+)"[^>]*><title>C2M-Read passes'
    stops = [float(y) for y in re.findall(mark, picture)]
    assert len(stops) == 4
    assert all(above < below for above, below in pairwise(stops))
    assert picture.count("C2M-Write passes here") == 2
    assert picture.count("P2M-Write passes here") == 3
    assert picture.count("P2M-Read passes here") == 4


@pytest.mark.parametrize(
    ("binding", "lane", "frame"),
    [
        ("C2M-Write", "b", "a"),
        ("P2M-Write", "c", "c"),
        ("PCIe posted", None, "c"),
        ("PCIe non-posted", None, "d"),
        ("offered load", None, None),
    ],
)
def test_the_domain_that_limits_is_emphasised(binding: str, lane: str | None, frame: str | None) -> None:
    picture = host_picture(host(binding=binding))
    assert re.findall(r'class="lane stroke-(\w) binding"', picture) == ([lane] if lane else [])
    assert re.findall(r'class="binds stroke-(\w)"', picture) == ([frame] if frame else [])


def test_the_picture_has_a_description() -> None:
    picture = host_picture(host(binding="P2M-Write"))
    words = re.search(r"<desc>(.*?)</desc>", picture)
    assert words is not None
    assert "P2M-Write 46.0 of 92" in words[1]
    assert "P2M-Write passes P2M-Write, CHA TOR, WPQ" in words[1]
    assert "P2M-Write limits stream" in words[1]
    assert 'role="img"' in picture


def test_many_channels_become_one_tile() -> None:
    assert "x 9" in host_picture(host(channels=9))
    few = host_picture(host(channels=8))
    assert "x 8" not in few
    assert few.count('class="bank"') == 8


def test_without_a_configuration_counts_are_left_out(make_run: Callable[..., Path]) -> None:
    directory = make_run(channels=[])
    (directory / "manifest.json").unlink()
    section = picture_section(load_run(directory))
    assert section is not None
    for said in (">Cores<", ">Drives<", ">PCIe<", ">CHA<", ">Memory controllers<", ">DRAM<", "46.1 of 72"):
        assert said in section


def test_without_domains_there_is_no_picture(make_run: Callable[..., Path]) -> None:
    assert picture_section(load_run(make_run(domains=[]))) is None


def test_who_holds_the_credits_is_said_where_there_are_several(make_run: Callable[..., Path]) -> None:
    total = row("C2M-Read", 60.0, 96)
    split = [{**row("C2M-Read", in_use, 96), "workload": name} for name, in_use in (("small", 20.0), ("large", 40.0))]
    section = picture_section(load_run(make_run(domains=[total, *split])))
    assert section is not None
    assert "Held by large 40.0 and small 20.0" in section
    assert "60.0 credits × 64 B / 100 ns ≈ 38.4 GB/s" in section  # noqa: RUF001


def test_workloads_are_bound_by_their_domains(make_run: Callable[..., Path]) -> None:
    found = host_of(load_run(make_run()))
    assert len(found.binds("LFB")) == 2
    assert found.binds("WPQ") == ()


@given(st.integers(1, 2000), st.integers(1, 100))
def test_groups_hold_every_part_once(count: int, most: int) -> None:
    groups = grouped([0.5] * count, most)
    assert len(groups) <= most
    assert [number for first, last, _ in groups for number in range(first, last + 1)] == list(range(count))
    assert all(share == 0.5 for _, _, share in groups)


def test_a_group_is_filled_as_its_busy_parts_are() -> None:
    assert grouped([None, 0.25, 0.75, None], 1) == [(0, 3, 0.5)]
    assert grouped([None, None, 1.0], 3) == [(0, 0, None), (1, 1, None), (2, 2, 1.0)]


@pytest.mark.parametrize("count", [1, 7, 8, 64, 65, 1024])
def test_cells_of_cores_stay_in_their_place(count: int) -> None:
    busy = [row("LFB", 12.0, 12, f"core {number}") for number in range(count)]
    cells = "".join(core_cells(busy, count, 36, 152, 82, 242))
    for x, width, y, height in re.findall(r'<rect x="([\d.]+)" width="([\d.]+)" y="([\d.]+)" height="([\d.]+)"', cells):
        assert float(x) >= 36
        assert float(x) + float(width) <= 152.1
        assert float(y) >= 82
        assert float(y) + float(height) <= 242.1


def test_a_drive_is_filled_as_the_credits_it_uses_most() -> None:
    pools = pools_of(
        [row("PCIe posted", 1.0, 128), row("PCIe non-posted", 1.0, 128)],
        [row("PCIe posted", 16.0, 64, "ssd 1"), row("PCIe non-posted", 48.0, 64, "ssd 1")],
    )
    cells = "".join(drive_cells(list(pools.values()), 2, 0, 100, 0))
    assert "drive 0, PCIe credits in use: idle" in cells
    assert "drive 1, PCIe credits in use: 75.0\u00a0%" in cells


def test_channels_of_a_queue_are_in_order() -> None:
    rows = [row("RPQ", number, 46, f"channel {number}") for number in (10, 9, 2)]
    pool = pools_of([row("RPQ", 20.0, 138)], rows)["RPQ"]
    assert [part["part"] for part in pool.parts] == ["channel 2", "channel 9", "channel 10"]
    assert "".join(part_strip(pool, 0, 100, 0)).count('class="cell"') == 3


@pytest.mark.parametrize(
    ("count", "said"), [(9999, "9,999"), (10_000, "10k"), (16_384, "16.4k"), (999_499, "999k"), (4_194_304, "4.19M")]
)
def test_large_counts_are_short(count: int, said: str) -> None:
    assert compact(count) == said
