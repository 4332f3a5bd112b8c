"""`hostnet new --chip` and `hostnet run chip.toml`: output, files and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import Cli

SHORT = ("--set", "run.warmup=2 us", "--set", "run.window=5 us", "--set", "run.max=2")


@pytest.fixture
def chip(cli: Cli) -> str:
    assert cli("new", "--chip").stdout == "chip.toml: run it with: hostnet run chip.toml\n"
    return "chip.toml"


def test_a_chip_runs_and_tells_its_parts(cli: Cli, chip: str) -> None:
    done = cli("run", chip, *SHORT)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("scale-out-64, 8 x 8 tiles at 2 GHz, NIs split between tiles and edge, mesh routed cdr")
    assert lines[-1] == "runs/chip-1"
    start = next(index for index, line in enumerate(lines) if line.startswith("part of an operation"))
    rows = [line.split() for line in lines[start + 2 :]]
    end = next(index for index, row in enumerate(rows) if row[:1] == ["total"])
    shown = [float(row[-3]) for row in rows[:end] if row]
    assert len(shown) >= 10
    assert round(sum(shown), 1) == float(rows[end][-3])
    assert "The latency is the sum of its parts." in " ".join(done.stdout.split())


def test_the_run_directory_has_the_summary_and_a_report(cli: Cli, chip: str, tmp_path: Path) -> None:
    printed = json.loads(cli("run", chip, "--json", "--out", "out", "--seed", "7", *SHORT).stdout)
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"config.toml", "manifest.json", "report.html", "summary.json"}
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert printed == {"directory": "out", **summary}
    assert summary["seed"] == 7
    report = (tmp_path / "out/report.html").read_text()
    assert report.count("<svg") >= 2
    assert "memory controller 7" in report
    assert "How busy the links are" in report


def test_equal_runs_are_equal_bit_by_bit(cli: Cli, chip: str, tmp_path: Path) -> None:
    for name in ("one", "other"):
        assert cli("run", chip, "--quiet", "--out", name, "--set", "workload.mode=async", *SHORT).stdout == f"{name}\n"
    for file in ("summary.json", "report.html"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_a_loaded_chip_tells_the_fullest_link(cli: Cli, chip: str) -> None:
    done = cli("run", chip, "--set", "workload.mode=async", *SHORT)
    assert "the fullest link, (0, " in " ".join(done.stdout.split())


def test_a_noc_out_is_written_run_and_drawn(cli: Cli, tmp_path: Path) -> None:
    assert cli("list", "chips").stdout.split() == ["scale-out-64", "scale-out-64-nocout"]
    assert cli("new", "--chip", "--preset", "scale-out-64-nocout", "out.toml").returncode == 0
    done = cli("run", "out.toml", "--out", "out", *SHORT)
    assert done.stdout.startswith(
        "scale-out-64-nocout, 8 LLC tiles of 8 cores at 2 GHz, NIs split between tiles and edge"
    )
    report = (tmp_path / "out/report.html").read_text()
    assert report.count("<path") >= 8 * 7
    assert "NI of LLC tile 7" in report
    wrong = cli("new", "--chip", "--preset", "scale-out-64-nocut", "other.toml")
    assert (wrong.returncode, "--preset:" in wrong.stderr, "did you mean" in wrong.stderr) == (2, True, True)


SETTINGS = (
    "rack.kind=torus",
    "rack.size=[2, 2]",
    "chip.columns=4",
    "chip.rows=2",
    "coherence.llc=256 KiB",
    "workload.cores=0-7",
)
RACK = tuple(word for setting in SETTINGS for word in ("--set", setting))


def test_a_rack_tells_of_all_and_of_every_chip(cli: Cli, chip: str, tmp_path: Path) -> None:
    done = cli("run", chip, *RACK, *SHORT, "--threads", "2", "--out", "two")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("4 chips on a torus of 2 x 2 x 1: scale-out-64, 4 x 2 tiles")
    assert "of all other chips, by cores 0-7" in " ".join(done.stdout.split())
    assert [line.split()[:4] for line in lines if line.startswith(("0  ", "3  "))] == [
        ["0", "0,", "0,", "0"],
        ["3", "1,", "1,", "0"],
    ]
    report = (tmp_path / "two/report.html").read_text()
    assert "The chips of the rack" in report
    assert "chip 3 at 1, 1, 0" in report
    assert cli("run", chip, *RACK, *SHORT, "--quiet", "--out", "one").returncode == 0
    for file in ("summary.json", "report.html"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    manifest = json.loads((tmp_path / "two/manifest.json").read_text())
    assert (manifest["threads"], manifest["processes"]) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--csv"], "--csv: chip.toml describes a chip; a run of a chip has no tables"),
        (["--seeds", "3"], "--seeds: chip.toml describes a chip; runs of chips are repeated one by one: --seed"),
        (
            ["--threads", "2"],
            "--threads: chip.toml describes a chip; a chip with its mirror is simulated by one thread",
        ),
        (["--processes", "2"], "--processes: chip.toml describes a chip; a chip with its mirror is simulated by one"),
        (["--set", "rack.kind=torus"], "rack.size: missing; a torus needs the chips along its dimensions"),
        (["--set", "rack.size=[2, 2]"], "rack.size: is of a torus"),
        (["--trace"], "--trace: chip.toml describes a chip"),
        (["--compare", "predict"], "--compare: chip.toml describes a chip; there is no prediction for chips"),
        (["--set", "ni.placment=edge"], 'ni.placment: unknown key; did you mean "placement"?'),
        (["--set", "rack.hops=13"], "rack.hops: 13 is beyond the diameter of the rack, 12 hops"),
        (["--set", "noc.topology=torus"], 'noc.topology: "torus" is not known; known are: mesh, noc-out'),
        (["--set", "noc.topology=noc-out", "--set", "noc.routing=xy"], "noc.routing: a NOC-Out has one way only"),
        (["--set", "chip.columns=16"], "bits of the address within a page of 4 KiB tell the home of a line"),
        (["--set", "noc.routing=o1turn"], "o1turn needs at least 2 virtual channels"),
    ],
)
def test_what_is_wrong_is_told_before_the_run(cli: Cli, chip: str, arguments: list[str], message: str) -> None:
    done = cli("run", chip, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_new_and_schema_take_one_kind_at_a_time(cli: Cli) -> None:
    assert cli("new", "--chip", "--cluster", "incast").returncode == 2
    assert cli("schema", "--chip", "--cluster").returncode == 2
    unsaid = cli("new", "--preset", "scale-out-64")
    assert unsaid.returncode == 2
    assert unsaid.stderr.startswith("error[requires-key]: --preset:")
    assert json.loads(cli("schema", "--chip").stdout)["title"] == "hostnet chip configuration"
