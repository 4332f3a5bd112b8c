"""Charts of points and of horizontal bars."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet.report.html import Html
from hostnet.report.point_charts import PointAxes, decade_levels, line_swatch, point_legend, points_chart
from hostnet.report.rows import Bar, BarGroup, Segment, Stack, bar_rows, stack_rows
from hostnet.report.series import ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import CHARACTER, LinearScale, LogScale, fitted_ticks

AXES = PointAxes("load", (1.0, 100.0), ((1.0, "1"), (10.0, "10"), (100.0, "100")), "ns", x_logarithmic=True)


def numbers_in(drawn: Html, name: str) -> list[float]:
    """Returns the values of an attribute."""
    return [float(value) for value in re.findall(rf' {name}="([-\d.]+)"', drawn)]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1000), min_size=1, max_size=40, unique=True), st.integers(1, 12))
def test_labels_of_ticks_never_overlap(places: list[float], letters: int) -> None:
    ticks = [(place, "8" * letters) for place in sorted(places)]
    scale = LinearScale(0, 1000, 0, 300)
    kept = fitted_ticks(ticks, scale)
    assert kept[0] == ticks[0]
    assert all(scale(after) - scale(before) >= letters * CHARACTER for (before, _), (after, _) in pairwise(kept))
    if scale(ticks[-1][0]) - scale(ticks[0][0]) > letters * CHARACTER + 4.1:
        assert kept[-1] == ticks[-1]


def test_a_logarithmic_scale_has_equal_steps_for_equal_factors() -> None:
    scale = LogScale(1, 100, 0, 200)
    assert (scale(1), scale(10), scale(100)) == (0, 100, 200)


@settings(deadline=None)
@given(st.floats(1e-3, 1e6), st.floats(1.01, 1e4))
def test_a_logarithmic_axis_holds_its_values(low: float, factor: float) -> None:
    levels = decade_levels(low, low * factor)
    assert levels == sorted(levels)
    assert levels[0] <= low * 1.001
    assert levels[-1] >= low * factor * 0.999
    assert len(levels) >= 2


def test_points_name_and_link_their_run_and_gaps_stay_open() -> None:
    values = tuple(
        SeriesPoint(float(x), None if x == 10 else float(x), 0.5, label=f"run {x}", link=f"row-{x}")
        for x in (1, 2, 10, 50, 100)
    )
    chart = points_chart("title", AXES, [ChartSeries("stream", "a", values)])
    assert chart.count("<polyline") == 2, "a gap"
    assert re.findall(r'href="#(row-\d+)"', chart) == ["row-1", "row-2", "row-50", "row-100"]
    assert "stream\nrun 1\n1.00 ± 0.50 ns" in chart


def test_reference_lines_have_room_and_names() -> None:
    series = [ChartSeries("", "a", (SeriesPoint(1.0, 80.0), SeriesPoint(90.0, 300.0)))]
    chart = points_chart("title", AXES, series, [ReferenceLine("idle", 80.0)], [ReferenceLine("peak", 120.0)])
    assert "peak 120" in chart
    assert chart.count('class="reference"') == 2
    wall = next(
        float(x)
        for x, other in re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)"[^>]*class="reference"', chart)
        if x == other
    )
    assert wall > max(numbers_in(chart, "cx"))


def test_many_points_are_a_line_alone() -> None:
    series = [ChartSeries("", "a", tuple(SeriesPoint(1.0 + x / 10, 5.0) for x in range(100)))]
    chart = points_chart("title", AXES, series)
    assert ("<polyline" in chart, "<circle" in chart) == (True, False)


@pytest.mark.parametrize("name", ["a", "a name that stands above its bars"])
def test_bars_are_as_long_as_their_values(name: str) -> None:
    bars = tuple(Bar("a", value, str(value), "", None if value is None else 0.1) for value in (2.0, 4.0, None, 1.0))
    chart = bar_rows("title", [BarGroup(name, bars)])
    lengths = numbers_in(chart, "width")
    assert len(lengths) == 3, "nothing is drawn without a value"
    assert lengths[0] == pytest.approx(lengths[1] / 2, abs=0.02)
    assert lengths[2] == pytest.approx(lengths[1] / 4, abs=0.02)
    shared = bar_rows("title", [BarGroup(name, bars)], 8.0)
    assert numbers_in(shared, "width")[1] == pytest.approx(lengths[1] * 4.1 / 8, abs=0.1)


@settings(deadline=None)
@given(st.lists(st.floats(5, 50), min_size=1, max_size=6))
def test_segments_follow_each_other_to_the_total(values: list[float]) -> None:
    stacks = [Stack("pcie", tuple(Segment("x", "a", value, "") for value in values), "total")]
    chart = stack_rows("title", stacks, "us")
    rects = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart)
    assert len(rects) == len(values)
    ends = [(float(x), float(x) + float(width)) for x, width in rects]
    assert all(after[0] == pytest.approx(before[1] + 0.7, abs=0.03) for before, after in pairwise(ends))
    shares = [(end - start + 0.7) / (ends[-1][1] - ends[0][0] + 0.7) for start, end in ends]
    assert shares == pytest.approx([value / sum(values) for value in values], abs=0.002)


def test_a_legend_has_an_entry_for_each_kind() -> None:
    legend = point_legend("algorithm", [f"name {index}" for index in range(8)], line_swatch)
    assert legend.count("<li>") == 9
    assert len(set(re.findall(r"stroke-([a-h]) dash", legend))) == 8
