"""The study of latency under load: its rows, how values are compared, and the error cards that follow from them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from hostnet import error_cards
from hostnet.curves.errors import NEAR
from hostnet.curves.points import LIGHTEST, Point, Setting
from hostnet.curves.trace import PROBE_GB_PER_S, Trace, Wanted, run_points, trace
from hostnet.ledger import card_file as script
from hostnet.ledger import validate
from hostnet.ledger.cards import cards_of
from hostnet.ledger.curve_runs import wanted_curves
from hostnet.ledger.curve_study import CurvePoint
from hostnet.ledger.show import show_ledger, stdout_console
from hostnet.ledger.study import Study, load_study
from hostnet.presets import load_server
from hostnet.units import LINE_BYTES
from tests.docs.reference import ROOT


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("servers")


def measured() -> list[dict[str, str]]:
    with (script.FOLDER / "curves.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_measured_value_is_a_row(study: Study) -> None:
    values = [(value.x, value.y) for panel in study.panels for value in panel.published]
    assert len(values) == len(measured()) == len(study.selections["full"].points)
    assert sorted(y for _, y in values if y) == sorted(float(row["value"]) for row in measured())


def test_latencies_from_ninety_percent_on_are_context(study: Study) -> None:
    for panel in study.panels:
        for value in panel.published:
            judged = not panel.name.startswith("latency") or float(value.x) < NEAR
            assert (value.group is not None) == judged, (panel.name, value.x)


def test_a_curve_is_traced_once_for_all_of_its_points(study: Study) -> None:
    chosen = study.selections["quick"]
    configs = [chosen.config(point, study.preset, 1) for point in chosen.points]
    curves = wanted_curves(configs)
    assert len(curves) == 9
    assert {curve.fractions for curve in curves.values()} == {(0.3, 0.6, 0.85)}
    assert all(curve.run["duration"] == "100 us" for curve in curves.values())


def point(bandwidth: float, latency: float) -> Point:
    return Point(1.0, 0.0, latency, 0.0, bandwidth)


def test_latency_is_read_at_the_fraction_of_the_own_most() -> None:
    curve = Trace((point(2, 90), point(50, 100), point(80, 130), point(100, 200), point(95, 300)), "", 0)
    assert (curve.idle_ns, curve.most_gb_per_s) == (90, 100)
    assert curve.latency_ns(0.5) == 100
    assert curve.latency_ns(0.65) == 115
    assert curve.latency_ns(0.97) == pytest.approx(189.5)  # on the rising branch, not at the heaviest load
    assert curve.latency_ns(0.001) == 90
    doubled = Trace(tuple(replace(one, bandwidth_gb_per_s=2 * one.bandwidth_gb_per_s) for one in curve.points), "", 0)
    assert doubled.latency_ns(0.65) == curve.latency_ns(0.65)


def test_loads_offer_the_fractions_of_the_most() -> None:
    setting = Setting(load_server("cascade-lake-6234"), (0.5,), probe="random")
    wanted = Wanted(setting, 0.5, (0.5, LIGHTEST / 2), {"seed": 1, "warmup": "5 us", "duration": "20 us"})
    lightest, half, *rest = wanted.loads(40.0)
    offered = 2 * LINE_BYTES * setting.load_cores / half + PROBE_GB_PER_S
    assert offered == pytest.approx(20.0, rel=0.01)
    assert lightest > half > max(rest)


def test_a_trace_reaches_what_it_was_asked_for() -> None:
    setting = Setting(load_server("cascade-lake-6234"), (1.0,), probe="random")
    run: dict[str, str | int] = {"seed": 1, "warmup": "5 us", "duration": "30 us"}
    (found,) = trace([Wanted(setting, 1.0, (0.5,), run)])
    near = min(found.points, key=lambda one: abs(one.bandwidth_gb_per_s / found.most_gb_per_s - 0.5))
    assert near.bandwidth_gb_per_s == pytest.approx(found.most_gb_per_s / 2, rel=0.05)
    assert found.idle_ns < found.latency_ns(0.5) < found.latency_ns(1.0)
    assert found.events > 0


@pytest.mark.parametrize("reads", [0.5, 0.75])
def test_the_share_of_reads_is_that_at_the_memory(reads: float) -> None:
    """A store reads its line before it writes it, so stores alone are half reads."""
    run: dict[str, str | int] = {"seed": 1, "warmup": "10 us", "duration": "20 us"}
    setting = Setting(load_server("cascade-lake-6234"), (reads,), probe="random")
    ((results,),) = run_points([Wanted(setting, reads, (), run)], [[0.0]], None, None)
    memory = results.channels[-1]
    read, write = memory["read_gb_per_s"], memory["write_gb_per_s"]
    assert read / (read + write) == pytest.approx(reads, abs=0.02)


def row(panel: str, series: str, x: str, error: float | None) -> dict[str, Any]:
    return {"panel": panel, "series": series, "x": x, "error": error}


def test_a_card_has_the_errors_of_its_rows() -> None:
    rows = [
        row("idle", "a", "75", 0.02),
        row("most", "a", "75", -0.03),
        row("latency_a", "75 % reads", "0.3", 0.1),
        row("latency_a", "75 % reads", "0.85", -0.2),
        row("latency_a", "75 % reads", "0.9", -0.4),
        row("latency_a", "50 % reads", "0.3", None),
        row("idle", "b", "75", 0.5),
    ]
    cards = cards_of(rows)
    assert cards["a"]["75"].as_dict() == {"idle": 0.02, "most": -0.03, "latency": 0.15, "near": -0.4}
    assert cards["b"]["75"].as_dict() == {"idle": 0.5, "most": None, "latency": None, "near": None}
    assert set(cards["a"]) == {"75"}


def test_cards_cover_the_measured_curves_and_say_what_they_rest_on() -> None:
    cards = error_cards.read_cards()
    curves = {(row["server"], f"{float(row['read_share_percent']):g}") for row in measured()}
    assert {(name, share) for name, card in cards.items() for share in card["curves"]} == curves
    known = {name: {"label": card["label"], "fitted": card["fitted"]} for name, card in cards.items()}
    assert known == script.bases()
    for name, card in cards.items():
        text = (ROOT / "specs" / "servers" / f"{name}.toml").read_text()
        assert card["label"] == ("calibrated" if "calibrated" in text else "blind"), name


def test_cards_are_those_of_this_model() -> None:
    """A model or a preset that has changed since needs `make validate STUDIES=servers`."""
    cards = error_cards.read_cards()
    assert script.trials(list(cards)) == {name: card["trial"] for name, card in cards.items()}


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_cards_are_what_the_study_gives() -> None:
    rows = [row.as_dict() for row in validate("servers").rows]
    assert json.loads(script.cards_text(rows)) == error_cards.read_cards()


def test_every_preset_has_a_card() -> None:
    cards = {card.preset: card for card in error_cards.error_cards()}
    assert set(cards) == {file.stem for file in (ROOT / "specs" / "servers").glob("*.toml")}
    assert all(card.label in error_cards.LABELS for card in cards.values())
    assert cards["cascade-lake-6234"].label == "calibrated"
    assert cards["netdimm-host"].label == "nothing measured"
    assert error_cards.error_card("no-such-server") is None


def test_a_headline_spans_the_shares_of_reads() -> None:
    curves = {
        "100": {"idle": -0.01, "most": None, "latency": 0.04, "near": 0.0},
        "50": {"idle": 0.02, "most": None, "latency": 0.04, "near": 0.0},
    }
    card = error_cards.ErrorCard("a", "blind", "", curves)
    assert card.headline == "blind: idle latency -1.0 % to +2.0 %; latency under load 4.0 %"
    assert card.rows()[0] == ["100 %", "-1.0 %", "-", "4.0 %", "0.0 %"]


def test_the_ledger_prints_the_errors_by_share_of_reads(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    values = {
        point.name: point.value.value for point in study.selections["quick"].points if isinstance(point, CurvePoint)
    }

    def simulate(configs: Sequence[dict[str, Any]], *_: object) -> list[dict[str, Any]]:
        return [{"value": 1.02 * values[config["run"]["name"]], "events": 1} for config in configs]

    ledger = validate("servers", selection="quick", simulate=simulate)
    assert not ledger.failing
    show_ledger(stdout_console(), ledger)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("epyc-7742 ")]
    assert lines == [
        ["epyc-7742", share, "%", "+2.0", "%", "+2.0", "%", "2.0", "%", "-"] for share in ("94", "74", "50")
    ]
