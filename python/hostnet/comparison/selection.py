"""Selects the differences to show: the first ones of every table, without repetitions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.comparison.differences import ResultDifference

RESULTS_PER_TABLE = 6
"""Number of results of a table that precede those of later tables."""

MINOR = {"sources"}
"""Text columns that repeat other columns."""


def first_of_each_table(differences: Sequence[ResultDifference], most: int) -> list[ResultDifference]:
    """Returns the first differences of every table, and more up to `most` while there is room, in order."""
    ranks: Counter[str] = Counter()
    order = []
    for index, difference in enumerate(differences):
        # Ranking within each table keeps a table with many rows from crowding out the others.
        order.append((ranks[difference.table] // RESULTS_PER_TABLE, index))
        ranks[difference.table] += 1
    return [differences[index] for index in sorted(index for _, index in sorted(order)[:most])]


def without_repetitions(differences: Sequence[ResultDifference]) -> list[ResultDifference]:
    """Omits columns that repeat others, and differences of the only workload of a domain that equal the domain's."""
    whole = {
        (difference.subject, difference.column, difference.a, difference.b)
        for difference in differences
        if " of " not in difference.subject
    }
    return [
        difference
        for difference in differences
        if difference.column not in MINOR
        and (
            " of " not in difference.subject
            or (difference.subject.partition(" of ")[0], difference.column, difference.a, difference.b) not in whole
        )
    ]
