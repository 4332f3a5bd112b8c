"""The command `hostnet calibrate`."""

from __future__ import annotations

import json
import signal
import sys
import tomllib

import pytest

from hostnet.calibration import calibrate
from hostnet.presets import load_server
from tests.support import HANG_S, Cli, assert_tells, raises_code


def test_the_command_writes_a_server_that_runs(cli: Cli) -> None:
    (cli.folder / "stream.csv").write_text("cores,GB/s\n1,8.2\n")
    done = cli(
        "calibrate", "cascade-lake-6234", "--data", "stream.csv", "--fit", "core.lfb.refill", "--out", "mine.toml"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "mine.toml"
    assert "1 measurements of stream.csv" in done.stdout
    (row,) = (line.split() for line in done.stdout.splitlines() if line.startswith("bandwidth"))
    assert row[:6] == ["bandwidth", "GB/s", "1", "core", "2", "8.20"]
    assert "note: stream.csv: taken as loads only" in done.stdout
    text = (cli.folder / "mine.toml").read_text()
    assert tomllib.loads(text)["server"] == {"preset": "cascade-lake-6234"}
    run = (
        "run",
        "mine.toml",
        "--json",
        "--set",
        'workload.x={kind="stream",cores="0"}',
        "--set",
        "run.duration=200 us",
    )
    row = json.loads(cli(*run).stdout)["workloads"][0]
    assert abs(row["throughput_gb_per_s"] / 8.2 - 1) < 0.04
    assert_tells(
        cli.fails("calibrate", "mine.toml", "--data", "stream.csv", "--out", "mine.toml"), "file-access | mine.toml"
    )


def test_without_scipy_the_extra_is_named_before_anything_runs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (cli.folder / "stream.csv").write_text("cores,GB/s\n1,8.2\n")
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    runs: list[object] = []
    with raises_code("missing-package | hostnet[calibrate]"):
        calibrate(load_server("cascade-lake-6234"), [str(cli.folder / "stream.csv")], progress=runs.append)
    assert runs == []


def test_json_has_everything(cli: Cli) -> None:
    (cli.folder / "stream.csv").write_text("cores,GB/s\n1,8.2\n")
    done = cli("calibrate", "cascade-lake-6234", "--data", "stream.csv", "--fit", "iio.write_credits", "--json")
    content = json.loads(done.stdout)
    assert content["out"] == "cascade-lake-6234-calibrated.toml"
    (parameter,) = content["parameters"]
    assert (parameter["determined"], parameter["value"], parameter["sigma"]) == (False, 92, None)
    (row,) = content["residuals"]
    assert (row["measured"], row["unit"], row["place"]) == (8.2, "GB/s", "2")


def test_nothing_is_left_behind_by_what_is_refused(cli: Cli) -> None:
    (cli.folder / "bad.csv").write_text("cores,GB/s\n1,9.1\n1,13\n")
    assert_tells(cli.fails("calibrate", "cascade-lake-6234", "--data", "bad.csv"), "implausible-data | bad.csv:2")
    missing = cli.fails("calibrate", "cascade-lake-6234", "--data", "bad.csv", "--out", "no/mine.toml")
    assert_tells(missing, "file-not-found | mine.toml")
    assert_tells(cli.fails("calibrate", "cascade-lake-6234", "--data", "no.csv"), "file-not-found | no.csv")
    assert_tells(cli.fails("calibrate", "cascade-lake-6234"), "usage | --data")
    assert_tells(
        cli.fails("calibrate", "cascade-lake-6234", "--data", "bad.csv", "--tolerance", "0"),
        "out-of-range | --tolerance",
    )
    assert_tells(cli.fails("calibrate", "xyz", "--data", "bad.csv"), "unknown-name")


def test_a_server_that_would_miss_its_measurements_is_not_written(cli: Cli) -> None:
    (cli.folder / "stream.csv").write_text("cores,GB/s\n1,6\n")
    fitted = ("--fit", "iio.write_credits", "--out", "mine.toml")
    done = cli("calibrate", "cascade-lake-6234", "--data", "stream.csv", *fitted)
    assert (done.returncode, done.stdout) == (2, "")
    told = done.stderr
    assert "misses what was measured; nothing was written" in told
    assert "stream.csv:2: bandwidth 6 GB/s (1 core)" in told
    assert "iio.write_credits stays as it was: no influence on these measurements" in told
    assert "; note: stream.csv: taken as loads only" in told
    assert not (cli.folder / "mine.toml").exists()


def test_ctrl_c_leaves_nothing_behind(cli: Cli) -> None:
    (cli.folder / "stream.csv").write_text(
        "cores,GB/s\n" + "".join(f"{n},{9 * n - 0.3 * n * n:.2f}\n" for n in range(1, 7))
    )
    before = cli.entries()
    process = cli.start("calibrate", "cascade-lake-6234", "--data", "stream.csv", "--fit", "core.lfb.refill")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=HANG_S)
    assert (process.returncode, output) == (130, "")
    assert "nothing is written" in errors
    assert cli.entries() == before
