"""The demonstration: tables, run directory, report."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from hostnet.ledger import demo
from hostnet.ledger.runner import Simulate

Simulator = Callable[..., Simulate]


def run_demo(runs: Path, simulate: Simulate) -> tuple[Path, list[str]]:
    output = StringIO()
    report = demo(runs, simulate=simulate, console=Console(file=output, width=140, highlight=False))
    return report, output.getvalue().splitlines()


def test_the_last_line_is_the_path_of_the_report(simulator: Simulator, tmp_path: Path) -> None:
    report, lines = run_demo(tmp_path / "runs", simulator(1.02))
    assert report == tmp_path / "runs" / "demo-1" / "report.html"
    assert lines[-1] == str(report)
    assert sum("Quadrant" in line for line in lines) == 4
    assert any("27.52" in line and "28.07" in line for line in lines)  # quadrant 3, six cores: C2M GB/s


def test_it_can_be_run_again(simulator: Simulator, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        report, _ = run_demo(tmp_path, simulator())
        assert report.parent.name == f"demo-{number}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo-1", "demo-2", "demo-3"]


def test_the_run_directory(simulator: Simulator, tmp_path: Path) -> None:
    report, _ = run_demo(tmp_path, simulator())
    names = {"manifest.json", "summary.json", "points.parquet", "report.html"}
    assert {path.name for path in report.parent.iterdir()} == names
    manifest = json.loads((report.parent / "manifest.json").read_text())
    assert (manifest["study"], manifest["preset"], manifest["points"]) == ("host_network", "cascade-lake-6234", 38)
    summary = json.loads((report.parent / "summary.json").read_text())
    assert len({row["id"] for row in summary["rows"]}) == len(summary["rows"]) > 200
    points = pq.read_table(report.parent / "points.parquet")
    assert points.num_rows == 6 + 6 + 2 + 4 * 6 * 2
    assert {"point", "workload", "throughput_gb_per_s", "row_miss_ratio"} <= set(points.column_names)


def test_a_failure_leaves_nothing_behind(simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(directory: Path) -> Path:
        raise OSError(f"{directory}: disk full")

    monkeypatch.setattr("hostnet.report.write_report", broken)
    with pytest.raises(OSError, match="disk full"):
        run_demo(tmp_path / "runs", simulator())
    assert not (tmp_path / "runs").exists()
