"""Curves of latency under load are read from tables, MLC and Mess, fitted at one share of reads, and judged by all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hostnet.calibration import Calibration, calibrate
from hostnet.calibration.curves import CurvePoint, MeasuredCurve, check_curve, curve_of_points
from hostnet.calibration.judging import read_files
from hostnet.calibration.measurement import Conditions, DataError
from hostnet.calibration.parameters import in_flight_path
from hostnet.curves.points import Setting
from hostnet.curves.trace import Trace, Wanted, trace
from hostnet.presets import load_server
from tests.docs.reference import ROOT
from tests.support import Cli, assert_tells, raises_code

SERVER = load_server("cascade-lake-6234")
LOAD = Conditions(cores=7, reads=0.75, probe="random")
FRACTIONS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
HEAD = "read_share_percent,quantity,fraction_of_most,value\n"
CURVE = [
    ("idle_ns", 0, 80.0),
    ("most_gb_per_s", 1, 40.0),
    *(("latency_ns", f, 80 + 60 * f) for f in (0.2, 0.4, 0.6, 0.8)),
]
MLC = """\
Intel(R) Memory Latency Checker - v3.9
Measuring Loaded Latencies for the system
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t180.00\t 39000.0
 00008\t160.00\t 40000.0
 00050\t120.00\t 34000.0
 00100\t100.00\t 24000.0
 00300\t 90.00\t 12000.0
 20000\t 80.00\t   850.0
"""


def table(rows: list[tuple[str, float, float]] = CURVE, percent: str = "75") -> str:
    return "".join(f"{percent},{name},{fraction},{value}\n" for name, fraction, value in rows)


def curves_of(folder: Path, text: str, name: str = "data.csv", given: str = "") -> list[MeasuredCurve]:
    (folder / name).write_text(text)
    return list(read_files([f"{folder / name}{given}"], SERVER, None).curves)


def test_a_table_by_fraction_is_a_curve_for_each_share(tmp_path: Path) -> None:
    first, second = curves_of(tmp_path, HEAD + table(percent="50") + table())
    assert (first.reads, second.reads) == (0.75, 0.5)
    assert first.load == LOAD
    assert (first.most.value, first.idle and first.idle.value) == (40.0, 80.0)
    assert next((fraction, spot.value, spot.place) for fraction, spot in first.latencies) == (0.2, 92.0, "10")


def test_rows_of_the_server_are_chosen_by_name(tmp_path: Path) -> None:
    rows = "".join(f"{name},{line}\n" for name in ("a", "b") for line in table().splitlines())
    text = "server," + HEAD + rows.replace("b,75,most_gb_per_s,1,40.0", "b,75,most_gb_per_s,1,41.0")
    assert curves_of(tmp_path, text, given="@server=b")[0].most.value == 41.0
    with raises_code("malformed-file | data.csv:2 | a, b | server=NAME", DataError):
        curves_of(tmp_path, text)
    mine = text.replace("b,", "cascade-lake-6234,")
    assert curves_of(tmp_path, mine)[0].most.value == 41.0


def test_conditions_that_a_curve_does_not_take_are_refused(tmp_path: Path) -> None:
    assert curves_of(tmp_path, HEAD + table(), given="@cores=3,probe=sequential")[0].load.cores == 3
    with raises_code("not-supported | data.csv@reads=67 | cores, probe, server", DataError):
        curves_of(tmp_path, HEAD + table(), given="@reads=67")


def test_output_of_mlc_is_a_curve_up_to_its_most_bandwidth(tmp_path: Path) -> None:
    (curve,) = curves_of(tmp_path, MLC, "mlc.txt")
    assert (curve.reads, curve.most.value, curve.most.place) == (1.0, 40.0, "8")
    assert curve.idle is not None
    assert curve.idle.value == 80.0
    assert [fraction for fraction, _ in curve.latencies] == [0.3, 0.6, 0.85]  # not the heaviest load, which moves less


@pytest.mark.parametrize("kernel", [False, True])
def test_the_table_of_mess(tmp_path: Path, kernel: bool) -> None:
    head = "rd_percentage,pause,bandwidth_mean,rd_percentage_actual_mean,latency_mean\n"
    rows = [(0, 40.0, 150.0), (10, 30.0, 110.0), (20, 20.0, 95.0), (50, 10.0, 88.0), (900, 1.0, 80.0)]
    text = head + "".join(f"50,{pause},{rate},0.67,{latency}\n" for pause, rate, latency in rows)
    if not kernel:
        text = "".join(line.replace("rd_percentage,", "read_pct_rounded,", 1) + "\n" for line in text.splitlines())
    (curve,) = curves_of(tmp_path, text)
    assert curve.reads == (0.67 if kernel else 0.5)
    assert (curve.most.value, [fraction for fraction, _ in curve.latencies]) == (40.0, [0.25, 0.5, 0.75])


def test_pairs_of_mess(tmp_path: Path) -> None:
    pairs = [[40.0, 150.0], [30.0, 110.0], [20.0, 95.0], [10.0, 88.0], [1.0, 80.0]]
    (curve,) = curves_of(tmp_path, json.dumps({"60": pairs, "20": pairs}), "memory_curves.json")
    assert (curve.reads, curve.most.value) == (0.6, 40.0)  # 20 % reads need nontemporal stores
    lines = "".join(f"{1000 * rate} {3.3 * latency}\n" for rate, latency in pairs)
    (text,) = curves_of(tmp_path, lines, "bwlat_60.txt")
    assert text.most.value == 40.0
    assert [(fraction, round(spot.value, 6)) for fraction, spot in text.latencies] == [
        (fraction, spot.value) for fraction, spot in curve.latencies
    ]


LOADED = "bandwidth GB/s,latency ns\n5,80\n40,150\n30,110\n20,95\n10,88\n"
"""A table of bandwidth and latency."""

WRONG = [
    (HEAD, "malformed-file | data.csv:1 | no rows"),
    ("", "malformed-file | data.csv"),
    (HEAD + table().replace("92.0", "-92.0"), "malformed-file | data.csv:4 | -92.0 | above 0"),
    (HEAD + table().replace("92.0", "nan"), "malformed-file | data.csv:4 | nan"),
    (HEAD + table().replace("92.0", "x"), "malformed-file | data.csv:4 | x"),
    (HEAD + table().replace("92.0", "92000"), "implausible-data | data.csv:4 | 92000 | 80 | units"),
    (LOADED.replace("30,110", "30,11000"), "implausible-data | data.csv:4 | 11000 | 80 | units"),
    (LOADED.replace("20,95", "20,9500"), "implausible-data | data.csv:5 | 9500 | 80 | units"),
    (LOADED.replace("10,88", "0.01,88"), "implausible-data | data.csv:2 | 5 GB/s | 0.01 | units"),
    (HEAD + table().replace("40.0", "40000"), "implausible-data | data.csv:3 | 40000 | 46.93 | MB/s"),
    (HEAD + table()[: table().index("75,latency_ns,0.4")], "malformed-file | data.csv:3 | 75 % | 3 points | 5"),
    (HEAD + "75,most_gb_per_s,1,40\n", "malformed-file | data.csv:2 | 1 point | 5"),
    (HEAD + table(CURVE[2:]), "malformed-file | data.csv:2 | most_gb_per_s"),
    (HEAD + table() + table(CURVE[:1]), "duplicate | data.csv:8 | idle_ns"),
    (HEAD + table().replace("0.2,", "20,"), "malformed-file | data.csv:4 | 20 | at most 1"),
    (HEAD + table().replace("idle_ns", "idel_ns"), "malformed-file | data.csv:2 | idel_ns | idle_ns"),
    (HEAD + table(percent="140"), "malformed-file | data.csv:2 | 140"),
    (HEAD.replace("value", "valeu") + table(), "malformed-file | data.csv:1 | valeu | value"),
    (HEAD.replace(",value", "") + "75,idle_ns,0\n", "malformed-file | data.csv:1 | value"),
    (HEAD + "75,idle_ns\n", "malformed-file | data.csv:2 | 2 cells | 4"),
    (HEAD + table(percent="30"), "malformed-file | data.csv"),
    ("read_pct_rounded,pause,latency_mean\n50,0,80\n", "malformed-file | data.csv:1 | bandwidth_mean"),
    ("read_pct_rounded,colour\n50,0\n", "malformed-file | data.csv:1 | colour"),
    ('{"50": [[1]]}', "malformed-file | data.csv:50[0]"),
    ('{"50": [[1, -2]]}', "malformed-file | data.csv:50[0] | -2"),
    ('{"50": []}', "malformed-file | data.csv:1 | 50 %"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), WRONG)
def test_what_is_wrong_with_a_curve_is_told_with_its_place(cli: Cli, text: str, told: str) -> None:
    (cli.folder / "data.csv").write_text(text)
    failed = cli.fails("calibrate", "cascade-lake-6234", "--data", "data.csv", "--engine", "predict")
    assert_tells(failed, told)
    assert not (cli.folder / "cascade-lake-6234-calibrated.toml").exists()


def test_points_beyond_the_most_bandwidth_are_left_out() -> None:
    points = [CurvePoint(rate, latency, "1") for rate, latency in ((1, 80), (20, 90), (40, 120), (50, 200), (45, 300))]
    curve = curve_of_points("data", LOAD, points)
    assert curve.most.value == 50
    assert [fraction for fraction, _ in curve.latencies] == [0.4, 0.8]
    with raises_code("malformed-file | data:1 | 75 % | 4 points", DataError):
        check_curve(curve)


def test_of_many_points_some_are_kept() -> None:
    points = [CurvePoint(rate, 80 + rate, str(rate)) for rate in range(1, 101)]
    curve = curve_of_points("data", LOAD, points)
    assert [spot.place for _, spot in curve.latencies] == [
        "10",
        "20",
        "30",
        "40",
        "50",
        "60",
        "70",
        "80",
        "85",
        "90",
        "95",
    ]
    assert curve.idle is not None
    assert curve.idle.place == "1"


def test_a_steep_curve_makes_its_latencies_uncertain() -> None:
    points = [CurvePoint(rate, latency, "1") for rate, latency in ((1, 80), (10, 82), (20, 84), (38, 160), (40, 320))]
    slack = {one.conditions.fraction: one.slack for one in curve_of_points("data", LOAD, points).measurements()}
    assert slack[0.95] > 4 * slack[0.25]


def simulated(shares: tuple[float, ...], values: dict[str, object]) -> dict[float, Trace]:
    """Returns predicted curves of a server with other values."""
    run: dict[str, str | int] = {"seed": 1, "warmup": "20 us", "duration": "100 us"}
    wanted = [
        Wanted(Setting(SERVER, (share,), probe="random", engine="predict"), share, FRACTIONS, run, values=values)
        for share in shares
    ]
    return dict(zip(shares, trace(wanted), strict=True))


def table_of(curves: dict[float, Trace]) -> str:
    text = HEAD
    for share, curve in curves.items():
        ends = [("idle_ns", 0.0, curve.idle_ns), ("most_gb_per_s", 1.0, curve.most_gb_per_s)]
        text += table(ends + [("latency_ns", each, curve.latency_ns(each)) for each in FRACTIONS], f"{100 * share:g}")
    return text


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    file = tmp_path_factory.mktemp("curves") / "curves.csv"
    file.write_text(table_of(simulated((1.0, 0.75, 0.5), {"cha.read_to_mc": "40 ns"})))
    return calibrate("cascade-lake-6234", str(file), "cha.read_to_mc", engine="predict")


def test_one_share_is_fitted_and_the_others_judge(fitted: Calibration) -> None:
    assert [(curve.reads, curve.role) for curve in fitted.curves] == [
        (1.0, "fitted"),
        (0.75, "judged"),
        (0.5, "judged"),
    ]
    (parameter,) = fitted.fit.parameters
    assert parameter.value == pytest.approx(40_000, rel=0.02)
    for curve in fitted.curves:
        assert (curve.before.idle or 0.0) < -0.1
        assert curve.after.idle == pytest.approx(0, abs=0.02)
        assert curve.after.latency == pytest.approx(0, abs=0.02)
    assert {one.conditions.reads for one in fitted.measurements} == {1.0}


def test_the_file_says_what_was_fitted_and_judged(fitted: Calibration, tmp_path: Path) -> None:
    text = fitted.text(tmp_path / "mine.toml")
    assert "calibrated against curves.csv" in text
    assert "# 100 % reads, fitted: idle latency" in text
    assert "# 50 % reads, judged: idle latency" in text
    assert [curve["fitted"] for curve in fitted.content()["curves"]] == [True, False, False]


def test_the_share_to_fit_is_chosen(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text(HEAD + table() + table(percent="50"))
    assert read_files([str(file)], SERVER, "50").share == 0.5
    assert {one.conditions.reads for one in read_files([str(file)], SERVER, "all").fitted} >= {0.75, 0.5}
    with raises_code("does-not-exist | 60 | 75, 50"):
        read_files([str(file)], SERVER, 60)
    with raises_code("malformed-value | some"):
        read_files([str(file)], SERVER, "some")
    with raises_code("duplicate | data.csv:3 | 75 %", DataError):
        read_files([str(file), str(file)], SERVER, None)


def test_the_curves_of_the_study_are_read() -> None:
    file = ROOT / "studies" / "servers" / "curves.csv"
    for server, shares in (("xeon-gold-5218", 7), ("epyc-7742", 7)):
        found = read_files([f"{file}@server={server},cores=7"], SERVER, None)
        assert len(found.curves) == shares
        assert all(len(curve.latencies) == 11 and curve.idle is not None for curve in found.curves)


def test_lines_in_flight_are_those_of_the_narrowest_place() -> None:
    assert in_flight_path(SERVER) == "core.lfb.entries"
    assert in_flight_path(load_server("xeon-gold-5218")) == "prefetch.stream_credits"
    assert in_flight_path(load_server("epyc-7742")) == "chiplets.entries"
