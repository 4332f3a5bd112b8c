"""Tables of `hostnet compare`: every part of a table that is too wide names its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hostnet
from hostnet.cli.show_compare import (
    TEXT_MAX,
    differs_on_screen,
    event_table,
    is_long,
    long_text,
    print_comparison,
    result_table,
    values_text,
)
from hostnet.comparison import Comparison, ResultDifference
from hostnet.comparison.event_text import shown_events
from hostnet.terminal.layout import GAP, WideTable
from tests.api.random_servers import server
from tests.docs.reference import ROOT

WIDTHS = [60, 80, 100, 120]
NAMES = st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=4)
SUBJECTS = NAMES.map(lambda words: f"{words[0]}: {' of '.join(words)}")
COLUMNS = NAMES.map("_".join)
CLUSTERS = ("hostcc", "datagrams", "dctcp", "npb_servers")


def assert_rows_have_names(table: WideTable, width: int, names: int) -> None:
    """Asserts that every part has the whole cells that name a row, and one with information about it."""
    for part in table.fitted(width):
        for own, whole in zip(part.columns[:names], table.columns, strict=False):
            assert own.header == whole.header
            assert [_unwrapped(cell) for cell in own.cells] == [_unwrapped(cell) for cell in whole.cells]
        assert len(part.columns) > names


def _unwrapped(cell: Any) -> str:
    return "".join(str(cell).split())


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(SUBJECTS, COLUMNS), min_size=1, max_size=6, unique=True), width=st.sampled_from(WIDTHS))
def test_a_result_has_its_subject_and_its_column(rows: list[tuple[str, str]], width: int) -> None:
    table = result_table([ResultDifference("t", *row, 1e8, 2e8, 3.0, 4.0, 1.0, True) for row in rows])
    assert_rows_have_names(table, width, 2)
    assert list(zip(*(column.cells for column in table.columns[:2]), strict=True)) == rows


@pytest.mark.parametrize(
    ("a", "b", "texts"),
    [
        (0.0012, 0.0062, ("0.0012", "0.0062")),
        (12.1312, 12.1098, ("12.13", "12.11")),
        (0.1801, 0.1799, ("0.1801", "0.1799")),
        (5.0, 1e-9, ("5.00", "0.00")),
        (0.0, 3e-5, ("0", "0.000030")),
        (1000000, 1000001, ("1000000", "1000001")),
        (None, 0.5, ("-", "0.50")),
    ],
)
def test_results_that_differ_are_shown_with_digits_that_differ(a: Any, b: Any, texts: tuple[str, str]) -> None:
    found = ResultDifference("t", "s", "c", a, b, None, None, None, None)
    assert (values_text(found), differs_on_screen(found)) == (texts, True)


@given(a=st.floats(1e-3, 1e6), change=st.floats(-0.9, 9))
def test_results_are_left_out_only_if_four_digits_of_both_agree(a: float, change: float) -> None:
    b = a * (1 + change)
    found = ResultDifference("t", "s", "c", a, b, None, None, change, None)
    one, other = values_text(found)
    assert differs_on_screen(found) == (one != other)
    assert one != other or abs(change) < 1e-3


def test_a_comparison_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = comparison(server(0), ["run.warmup=2 us", "run.duration=5 us"])
    close = ResultDifference("workloads", "a", "app_gb_per_s", 12.00001, 12.00002, None, None, 1e-6, None)
    monkeypatch.setenv("COLUMNS", "80")
    print_comparison(replace(found, results=(close,), events=None))
    said = capsys.readouterr().out
    assert "the same results to 4 digits" in said
    assert "1 more; --json shows all" in said


def test_no_cell_of_an_event_wraps_on_80_columns() -> None:
    event: dict[str, Any] = {
        "event": "Begin",
        "details": {"connection": 12},
        "from": "receiver core 16",
        "part": "receiver core 16",
    }
    event |= {"time_ns": 12345.678, "workload": "mapp", "request": 10, "kind": "core read"}
    event |= {"channel": 0, "bank": 21, "row": 10770, "column": 112}
    table = event_table([("A", event), ("B", {**event, "event": "Arrive", "details": None})])
    for part in table.fitted(80):
        widths = [column.width or 0 for column in part.columns]
        assert sum(widths) + GAP * (len(widths) - 1) <= 80
        for column, width in zip(part.columns, widths, strict=True):
            assert max(len(str(cell)) for cell in column.cells) <= width


TEXTS = st.text("abc .,", min_size=1, max_size=3 * TEXT_MAX)
VALUES = st.one_of(st.none(), TEXTS, st.floats(-1e9, 1e9), st.integers(-(10**9), 10**9))


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(SUBJECTS, COLUMNS, VALUES, VALUES), min_size=1, max_size=8), width=st.sampled_from(WIDTHS)
)
def test_no_text_takes_the_width_of_names_and_numbers(rows: list[tuple[str, str, Any, Any]], width: int) -> None:
    found = [ResultDifference("t", name, column, a, b, 3e5, 4.0, 0.25, True) for name, column, a, b in rows]
    table = result_table([difference for difference in found if not is_long(difference)])
    for part in table.fitted(width):
        widths = [column.width or 0 for column in part.columns]
        assert sum(widths) + GAP * (len(widths) - 1) <= width
        for column, wide in zip(part.columns, widths, strict=True):
            assert max(map(len, str(column.header).split()), default=0) <= wide
            assert column.justify == "left" or max(map(len, map(str, column.cells)), default=0) <= wide


@given(a=TEXTS, b=VALUES)
def test_a_long_text_is_told_whole(a: str, b: Any) -> None:
    found = ResultDifference("t", "train", "why", a, b, None, None, None, None)
    assert is_long(found) == (max(len(value) for value in (a, b) if isinstance(value, str)) > TEXT_MAX)
    assert all(value in long_text(found) for value in (a, b) if isinstance(value, str))


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(SUBJECTS, min_size=1, max_size=6), froms=SUBJECTS, workload=COLUMNS, width=st.sampled_from(WIDTHS)
)
def test_an_event_has_its_run_its_time_and_its_part(parts: list[str], froms: str, workload: str, width: int) -> None:
    more = {"event": "Arrive", "from": froms, "workload": workload, "request": 1, "kind": "core read"}
    table = event_table([("A", {"time_ns": float(ns), "part": part, **more}) for ns, part in enumerate(parts)])
    assert_rows_have_names(table, width, 3)
    assert list(table.columns[2].cells) == parts


def comparison(source: Any, overrides: Sequence[str]) -> Comparison:
    """Returns a comparison of two runs that differ in their seed."""
    return hostnet.compare(*(hostnet.run(source, overrides=overrides, seed=seed) for seed in (1, 2)))


@pytest.mark.parametrize(
    ("source", "overrides"),
    [
        *((ROOT / f"examples/{name}.toml", ["run.warmup=2 us", "run.duration=9 us"]) for name in CLUSTERS),
        *((server(seed), ["run.warmup=2 us", "run.duration=5 us"]) for seed in range(4)),
    ],
    ids=[*CLUSTERS, *(f"server-{seed}" for seed in range(4))],
)
def test_what_is_printed_tells_rows_apart(
    source: Any, overrides: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = comparison(source, overrides)
    assert found.events is not None
    assert found.results
    for width in WIDTHS:
        assert_rows_have_names(result_table(found.results[:40]), width, 2)
        monkeypatch.setenv("COLUMNS", str(width))
        print_comparison(found)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= min(width, 100)
        if found.events["outcome"] != "diverged":
            continue
        times = [cell for cell in event_table(shown_events(found.events)).columns[1].cells if cell]
        parts = [block for block in blocks(lines) if block[0] not in ("configuration", "result")]
        assert parts
        assert all(set(times) <= set(words) for words in parts)


def blocks(lines: list[str]) -> list[list[str]]:
    """Returns the words of each table."""
    found = "\n".join(lines).split("\n\n")
    return [block.split() for block in found if "─" in block]


def test_shares_are_shown_in_percent() -> None:
    difference = ResultDifference("domains", "LFB", "full_share", 0.061, 0.0405, 0.002, None, -0.3, True)
    assert values_text(difference) == ("6.10 ±0.20 %", "4.05 %")
    assert values_text(replace(difference, b=None))[1] == "-"
