"""Chart of changes: bars to the left for decreases and to the right for increases, on an axis of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.report.html import Child, Html, element
from hostnet.report.svg import CHARACTER, LinearScale, fitted_ticks, nice_step, text
from hostnet.units import format_percent

WIDTH = 450

LINE = 17
"""Height of the line with the name and the values of a change."""

BAR = 13

ROW = LINE + BAR + 9
"""Height of a change."""

LABEL = 66
"""Room for the label at the end of the longest bar."""

NAME_MAX = 30
"""Longest name, in characters; longer ones are cut."""

FACTORS_FROM = 1.5
"""Smallest ratio from which on the axis has factors, up to a factor of 2 at least; below it has percent."""

SPAN_MIN = 0.01
"""Smallest half of the axis, as the logarithm of a ratio, so that noise does not fill it."""

TICKS_MAX = 3
"""Maximum number of ticks on each side."""

TIMES, DIVIDED = "\u00d7", "\u00f7"


@dataclass(frozen=True)
class Change:
    """A change of a positive value: its ratio, and the ends of its interval."""

    name: str
    values: str
    """Both values, as text."""
    ratio: float
    low: float
    high: float
    label: str
    certain: bool
    """False if the change may be noise."""


def change_span(changes: Sequence[Change]) -> float:
    """Returns half of the axis that has room for some changes, as the logarithm of a ratio."""
    ends = [abs(math.log(end)) for change in changes for end in (change.low, change.ratio, change.high) if end > 0]
    span = max([*ends, SPAN_MIN])
    return span if span < math.log(FACTORS_FROM) else max(span, math.log(2.0))


def change_rows(title: str, changes: Sequence[Change], span: float) -> Html:
    """Draws a bar for each change on an axis from `-span` to `span`."""
    scale = LinearScale(-span, span, LABEL, WIDTH - LABEL)
    base = len(changes) * ROW
    parts: list[Child] = []
    for place, label in fitted_ticks(ratio_ticks(span), scale):
        x = scale(place)
        parts.append(element("line", x1=x, x2=x, y1=0, y2=base, class_="axis" if not place else "grid"))
        parts.append(text(label, x, base + 14, anchor="middle"))
    for index, change in enumerate(changes):
        parts += draw_change(change, scale, index * ROW)
    return element("svg", *parts, viewBox=f"0 0 {WIDTH} {base + 20}", role="img", aria_label=title)


def draw_change(change: Change, scale: LinearScale, y: float) -> list[Html]:
    """Draws the name and the values of a change, and below them its bar with its interval."""
    zero, end = scale(0.0), scale(math.log(change.ratio))
    room = (WIDTH - len(change.values) * CHARACTER) / CHARACTER
    most = max(int(min(NAME_MAX, room - 1)), 4)
    name = change.name if len(change.name) <= most else f"{change.name[: most - 1]}…"
    kind = "a" if change.ratio >= 1 else "b"
    rect = element(
        "rect",
        element("title", f"{change.name}\n{change.values}\n{change.label}"),
        x=min(zero, end),
        y=y + LINE,
        width=round(abs(end - zero), 2),
        height=BAR,
        class_=f"bar fill-{kind}" + ("" if change.certain else " doubtful"),
    )
    drawn = [
        element("g", element("title", change.name), text(name, 0, y + 12, class_="of")),
        text(change.values, WIDTH, y + 12, anchor="end"),
        rect,
    ]
    low, high = (scale(math.log(end)) if end > 0 else 0.0 for end in (change.low, change.high))
    middle = y + LINE + BAR / 2
    if high - low > 3:
        drawn.append(element("line", x1=max(low, 0.0), x2=high, y1=middle, y2=middle, class_="whisker interval"))
    left = change.ratio < 1
    reach = (min(low, end) if left else max(high, end)) if high > low else end
    at = max(reach - 5, LABEL - 4) if left else min(reach + 5, WIDTH - LABEL + 4)
    return [*drawn, text(change.label, at, middle + 4, anchor="end" if left else "start", class_="of")]


def ratio_ticks(span: float) -> list[tuple[float, str]]:
    """Returns ticks on both sides of 0 and their labels: in percent for small changes, or as factors."""
    if span < math.log(FACTORS_FROM):
        step = nice_step(math.expm1(span), TICKS_MAX)
        shares = [index * step for index in range(-TICKS_MAX, TICKS_MAX + 1)]
        ticks = [(math.log1p(share), format_percent(share, sign="+") if share else "0") for share in shares]
    else:
        factor = 2.0 ** max(math.ceil(span / math.log(2) / TICKS_MAX), 1)
        powers = range(-TICKS_MAX, TICKS_MAX + 1)
        ticks = [(power * math.log(factor), factor_text(factor ** abs(power), power)) for power in powers]
    return [tick for tick in ticks if abs(tick[0]) <= span]


def factor_text(factor: float, power: int) -> str:
    """Formats a factor or a divisor."""
    return f"{TIMES if power >= 0 else DIVIDED} {factor:g}"
