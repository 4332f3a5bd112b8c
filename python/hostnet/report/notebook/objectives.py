"""Latency objectives of services as the output of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.report.html import element
from hostnet.report.notebook.block import block, headline, notes_list, small_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostnet.report.html import Html

    Objective = tuple[str, list[list[str]], str | None]
    """Verdict, a row for each cause that was removed, and the conclusion."""


def objectives_block(name: str, objectives: Sequence[Objective], notes: Sequence[str]) -> str:
    """Returns the output of a cell: each objective with the values without each cause."""
    met = headline(name, f"{len(objectives)} objective{'' if len(objectives) == 1 else 's'}")
    return block(met, *(part for objective in objectives for part in objective_parts(objective)), notes_list(notes))


def objective_parts(objective: Objective) -> Iterator[Html | None]:
    """Yields the verdict on an objective, the table of causes, and the conclusion."""
    verdict, causes, conclusion = objective
    yield element("p", verdict, class_="verdict")
    yield small_table(["without", "value", "change"], causes)
    yield None if conclusion is None else element("p", conclusion)
