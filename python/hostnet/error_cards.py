"""Error cards of presets: how far results are off from measurements of that server, and what that rests on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABELS = {
    "blind": "made from data sheets alone, and then compared with measurements",
    "calibrated": "parameters that no document states were fitted to measurements of this server",
    "nothing measured": "no latency under load of this server has been compared with measurements",
}
"""Labels of a card, and their meaning."""

HEADS = ("reads", "idle\nlatency", "maximum\nbandwidth", "latency below\n90 % of the maximum", "latency from\n90 % on")
"""Heads of the columns of a card."""

STUDIES = Path(__file__).parent / "studies"
"""Folder of the studies: package data, and in a checkout a link."""

STUDY = "servers"
"""Study that compares latency under load."""


OF_STUDY = re.compile(r'^preset = "([^"]+)"', re.M)
"""Matches the preset of a study, the first one in its file; parsing the whole file takes a hundred times as long."""


@dataclass(frozen=True)
class ErrorCard:
    """The error card of a preset."""

    preset: str
    label: str
    """One of `LABELS`."""
    remark: str
    """Further errors that are known, in words."""
    curves: Mapping[str, Mapping[str, float | None]]
    """Errors as shares, by share of reads in percent."""

    def rows(self) -> list[list[str]]:
        """Returns the cells of the table: a row for each share of reads."""
        return [cells_of(share, errors) for share, errors in self.shares()]

    def shares(self) -> list[tuple[str, Mapping[str, float | None]]]:
        """Returns the shares of reads, most first, with their errors."""
        return sorted(self.curves.items(), key=lambda item: -float(item[0]))

    @property
    def headline(self) -> str:
        """The label, the range of each error over the shares of reads, and the remark."""
        parts = [span_text(name, title, [errors[name] for errors in self.curves.values()]) for name, title in SPANS]
        return f"{self.label}: " + "; ".join(part for part in (*parts, self.remark) if part)


COLUMNS = ("idle", "most", "latency", "near")
"""Errors of a curve in the order of a card."""

SPANS = (("idle", "idle latency"), ("most", "maximum bandwidth"), ("latency", "latency under load"))
"""Errors that a headline has."""


def error_card(preset: str) -> ErrorCard | None:
    """Returns the error card of a preset; None if there is no such preset."""
    about = {name: unvalidated for name, _, unvalidated in _core.presets()}
    if preset not in about:
        return None
    known = read_cards().get(preset)
    if known is not None:
        return ErrorCard(preset, known["label"], f"fitted: {known['fitted']}", known["curves"])
    reason = about[preset]
    if reason is None:
        return ErrorCard(preset, "calibrated", ", ".join(studies_of(preset)), {})
    return ErrorCard(preset, "nothing measured", f"no latency under load; {reason}", {})


def error_cards() -> list[ErrorCard]:
    """Returns the cards of all presets."""
    cards = [error_card(name) for name, _, _ in _core.presets()]
    return [card for card in cards if card is not None]


def read_cards() -> dict[str, Any]:
    """Returns the file of the study: label and errors by preset."""
    from hostnet.files import read_text

    cards: dict[str, Any] = json.loads(read_text(STUDIES / STUDY / "errors.json"))
    return cards


def studies_of(preset: str) -> list[str]:
    """Returns the studies whose server is the preset, each with the number of its rows that pass."""
    from hostnet.files import read_text

    return [
        f"{own['passed']} of {own['judged']} rows of study {name} pass"
        for name, own in json.loads(read_text(STUDIES / "counts.json")).items()
        if (found := OF_STUDY.search(read_text(STUDIES / name / "study.toml"))) is not None and found[1] == preset
    ]


def cells_of(share: str, errors: Mapping[str, float | None]) -> list[str]:
    """Returns the cells of a share of reads."""
    return [f"{share} %", *(cell_text(name, errors[name]) for name in COLUMNS)]


def cell_text(name: str, error: float | None) -> str:
    """Formats an error, with its sign unless it is a mean without signs."""
    return "-" if error is None else format_percent(error, 1, "" if name == "latency" else "+")


def span_text(name: str, title: str, errors: Sequence[float | None]) -> str:
    """Formats the range of an error."""
    known = [error for error in errors if error is not None]
    if not known:
        return ""
    ends = dict.fromkeys(cell_text(name, error) for error in (min(known), max(known)))
    return f"{title} {' to '.join(ends)}"
