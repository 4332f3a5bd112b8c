"""The command `hostnet sweep`."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hostnet.cli.extras import plot_run
from hostnet.limit_names import DOUBTFUL_NOTE
from hostnet.sweeps import plots
from tests.support import HANG_S, Cli, assert_tells, status_of
from tests.sweeps.conftest import SHORT

CREDITS = ("--over", "iio.write_credits=2,8")


@pytest.fixture
def short(cli: Cli) -> Cli:
    """Returns the command with a file of very short runs."""
    cli.file.write_text(SHORT)
    return cli


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the directory of a small sweep, for tests that do not change its tables."""
    cli = Cli(tmp_path_factory.mktemp("swept"))
    cli.file.write_text(SHORT)
    done = cli("sweep", cli.file, *CREDITS, "--set", "run.duration=1us", "--out", "here", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    return cli.folder / "here"


def test_the_table_is_printed_and_its_directory_last(short: Cli) -> None:
    done = short("sweep", short.file, *CREDITS, "--over", "workload.stream.cores=0-0,0-1", "--set", "memory.channels=1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "quadrant: 4 points simulated: 2 x iio.write_credits, 2 x workload.stream.cores"
    assert lines[-1] == "runs/quadrant-sweep-1"
    assert sum("P2M-Write" in line for line in lines) == 4
    table = pq.read_table(short.folder / lines[-1] / "sweep.parquet")
    assert table["iio.write_credits"].to_pylist() == [2, 2, 2, 2, 8, 8, 8, 8]
    assert short("sweep", short.file, *CREDITS, "-q").stdout == "runs/quadrant-sweep-2\n"


def test_plots_of_a_sweep_are_drawn_again(short: Cli) -> None:
    assert short("sweep", short.file, *CREDITS, "--set", "run.duration=1us", "--out", "here", "-q").returncode == 0
    paths = [*(short.folder / "here/plots").iterdir(), short.folder / "here/report.html"]
    drawn = {path: path.read_bytes() for path in paths}
    for path in drawn:
        path.unlink()
    done = short("plot", "here")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == sorted(str(path.relative_to(short.folder)) for path in drawn)
    assert {path: path.read_bytes() for path in paths} == drawn
    (short.folder / "here/sweep.parquet").write_bytes(b"")
    assert_tells(short.fails("plot", "here"), "malformed-file | sweep.parquet")


def test_plots_of_a_sweep_that_is_not_complete(short: Cli) -> None:
    (short.folder / "here").mkdir()
    (short.folder / "here/points.journal").touch()
    assert_tells(short.fails("plot", "here"), "malformed-file | --resume")


@pytest.mark.parametrize(
    "wrong",
    [
        {"over": None},
        {"over": []},
        {"over": [{"path": "iio.write_credits", "values": [1]}]},
        {"over": [{"path": "iio.write_credits", "values": ["2", "9"]}]},
        {"over": [{"path": "iio.read_credits", "values": ["2", "8"]}]},
        {"over": [2]},
        {"tables": []},
        {"tables": None},
    ],
)
def test_plots_of_a_sweep_whose_manifest_is_damaged(short: Cli, swept: Path, wrong: dict[str, Any]) -> None:
    shutil.copytree(swept, short.folder / "here")
    manifest = short.folder / "here/sweep.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | wrong))
    message = "malformed-file | sweep.json"
    assert_tells(short.fails("plot", "here"), message)


def test_plots_that_show_a_part_are_told(
    swept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plots, "FILES_MAX", 0)
    assert plot_run(swept) == 0
    told = capsys.readouterr()
    assert told.err == "note: the plots show a part of the combinations only; the tables have all\n"
    assert [line for line in told.out.splitlines() if not line.endswith(".png")] == [str(swept / "report.html")]


def test_many_rows_are_cut_on_the_screen(short: Cli) -> None:
    done = short("sweep", short.file, "--over", "iio.write_credits=1..24", "--set", "run.duration=1us", "-j", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 more rows are in sweep.parquet" in done.stdout


def test_json_is_that_of_the_file(short: Cli) -> None:
    done = short("sweep", short.file, *CREDITS, "--out", "here", "--json", "--seeds", "2")
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(done.stdout)
    assert content.pop("directory") == "here"
    rows = content.pop("workloads")
    assert {"channels", "domains"} <= set(content.pop("results"))
    assert rows == pq.read_table(short.folder / "here/sweep.parquet").to_pylist()
    assert content == json.loads((short.folder / "here/sweep.json").read_text())
    again = short("sweep", short.file, *CREDITS, "--out", "here", "--json", "--seeds", "2", "--resume")
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--over: missing"),
        (("--over", "iio.write_credit=1,2"), 'iio.write_credit: unknown key; did you mean "write_credits"?'),
        (("--over", "iio.write_credits"), '"=" is missing'),
        (("--over", "iio.write_credits=1,x"), '"x" is a string; a whole number is wanted'),
        (("--over", "iio.write_credits=1..2000000"), "at most 1000000 points are allowed"),
        (("--over", "run.name=a,b"), "changes nothing"),
        (("--over", "iio.read_credits=64,65"), "changes nothing: its values give the same results"),
        ((*CREDITS, "--engine", "magic"), "--engine magic: is not one of run, predict"),
        ((*CREDITS, "-j", "0"), "--jobs 0: must be between 1 and 1024"),
        ((*CREDITS, "--json", "--quiet"), "--json and --quiet"),
        ((*CREDITS, "--resume"), "--resume: name the directory to continue with --out"),
        ((*CREDITS, "--out", "."), "exists; continue with --resume or name another folder"),
        ((*CREDITS, "--out", ".", "--resume"), "is not the directory of a sweep"),
        ((*CREDITS, "--out", "quadrant.toml/x"), "quadrant.toml"),
        ((*CREDITS, "--dask", "nowhere"), "is neither an address"),
        ((*CREDITS, "--dask", "tcp://127.0.0.1:1"), "--dask tcp://127.0.0.1:1: does not answer within 5 s"),
        ((*CREDITS, "--set", "nonsense"), '"=" is missing'),
    ],
)
def test_bad_input_leaves_one_line_and_no_file(short: Cli, options: tuple[str, ...], message: str) -> None:
    (short.folder / "runs").mkdir()
    assert message in short.fails("sweep", short.file, *options)


def test_a_missing_file_is_named(short: Cli) -> None:
    assert_tells(short.fails("sweep", "none.toml", *CREDITS), "file-not-found | none.toml")


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(short: Cli) -> None:
    short.file.write_text(SHORT.replace("2 us", "20 ms"))
    command = ("sweep", short.file, "--over", "iio.write_credits=1..40", "-j", "2", "--out", "a b")
    process = short.start(*command)
    while not (short.folder / "a b/points.journal").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=HANG_S)
    assert (process.returncode, stdout) == (130, "")
    assert stderr.splitlines() == [
        "hostnet: stopping; what is done is kept (Ctrl-C again: leave at once)",
        "hostnet: stopped; continue with the same command and --resume --out 'a b'",
    ]
    assert [path.name for path in (short.folder / "a b").iterdir()] == ["points.journal"]


def test_a_status_is_told_on_request(short: Cli) -> None:
    short.file.write_text(SHORT.replace("2 us", "20 ms"))
    process = short.start("sweep", short.file, "--over", "iio.write_credits=1..40", "--out", "out")
    while not (short.folder / "out/points.journal").exists():
        time.sleep(0.02)
    status = status_of(process)
    process.kill()
    process.communicate(timeout=HANG_S)
    assert status.startswith("hostnet: ")
    assert "of 40 points" in status


def test_help_names_every_option(short: Cli) -> None:
    done = short("sweep", "--help")
    page = (Path(__file__).parents[2] / "docs/sweep.md").read_text()
    options = set(re.findall(r"(--[a-z][\w-]+)", done.stdout)) - {"--help"}
    assert options >= {"--over", "--jobs", "--resume", "--dask"}
    assert sorted(option for option in options if f"`{option}" not in page) == []


@pytest.mark.parametrize("sockets", [1, 2])
def test_a_question_mark_after_a_limit_has_a_legend(short: Cli, sockets: int) -> None:
    done = short("sweep", short.file, *CREDITS, "--set", f"server.sockets={sockets}")
    assert (done.returncode, done.stderr) == (0, "")
    legend = DOUBTFUL_NOTE.split(":")[0]
    assert (" ?" in done.stdout, legend in done.stdout) == (sockets > 1, sockets > 1)
