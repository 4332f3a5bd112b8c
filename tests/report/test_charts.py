"""Charts: positions of marks and labels."""

from __future__ import annotations

import re

import pytest

from hostnet.report.charts import ChartAxis, legend, line_chart, stacked_chart
from hostnet.report.html import Html, element, escape
from hostnet.report.numbers import number, percent, time_from_ns, with_ci95
from hostnet.report.series import ChartSeries, ReferenceLine, SeriesPoint
from hostnet.report.svg import LinearScale, margin_labels, nice_range, tick_labels

AXIS = ChartAxis("cores", "ns")


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "<b>", Html("<br/>"), title='"&') == '<p title="&quot;&amp;">&lt;b&gt;<br/></p>'
    assert escape(escape("<")) == "&lt;"
    assert element("line", x1=0.0, x2=1.5, class_=None) == '<line x1="0" x2="1.5"/>'


def test_a_scale_maps_its_ends() -> None:
    scale = LinearScale(0, 50, 100, 0)
    assert (scale(0), scale(50), scale(25)) == (100, 0, 50)


@pytest.mark.parametrize(
    ("values", "floor", "expected"),
    [
        ([1.2, 1.86], 1.0, (1.0, 2.0)),
        ([0.97, 1.3], 1.0, (0.9, 1.3)),
        ([70.0, 103.0], 0.0, (0.0, 150.0)),
        ([5.0, 5.0], None, (5.0, 5.5)),
        ([0.0], 0.0, (0.0, 1.0)),
    ],
)
def test_axes_end_at_round_numbers(values: list[float], floor: float | None, expected: tuple[float, float]) -> None:
    low, high, ticks = nice_range(values, floor=floor)
    assert (low, high) == expected
    assert ticks[0] == low
    assert ticks[-1] == high


def test_ticks_have_the_decimals_they_need() -> None:
    assert tick_labels([0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    assert tick_labels([0.0, 500.0, 1000.0]) == ["0", "500", "1,000"]
    assert tick_labels([0.9, 0.95]) == ["0.90", "0.95"]
    assert tick_labels([3.0]) == ["3"]


def test_wide_labels_of_the_y_axis_are_in_thousands() -> None:
    assert margin_labels([0.0, 5000.0]) == ["0", "5,000"]
    assert margin_labels([0.0, 5000.0, 10000.0]) == ["0", "5k", "10k"]
    assert margin_labels([9000.0, 9500.0, 10000.0]) == ["9.0k", "9.5k", "10.0k"]
    assert ">50k<" in line_chart("title", AXIS, [ChartSeries("a", "a", (SeriesPoint(1, 5e4),))])


def test_a_line_breaks_where_a_value_is_missing() -> None:
    values = tuple(SeriesPoint(x, None if x == 3 else 10.0 * x) for x in range(1, 6))
    chart = line_chart("title", AXIS, [ChartSeries("a", "a", values)])
    assert chart.count("<polyline") == 2


def test_a_value_without_neighbours_is_a_filled_mark() -> None:
    values = tuple(SeriesPoint(x, None if x == 2 else 10.0) for x in (1, 2, 3, 4))
    chart = line_chart("title", AXIS, [ChartSeries("a", "a", values)])
    assert (chart.count("<polyline"), chart.count('class="fill-a"')) == (1, 1)


def test_published_values_are_marks_that_say_what_they_are() -> None:
    plotted = [
        ChartSeries("LFB", "a", (SeriesPoint(1, 71.5, 1.0, 70.99), SeriesPoint(2, None, None, 80.0, doubtful=True)))
    ]
    chart = line_chart("title", AXIS, plotted, [ReferenceLine("Limit", 92.0)])
    assert "LFB, cores 1\npublished 70.99 ns\nsimulated 71.50 ns" in chart
    assert "(left out of the score)" in chart
    assert chart.count('class="ring') == 2
    assert "Limit 92" in legend(plotted, [ReferenceLine("Limit", 92.0)])
    assert "left out of the score" in legend(plotted)


def test_stacked_bars_and_marks_lie_on_each_other() -> None:
    stack = [
        ChartSeries("C2M", "a", (SeriesPoint(1, 20.0, None, 20.0),)),
        ChartSeries("P2M", "b", (SeriesPoint(1, 15.0, None, 15.0),)),
    ]
    chart = stacked_chart("title", AXIS, stack)
    tops = re.findall(r'<rect x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)" class="bar', chart)
    assert len(tops) == 2
    lower, upper = ((float(y), float(height)) for y, height in tops)
    assert upper[0] + upper[1] < lower[0]
    centre = re.search(r'cy="([\d.]+)"', chart)
    assert centre is not None
    assert float(centre[1]) == lower[0]


def test_charts_without_values_are_drawn_empty() -> None:
    assert "<svg" in line_chart("title", AXIS, [])
    assert "<svg" in line_chart("title", AXIS, [ChartSeries("a", "a", (SeriesPoint(1, None),))])
    assert "<svg" in stacked_chart("title", AXIS, [ChartSeries("a", "a", (SeriesPoint(1, 5.0),))])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),  # noqa: RUF001
        (float("nan"), "–"),  # noqa: RUF001
        (0.0, "0"),
        (302.94, "303"),
        (27.512, "27.5"),
        (7.4615, "7.46"),
        (0.4, "0.400"),
        (9.996, "10.0"),
        (0.00001, "1.0e-05"),
        (1234.5, "1,234"),
        (8123456, "8,123,456"),
    ],
)
def test_numbers(value: object, expected: str) -> None:
    assert number(value) == expected


def test_shares_times_and_intervals() -> None:
    assert percent(0.4583) == "45.8 %"
    assert percent(None) == "–"  # noqa: RUF001
    assert with_ci95(27.5, 0.14) == "27.5 ± 0.14"
    assert with_ci95(27.5, None) == "27.5"
    assert time_from_ns(1_000_000.0) == "1 ms"
    assert time_from_ns(50_000) == "50 µs"
    assert time_from_ns(None) == "–"  # noqa: RUF001
