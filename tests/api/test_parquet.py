"""Any reader of Parquet finds in the files what the tables hold."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars
import pyarrow.parquet as pq
import pytest

import hostnet
from hostnet.tables import build_table
from tests.support import QUADRANT

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet import ClusterResults, Results

CLUSTER = """
[host.left]
kind = "endpoint"
[host.right]
kind = "endpoint"
[network]
topology = "direct"
rate = "10 Gbps"
[flow.many]
kind = "bulk"
from = "left"
to = "right"
count = 300
bytes = "1 MB"
[run]
warmup = "10 us"
duration = "50 us"
"""
"""Hundreds of rows, cells without a value, tables without a row, and several text columns."""


@pytest.fixture(scope="module", params=[QUADRANT, CLUSTER], ids=["server", "cluster"])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results | ClusterResults:
    file: Path = tmp_path_factory.mktemp("run") / "run.toml"
    file.write_text(request.param, encoding="utf-8")
    return hostnet.run(file, series="10 us")


def test_a_file_is_the_table(results: Results) -> None:
    for name in (*results.table_names, "epochs"):
        read = pq.read_table(io.BytesIO(results.native.parquet(name)))
        table = build_table(results.native, name)
        assert read.schema.equals(table.schema), name
        assert read.equals(table), name


def test_other_readers_find_the_same(results: Results) -> None:
    for name in results.table_names:
        read = polars.read_parquet(io.BytesIO(results.native.parquet(name)))
        assert read.rows(named=True) == results.rows(name)


def test_rows_are_those_of_the_tables(results: Results) -> None:
    for name, table in results.tables.items():
        assert results.rows(name) == table.to_pylist()
