"""The committed counts, and the messages if the current counts differ."""

from __future__ import annotations

import json
from pathlib import Path

from tests.house.counts import COUNTS

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("table.json")
COMMAND = ".venv/bin/python -m tests.house"
SHOWN_MAX = 30


def committed() -> dict[str, int]:
    """Returns the committed counts."""
    table: dict[str, int] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def complaint(name: str, places: list[str], allowed: int) -> str | None:
    """Returns the problem with a count and its remedy; None if it is as committed."""
    count = COUNTS[name]
    if len(places) > allowed:
        shown = [*places[:SHOWN_MAX], *(["..."] if len(places) > SHOWN_MAX else [])]
        return "\n".join([f"{len(places)} {count.what}, at most {allowed} may be: {count.instead}.", *shown])
    if len(places) < allowed:
        return f"only {len(places)} {count.what} are left of {allowed}; keep it so: {COMMAND}"
    return None


def lowered(table: dict[str, int], root: Path) -> dict[str, int]:
    """Returns the table with every count that has decreased. None is ever raised."""
    return {name: min(table.get(name, len(found)), len(found)) for name, found in counted(root).items()}


def counted(root: Path) -> dict[str, list[str]]:
    """Returns the places of every count."""
    return {name: count.places(root) for name, count in COUNTS.items()}


def write(table: dict[str, int]) -> None:
    """Writes these counts to the table."""
    TABLE.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
