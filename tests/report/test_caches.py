"""Caches on the page of a run: content of the LLC, hits and leaks."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet.report import write_report
from hostnet.report.areas import area_chart, stacked
from hostnet.report.cache_series import DDIO, MISSES, OTHERS, owners, shares
from hostnet.report.charts import ChartAxis
from hostnet.report.plot import plot
from hostnet.report.series import ChartSeries, ReferenceLine, SeriesPoint, series_of_run
from hostnet.server_view import cache_tables
from tests.report.browser import Browser, find_browser
from tests.report.conftest import CACHES, cache_series, cached

Make = Callable[..., Path]


def page_of(run: Path) -> str:
    return write_report(run).read_text(encoding="utf-8")


def test_a_run_with_caches_says_what_they_held(cached_run: Make, hostile: str) -> None:
    page = page_of(cached_run())
    assert "<h2>Caches</h2>" in page
    for words in ("What the LLC holds", "DDIO, % of lines written", "LLC misses, % of reads", "LLC 24.8"):
        assert words in page
    assert hostile not in page


def test_a_run_without_caches_says_nothing_of_them(make_run: Make) -> None:
    page = page_of(make_run())
    assert "<h2>Caches</h2>" not in page
    assert "Operations per s" not in page


def test_without_a_series_there_are_tables(make_run: Make) -> None:
    caches = [cached("all", devices=False), cached("redis", devices=False)]
    page = page_of(make_run(series=False, caches=caches, llc={"mib": 24.75, "ddio_mib": 0.0}))
    assert "<h2>Caches</h2>" in page
    assert "What the LLC holds" not in page
    assert "DDIO" not in page


def test_the_page_has_every_column_of_the_screen(cached_run: Make) -> None:
    columns = [column for table in cache_tables(CACHES) for column in table.columns]
    assert [column.key for column in columns if column.screen is not None and column.page is None] == []
    page = page_of(cached_run())
    assert "15.5 of 24.8" in page
    assert "0 of 4.50" in page


def test_applications_are_told_in_operations(cached_run: Make) -> None:
    page = page_of(cached_run())
    assert "operations/s" in page
    assert "123,456,000" in page
    assert "12.0" in page, "the 99th percentile in µs"


@pytest.mark.parametrize(
    ("rate", "unit", "shown"), [(12.0, "per s", 12.0), (1.5e6, "millions per s", 1.5), (2e9, "billions per s", 2.0)]
)
def test_large_rates_are_told_in_large_units(rate: float, unit: str, shown: float) -> None:
    row = {"time_ns": 1000.0, "subject": "redis", "quantity": "operations_per_s", "value": rate}
    _, found, ((_, (plotted,)),) = series_of_run([row, {**row, "value": None}], "operations_per_s")
    assert found == unit
    assert [value.simulated for value in plotted.values] == [shown, None]


def test_small_owners_are_one() -> None:
    named = [plotted.name for plotted in owners(cache_series(owners=9))]
    assert len(named) == 4
    assert named[-1] == OTHERS
    whole = [sum(plotted.values[step].simulated or 0.0 for plotted in owners(cache_series(9))) for step in range(20)]
    few = [sum(plotted.values[step].simulated or 0.0 for plotted in owners(cache_series(1))) for step in range(20)]
    assert whole == pytest.approx(few)


def test_shares_are_percent_of_those_that_have_any(hostile: str) -> None:
    rows = cache_series()
    ((hits, leaks),) = shares(rows, DDIO)
    assert (hits.name, leaks.name) == ("hits", "leaks")
    assert leaks.values[0].simulated is None
    assert leaks.values[-1].simulated == pytest.approx(68.0)
    ((*misses,),) = shares(rows, MISSES)
    assert hostile not in [plotted.name for plotted in misses]


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=1, max_size=4))
def test_areas_lie_on_each_other(heights: list[list[float]]) -> None:
    series = [
        ChartSeries(str(number), kind, tuple(SeriesPoint(float(x), y) for x, y in enumerate(row)))
        for number, (kind, row) in enumerate(zip("abcd", heights, strict=False))
    ]
    tops = stacked(series)
    assert tops[-1] == pytest.approx([sum(column) for column in zip(*heights, strict=True)])
    chart = area_chart("title", ChartAxis("time", "MiB", whole_x=False), series, [ReferenceLine("LLC", 500.0)])
    polygons = [corners.split() for corners in re.findall(r'<polygon points="([^"]*)"', chart)]
    for below, above in pairwise(polygons):
        assert above[3:] == below[2::-1], "one begins where the other ends"


def test_without_owners_an_area_is_empty() -> None:
    assert "<svg" in area_chart("title", ChartAxis("time", "MiB", whole_x=False), [])


@pytest.mark.skipif(find_browser() is None, reason="no browser to look at pages with")
def test_the_page_is_sound_and_reads_parts_of_the_whole(cached_run: Make, browser: Browser) -> None:
    page = page_of(cached_run(owners=4))
    seen = browser.look(page)
    assert seen.console == []
    for frame in seen.frames:
        assert frame["needed"] == frame["width"]
        assert (frame["collisions"], frame["clipped"], frame["tiny"]) == ([], [], [])
    script = """(frame) => {
      const svg = frame.contentDocument.querySelector("svg[data-stacked]");
      const box = svg.getBoundingClientRect();
      svg.dispatchEvent(new frame.contentWindow.PointerEvent("pointermove", { clientX: box.right }));
      return Array.from(svg.closest(".card").querySelectorAll(".legend b"), (output) => output.textContent);
    }"""
    *parts, _, time = browser.look(page, script, (1280,)).frames[0]
    assert time == "at 20 µs"
    assert [float(part) for part in parts] == pytest.approx([4.05, 4.05, 4.05, 6.9], abs=0.06)


def test_plots_of_caches(cached_run: Make) -> None:
    names = [path.name for path in plot(cached_run())]
    assert "caches.png" in names
    assert "caches.svg" in names
