"""Finds swept parameters that changed no result."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from hostnet._core import ConfigError
from hostnet.running.skipped import note_on
from hostnet.sweeps.axis import shown
from hostnet.sweeps.outcome import ROWS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.grid import Grid
    from hostnet.sweeps.journal import Journal


LISTED_MAX = 5
"""Maximum number of values that a note lists."""


class NothingChangedError(ConfigError):
    """Raised if all results of a sweep are the same."""


def notes_on(grid: Grid, journal: Journal) -> list[str]:
    """Returns notes on parameters that changed no result, and on values with equal results.

    Raises:
        NothingChangedError: No parameter changed any result.
    """
    digests = [[hashlib.sha256() for _ in axis.values] for axis in grid.axes]
    idle = {axis.path for axis in grid.axes}
    outside = 0
    for point in range(len(grid)):
        outcome = journal.outcome(point)
        idle &= set(outcome["no_effect"])
        outside += bool(outcome["extras"].get("outside"))
        influence = outcome["influence"].encode()
        for of_axis, index in zip(digests, grid.choice(point), strict=False):
            of_axis[index].update(influence)
    for axis, of_axis in zip(grid.axes, digests, strict=True):
        if len(of_axis) > 1:
            changes_nothing = len({digest.digest() for digest in of_axis}) == 1
            # A rule that was not met while measuring may have acted during the warm-up.
            (idle.add if changes_nothing else idle.discard)(axis.path)
    swept = [axis.path for axis in grid.axes if len(axis.values) > 1]
    if swept and idle.issuperset(swept):
        what = "changes nothing: its values give" if len(swept) == 1 else "change nothing: all their values give"
        raise NothingChangedError(
            "no-effect", f"--over {', '.join(swept)}: {what} the same results, so there is no table to write"
        )
    notes = [f"{axis.path} had no influence on any result of this sweep" for axis in grid.axes if axis.path in idle]
    for axis, of_axis in zip(grid.axes, digests, strict=True):
        if axis.path not in idle:
            notes += [f"{axis.path}: {same} gave the same results" for same in _equal_value_groups(axis, of_axis)]
    if outside:
        covered = f"{outside} of {len(grid)} points lie outside of what the predictor covers"
        notes.append(f"{covered}; column outside says why")
    return [*notes, *_forward_notes(grid, journal), *_omission_notes(grid, journal)]


def _forward_notes(grid: Grid, journal: Journal) -> Iterator[str]:
    """Yields a note on what fast-forward skipped, if any point asks for it."""
    outcomes = (journal.outcome(point) for point in range(len(grid)))
    shares = [share for outcome in outcomes if (share := outcome.get("skipped_share")) is not None]
    if shares:
        yield note_on(shares)


def _omission_notes(grid: Grid, journal: Journal) -> Iterator[str]:
    """Yields a note for each table with omitted rows."""
    counts: Counter[str] = Counter()
    for point in range(len(grid)):
        counts.update({name: table["left_out"] for name, table in journal.outcome(point)["tables"].items()})
    for name, count in counts.items():
        if count:
            yield f"tables/{name}.parquet has only the first {ROWS_MAX} rows of each point; {count} are left out"


def _equal_value_groups(axis: Axis, of_axis: list[hashlib._Hash]) -> list[str]:
    """Returns the groups of values with equal results."""
    groups: dict[bytes, list[str]] = {}
    for value, digest in zip(axis.values, of_axis, strict=True):
        groups.setdefault(digest.digest(), []).append(shown(value.name))
    return [_listed(names) for names in groups.values() if len(names) > 1]


def _listed(names: list[str]) -> str:
    """Lists values."""
    if len(names) > LISTED_MAX:
        return f"{len(names)} values from {names[0]} to {names[-1]}"
    return f"{', '.join(names[:-1])} and {names[-1]}"
