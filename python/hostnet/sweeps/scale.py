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

_CORES = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*")

CORES_MAX = 1 << 16
"""Maximum number of cores that a list is counted to; longer lists are names."""


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
    numeric: bool
    """True if the values are quantities, along which a line may be drawn; False if they are names."""


def is_numeric(axis: Axis) -> bool:
    """Returns True if the values of a parameter are quantities."""
    return _numbers_of(axis)[0] is not None


def scale_of(axis: Axis, name: str | None = None) -> Scale:
    """Creates the axis of a parameter: numbers at their values, also with units of one kind; texts side by side.

    Lists of cores each of which contains the one before it lie at their numbers of cores. `name` is the title, by
    default the path.
    """
    name = name or axis.path
    numbers, unit = _numbers_of(axis)
    if numbers is None:
        names = [_short(value.name) for value in axis.values]
        labelled = _thinned(len(names))
        labels = [names[index] for index in labelled]
        places = [float(index) for index in range(len(names))]
        ticks = [places[index] for index in labelled]
        return Scale(name, list(range(len(names))), places, ticks, labels, 0, _long(labels), numeric=False)
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    places = [numbers[index] for index in order]
    base = 2 if places[0] > 0 and places[-1] / places[0] >= LOGARITHMIC_FROM and _growing(places) else 0
    ticks = _apart(places, base) if len(places) <= TICKS_MAX else [places[index] for index in _thinned(len(places))]
    if unit is None:
        typed = dict(zip(numbers, axis.values, strict=True))
        labels = [_short(typed[tick].name) for tick in ticks]
    else:
        labels = [f"{tick:g}" if abs(tick) < 1e6 else f"{tick:.3g}" for tick in ticks]
    title = f"{name}, {unit}" if unit else name
    return Scale(title, order, places, ticks, labels, base, _long(labels), numeric=True)


def evenly_spaced(count: int, most: int) -> list[int]:
    """Returns all indices below `count`, or `most` of them, evenly spaced from the first to the last."""
    if count <= most:
        return list(range(count))
    return [round(step * (count - 1) / (most - 1)) for step in range(most)]


def _numbers_of(axis: Axis) -> tuple[list[float] | None, str | None]:
    """Returns the values as numbers and their unit: None if units differ, "" without a unit."""
    contents = axis.columns
    if all(isinstance(content, int | float) and not isinstance(content, bool) for content in contents):
        return [float(content) for content in contents], ""
    if (cores := _cores_of(axis)) is not None:
        return cores, ""
    matches = [_WITH_UNIT.fullmatch(str(content)) for content in contents]
    known = [(float(match[1]), match[2]) for match in matches if match]
    units = {unit for _, unit in known}
    if len(known) < len(contents):
        return None, None
    if len(units) == 1:
        return [number for number, _ in known], units.pop()
    family = next((family for family in FAMILIES if units <= family.keys()), None)
    return (None if family is None else [float(number * family[unit]) for number, unit in known]), None


def _cores_of(axis: Axis) -> list[float] | None:
    """Returns the number of cores of each list of cores; None unless the shorter lists are parts of the longer ones."""
    texts = [str(content) for content in axis.columns]
    if axis.path.rpartition(".")[2] != "cores" or not all(map(_CORES.fullmatch, texts)):
        return None
    lists = [_numbers_in(text) for text in texts]
    known = sorted((cores for cores in lists if cores is not None), key=len)
    if len(known) < len(lists) or not all(small < large for small, large in pairwise(known)):
        return None
    return [float(len(cores)) for cores in lists if cores is not None]


def _numbers_in(text: str) -> set[int] | None:
    """Returns the numbers in a list of cores, such as "0-3,8"; None if there are very many."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        if len(found) + len(numbers) > CORES_MAX:
            return None
        found.update(numbers)
    return found


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
