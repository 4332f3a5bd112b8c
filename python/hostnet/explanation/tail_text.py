"""Text about latency objectives of services, their values and causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.explanation.slo import microseconds
from hostnet.explanation.text import wrapped
from hostnet.units import format_percent, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.explanation.tail import Removed, Tail, Tails

NOT_A_SUM = (
    "Each value is from runs without one cause, everything else unchanged. The effects do not add up, because causes "
    "interact."
)
"""Note below the values without each cause."""


def tails_text(found: Tails) -> str:
    """Returns the page, as wide as other pages."""
    parts = [wrapped(found.name), *(list(tail_lines(tail, len(found.seeds))) for tail in found.tails)]
    if found.seeds:
        parts.append(wrapped(NOT_A_SUM))
    parts.append([line for note in notes_of(found) for line in wrapped(f"note: {note}", hang=6)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def notes_of(found: Tails) -> list[str]:
    """Returns all notes, also on causes that could not be removed."""
    notes = list(found.notes)
    if found.absent:
        notes.append(f"not there, so that nothing could be taken away: {', '.join(found.absent)}")
    return [*notes, *(f"{cause} could not be taken away: {why}" for cause, why in (found.untried or {}).items())]


def tail_lines(tail: Tail, seeds: int) -> Iterator[str]:
    """Yields an objective, and the values without each cause."""
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
    width = max(len(cause_label(row)) for row in tail.rows)
    for row in tail.rows:
        yield f"    {cause_label(row):{width}}  {effect_text(row)}"
    yield from wrapped(conclusion(tail), 2)


def verdict(tail: Tail) -> str:
    """Says whether an objective is met, and by how much."""
    promise = tail.promise
    slo, margin_us = promise.slo, promise.margin_us
    sign = "<=" if slo.inclusive else "<"
    objective = f"{slo.quantity} {sign} {microseconds(slo.limit_us)}"
    where = f"{promise.service} at {promise.host}"
    if promise.value_us is None or margin_us is None:
        return f"{where}: {objective} is not met: no request was answered"
    share = abs(margin_us) / slo.limit_us
    side = "below" if margin_us >= 0 else "above"
    margin = f"{microseconds(abs(margin_us))} ({share_text(share)}) {side} it" if margin_us else "just that"
    met = "met" if promise.met else "not met"
    return f"{where}: {objective} is {met}: {slo.quantity} is {microseconds(promise.value_us)}, {margin}"


def cause_label(row: Removed) -> str:
    """Describes a cause and the change that removes it."""
    return f"{row.cause} ({row.done})" if row.done else row.cause


def cause_cells(row: Removed) -> list[str]:
    """Formats the cells of a cause: the change that removes it, the value without it, and the relative change."""
    if row.value_us is None or row.gain is None:
        return [cause_label(row), "no request was answered", ""]
    noise = f" ±{100 * row.noise:.0f}" if row.noise is not None else ""
    return [cause_label(row), microseconds(row.value_us), f"{format_percent(-row.gain, sign='+'):>6}{noise}"]


def effect_text(row: Removed) -> str:
    """Formats the value without a cause, and its relative change."""
    _, value, change = cause_cells(row)
    return f"{value:>9}  {change}".rstrip()


def conclusion(tail: Tail) -> str:
    """Says which cause matters most, as far as known."""
    quantity = tail.promise.slo.quantity
    if not tail.named:
        return f"The cause of {quantity} is not known: removing any of these changes it by no more than the noise."
    if len(tail.named) == 1:
        text = f"The main cause is {tail.named[0]}: removing it improves {quantity} most."
    else:
        text = f"The main cause is {' or '.join(tail.named)}: so few runs cannot distinguish them."
    missing = [row.cause for row in tail.removed if row.value_us is not None and _would_meet(tail, row.value_us)]
    if not tail.promise.met:
        text += f" Enough to meet it alone: {', '.join(missing)}." if missing else " None of them alone would meet it."
    return text


def _would_meet(tail: Tail, value_us: float) -> bool:
    """Returns True if a value would meet the objective."""
    return value_us < tail.promise.slo.limit_us
