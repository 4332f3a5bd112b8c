"""Quantities of latency under load, from the summary of a point of a traced curve."""

from __future__ import annotations

from hostnet.ledger.memory_quantities import Read, of_summary
from hostnet.ledger.quantities import Quantity

CURVE_MEASURES: dict[str, Read] = {"curve_value": lambda summary: summary["value"]}
"""Columns of the table of operating points."""

CURVE_QUANTITIES: dict[str, Quantity] = {name: of_summary(read) for name, read in CURVE_MEASURES.items()}
"""Quantities of curves that `study.toml` can name."""
