"""Effects of the swept parameters: which one matters, by how much, and which one changes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.series import Choice, Dot, Metric, Sweep


@dataclass(frozen=True)
class Effect:
    """Largest change of a metric along a parameter while all other parameters keep their values."""

    axis: Axis
    workload: str
    metric: Metric
    low: float
    high: float
    ratio: float
    """Largest value over the smallest one; infinite if that is 0."""
    rises: bool
    """True if the largest value comes after the smallest one in the order of the parameter's values."""
    beyond: bool
    """True unless the confidence intervals of both values overlap."""


def effects_of(sweeps: Sequence[Sweep]) -> list[Effect]:
    """Returns the effect of every parameter on every metric that it changes, the largest first.

    Effects beyond the confidence intervals come before those that may be noise.
    """
    found = [
        effect
        for sweep in sweeps
        for place in range(len(sweep.axes))
        for metric in sweep.metrics
        if (effect := _effect(sweep, place, metric)) is not None
    ]
    return sorted(found, key=lambda effect: (not effect.beyond, not math.isfinite(effect.ratio), -effect.ratio))


def _effect(sweep: Sweep, place: int, metric: Metric) -> Effect | None:
    """Returns the effect of a parameter on a metric; None if it changes nothing."""
    largest: Effect | None = None
    for rank in _ranks(sweep, place, metric):
        known = [dot for dot in rank if dot[0] is not None]
        if len(known) < 2:
            continue
        low, high = min(known, key=_value), max(known, key=_value)
        if _value(low) == _value(high):
            continue
        ratio = _value(high) / _value(low) if _value(low) > 0 else math.inf
        if largest is None or ratio > largest.ratio:
            rises = known.index(high) > known.index(low)
            beyond = _value(high) - _value(low) > (low[1] or 0.0) + (high[1] or 0.0)
            axis = sweep.axes[place]
            largest = Effect(axis, sweep.workload, metric, _value(low), _value(high), ratio, rises, beyond)
    return largest


def _value(dot: Dot) -> float:
    """Returns the value of a dot, 0 without one."""
    return dot[0] or 0.0


def _ranks(sweep: Sweep, place: int, metric: Metric) -> Iterator[list[Dot]]:
    """Yields the values of a metric along a parameter, for every combination of the others."""
    sizes = [len(axis.values) for axis in sweep.axes]
    for others in product(*(range(size) for index, size in enumerate(sizes) if index != place)):
        yield [sweep.dot((*others[:place], index, *others[place:]), metric) for index in range(sizes[place])]


def without_idle(sweeps: Sequence[Sweep]) -> tuple[list[Sweep], list[Axis]]:
    """Returns the results without the parameters that change no metric of any workload, and these parameters.

    One parameter always stays.
    """
    axes = sweeps[0].axes if sweeps else ()
    idle = [place for place in range(len(axes)) if not any(_moves(sweep, place) for sweep in sweeps)]
    idle = idle[1:] if len(idle) == len(axes) else idle
    kept = [place for place in range(len(axes)) if place not in idle]
    return [_reduced(sweep, kept) for sweep in sweeps], [axes[place] for place in idle]


def _moves(sweep: Sweep, place: int) -> bool:
    """Returns True if a parameter changes any metric of a workload."""
    return any(_differ(rank) for metric in sweep.measured for rank in _ranks(sweep, place, metric))


def _differ(rank: Iterable[Dot]) -> bool:
    """Returns True if values differ, or one is missing where another one is not."""
    return len({value for value, _ in rank}) > 1


def _reduced(sweep: Sweep, kept: Sequence[int]) -> Sweep:
    """Returns the results at the first value of every parameter that is not kept."""

    def short(choice: Choice) -> Choice:
        return tuple(choice[place] for place in kept)

    others = [place for place in range(len(sweep.axes)) if place not in kept]
    dots = {
        (short(choice), column): dot
        for (choice, column), dot in sweep.dots.items()
        if all(choice[place] == 0 for place in others)
    }
    return replace(sweep, axes=tuple(sweep.axes[place] for place in kept), dots=dots)
