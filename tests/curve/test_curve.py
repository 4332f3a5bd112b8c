"""The curve obeys the limits of the server, and the command reports invalid input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet import ConfigError, _core
from hostnet.curves import Setting, measure, parse_reads
from hostnet.curves.points import gap_of, gaps_of, load_workload
from hostnet.presets import load_server
from hostnet.units import transfers_per_s
from tests.support import Cli, assert_tells, read_json

SMALL = """\
[server]
preset = "cascade-lake-6234"

[core]
count = 4

[workload.other]
kind = "stream"
cores = "0-3"
reads = 0.3
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


PRESETS = [name for name, _, _ in _core.presets()]
QUICK = {"cascade-lake-6234", "broadwell-r730", "mcn-a57"}


@pytest.mark.parametrize(
    "preset", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in PRESETS]
)
def test_a_curve_rises_and_stays_below_the_peak(preset: str) -> None:
    server = load_server(preset)
    points = measure(Setting(server, reads=(1.0, 0.5), points=4))
    # Reads with home snoop wait for the other socket: a load adds less to their latency, and the cores do not fill the
    # channels. Neither do three cores of six LFB entries each.
    snoops = preset == "broadwell-r730"
    rise = 1.15 if snoops else 1.2 if preset in ("mcn-a57", "mcn-host-4") else 1.3
    for reads in (1.0, 0.5):
        curve = [point for point in points if point.reads == reads]
        bandwidths = [point.bandwidth_gb_per_s for point in curve]
        assert max(bandwidths) < server.memory_peak_gb_per_s
        assert bandwidths[-1] < 0.1 * server.memory_peak_gb_per_s
        assert curve[0].latency_ns > rise * curve[-1].latency_ns
        assert curve[-1].latency_ns > server.read_latency_ns
    most = {point.reads: point.bandwidth_gb_per_s for point in points if point.gap_ns == 0}
    # The entries of their last levels hold reads for longer than writes, so these entries are full, not the channels.
    few = preset == "netdimm-host" or preset.startswith("mcn-")
    assert snoops or few or most[1.0] > most[0.5], "turning the bus round costs bandwidth"


def test_a_light_load_gets_what_it_asks_for() -> None:
    server = load_server("cascade-lake-6234")
    for point in measure(Setting(server, reads=(1.0, 0.67), points=6)):
        offered = point.gap_ns and gap_of(1, 7, point.reads) / point.gap_ns
        if 0 < offered < 0.5 * server.memory_peak_gb_per_s:
            assert 0 < point.bandwidth_gb_per_s - offered < 1.0, "the probe adds less than 1 GB/s"


def test_the_peaks_are_those_of_the_standards() -> None:
    assert load_server("cascade-lake-6234").memory_peak_gb_per_s == pytest.approx(2 * 8 * 8.8 / 3)
    assert load_server("ice-lake-8362").memory_peak_gb_per_s == pytest.approx(102.4)
    assert load_server("cascade-lake-6234").pcie_peak_gb_per_s == pytest.approx(15.75, abs=0.01)
    assert transfers_per_s("2933 MT/s") == pytest.approx(8800e6 / 3)
    assert transfers_per_s("2900 MT/s") == 2900e6


@given(reads=st.floats(0.5, 1), points=st.integers(2, 60), cores=st.integers(1, 7))
def test_inject_delays_grow_from_none(reads: float, points: int, cores: int) -> None:
    setting = Setting(load_server("cascade-lake-6234"), reads=(reads,), points=points, cores=cores)
    gaps = gaps_of(setting, reads)
    assert len(gaps) == points
    assert gaps[0] == 0
    assert gaps == sorted(gaps)
    assert 0 <= load_workload(setting.server, 1, cores, reads, gaps[-1])["reads"] <= 1


def test_read_shares() -> None:
    assert parse_reads("100, 67 %,50") == (1.0, 0.67, 0.5)
    for text in ("", "49.9", "101", "nan", "100,100", "x", "100,"):
        with pytest.raises(ConfigError, match="--reads"):
            parse_reads(text)


def test_the_command_writes_a_folder_and_prints_the_points(cli: Cli, small: Path) -> None:
    done = cli("curve", small, "--reads", "100,50", "--points", "3", "--csv", "--out", "mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (cli.folder / "mine").iterdir()} == {
        "curve.parquet",
        "curve.csv",
        "curve.json",
        "curve.png",
        "report.html",
    }
    content = read_json(cli.folder / "mine/curve.json")
    assert [len(curve["points"]) for curve in content["curves"]] == [3, 3]
    assert f"{content['curves'][0]['points'][0]['bandwidth_gb_per_s']:.2f}" in done.stdout
    assert done.stdout.splitlines()[-1] == "mine"
    assert len((cli.folder / "mine/curve.csv").read_text().splitlines()) == 7
    assert (cli.folder / "mine/curve.png").read_bytes()[:4] == b"\x89PNG"


def test_a_folder_of_curves_is_drawn_again(cli: Cli, small: Path) -> None:
    cli("curve", small, "--reads", "100,50", "--points", "3", "--out", "mine")
    cli("curve", small, "--matrix", "--out", "nodes")
    for folder, name in (("mine", "curve"), ("nodes", "matrix")):
        pictures = [cli.folder / folder / file for file in (f"{name}.png", "report.html")]
        drawn = [picture.read_bytes() for picture in pictures]
        for picture in pictures:
            picture.unlink()
        done = cli("plot", folder)
        assert (done.returncode, done.stdout) == (0, f"{folder}/{name}.png\n{folder}/report.html\n")
        assert [picture.read_bytes() for picture in pictures] == drawn
        for damaged in ("{}", '{"format": 1, "curves": 3, "peak_gb_per_s": 1, "pairs": [[]], "nodes": "x"}', "[", "[]"):
            (cli.folder / folder / f"{name}.json").write_text(damaged)
            assert_tells(cli.fails("plot", folder), f"malformed-file | {name} | .json: is damaged")


def test_the_same_question_gets_the_same_answer(cli: Cli, small: Path) -> None:
    arguments = ("curve", small, "--reads", "67", "--points", "2", "--json")
    first, second = cli(*arguments, "-j", "1"), cli(*arguments, "-j", "2")
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["cores"] == 3
    assert (cli.folder / "runs/small-curve-2").is_dir()


def test_a_preset_of_no_such_name_is_told_with_the_nearest(cli: Cli) -> None:
    assert_tells(cli.fails("curve", "ice-lake-836"), 'unknown-name | "ice-lake-8362"')
    assert_tells(cli.fails("curve", "xyz"), "unknown-name | hostnet list presets")
    assert_tells(cli.fails("curve", "no.toml"), "file-not-found | no.toml")


def test_what_is_wrong_with_a_file_is_told_with_its_line(cli: Cli) -> None:
    file = cli.folder / "bad.toml"
    for text, place in (
        ('[server]\npreset = "ice-lake-8362"\n[memory]\nchanels = 3\n', "unknown-key | bad.toml:4 | memory.chanels"),
        ("[server", "syntax | bad.toml:1"),
        ("", "missing-key | server.preset"),
        ('[server]\npreset = "ice-lake-8362"\n[core]\ncount = 1\n', "wrong-count | has one core"),
    ):
        file.write_text(text)
        assert_tells(cli.fails("curve", file), place)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--points", "1"), ("--cores", "8"), ("--cores", "0"), ("--probe", "x"), ("--engine", "x"), ("--reads", "30"),
     ("-j", "0"), ("--out", ".")],
)  # fmt: skip
def test_options_out_of_range_are_refused(cli: Cli, option: str, value: str) -> None:
    assert value in cli.fails("curve", "cascade-lake-6234", option, value)
