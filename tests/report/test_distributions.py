"""Distributions and the scales of their charts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet.report.clusters.latency import distributions_section
from hostnet.report.clusters.over_time import MANY, over_time_section, ranges
from hostnet.report.clusters.tables import view_tables
from hostnet.report.distributions import cdf_chart, of_buckets, of_percentiles, of_values, tail_chart
from hostnet.report.load import RunFiles
from hostnet.report.scales import NinesScale, log_x_frame, nines_frame, tight_frame
from hostnet.report.shares import PARTS_MAX, SCALE, ShareRow, share_bars
from hostnet.report.svg import BOTTOM, HEIGHT, TOP
from hostnet.view import View, text_column, value_column

Row = dict[str, Any]


def test_a_scale_of_percentiles_has_equal_distances_for_each_nine() -> None:
    nines = NinesScale(0, 0.999, 0, 300)
    assert [nines(value) for value in (0, 0.9, 0.99, 0.999, 1)] == [0, 100, 200, 300, 300]


@given(st.lists(st.floats(1e-4, 1e9), min_size=1))
def test_axes_have_room_for_all_values_and_different_labels(values: list[float]) -> None:
    for frame in (log_x_frame(values, [100]), tight_frame(values, [100])):
        assert (frame.y.low, frame.y.high) == (0, 100)
        assert frame.x.low <= min(values) * 1.0002
        assert frame.x.high >= max(values) * 0.9998
        assert frame.x_ticks[0] == frame.x.low
        assert len(set(frame.x_labels)) == len(frame.x_labels) >= 2


def test_ticks_of_percentiles_end_where_values_do() -> None:
    assert nines_frame(0.99, [5.0]).x_labels == ("50 %", "90 %", "99 %")


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=2000))
def test_a_distribution_rises_to_all_values(values: list[float]) -> None:
    found = of_values("f", values)
    assert found is not None
    assert list(found.points) == sorted(found.points)
    assert found.points[-1] == (max(values), 1.0)
    assert found.points[0][0] == min(values)


def test_a_histogram_is_a_distribution() -> None:
    found = of_buckets("f", [(1.0, 1), (2.0, 2), (8.0, 1)])
    assert found is not None
    assert (found.points, found.count) == (((1.0, 0.25), (2.0, 0.75), (8.0, 1.0)), 4)
    assert of_buckets("f", []) is None
    assert of_values("f", [0.0]) is None


def test_a_tail_ends_with_the_percentile_that_a_value_lies_beyond() -> None:
    found = of_values("f", [float(value) for value in range(1, 101)])
    assert found is not None
    assert ">99 %<" in tail_chart("t", [found], "µs").replace("\u00a0", " ")
    assert ">99.9 %<" not in tail_chart("t", [found], "µs").replace("\u00a0", " ")


@pytest.mark.parametrize(("largest", "words"), [(3.0, "µs"), (40.0, "µs, logarithmic")])
def test_times_that_are_much_alike_have_a_linear_axis(largest: float, words: str) -> None:
    found = of_percentiles("f", {0.5: 1.0, 1.0: largest}, 10)
    assert found is not None
    assert f">{words}</text>" in cdf_chart("t", [found], "µs")


def run_of(summary: Row, **tables: Any) -> RunFiles:
    return RunFiles(Path(), summary, {}, [], [], tables.pop("flows", []), None, None, None, {}, **tables)


LATENCY = {
    **{"class": "rpc", "count": 1000, "mean_us": 5.0, "p50_us": 4.0, "p90_us": 8.0, "p99_us": 9.0},
    **{"p99_9_us": 9.5, "p99_99_us": 10.0, "max_us": 10.0},
}


def test_without_a_histogram_the_percentiles_are_drawn_and_that_is_said() -> None:
    rough = str(distributions_section(run_of({"latencies": [LATENCY]})))
    assert "Drawn from the percentiles" in rough
    buckets = [{"class": "rpc", "latency_us": at, "requests": 500} for at in (4.0, 10.0)]
    exact = str(distributions_section(run_of({"latencies": [LATENCY]}, latency_histogram=buckets)))
    assert "Drawn from" not in exact
    assert exact.count("<polyline") == 2
    assert distributions_section(run_of({})) is None


def test_flows_that_ended_have_a_distribution() -> None:
    flows = [{"class": "f", "completion_us": float(time)} for time in range(1, 7)]
    section = str(distributions_section(run_of({}, flows=[*flows, {"class": "f", "completion_us": None}])))
    assert "Completion time of flows: share of flows that are no slower" in section


def rects(markup: str) -> list[tuple[float, float]]:
    found = re.findall(r'<rect x="([\d.e+-]+)" y="0" width="([\d.e+-]+)"[^>]*class="bar', markup)
    return [(float(x), float(width)) for x, width in found]


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=40))
def test_parts_fill_the_largest_bar_and_the_smallest_are_added_up(values: list[float]) -> None:
    row = ShareRow("all", {f"part {place}": value for place, value in enumerate(values)}, "")
    markup = str(share_bars("title", [row, ShareRow("half", {"part 0": sum(values) / 2}, "")], text=str))
    drawn = rects(markup)
    assert len(drawn) - 1 == min(len(values), PARTS_MAX)
    assert sum(width for _, width in drawn[:-1]) == pytest.approx(SCALE, rel=1e-3)
    assert drawn[-1][1] == pytest.approx(SCALE / 2, rel=1e-3) or len(values) > PARTS_MAX


def test_each_row_may_fill_the_width() -> None:
    rows = [ShareRow("a", {"x": 1.0}, ""), ShareRow("b", {"x": 5.0}, "")]
    assert rects(str(share_bars("t", rows, text=str, each_full=True))) == [(0, SCALE), (0, SCALE)]


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.floats(0, 1e6), min_size=3, max_size=3), min_size=1))
def test_the_range_of_many_servers_is_ordered(values: dict[str, list[float]]) -> None:
    lines = ranges({host: list(enumerate(own)) for host, own in values.items()})
    for place in range(3):
        highest, upper, middle, lowest = (lines[name][place][1] for name in MANY)
        assert highest >= upper >= middle >= lowest


@pytest.mark.parametrize(("hosts", "lines"), [(4, 4), (64, 4)])
def test_many_servers_share_a_chart(hosts: int, lines: int) -> None:
    columns = ("goodput_gbps", "iio_write_gbps", "iio_write_occupancy", "nic_buffer_bytes", "nic_dropped", "level")
    empty = dict.fromkeys((*columns, "occupancy_smoothed_lines", "bandwidth_smoothed_gbps"))
    rows = [
        {**empty, "host": f"h-{host}", "time_us": float(time), "goodput_gbps": 1.0 + host}
        for host in range(hosts)
        for time in (1, 2)
    ]
    section = str(over_time_section(rows))
    assert section.count("<polyline") == lines
    assert ("of 64 servers" in section) == (hosts == 64)


def test_rows_of_zeros_are_folded_and_kept() -> None:
    columns = [text_column("name", "name"), value_column("Gbps", "gbps")]
    rows = [{"name": f"n{place}", "gbps": float(place % 2)} for place in range(6)]
    shown, folded = view_tables(View("Ports", "", columns, rows))
    assert "3 rows of zeros" in folded
    assert all(name in shown for name in ("n1", "n3", "n5"))
    assert all(name in folded for name in ("n0", "n2", "n4"))
    assert len(view_tables(View("Ports", "", columns, [{"name": "n", "gbps": 0.0}]))) == 1, "not if all are"


@settings(deadline=None)
@given(st.floats(1.0, 1e6), st.floats(1.0, 1e6))
def test_a_cumulative_distribution_is_drawn_from_none_to_all(first: float, second: float) -> None:
    found = of_percentiles("packets", {0.01: min(first, second), 0.5: max(first, second)}, 200)
    assert found is not None
    drawn = cdf_chart("t", [found], "cycles")
    heights = [float(y) for points in re.findall(r'points="([^"]+)"', drawn) for y in re.findall(r",(\S+)", points)]
    assert all(TOP <= height <= HEIGHT - BOTTOM for height in heights), "the line is within the axes"
