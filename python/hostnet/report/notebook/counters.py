"""Files of hardware counters as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.report.notebook.block import block, headline, notes_list, small_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def counters_block(path: str, facts: str, total: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Returns the output of a cell: the quantities over all windows, what is missing, and caveats."""
    rows = [row for name, value in total.items() for row in quantity_rows(name, value)]
    return block(headline(path, facts), small_table(["quantity", "mean"], rows), notes_list(notes))


def quantity_rows(name: str, value: Any) -> list[list[str]]:
    """Returns a row for a quantity, or for each of its parts; quantities that the file lacks have none."""
    if isinstance(value, dict):
        return [row for part, own in value.items() for row in quantity_rows(f"{name}.{part}", own)]
    return [] if value is None else [[name, f"{value:.6g}"]]
