"""Error cards: how far the simulated latency under load of each server is off, by share of reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hostnet.curves.errors import CurveErrors, curve_errors
from hostnet.ledger.curve_study import IDLE, LATENCY, MOST

Cards = dict[str, dict[str, CurveErrors]]
"""Errors by server and by share of reads in percent, as text."""


def cards_of(rows: Iterable[Mapping[str, Any]]) -> Cards:
    """Returns the errors of the curves that rows of the ledger belong to."""
    errors: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        if row["error"] is not None:
            server, share, quantity, fraction = place_of(row)
            found = errors.setdefault((server, share), {IDLE: [], MOST: [], LATENCY: []})
            found[quantity].append((fraction, row["error"]))
    cards: Cards = {}
    for (server, share), found in errors.items():
        idle, most = ((error for _, error in found[quantity]) for quantity in (IDLE, MOST))
        cards.setdefault(server, {})[share] = curve_errors(idle, most, found[LATENCY])
    return cards


def place_of(row: Mapping[str, Any]) -> tuple[str, str, str, float]:
    """Returns server, share of reads, quantity and fraction of the maximum bandwidth of a row."""
    panel, _, server = row["panel"].partition("_")
    if server:
        return server, row["series"].partition(" ")[0], LATENCY, float(row["x"])
    return row["series"], row["x"], {"idle": IDLE, "most": MOST}[panel], float(panel == "most")
