"""Comparisons, means over seeds and sweeps cover every cell of every table that an example makes."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import hostnet
from hostnet._core import RunResult
from hostnet.comparison import result_differences, side_of
from hostnet.running.results import Results
from hostnet.running.seeds import combine_runs
from hostnet.sweeps.outcome import outcome_of
from hostnet.tables import key_columns, result_tables, rows_by_key, table_info
from tests.docs.reference import ROOT

EXAMPLES = [file for file in sorted(ROOT.glob("examples/*.toml")) if file.name not in ("noc.toml", "chip.toml")]
QUICK = ("power.toml", "allreduce.toml", "nudma.toml", "die.toml", "service.toml", "expander.toml", "datagrams.toml")
"""Examples that together have most kinds of tables."""


class Changed:
    """Output of the simulator, with one cell of a table changed."""

    def __init__(self, native: Any, table: str, column: str, row: int, by: float) -> None:
        self._native, self._where, self._by = native, (table, column, row), by

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def table(self, name: str) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = self._native.table(name)
        table, column, row = self._where
        if name == table:
            columns[column][row] += self._by
        return columns


def run(file: Path) -> Results:
    overrides = ["run.warmup=5 us", "run.duration=20 us"]
    return hostnet.run(file, overrides=overrides)


def cells_of(results: Results) -> dict[str, tuple[str, int]]:
    """Returns the column and row of a measured number in every table that has one."""
    found = {}
    for table in results.table_names:
        info = table_info()[table]
        rows = results.rows(table)
        if not info["results"] or not rows:
            continue
        fixed = {*key_columns(table, rows[0]), *info["given"]}
        numbers = (
            (column, index)
            for index, row in enumerate(rows)
            for column, value in row.items()
            if column not in fixed and isinstance(value, int | float) and not column.endswith("_ci95")
        )
        cell = next(numbers, None)
        if cell is not None:
            found[table] = cell
    return found


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[] if file.name in QUICK else [pytest.mark.long]) for file in EXAMPLES],
    ids=lambda file: file.stem,
)
def test_a_measured_cell_is_seen_by_compare_seeds_and_sweeps(file: Path) -> None:
    results = run(file)
    side, outcome = side_of(results, "A"), outcome_of(0, results)
    cells = cells_of(results)
    assert {"workloads", "classes"} & set(cells)
    for table, (column, index) in cells.items():
        changed = replace(results, native=cast("RunResult", Changed(results.native, table, column, index, by=1)))
        before = results.rows(table)[index][column]
        (found,) = result_differences(side.tables, side_of(changed, "B").tables)
        assert (found.table, found.column, found.a, found.b) == (table, column, before, before + 1)
        key = list(rows_by_key(table, results.rows(table)))[index]
        mean = rows_by_key(table, combine_runs([results, changed])[table])[key][column]
        assert mean["mean"] == pytest.approx(before + 0.5), (table, column)
        other = outcome_of(0, changed)
        assert other["influence"] != outcome["influence"], table
        assert other["tables"][table] != outcome["tables"][table]


def test_every_table_of_a_run_is_listed_and_its_rows_have_names() -> None:
    results = run(ROOT / "examples/power.toml")
    assert set(results.native.table_names) <= set(table_info())
    for table in set(result_tables()) & set(results.table_names):
        rows = results.rows(table)
        columns = key_columns(table, rows[0]) if rows else []
        assert all(isinstance(row[column], str | int) for row in rows for column in columns), table
        assert len(rows_by_key(table, rows)) == len(rows)


def test_rows_of_one_name_are_numbered() -> None:
    rows: list[dict[str, Any]] = [{"host": "a", "domain": 0, "at_us": at, "ghz": 1.0} for at in (1.0, 2.0)]
    assert list(rows_by_key("frequencies", rows)) == [("a", 0), ("a", 0, 2)]


def test_what_repeats_the_configuration_is_no_influence() -> None:
    results = run(ROOT / "examples/stream.toml")
    changed = replace(results, native=cast("RunResult", Changed(results.native, "domains", "capacity", 0, by=1)))
    assert outcome_of(0, changed)["influence"] == outcome_of(0, results)["influence"]
    assert copy.copy(changed).rows("domains") != results.rows("domains")


ENERGY = """\
[server]
preset = "cascade-lake-6234"
[energy]
profile = "server"
[run]
warmup = "5 us"
duration = "10 us"
[workload.stream]
kind = "stream"
cores = "0-1"
"""


def test_an_energy_profile_changes_what_compare_and_sweeps_say(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(ENERGY)
    found = hostnet.compare(file, hostnet.run(file, overrides=["energy.profile=mobile"]), rerun=False)
    first = found.results[0]
    assert (first.table, first.column) == ("energy", "power_w")
    assert first.a > 20 * first.b
    swept = hostnet.sweep(file, {"energy.profile": ["server", "mobile"]})
    watts = swept.table["energy_w"].to_pylist()
    assert watts == [pytest.approx(first.a), pytest.approx(first.b)]
    parts = swept.tables["energy"].to_pylist()
    assert {row["energy.profile"] for row in parts} == {"server", "mobile"}
