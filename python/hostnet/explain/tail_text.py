"""What is promised of services, what came of it, and why, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.explain.slo import microseconds
from hostnet.explain.text import wrapped
from hostnet.units import format_percent, share_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.explain.tail import Removed, Tail, Tails

NOT_A_SUM = (
    "Each value is of runs without one cause and everything else as it was. They do not add up: causes act on one "
    "another."
)
"""Stands below the values without each cause."""


def tails_text(found: Tails) -> str:
    """The page, at most as wide as other pages."""
    parts = [wrapped(found.name), *(list(tail_lines(tail, len(found.seeds))) for tail in found.tails)]
    if found.seeds:
        parts.append(wrapped(NOT_A_SUM))
    notes = list(found.notes)
    if found.absent:
        notes.append(f"not there, so that nothing could be taken away: {', '.join(found.absent)}")
    notes += [f"{cause} could not be taken away: {why}" for cause, why in (found.untried or {}).items()]
    parts.append([line for note in notes for line in wrapped(f"note: {note}", hang=6)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def tail_lines(tail: Tail, seeds: int) -> Iterator[str]:
    """A promise, and the values without each cause."""
    yield from wrapped(verdict(tail))
    if not tail.removed:
        return
    known = [value for value in tail.values_us if value is not None]
    quantity = tail.promise.slo.quantity
    if not known:
        yield from wrapped("No request was answered under any seed.", 2)
        return
    before_us = sum(known) / len(known)
    spread = f"{microseconds(min(known))} to {microseconds(max(known))}"
    yield from wrapped(f"{quantity} under {seeds} seeds: {microseconds(before_us)} ({spread}). Without", 2)
    rows = [*tail.removed, *([tail.together] if tail.together is not None else [])]
    width = max(len(label(row)) for row in rows)
    for row in rows:
        yield f"    {label(row):{width}}  {effect(row)}"
    yield from wrapped(conclusion(tail), 2)


def verdict(tail: Tail) -> str:
    """Whether a promise is kept, and by how much."""
    promise = tail.promise
    slo, margin_us = promise.slo, promise.margin_us
    sign = "<=" if slo.inclusive else "<"
    asked = f"{slo.quantity} {sign} {microseconds(slo.limit_us)}"
    where = f"{promise.service} at {promise.host}"
    if promise.value_us is None or margin_us is None:
        return f"{where}: {asked} is not met: no request was answered"
    share = abs(margin_us) / slo.limit_us
    side = "below" if margin_us >= 0 else "above"
    said = f"{microseconds(abs(margin_us))} ({share_in_words(share)}) {side} it" if margin_us else "just that"
    met = "met" if promise.met else "not met"
    return f"{where}: {asked} is {met}: {slo.quantity} is {microseconds(promise.value_us)}, {said}"


def label(row: Removed) -> str:
    """A cause, and what was done to be without it."""
    return f"{row.cause} ({row.done})" if row.done else row.cause


def effect(row: Removed) -> str:
    """The value without a cause, and by how much it is another."""
    if row.value_us is None or row.gain is None:
        return "no request was answered"
    noise = f" ±{100 * row.noise:.0f}" if row.noise is not None else ""
    return f"{microseconds(row.value_us):>9}  {format_percent(-row.gain, sign='+'):>6}{noise}"


def conclusion(tail: Tail) -> str:
    """The cause whose removal helps most, as far as that is known."""
    quantity = tail.promise.slo.quantity
    if not tail.named:
        return f"Why {quantity} is what it is, is not known: nothing helps more than the noise when it is taken away."
    if len(tail.named) == 1:
        said = f"Most comes from {tail.named[0]}: nothing helps {quantity} more when it is taken away."
    else:
        said = f"Most comes from {' or '.join(tail.named)}: they cannot be told apart in so few runs."
    missing = [row.cause for row in tail.removed if row.value_us is not None and _keeps(tail, row.value_us)]
    if not tail.promise.met:
        said += f" Alone enough to meet it: {', '.join(missing)}." if missing else " None of them alone would meet it."
    return said


def _keeps(tail: Tail, value_us: float) -> bool:
    return value_us < tail.promise.slo.limit_us
