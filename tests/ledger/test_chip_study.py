"""The study of network interfaces on a chip: its data, quantities, verdicts and output."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from hostnet.chips import chip_plan
from hostnet.ledger import cli_validate, load_study, validate
from hostnet.ledger.chip_quantities import CHIP_QUANTITIES
from hostnet.ledger.chip_runs import job_of, run_chips, with_window
from hostnet.ledger.composed_runs import serialize
from hostnet.ledger.dependencies import points_needed
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Outcome
from hostnet.ledger.study import Study
from hostnet.running.results import Source
from tests.docs.reference import ROOT
from tests.support import raises_code

Summary = dict[str, Any]

PARTS = {"wq_write": 13.0, "network_out": 70.0, "rrpp": 208.0, "network_back": 70.0, "cq_read": 10.0}


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("manycore_ni")


def link(kind: str, start: list[int], end: list[int] | None, share: float) -> Summary:
    return {"kind": kind, "from": start, "to": end, "share": share}


def summary_of(hops: int = 1, bandwidth: float = 200.0, **longer: float) -> Summary:
    """Returns the summary of a fabricated chip of four columns and one row."""
    parts = {**PARTS, "network_out": 70.0 * hops, "network_back": 70.0 * hops, **longer}
    return {
        "kind": "chip",
        "config": {
            "chip": {"columns": 4},
            "ni": {"rrpp_cycles": 14},
            "rack": {"hops": hops},
            "software": {"load_cycles": 1},
        },
        "latency": {"mean_cycles": sum(parts.values())},
        "breakdown": {"parts": [{"part": part, "mean_cycles": mean} for part, mean in parts.items()]},
        "bandwidth": {"application_gb_per_s": bandwidth, "in_gb_per_s": bandwidth / 2},
        "noc": {
            "gb_per_s": 600.0,
            "flits_per_line": 30.0,
            "link_gb_per_s": 32.0,
            "links": [
                link("edge", [0, 0], None, 0.9),
                link("mesh", [1, 0], [2, 0], 0.5),
                link("mesh", [2, 0], [1, 0], 0.4),
                link("mesh", [3, 0], [3, 1], 0.8),
            ],
        },
    }


def value(quantity: str, run: Summary, base: Summary | None = None, **fields: Any) -> float:
    """Returns the value of a quantity for a run."""
    baseline = None if base is None else Outcome("base", base)
    series = Series(name="series", quantity=quantity, **fields)
    return CHIP_QUANTITIES[quantity](series, Outcome("run", run), baseline).value


def test_quantities_of_latency() -> None:
    run, base = summary_of(wq_write=113.0), summary_of()
    assert value("chip_latency", base) == 371
    assert value("chip_parts", run, parts=["wq_write", "cq_read"]) == 123
    assert value("parts_difference", run, base, parts=["wq_write", "cq_read"]) == 100
    assert value("chip_overhead", run, base) == pytest.approx(100 * 100 / 371)
    assert value("chip_reduction", base, run) == pytest.approx(100 * 100 / 471)
    assert value("on_chip_share", base, parts=["network_out", "network_back"]) == pytest.approx(100 * 231 / 371)
    assert value("remote_access", base) == 194
    assert value("remote_reduction", summary_of(rrpp=111.0), base) == 50
    assert value("parts_per_hop", summary_of(hops=6), base, parts=["network_out", "network_back"]) == 140
    assert value("numa_projection", run, base, parts=["wq_write", "cq_read"]) == 471 - 23 + 1


def test_a_part_that_is_none_has_no_value() -> None:
    assert str(value("chip_parts", summary_of(), parts=["to_edge"])) == "nan"
    assert str(value("parts_per_hop", summary_of(), summary_of(), parts=["network_out"])) == "nan"
    assert str(value("chip_latency", {**summary_of(), "latency": None})) == "nan"


def test_quantities_of_bandwidth() -> None:
    run = summary_of()
    assert value("application_bandwidth", run) == 200
    assert value("incoming_bandwidth", run) == 100
    assert value("bandwidth_share", summary_of(bandwidth=50.0), run) == 25
    assert value("chip_traffic", run) == 600
    assert value("chip_traffic_ratio", run) == 3
    assert value("bisection", run) == 64
    assert value("window_change", {**run, "change": 0.002}) == 0.002
    assert value("hotspot", run, constant=3) == pytest.approx(0.8 / 0.5)


def test_every_point_is_a_chip_that_can_be_run(study: Study) -> None:
    for selection in study.selections.values():
        for point in selection.points:
            config = with_window(selection.config(point, study.preset, study.seed))
            chip_plan(Source(serialize(config), "json", point.name, "."))


def test_every_row_has_its_points_and_every_point_a_row(study: Study) -> None:
    full = {point.name for point in study.selections["full"].points}
    assert points_needed(study, study.panels) == full
    assert {point.name for point in study.selections["quick"].points} < full


def test_claims_have_ids_of_their_own_and_a_source(study: Study) -> None:
    with (study.root / "claims.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    ids = [row["id"] for row in rows if row["x"] != "all"]
    assert len(ids) == len(set(ids))
    for row in rows:
        assert row["source"]
        if row["x"] != "all":
            assert bool(row["group"]) != ("context" in row["source"]), row["id"]


def test_nothing_is_tuned_per_point(study: Study) -> None:
    """Points differ only in what the publication varies."""
    varied = {"chip.preset", "ni.placement", "noc.routing", "noc.vcs", "rack.hops", "workload.mode", "workload.size"}
    selection = study.selections["full"]
    configs = [selection.config(point, study.preset, study.seed) for point in selection.points]
    keys = {
        f"{table}.{key}"
        for config in configs
        for table in config
        if table not in ("run", "ledger")
        for key in config[table]
    }
    assert keys == varied
    assert {config["noc"]["routing"] for config in configs if "vcs" in config.get("noc", {})} == {"o1turn"}


def test_a_window_of_its_own_wins_over_the_duration_of_the_selection() -> None:
    config = {"run": {"name": "point", "warmup": "30 us", "duration": "50 us"}}
    assert with_window(config)["run"] == {"name": "point", "warmup": "30 us", "window": "50 us"}
    own = {"run": {**config["run"], "window": "3 ms"}}
    assert with_window(own)["run"]["window"] == "3 ms"


def test_runs_that_differ_in_their_names_alone_are_run_once(study: Study) -> None:
    quick = study.selections["quick"]
    points = [point for point in quick.points if point.name in ("latency-numa:64", "hops-numa:1")]
    configs = [quick.config(point, study.preset, study.seed) for point in points]
    seen: list[Summary] = []
    summaries = run_chips(configs, Path(), 1, seen.append)
    assert {status["total"] for status in seen} == {1}
    assert [summary["name"] for summary in summaries] == ["latency-numa:64", "hops-numa:1"]
    assert summaries[0]["result_hash"] == summaries[1]["result_hash"]


def test_told_to_stop_runs_stop(study: Study) -> None:
    quick = study.selections["quick"]
    point = next(point for point in quick.points if point.name == "async-edge:8192")
    config = quick.config(point, study.preset, study.seed)
    with pytest.raises(KeyboardInterrupt):
        run_chips([config], Path(), 1, lambda _: False)
    assert job_of(config, Path()).size == 60_000_000


def test_the_command_writes_rows_a_report_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table 3, whose totals are within tolerance and whose pipelines are exact."""
    from hostnet.report.plot import plot

    out, pictures = tmp_path / "ledger", tmp_path / "pictures"
    assert cli_validate("manycore_ni", ["table3"], tmp_path / "rows.json", False, True, 0, out, plots=pictures) == 0
    rows = {row["id"]: row for row in json.loads((tmp_path / "rows.json").read_text())}
    for placement in ("edge", "pertile", "split"):
        assert rows[f"mni.t3.total.{placement}"]["verdict"] == "pass"
    for part in ("rgp", "rcp"):
        assert rows[f"mni.t3.pertile.{part}"]["error"] == 0
    assert "manycore_ni: " in capsys.readouterr().out.splitlines()[-1]
    page = (out / "report.html").read_text()
    assert "M cycles/s" in page
    assert [path.name for path in plot(out)] == ["panels.png", "panels.svg"]
    assert "table3_total.svg" in {path.name for path in pictures.iterdir()}


def test_chips_are_not_predicted() -> None:
    from hostnet.ledger import LedgerError

    with raises_code("not-supported", LedgerError):
        validate("manycore_ni", engine="predict")


def test_the_simulator_never_sees_the_claims() -> None:
    for file in [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("crates/**/*.toml"), *ROOT.glob("specs/**/*.toml")]:
        assert "studies/manycore_ni" not in file.read_text(encoding="utf-8"), file
