"""`hostnet new --chip` and `hostnet run chip.toml`: what is printed, written and refused."""

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
    shown = [float(row[-4]) for row in rows[:end] if row]
    assert len(shown) >= 10
    assert round(sum(shown), 1) == float(rows[end][-4])
    assert "The latency is the sum of its parts." in " ".join(done.stdout.split())


def test_the_run_directory_has_the_summary_and_a_report(cli: Cli, chip: str, tmp_path: Path) -> None:
    printed = json.loads(cli("run", chip, "--json", "--out", "out", "--seed", "7", *SHORT).stdout)
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"config.toml", "manifest.json", "report.html", "summary.json"}
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert printed == {"directory": "out", **summary}
    assert summary["seed"] == 7
    report = (tmp_path / "out/report.html").read_text()
    assert report.count("<svg") == 2
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
    assert cli("list", "chips").stdout.split() == ["scale-out-64-nocout", "scale-out-64"]
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--csv"], "--csv: chip.toml describes a chip; a run of a chip has no tables"),
        (["--seeds", "3"], "--seeds: chip.toml describes a chip; runs of chips are repeated one by one: --seed"),
        (["--threads", "2"], "--threads: chip.toml describes a chip; a chip is simulated by one thread"),
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
    assert (unsaid.returncode, unsaid.stderr) == (2, "error: --preset: says which chip; give --chip too\n")
    assert json.loads(cli("schema", "--chip").stdout)["title"] == "hostnet chip configuration"
