"""Degradation bars and stacked bandwidth, as markup and as pictures."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.report.bars import degradation_card, grouped_chart, stacked_bars
from hostnet.report.charts import ChartAxis
from hostnet.report.degradation_plot import draw_degradation
from hostnet.report.html import section
from hostnet.report.page import page
from hostnet.report.series import ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.study_page import bars_card
from tests.report.browser import Browser, find_browser

CORES = (1, 7, 14, 21, 28)

SLOW = [
    ChartSeries("C2M", "a", tuple(SeriesPoint(x, 1.2 + x / 40, 0.02, 1.25 + x / 40) for x in CORES)),
    ChartSeries("P2M", "b", tuple(SeriesPoint(x, 1.0, None, None) for x in CORES)),
]
MOVED = [
    ChartSeries("C2M", "a", tuple(SeriesPoint(x, 3.0 * x, None, 3.1 * x) for x in CORES)),
    ChartSeries("P2M", "b", tuple(SeriesPoint(x, 28.0, None, 28.0) for x in CORES)),
]
MAXIMUM = ReferenceLine("theoretical maximum", 102.4)
RECT = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="bar fill-(\w)"')


def rects(chart: str) -> list[tuple[float, float, float, float, str]]:
    found = re.sub(r"<title>.*?</title>", "", chart, flags=re.DOTALL).replace("></rect>", "/>")
    return [(*map(float, match[:4]), match[4]) for match in RECT.findall(found)]


@given(st.lists(st.floats(1.0, 4.0), min_size=1, max_size=8), st.integers(1, 4))
def test_bars_of_a_group_do_not_overlap_and_grow_with_their_value(values: list[float], count: int) -> None:
    series = [
        ChartSeries(kind, kind, tuple(SeriesPoint(float(x), value) for x, value in enumerate(values)))
        for kind in "abcd"[:count]
    ]
    drawn = sorted(rects(grouped_chart("title", ChartAxis("cores", "x", floor=1.0), series)))
    assert len(drawn) == count * len(values)
    for (x, _, width, *_), (later, *_) in pairwise(drawn):
        assert x + width <= later + 0.02
    heights = [height for _, _, _, height, kind in drawn if kind == "a"]
    for value, height in zip(values, heights, strict=True):
        assert (value > 1.001) <= (height > 0)
        assert all(height <= other for larger, other in zip(values, heights, strict=True) if larger > value)


@pytest.mark.parametrize(("unit", "base"), [("x", 1.0), ("ms", 0.0)])
def test_bars_of_ratios_start_at_1_and_others_at_0(unit: str, base: float) -> None:
    panel = {
        "name": "p",
        "title": "t",
        "figure": "1",
        "x_label": "cores",
        "y_label": "y",
        "unit": unit,
        "chart": "bars",
    }
    series = [ChartSeries("a", "a", (SeriesPoint(1, 2.0), SeriesPoint(2, 4.0)))]
    low, high = (height for *_, height, _ in rects(bars_card(panel, series, [])))
    assert high / low == pytest.approx((4 - base) / (2 - base), rel=0.01)


def test_stacks_have_no_gap_and_stay_below_the_maximum() -> None:
    chart = stacked_bars("title", ChartAxis("cores", "GB/s"), MOVED, [MAXIMUM])
    drawn = rects(chart)
    for number in range(len(CORES)):
        lower, upper = drawn[2 * number], drawn[2 * number + 1]
        assert (lower[4], upper[4]) == ("a", "b")
        assert upper[1] + upper[3] == pytest.approx(lower[1], abs=0.02)
    line = re.search(r'y1="([\d.]+)" y2="[\d.]+" class="reference"', chart)
    assert line is not None
    assert min(bar[1] for bar in drawn) < float(line[1]) < max(bar[1] for bar in drawn)


def test_what_was_not_simulated_has_no_bar() -> None:
    series = [ChartSeries("C2M", "a", (SeriesPoint(1, None, None, 1.4), SeriesPoint(2, 1.3)))]
    chart = grouped_chart("title", ChartAxis("cores", "x", floor=1.0), series)
    assert len(rects(chart)) == 1
    assert chart.count("<circle") == 1
    assert "published 1.400 x" in chart


def test_values_below_the_floor_have_their_bar_all_the_same() -> None:
    chart = grouped_chart(
        "title", ChartAxis("cores", "x", floor=1.0), [ChartSeries("C2M", "a", (SeriesPoint(1, 0.8),))]
    )
    assert rects(chart)[0][3] > 0


def test_charts_without_values_are_drawn_empty() -> None:
    assert "<svg" in grouped_chart("title", ChartAxis("cores"), [])
    assert "<svg" in stacked_bars("title", ChartAxis("cores"), [])


def test_pictures_have_a_bar_for_every_value() -> None:
    figure = draw_degradation("Redis", "cores", SLOW, MOVED, [MAXIMUM], expected=[ReferenceLine("published", 1.32)])
    slow, moved = figure.axes
    assert len(slow.patches) == len(moved.patches) == 2 * len(CORES)
    assert [text.get_text() for text in slow.get_xticklabels()] == [str(x) for x in CORES]
    assert slow.get_ylim()[0] == pytest.approx(1.0)
    assert moved.get_legend_handles_labels()[1] == ["theoretical maximum", "C2M", "P2M"]


@pytest.mark.skipif(find_browser() is None, reason="no browser to look at pages with")
def test_a_card_is_sound(browser: Browser) -> None:
    card = degradation_card(
        "Redis", "cores", SLOW, MOVED, [MAXIMUM], expected=[ReferenceLine("published", 1.32)], sub="sub"
    )
    seen = browser.look(page("title", section("Bars", card)))
    assert seen.console == []
    for frame in seen.frames:
        assert frame["needed"] == frame["width"]
        assert (frame["collisions"], frame["clipped"], frame["tiny"]) == ([], [], [])
