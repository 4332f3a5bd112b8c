"""Results of a sweep."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hostnet
from hostnet import ConfigError, SimulationError
from hostnet.sweeps import local
from hostnet.sweeps.axis import axes_of
from hostnet.sweeps.page import SweepPage, read_page_table, sweep_page
from tests.support import raises_code
from tests.sweeps.conftest import SHORT, tables_of

OVER: dict[str, list[Any]] = {"workload.stream.cores": ["0-0", "0-1"], "iio.write_credits": [2, 8, 46]}


def test_points_come_in_order_and_agree_with_single_runs(file: Path) -> None:
    results = hostnet.sweep(file, OVER, jobs=2)
    rows = results.table.to_pylist()
    assert [row["point"] for row in rows] == [point for point in range(6) for _ in range(2)]
    swept = [(row["workload.stream.cores"], row["iio.write_credits"]) for row in rows[::2]]
    assert swept == [(cores, credits) for cores in OVER["workload.stream.cores"] for credits in (2, 8, 46)]
    source = hostnet.running.simulate.source_of(file, ("workload.stream.cores=0-1", "iio.write_credits=8"))
    plan = hostnet.running.simulate.resolve(source)
    alone = hostnet.running.simulate.run_plan(plan, source)
    row = next(row for row in rows if row["point"] == 4 and row["workload"] == "disk")
    assert row["config_hash"] == plan.hash
    assert row["result_hash"] == alone.result_hash
    assert row.items() >= alone.workloads["disk"].items()
    assert row["memory_rpq_mean"] == alone.channels[-1]["rpq_mean"]
    assert (row["seed"], row["engine"]) == (7, "run")


def test_domains_have_the_rows_of_single_runs(file: Path) -> None:
    results = hostnet.sweep(file, {"iio.write_credits": [2, 8]})
    alone = hostnet.run(file)
    wanted = [(row["domain"], row["workload"]) for row in alone.summary["domains"]]
    rows = results.domains.to_pylist()
    assert [(row["domain"], row["workload"]) for row in rows] == 2 * wanted
    capacities = [row["capacity"] for row in rows if (row["domain"], row["workload"]) == ("P2M-Write", "all")]
    assert capacities == [2, 8]
    assert "part" not in results.domains.column_names


def test_seeds_are_points_of_their_own(file: Path) -> None:
    results = hostnet.sweep(file, {"iio.write_credits": [2, 8]}, seeds=3)
    assert results.table["seed"].to_pylist()[::2] == [7, 8, 9, 7, 8, 9]
    assert results.manifest["seeds"] == [7, 8, 9]
    assert len(set(results.table["result_hash"].to_pylist())) == 6


def test_jobs_do_not_change_a_byte(file: Path, tmp_path: Path) -> None:
    for jobs in (1, 4):
        hostnet.sweep(file, OVER, jobs=jobs, out=tmp_path / str(jobs))
    assert tables_of(tmp_path / "1") == tables_of(tmp_path / "4")


def test_a_directory_holds_tables_plots_and_the_configuration(file: Path, tmp_path: Path) -> None:
    results = hostnet.sweep(file, OVER, out=tmp_path / "out")
    assert results.directory == tmp_path / "out"
    names = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file())
    plots = ["plots/disk.png", "plots/stream.png"]
    tables = [f"tables/{name}.parquet" for name in ("channels", "domains", "workloads")]
    files = ["config.toml", "domains.parquet", *plots, "report.html", "sweep.json", "sweep.parquet", *tables]
    assert names == files
    assert set(tables) < set(results.manifest["tables"])
    channels = results.tables["channels"]
    assert channels == pq.read_table(tmp_path / "out/tables/channels.parquet")
    kept = [row for row in channels.to_pylist() if row["point"] == 0]
    own = hostnet.run(file, overrides=[f"{path}={kept[0][path]}" for path in OVER]).rows("channels")
    assert [{column: row[column] for column in own[0]} for row in kept] == own
    assert (tmp_path / "out/config.toml").read_text() == SHORT
    assert json.loads((tmp_path / "out/sweep.json").read_text()) == results.manifest
    assert pq.read_table(tmp_path / "out/sweep.parquet") == results.table


def test_without_a_directory_nothing_stays(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hostnet.sweep(file, {"iio.write_credits": [2, 8]})
    assert list(tmp_path.iterdir()) == [file]


def test_a_config_object_is_swept(tmp_path: Path) -> None:
    config = hostnet.Config(
        server=hostnet.Server(preset="cascade-lake-6234"),
        workload={"stream": hostnet.Stream(cores="0-1")},
        run=hostnet.Run(warmup="1 us", duration="2 us"),
    )
    results = hostnet.sweep(config, {"workload.stream.cores": ["0", [0, 1]]}, out=tmp_path / "out")
    assert results.table["workload.stream.cores"].to_pylist() == ["0", "[0, 1]"]
    assert (tmp_path / "out/config.json").exists()


def test_many_points_are_written_in_row_groups(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hostnet.sweeps.table.POINTS_PER_BATCH", 2)
    results = hostnet.sweep(file, {"iio.write_credits": [1, 2, 4, 8, 16]}, out=tmp_path / "out")
    assert pq.ParquetFile(tmp_path / "out/sweep.parquet").num_row_groups == 3
    assert results.table["point"].to_pylist()[::2] == [0, 1, 2, 3, 4]


def test_a_parameter_without_influence_is_told(file: Path) -> None:
    results = hostnet.sweep(file, {"iio.read_credits": [64, 65], "iio.write_credits": [2, 46, 92]})
    assert results.notes == [
        "iio.read_credits had no influence on any result of this sweep",
        "iio.write_credits: 46 and 92 gave the same results",
        "unvalidated: 6 of 6 points differ from what was compared with measurements",
    ]


def test_many_values_with_the_same_results_are_told_briefly(file: Path) -> None:
    results = hostnet.sweep(file, ["iio.write_credits=2,40..48"])
    assert results.notes == [
        "iio.write_credits: 9 values from 40 to 48 gave the same results",
        "unvalidated: iio.write_credits differs from what cascade-lake-6234 was checked on",
    ]


def test_a_single_value_without_influence_is_told(file: Path) -> None:
    results = hostnet.sweep(file, {"iio.write_credits": [200]})
    assert results.notes == [
        "iio.write_credits had no influence on any result of this sweep",
        "unvalidated: iio.write_credits differs from what cascade-lake-6234 was checked on",
    ]


def test_a_sweep_that_changes_no_result_is_refused(file: Path, tmp_path: Path) -> None:
    with raises_code("no-effect | iio.write_credits"):
        hostnet.sweep(file, {"iio.write_credits": [92, 184]}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"workload.stream.coers": ["0"]}, '--over workload.stream.coers="0": workload.stream.coers: unknown key; did'),
        ({"workload.strem.cores": ["0"]}, 'there is no workload "strem"; did you mean "stream"?'),
        ({"workload.zzz.cores": ["0"]}, "known are: disk, stream"),
        ({"run.name": ["a", "b"]}, "run.name: changes nothing: every value makes the same configuration"),
        ({"run.duration": ["2 us", "3 us", "2000 ns"]}, '"2 us" and "2000 ns" make the same configuration'),
        ({"iio.write_credits": [4, -5]}, "--over iio.write_credits=-5: iio.write_credits: -5 is out of range; 1 to"),
        (
            {"memory.channels": [1, 2], "iio.write_credits": [4, 0]},
            "0 is out of range; 1 to 65536 is allowed (in point 1: memory.channels=1, iio.write_credits=0)",
        ),
        ({"workload.disk.job": ["none.fio"]}, "workload.disk.job: cannot read"),
    ],
)
def test_everything_is_checked_before_the_first_run(
    file: Path, tmp_path: Path, over: dict[str, list[Any]], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hostnet.running.simulate.run_plan", lambda *_, **__: pytest.fail("a point was computed"))
    with pytest.raises(ConfigError) as caught:
        hostnet.sweep(file, over, out=tmp_path / "out")
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_wrong_file_is_not_put_down_to_the_sweep(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(SHORT.replace("duration", "durration"))
    with raises_code('unknown-key | wrong.toml:7 | run.durration | "duration"'):
        hostnet.sweep(file, {"iio.write_credits": [46, 92]})


def test_rules_between_parameters_name_all_of_them(file: Path) -> None:
    over = {"memory.controller.write_high": [40, 10], "memory.controller.write_low": [9, 20]}
    with raises_code("wrong-order | --over  | 20 | 10"):
        hostnet.sweep(file, over)


def test_credits_of_storage_change_nothing_without_storage(tmp_path: Path) -> None:
    file = tmp_path / "stream.toml"
    file.write_text(SHORT.partition("[workload.disk]")[0])
    with raises_code("no-effect"):
        hostnet.sweep(file, {"iio.write_credits": [46, 92]})


def test_what_is_missing_without_the_sweep_may_be_swept(tmp_path: Path) -> None:
    file = tmp_path / "bare.toml"
    file.write_text(SHORT.replace('preset = "cascade-lake-6234"', ""))
    results = hostnet.sweep(file, {"server.preset": ["cascade-lake-6234", "ice-lake-8362"]})
    assert results.table["server.preset"].to_pylist()[::2] == ["cascade-lake-6234", "ice-lake-8362"]
    assert len(results.notes) == 1
    assert "unvalidated" in results.notes[0], "most of the second server is not validated"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seeds": 0}, "--seeds 0: must be between 1 and 10000"),
        ({"jobs": 0}, "--jobs 0: must be between 1 and 1024"),
        ({"jobs": 1025}, "--jobs 1025: must be between 1 and 1024"),
        ({"engine": "guess"}, "--engine guess: is not one of run, predict"),
        ({"overrides": ["iio.write_credits=4"]}, "--set iio.write_credits=4: is swept with --over"),
        ({"resume": True}, "resume: name the directory with out"),
        ({"over": {"run.seed": [1, 2]}, "seeds": 2}, "--seeds: run.seed is swept with --over"),
        ({"overrides": [f"run.seed={2**64 - 1}"], "seeds": 2}, "exceed 2^64 - 1"),
        ({"over": ["iio.write_credits=1..1001", "iio.read_credits=1..1000"]}, "1001 x 1000 = 1001000 points"),
        ({"over": ["iio.write_credits=1..1001"], "seeds": 1000}, "1001 x 1000 = 1001000 points"),
    ],
)
def test_bad_arguments_are_refused(file: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        hostnet.sweep(file, **{"over": {"iio.write_credits": [2, 8]}, **more})
    assert message in str(caught.value)


def test_progress_goes_from_nothing_to_everything_and_stops_a_sweep(file: Path, tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    hostnet.sweep(file, OVER, progress=seen.append)
    computed = [status for status in seen if status["what"] == "points"]
    assert seen[0]["what"] == "points checked"
    assert [computed[0]["progress"], computed[-1]["progress"]] == [0, 1]
    assert all(before["done"] <= after["done"] for before, after in pairwise(computed))
    with pytest.raises(KeyboardInterrupt):
        hostnet.sweep(file, OVER, out=tmp_path / "out", progress=lambda status: status["done"] < 2)
    results = hostnet.sweep(file, OVER, out=tmp_path / "out", resume=True)
    assert results.table.num_rows == 12


def test_a_run_that_gets_stuck_is_named_and_the_others_are_kept(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = hostnet.running.simulate.run_plan

    def stuck(plan: Any, source: Any, **more: Any) -> Any:
        if "iio.write_credits=46" in source.overrides:
            raise SimulationError("stuck", "stuck")
        return original(plan, source, **more)

    monkeypatch.setattr("hostnet.running.simulate.run_plan", stuck)
    with raises_code("stuck | iio.write_credits | 46", SimulationError):
        hostnet.sweep(file, OVER, jobs=1, out=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["points.journal", "report.html"]
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    missing = re.search(r"(\d+) points are missing.*?iio.write_credits=46", page)
    assert missing is not None
    done = len(set(re.findall(r'id="point-(\d+)-', page)))
    assert int(missing[1]) == 6 - done > 0


def test_a_file_that_changes_on_the_way_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[job]\nrw=read\nbs=64k\niodepth=16\nioengine=libaio\n")
    file = tmp_path / "short.toml"
    file.write_text(SHORT.partition("jobs =")[0] + 'job = "a.fio"\n')
    original = local.compute_locally

    def change(*arguments: Any) -> None:
        job.write_text(job.read_text().replace("16", "32"))
        original(*arguments)

    monkeypatch.setattr("hostnet.sweeps.local.compute_locally", change)
    with raises_code("other-configuration"):
        hostnet.sweep(file, {"iio.write_credits": [2, 8]})


def test_rows_of_jobs_have_the_time_of_an_iteration(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text(
        """
[host.e]
kind = "endpoint"
count = 4
[flow.beside]
kind = "bulk"
from = "e-0"
to = "e-1"
[job.train]
kind = "allreduce"
hosts = "e"
bytes = "1 MB"
[run]
until = "jobs"
""",
        encoding="utf-8",
    )
    over = {"job.train.bytes": ["1 kB", "1 MB"], "job.train.algorithm": ["ring", "tree"]}
    results = hostnet.sweep(file, over, out=tmp_path / "sweep")
    rows = [row for row in results.table.to_pylist() if row["class"] == "train"]
    small, large = [[row["iteration_us"] for row in rows[at : at + 2]] for at in (0, 2)]
    assert small[1] < small[0] < large[0] < large[1], "a tree is quicker where latency counts, a ring where bytes do"
    assert all(row["iteration_us"] is None for row in results.table.to_pylist() if row["class"] == "beside")
    assert (tmp_path / "sweep" / "plots" / "train.png").exists()


def test_the_page_needs_only_the_columns_that_it_reads(file: Path, tmp_path: Path) -> None:
    results = hostnet.sweep(file, OVER, out=tmp_path / "out")
    axes = axes_of(OVER)
    narrow = read_page_table(tmp_path / "out/sweep.parquet", axes)
    assert narrow.num_columns < results.table.num_columns / 2
    whole = sweep_page(SweepPage(results.manifest, axes, results.table))
    assert (tmp_path / "out/report.html").read_text(encoding="utf-8") == whole
