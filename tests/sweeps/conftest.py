"""Shared by the tests of sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest

SHORT = """\
[server]
preset = "cascade-lake-6234"

[run]
seed = 7
warmup = "1 us"
duration = "2 us"

[workload.stream]
kind = "stream"
cores = "0-1"

[workload.disk]
kind = "fio"
jobs = [{ rw = "read", bs = "64 KiB", iodepth = 16, size = "1 GiB", ssd = 0 }]
"""
"""A run of about a millisecond."""

TABLES = ("sweep.parquet", "domains.parquet", "sweep.json")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Returns a short configuration with a workload of each kind."""
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def tables_of(directory: Path) -> dict[str, bytes]:
    """Returns the files of a sweep that must not depend on how it was computed."""
    return {name: (directory / name).read_bytes() for name in TABLES}
