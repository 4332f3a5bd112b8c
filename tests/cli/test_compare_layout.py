"""Tables of `hostnet compare`: every part of one that is too wide says which row is which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hostnet
from hostnet.cli.layout import WideTable
from hostnet.cli.show_compare import divergence_table, event_table, print_comparison, result_table
from hostnet.comparison import Comparison, ResultDifference
from tests.api.random_servers import server
from tests.docs.reference import ROOT

WIDTHS = [60, 80, 120]
NAMES = st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=4)
SUBJECTS = NAMES.map(lambda words: f"{words[0]}: {' of '.join(words)}")
COLUMNS = NAMES.map("_".join)
CLUSTERS = ("hostcc", "datagrams", "dctcp", "npb_servers")


def assert_rows_have_names(table: WideTable, width: int, names: int) -> None:
    """Checks that every part has the cells that name a row, whole, and one that says something of it."""
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
    """Two runs that differ in their seed."""
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
        times = [cell for cell in divergence_table(found.events).columns[1].cells if cell]
        parts = [block for block in blocks(lines) if block[0] not in ("configuration", "result")]
        assert parts
        assert all(set(times) <= set(words) for words in parts)


def blocks(lines: list[str]) -> list[list[str]]:
    """The words of each table."""
    found = "\n".join(lines).split("\n\n")
    return [block.split() for block in found if "─" in block]
