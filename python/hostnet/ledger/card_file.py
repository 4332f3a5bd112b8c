"""Writes the error cards of servers, `studies/servers/errors.json`, from the rows of the study.

`hostnet validate servers --write` computes the rows and calls this. Each card has the label that `study.toml` gives,
the errors by share of reads, and a trial: a short run whose result tells whether the model is still that of the errors.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hostnet.curves.points import Setting
from hostnet.curves.trace import Wanted, run_points
from hostnet.ledger.cards import cards_of
from hostnet.ledger.curve_runs import PROBE
from hostnet.presets import load_server

FOLDER = Path(__file__).resolve().parents[3] / "studies" / "servers"

CARDS = FOLDER / "errors.json"
"""The cards of all servers of the study."""

TRIAL: dict[str, str | int] = {"seed": 1, "warmup": "2 us", "duration": "8 us"}
"""Simulated time of a trial."""

TRIAL_READS = 0.75
"""Share of reads of a trial, whose load has no inject delay."""


def bases() -> dict[str, dict[str, str]]:
    """Returns the label of each server, and what was fitted to its curves, as the study gives them."""
    points = tomllib.loads((FOLDER / "study.toml").read_text())["points"]
    return {name: {"label": fields["basis"], "fitted": fields["fitted"]} for name, fields in points.items()}


def trials(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Returns the hash of the configuration, latency and bandwidth of the trial of each server."""
    settings = [Setting(load_server(name), (TRIAL_READS,), probe=PROBE) for name in names]
    wanted = [Wanted(setting, TRIAL_READS, (), TRIAL) for setting in settings]
    results = run_points(wanted, [[0.0]] * len(wanted), None, None)
    return {name: trial_of(found[0]) for name, found in zip(names, results, strict=True)}


def trial_of(results: Any) -> dict[str, Any]:
    """Returns what a trial measured."""
    memory = results.channels[-1]
    return {
        "config_hash": results.summary["config_hash"],
        "latency_ns": results.workloads["probe"]["latency_mean_ns"],
        "bandwidth_gb_per_s": memory["read_gb_per_s"] + memory["write_gb_per_s"],
    }


def cards_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the content of the file for these rows."""
    curves, basis = cards_of(rows), bases()
    tried = trials(list(curves))
    cards = {
        name: {
            **basis[name],
            "trial": tried[name],
            "curves": {share: errors.as_dict() for share, errors in shares.items()},
        }
        for name, shares in curves.items()
    }
    return json.dumps(cards, indent=1) + "\n"


def write_cards(rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes the file."""
    CARDS.write_text(cards_text(rows))
