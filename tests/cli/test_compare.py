"""`hostnet compare`: its output for two runs, and its errors."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import HANG_S, Cli, assert_tells, read_json


def compared(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    """Returns the output of `hostnet compare --json`."""
    done = cli("compare", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def shown(cli: Cli, *arguments: str | Path) -> str:
    """Returns the output of `hostnet compare`."""
    done = cli("compare", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 100
    return done.stdout


def change_epochs(run: Path, first: int) -> None:
    """Changes every epoch from `first` on, as if a machine had computed differently."""
    rows = pq.read_table(run / "epochs.parquet").to_pylist()
    for row in rows[first:]:
        row["hash"] = f"{int(row['hash'], 16) ^ 1:016x}"
    pq.write_table(pa.Table.from_pylist(rows), run / "epochs.parquet")


def test_equal_runs_are_the_same_run(cli: Cli) -> None:
    first, second = cli.run(), cli.run("--threads", "2")
    found = compared(cli, first, second)
    assert found["identical"] is True
    assert (found["config"], found["results"], found["events"]) == ([], [], {"outcome": "identical"})
    assert "the same run" in shown(cli, first, second)


def test_a_series_leaves_the_run_the_same(cli: Cli) -> None:
    assert compared(cli, cli.run(), cli.run("--series", "1us"))["identical"] is True


def test_at_80_columns_a_result_and_its_change_are_in_one_table(cli: Cli) -> None:
    runs = cli.run(), cli.run("--set", "memory.channels=1")
    done = cli("compare", *runs, env={**os.environ, "COLUMNS": "80"})
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (heading,) = (line for line in lines if line.startswith("result"))
    assert heading.split() == ["result", "A", "B", "change"]


def test_a_name_and_the_way_it_is_written_leave_the_run_the_same(cli: Cli) -> None:
    first = cli.run("--set", "run.name=other")
    whole = cli.folder / "whole.json"
    whole.write_text(json.dumps(read_json(first / "manifest.json")["config"]))
    found = compared(cli, cli.run(), whole)
    assert (found["identical"], found["config"], found["results"]) == (True, [], [])


def test_seeds_part_with_the_first_line(cli: Cli) -> None:
    first, second = cli.run(), cli.run("--seed", "8")
    found = compared(cli, first, second)
    assert found["identical"] is False
    assert found["config"] == [{"key": "run.seed", "a": 7, "b": 8}]
    events = found["events"]
    assert events["outcome"] == "diverged"
    assert len(events["common"]) == events["events_before"] < 20
    different = events["a"][0], events["b"][0]
    assert {event["event"] for event in different} == {"Arrive"}
    assert {event["workload"] for event in different} == {"stream"}
    assert different[0]["time_ns"] == different[1]["time_ns"]
    assert different[0]["row"] != different[1]["row"]
    output = shown(cli, first, second)
    assert "run.seed" in output
    assert "Arrive" in output


def test_a_parameter_is_shown_with_what_it_changes_first(cli: Cli) -> None:
    first, second = cli.run(), cli.run("--set", "core.lfb.entries=6")
    found = compared(cli, first, second)
    assert found["config"] == [{"key": "core.lfb.entries", "a": 12, "b": 6}]
    most = found["results"][0]
    assert (most["table"], most["subject"]) == ("workloads", "stream")
    assert {row["column"] for row in found["results"][:2]} == {"throughput_gb_per_s", "latency_mean_ns"}
    throughput = next(row for row in found["results"] if row["column"] == "throughput_gb_per_s")
    assert throughput["beyond"] is True
    assert throughput["change"] == pytest.approx(throughput["b"] / throughput["a"] - 1)
    assert found["events"]["outcome"] == "diverged"


def test_what_no_event_notices_parts_no_events(cli: Cli) -> None:
    found = compared(cli, cli.run(), cli.run("--set", "run.duration=30 us"))
    assert found["events"] == {"outcome": "same-events", "until_ns": 25000}


def test_configurations_are_run_first(cli: Cli) -> None:
    run = cli.run()
    found = compared(cli, cli.file, run)
    assert found["identical"] is True
    assert found["a"]["label"] == str(cli.file)
    assert len(list((cli.folder / "runs").iterdir())) == 1, "the run is not kept"


def test_only_what_the_directories_say_without_a_rerun(cli: Cli) -> None:
    found = compared(cli, cli.run(), cli.run("--seed", "8"), "--no-rerun")
    assert found["events"] is None
    assert found["results"]


@pytest.mark.parametrize("wrong", ["a", "b"])
def test_the_run_that_cannot_be_repeated_is_named(cli: Cli, wrong: str) -> None:
    runs = {"a": cli.run(), "b": cli.run()}
    change_epochs(runs[wrong], 1)
    events = compared(cli, runs["a"], runs["b"])["events"]
    assert (events["outcome"], events["start_ns"], events["end_ns"]) == ("deviated", 10000, 20000)
    assert events["agrees"] == [wrong != "a", wrong != "b"]
    assert events["events_count"] > len(events["events"]) > 0
    assert all(10000 < event["time_ns"] <= 20000 for event in events["events"])
    output = " ".join(shown(cli, runs["a"], runs["b"]).split())
    assert f"{runs[wrong]} differs from a run made now" in output
    assert "10 µs to 20 µs" in output


def test_the_first_of_two_that_cannot_be_repeated_is_named(cli: Cli) -> None:
    first, second = cli.run(), cli.run()
    change_epochs(first, 0)
    change_epochs(second, 1)
    events = compared(cli, first, second)["events"]
    assert (events["start_ns"], events["agrees"]) == (0, [False, True])


def test_a_run_that_this_version_cannot_repeat_is_compared_all_the_same(cli: Cli) -> None:
    first, second = cli.run(), cli.run("--seed", "8")
    manifest = read_json(second / "manifest.json")
    manifest["config"]["core"]["flux"] = 1
    (second / "manifest.json").write_text(json.dumps(manifest))
    found = compared(cli, first, second)
    assert found["results"]
    assert found["events"]["outcome"] == "impossible"
    assert "flux" in found["events"]["reason"]
    assert "flux" in shown(cli, first, second)


def test_ctrl_c_ends_a_comparison(cli: Cli) -> None:
    long = cli.folder / "long.toml"
    long.write_text(cli.file.read_text().replace("20 us", "200 ms"))
    process = cli.start("compare", long, long)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=HANG_S)
    assert (process.returncode, output) == (130, "")


def broken_json(run: Path) -> None:
    (run / "summary.json").write_text('{"format": 1')


def other_format(run: Path) -> None:
    (run / "manifest.json").write_text('{"format": 2}')


def foreign_json(run: Path) -> None:
    (run / "manifest.json").write_text("[1, 2]")


def missing_key(run: Path) -> None:
    manifest = read_json(run / "manifest.json")
    del manifest["config"]
    (run / "manifest.json").write_text(json.dumps(manifest))


def missing_table(run: Path) -> None:
    (run / "domains.parquet").unlink()


def missing_epochs(run: Path) -> None:
    (run / "epochs.parquet").unlink()


def broken_epochs(run: Path) -> None:
    (run / "epochs.parquet").write_bytes((run / "epochs.parquet").read_bytes()[:100])


def foreign_epochs(run: Path) -> None:
    shutil.copy(run / "workloads.parquet", run / "epochs.parquet")


def senseless_epochs(run: Path) -> None:
    pq.write_table(pa.table({"time_ns": [1.0], "hash": ["xyz"]}), run / "epochs.parquet")


def other_summary(run: Path) -> None:
    summary = read_json(run / "summary.json")
    (run / "summary.json").write_text(json.dumps({**summary, "config_hash": "0"}))


def rows_without_names(run: Path) -> None:
    summary = read_json(run / "summary.json")
    (run / "summary.json").write_text(json.dumps({**summary, "workloads": [{}]}))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (broken_json, "malformed-file | summary.json"),
        (other_format, "other-version"),
        (foreign_json, "malformed-file"),
        (missing_key, 'malformed-file | "config"'),
        (missing_table, "malformed-file | domains.parquet"),
        (missing_epochs, "malformed-file | epochs.parquet"),
        (broken_epochs, "malformed-file | epochs.parquet"),
        (foreign_epochs, "malformed-file"),
        (senseless_epochs, "malformed-file | epochs.parquet"),
        (other_summary, "other-configuration | different runs"),
        (rows_without_names, "malformed-file | summary.json"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_damaged_directory_is_refused(cli: Cli, damage: Callable[[Path], None], words: str) -> None:
    good, bad = cli.run(), cli.run()
    damage(bad)
    for pair in ((good, bad), (bad, good)):
        message = cli.fails("compare", *pair)
        assert_tells(message, words)
        assert bad.name in message


def test_a_directory_of_several_runs_is_refused_with_one_that_can_be_named(cli: Cli) -> None:
    run = cli.run()
    cli("run", cli.file, "--seeds", "2", "--out", "many", "--quiet")
    cli("sweep", cli.file, "--set", "run.duration=9 us", "--over", "iio.write_credits=2,8", "--out", "swept", "--quiet")
    for command in (["compare", run], ["explain"], ["explain", "--slo", "p99 < 1 us"]):
        assert_tells(cli.fails(*command, "many"), "wrong-kind | for example many/seed-7")
        said = cli.fails(*command, "swept")
        assert_tells(said, "wrong-kind | run.duration | --set iio.write_credits=2")


def test_what_is_no_run_is_refused(cli: Cli) -> None:
    run = cli.run()
    assert_tells(cli.fails("compare", run, "nowhere"), "file-not-found")
    assert_tells(cli.fails("compare", "runs", run), "wrong-kind")
    (cli.folder / "wrong.toml").write_text("[server]\npreset = 'nothing'\n")
    assert_tells(cli.fails("compare", run, "wrong.toml"), "unknown-name | wrong.toml")
