"""`hostnet run`: its output and its files."""

from __future__ import annotations

import csv
import json
import os
import signal
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hostnet
from hostnet import _core
from hostnet._core import ConfigError
from hostnet.cli.request import Request
from hostnet.cli.run import run_command
from tests.support import Cli, assert_tells, raises_code, read_json

FILES = {
    "channels.parquet",
    "config.toml",
    "domains.parquet",
    "epochs.parquet",
    "explain.json",
    "explanation.txt",
    "manifest.json",
    "report.html",
    "summary.json",
    "workloads.parquet",
}


def test_a_run_directory_is_complete(cli: Cli) -> None:
    path = cli.run()
    assert path == cli.folder / "runs" / "quadrant-1"
    assert {file.name for file in path.iterdir()} == FILES
    assert (path / "config.toml").read_text() == cli.file.read_text()
    assert sorted(cli.folder.iterdir()) == [cli.file, cli.folder / "runs"]


def test_the_manifest_says_what_made_the_results(cli: Cli) -> None:
    manifest = read_json(cli.run("--set", "core.lfb.entries=10") / "manifest.json")
    assert manifest["seed"] == 7
    assert manifest["complete"] is True
    assert manifest["overrides"] == ["core.lfb.entries=10"]
    assert manifest["config"]["core"]["lfb"]["entries"] == 10
    assert len(manifest["config_hash"]) == 64
    assert manifest["result_hash"]
    assert manifest["events_per_s"] > 0
    assert manifest["machine"]["logical_cores"] >= 1


def test_every_run_gets_a_directory_of_its_own(cli: Cli) -> None:
    assert [cli.run().name for _ in range(3)] == ["quadrant-1", "quadrant-2", "quadrant-3"]


def test_parquet_and_summary_hold_the_same_rows(cli: Cli) -> None:
    path = cli.run()
    summary = read_json(path / "summary.json")
    workloads = pq.read_table(path / "workloads.parquet").to_pylist()
    assert [{key: row[key] for key in told} for row, told in zip(workloads, summary["workloads"], strict=True)] == (
        summary["workloads"]
    )
    left_out = {key for row, told in zip(workloads, summary["workloads"], strict=True) for key in row.keys() - told}
    assert all(row[key] is None for row in workloads for key in left_out)
    assert "operations_per_s" in left_out, "there is no application"
    domains = pq.read_table(path / "domains.parquet").to_pylist()
    assert [row for row in domains if row["part"] == "all"] == summary["domains"]
    assert pq.read_table(path / "channels.parquet").to_pylist() == summary["channels"]


def test_the_tables_fit_100_columns_and_end_with_the_path(cli: Cli) -> None:
    done = cli("run", cli.file)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[-1] == "runs/quadrant-1"
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in done.stdout
    for word in ("stream", "disk", "C2M-Read", "P2M-Write", "RPQ", "limited by"):
        assert word in done.stdout


CACHED = """\
[server]
preset = "cascade-lake-6234"

[cache]
enabled = true
l2 = { sets = 64 }
llc = { sets = 64 }
filter = { sets = 128 }

[run]
name = "cached"
warmup = "20 us"
duration = "50 us"

[workload.redis]
kind = "app"
app = "redis"
cores = "0-1"
keys = 20000

[workload.disk]
kind = "fio"
cores = "6-7"
jobs = [{ rw = "read", bs = "64 KiB", iodepth = 4, size = "1 GiB", ssd = 0 }]
"""


@pytest.fixture
def cached(cli: Cli) -> Path:
    """Returns an application beside a drive on a server with small caches."""
    file = cli.folder / "cached.toml"
    file.write_text(CACHED)
    return file


def test_applications_and_caches_are_printed_and_kept(cli: Cli, cached: Path) -> None:
    done = cli("run", cached, "--series", "5us", "--csv")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    for words in ("operations/s", "LLC misses", "DDIO", "leaks", "of the reads of its cores miss the LLC"):
        assert words in " ".join(done.stdout.split())
    path = cli.folder / "runs" / "cached-1"
    assert {file.name for file in path.iterdir()} >= {"caches.parquet", "caches.csv"}
    summary = read_json(path / "summary.json")
    assert pq.read_table(path / "caches.parquet").to_pylist() == summary["caches"]
    assert "DDIO: " in (path / "explanation.txt").read_text()
    assert "<h2>Caches</h2>" in (path / "report.html").read_text()
    results = hostnet.run(cached)
    assert results.caches["disk"]["ddio_leak_ratio"] > 0
    assert results.workloads["redis"]["operations_per_s"] > 0
    assert results.to_pandas("caches")["workload"].to_list() == ["all", "disk", "redis"]


def test_means_over_seeds_tell_of_operations_and_caches(cli: Cli, cached: Path) -> None:
    done = cli("run", cached, "--seeds", "2", "--out", "many")
    assert done.returncode == 0, done.stderr
    assert "operations/s" in done.stdout
    combined = read_json(cli.folder / "many" / "seeds.json")
    folders = [cli.folder / "many" / f"seed-{seed}" / "summary.json" for seed in (1, 2)]
    told = [row["operations_per_s"] for file in folders for row in read_json(file)["workloads"] if row["kind"] == "app"]
    redis = next(row for row in combined["workloads"] if row["workload"] == "redis")
    assert redis["operations_per_s"]["mean"] == pytest.approx(sum(told) / 2)
    assert [row["workload"] for row in combined["caches"]] == ["all", "disk", "redis"]


def test_a_server_without_caches_has_no_table_of_them(cli: Cli) -> None:
    results = hostnet.run(cli.file)
    assert results.caches == {}
    with pytest.raises(KeyError, match='no table "caches"'):
        results.to_pandas("caches")


@pytest.mark.parametrize(("options", "file"), [((), "summary.json"), (("--seeds", "2"), "seeds.json")])
def test_json_is_the_summary_and_the_directory(cli: Cli, options: tuple[str, ...], file: str) -> None:
    done = cli("run", cli.file, "--json", *options)
    content = json.loads(done.stdout)
    assert content.pop("directory") == "runs/quadrant-1"
    assert content == read_json(cli.folder / "runs/quadrant-1" / file)


def test_csv_comes_on_request(cli: Cli) -> None:
    path = cli.run("--csv")
    with (path / "workloads.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["workload"] for row in rows] == [
        row["workload"] for row in read_json(path / "summary.json")["workloads"]
    ]
    assert {"domains.csv", "channels.csv"} <= {file.name for file in path.iterdir()}


@pytest.mark.parametrize("step", ["1us", "1 us", "1000 ns"])
def test_series_come_on_request(cli: Cli, step: str) -> None:
    series = pq.read_table(cli.run("--series", step) / "series.parquet")
    assert series.column_names == ["time_ns", "subject", "quantity", "value"]
    assert {"throughput_gb_per_s", "in_use_mean"} <= set(series["quantity"].to_pylist())
    assert "stream" in series["subject"].to_pylist()


def test_out_names_the_directory(cli: Cli) -> None:
    (cli.folder / "empty").mkdir()
    for name in ("new", "empty", "deep/er"):
        assert {file.name for file in cli.run("--out", name).iterdir()} == FILES


def test_a_json_configuration_runs_like_the_toml_it_came_from(cli: Cli) -> None:
    first = cli.run()
    manifest = read_json(first / "manifest.json")
    (cli.folder / "again.json").write_text(json.dumps(manifest["config"]))
    done = cli("run", "again.json", "--quiet", "--csv")
    assert done.returncode == 0, done.stderr
    again = cli.folder / done.stdout.strip()
    assert read_json(again / "manifest.json")["config_hash"] == manifest["config_hash"]
    for table in ("workloads", "domains", "channels"):
        assert pq.read_table(again / f"{table}.parquet") == pq.read_table(first / f"{table}.parquet")


def test_seeds_run_together_and_show_means(cli: Cli) -> None:
    done = cli("run", cli.file, "--seeds", "3", "--out", "many", "--threads", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "many"
    assert max(map(len, lines)) <= 100
    folder = cli.folder / "many"
    assert {entry.name for entry in folder.iterdir()} == {"seed-7", "seed-8", "seed-9", "seeds.json"}
    assert {file.name for file in (folder / "seed-8").iterdir()} == FILES
    combined = read_json(folder / "seeds.json")
    rates = [rate(read_json(folder / f"seed-{seed}" / "summary.json")) for seed in (7, 8, 9)]
    assert combined["seeds"] == [7, 8, 9]
    assert rate(combined)["mean"] == pytest.approx(sum(rates) / 3)
    assert rate(combined)["ci95"] > 0


def rate(summary: dict[str, Any]) -> Any:
    return next(row["throughput_gb_per_s"] for row in summary["workloads"] if row["workload"] == "stream")


def test_a_seed_of_many_equals_the_run_alone(cli: Cli) -> None:
    cli("run", cli.file, "--seeds", "2", "--out", "many")
    alone = cli.run("--seed", "8")
    assert same_results(alone, cli.folder / "many" / "seed-8")


def test_results_do_not_depend_on_threads(cli: Cli) -> None:
    one, two = cli.run("--threads", "1", "--series", "1us"), cli.run("--threads", "2", "--series", "1us")
    assert same_results(one, two)


def test_seeds_change_the_results(cli: Cli) -> None:
    assert not same_results(cli.run("--seed", "1"), cli.run("--seed", "2"))


def same_results(left: Path, right: Path) -> bool:
    names = {file.name for file in left.iterdir() if file.suffix == ".parquet" or file.name == "summary.json"}
    return all((left / name).read_bytes() == (right / name).read_bytes() for name in names)


def test_a_continued_run_equals_the_whole_one(cli: Cli) -> None:
    whole = cli.run("--checkpoint-at", "15 us", "--checkpoint", "state.ckpt")
    assert same_results(whole, cli.run())
    continued = cli.run("--from", "state.ckpt")
    assert same_results(whole, continued)
    hashes = [read_json(path / "manifest.json")["result_hash"] for path in (whole, continued)]
    assert hashes[0] == hashes[1]


def test_a_checkpoint_that_a_short_warm_up_leaves_behind_the_end_is_said_after_the_results(cli: Cli) -> None:
    wanted = ("--set", "run.warmup=auto", "--checkpoint-at", "2 ms", "--checkpoint", "state.ckpt")
    done = cli("run", cli.file, "--quiet", *wanted)
    assert done.returncode == 2
    assert "no checkpoint was written" in done.stderr
    assert (cli.folder / done.stdout.strip() / "summary.json").exists()
    assert not (cli.folder / "state.ckpt").exists()


@pytest.mark.parametrize(("asked", "widest"), [("60", 60), ("500", 100), ("0", 40), ("many", 100)])
def test_without_a_terminal_tables_are_as_wide_as_columns_says(cli: Cli, asked: str, widest: int) -> None:
    done = cli("run", cli.file, env={**os.environ, "COLUMNS": asked})
    *table, _, path = done.stdout.splitlines()
    assert path == "runs/quadrant-1"
    assert widest - 20 < max(map(len, table)) <= widest


def test_workloads_are_shown_beside_what_they_have_alone(cli: Cli) -> None:
    done = cli("run", cli.file, "--compare", "alone")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    head = next(index for index, line in enumerate(lines) if "slowdown" in line)
    shown = {words[0]: words[1:] for words in (line.split() for line in lines[head + 2 : head + 4])}
    assert set(shown) == {"disk", "stream"}
    for name, (together, alone, slowdown, *_) in shown.items():
        other = "stream" if name == "disk" else "disk"
        tree = tomllib.loads(cli.file.read_text())
        del tree["workload"][other]
        single = cli.folder / f"{name}.json"
        single.write_text(json.dumps(tree))
        row = hostnet.run(single).workloads[name]
        assert float(alone) == pytest.approx(row["throughput_gb_per_s"], rel=0.01)
        assert float(slowdown) == pytest.approx(float(alone) / float(together), rel=0.02)


def test_ctrl_c_in_the_comparison_keeps_the_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(cli.folder)
    run_many = _core.run_many

    def interrupted(plans: list[_core.Plan], **more: Any) -> list[_core.RunResult]:
        signal.raise_signal(signal.SIGINT)
        return run_many(plans, **more)

    monkeypatch.setattr(_core, "run_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_command(Request(cli.file, compare="alone"))
    told = capfd.readouterr()
    assert told.err.startswith("hostnet: stopping; the run is kept, the comparison is not")
    assert "C2M" in told.out
    assert "slowdown" not in told.out
    assert told.out.splitlines()[-1] == "runs/quadrant-1"
    assert read_json(cli.folder / "runs/quadrant-1/summary.json")["complete"] is True


def test_what_cannot_be_alone_is_told_before_the_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(cli.folder)
    resolve = _core.resolve

    def refusing(text: str, **more: Any) -> _core.Plan:
        if more["file"] == "<alone>":
            raise ConfigError("no-effect", "no")
        return resolve(text, **more)

    monkeypatch.setattr(_core, "resolve", refusing)
    with raises_code("no-effect | --compare alone"):
        run_command(Request(cli.file, compare="alone"))
    assert capsys.readouterr().out == ""
    assert cli.entries() == [cli.file]


def test_there_must_be_others_to_be_alone_of(cli: Cli) -> None:
    assert_tells(cli.fails("run", cli.file, "--compare", "nothing"), "unknown-name | must be")
    cli.file.write_text(cli.file.read_text().partition("[workload.disk]")[0])
    assert_tells(cli.fails("run", cli.file, "--compare", "alone"), "no-effect")
    (cli.folder / "c.toml").write_text(_core.cluster_template("incast"))
    assert_tells(cli.fails("run", "c.toml", "--compare", "alone"), "wrong-kind")
    assert not (cli.folder / "runs").exists()


def test_a_run_may_leave_out_its_report(cli: Cli) -> None:
    data, whole = cli.run("--no-report"), cli.run()
    left_out = {file.name for file in whole.iterdir()} - {file.name for file in data.iterdir()}
    assert left_out == {"report.html", "explain.json", "explanation.txt"}
    assert {file.name for file in data.iterdir()} <= {file.name for file in whole.iterdir()}
    assert cli("explain", data).returncode == 0
