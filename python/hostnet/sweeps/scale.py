"""Positions of the values of a parameter on an x axis."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hostnet.sweeps.axis import shown
from hostnet.units import unit_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.sweeps.axis import Axis

TICKS_MAX = 9
"""Maximum number of values that are labelled individually."""

LETTERS_MAX = 30
"""Total length of the labels, in characters, above which they are slanted."""

LABEL_MAX = 24
"""Longest label; longer ones are cut."""

NEAR = 0.045
"""Distance between two labels, as a share of the axis."""

LOGARITHMIC_FROM = 12
"""Ratio of the largest to the smallest value at or above which the axis is logarithmic."""

_WITH_UNIT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-zµμ/%]+)\s*")


FAMILIES = [unit_sizes(dimension) for dimension in ("time", "size", "bandwidth", "frequency")]
"""Units that can be converted into each other, with their sizes."""


@dataclass(frozen=True)
class Scale:
    """An x axis."""

    title: str
    order: list[int]
    """Indices of the values in the order of their positions."""
    places: list[float]
    ticks: list[float]
    labels: list[str]
    base: int
    """Base of the logarithm; 0 for a linear axis."""
    slanted: bool


def scale_of(axis: Axis) -> Scale:
    """Creates the axis of a parameter: numbers at their values, also with units of one kind; texts side by side."""
    numbers, unit = _numbers_of(axis)
    if numbers is None:
        names = [_short(value.name) for value in axis.values]
        labelled = _thinned(len(names))
        labels = [names[index] for index in labelled]
        places = [float(index) for index in range(len(names))]
        return Scale(
            axis.path, list(range(len(names))), places, [places[index] for index in labelled], labels, 0, _long(labels)
        )
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    places = [numbers[index] for index in order]
    base = 2 if places[0] > 0 and places[-1] / places[0] >= LOGARITHMIC_FROM and _growing(places) else 0
    ticks = _apart(places, base) if len(places) <= TICKS_MAX else [places[index] for index in _thinned(len(places))]
    if unit is None:
        typed = dict(zip(numbers, axis.values, strict=True))
        labels = [_short(typed[tick].name) for tick in ticks]
    else:
        labels = [f"{tick:g}" if abs(tick) < 1e6 else f"{tick:.3g}" for tick in ticks]
    title = f"{axis.path}, {unit}" if unit else axis.path
    return Scale(title, order, places, ticks, labels, base, _long(labels))


def _numbers_of(axis: Axis) -> tuple[list[float] | None, str | None]:
    """Returns the values as numbers and their unit: None if units differ, "" without a unit."""
    contents = axis.columns
    if all(isinstance(content, int | float) and not isinstance(content, bool) for content in contents):
        return [float(content) for content in contents], ""
    matches = [_WITH_UNIT.fullmatch(str(content)) for content in contents]
    known = [(float(match[1]), match[2]) for match in matches if match]
    units = {unit for _, unit in known}
    if len(known) < len(contents):
        return None, None
    if len(units) == 1:
        return [number for number, _ in known], units.pop()
    family = next((family for family in FAMILIES if units <= family.keys()), None)
    return (None if family is None else [float(number * family[unit]) for number, unit in known]), None


def _growing(places: Sequence[float]) -> bool:
    """Returns True if the steps grow with the values; even steps are more readable on a linear axis."""
    steps = [after - before for before, after in pairwise(places)]
    return len(steps) > 1 and steps[-1] > 2 * steps[0]


def _apart(places: Sequence[float], base: int) -> list[float]:
    """Returns the values whose labels do not overlap; the first one stays."""
    from math import log

    at = [log(place) if base else place for place in places]
    width = (at[-1] - at[0]) or 1.0
    kept = [0]
    for index in range(1, len(at)):
        if at[index] - at[kept[-1]] >= NEAR * width:
            kept.append(index)
    return [places[index] for index in kept]


def _thinned(count: int) -> range:
    """Returns the indices of the labelled values."""
    return range(0, count, -(-count // TICKS_MAX))


def _short(label: str) -> str:
    """Shortens a label."""
    return shown(label if len(label) <= LABEL_MAX else f"{label[: LABEL_MAX - 1]}…")


def _long(labels: Sequence[str]) -> bool:
    """Returns True if the labels must be slanted."""
    return sum(map(len, labels)) > LETTERS_MAX
