"""Charts of horizontal bars: side by side for names, stacked for stages, and to both sides of a line for changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.report.charts import WHISKER_MIN
from hostnet.report.html import Child, Html, element
from hostnet.report.point_charts import linked
from hostnet.report.svg import CHARACTER, WIDTH, LinearScale, bold_width, fitted_ticks, nice_range, text, tick_labels

BAR = 14
"""Height of a bar with the gap below it."""

LINE = 16
"""Height of a line of text."""

BESIDE_MAX = 11
"""Longest name, in characters, that stands beside its bars; longer ones stand above them."""

NAME_MAX = 36
"""Longest name above its bars, in characters; longer ones are cut."""

GROUP_GAP = 8

VALUE_WIDTH = 56
"""Room for the value behind a bar."""

PADDING = 5
"""Smallest room beside the name in a segment."""

AXIS_HEIGHT = 20
"""Room for the labels of the ticks below stacked bars."""


@dataclass(frozen=True)
class Bar:
    """A bar from 0 to a value, with its interval and the text behind it."""

    kind: str
    value: float | None
    """None if nothing was measured; then only the text is shown."""
    label: str
    tooltip: str
    ci95: float | None = None
    link: str | None = None


@dataclass(frozen=True)
class BarGroup:
    """Bars under a common name."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Segment:
    """A part of a stacked bar; its name is drawn in it if there is room."""

    name: str
    kind: str
    value: float
    tooltip: str


@dataclass(frozen=True)
class Stack:
    """A stacked bar, and the text behind it."""

    name: str
    segments: tuple[Segment, ...]
    label: str


def bar_rows(title: str, groups: Sequence[BarGroup], largest: float | None = None, *, width: int = WIDTH) -> Html:
    """Draws a horizontal bar for each value, under or behind the name of its group.

    `largest` is the value of the longest bar, so that several charts can be compared.
    """
    beside = all(len(group.name) <= BESIDE_MAX for group in groups)
    start = max(len(group.name) for group in groups) * CHARACTER + 8 if beside else 2.0
    ends = [(bar.value or 0.0) + (bar.ci95 or 0.0) for group in groups for bar in group.bars]
    scale = LinearScale(0.0, max([*ends, largest or 0.0]) or 1.0, start, width - VALUE_WIDTH)
    parts: list[Child] = []
    y = 2.0
    for group in groups:
        height = len(group.bars) * BAR
        parts.append(
            name_text(group.name, start - 6, y + height / 2 + 3) if beside else name_text(group.name, 0, y + 12)
        )
        y += 0 if beside else LINE
        parts.append(element("line", x1=start, x2=start, y1=y - 1, y2=y + height, class_="axis"))
        for bar in group.bars:
            parts += draw_bar(bar, scale, y)
            y += BAR
        y += GROUP_GAP
    return element("svg", *parts, viewBox=f"0 0 {width} {y:g}", role="img", aria_label=title)


def name_text(name: str, x: float, y: float) -> Html:
    """Draws the name of a group: right-aligned beside its bars, or left-aligned above them, where it may be cut."""
    if x:
        return text(name, x, y, anchor="end", class_="of")
    cut = name if len(name) <= NAME_MAX else f"{name[: NAME_MAX - 1]}…"
    return element("g", element("title", name), text(cut, 0, y, class_="of"))


def draw_bar(bar: Bar, scale: LinearScale, y: float) -> list[Html]:
    """Draws a bar with its interval and its value."""
    end = scale(bar.value or 0.0)
    middle = y + BAR / 2 - 1
    reach = end
    drawn = []
    if bar.value is not None:
        rect = element(
            "rect",
            element("title", bar.tooltip),
            x=scale.start,
            y=y,
            width=round(end - scale.start, 2),
            height=BAR - 2,
            class_=f"bar fill-{bar.kind}",
        )
        drawn.append(linked(rect, bar.link))
    if bar.value is not None and bar.ci95:
        low, reach = scale(max(bar.value - bar.ci95, 0.0)), scale(bar.value + bar.ci95)
        if reach - low > WHISKER_MIN:
            drawn.append(element("line", x1=low, x2=reach, y1=middle, y2=middle, class_="whisker interval"))
    return [*drawn, text(bar.label, reach + 5, middle + 4)]


def stack_rows(title: str, stacks: Sequence[Stack], x_label: str, *, width: int = WIDTH) -> Html:
    """Draws a bar for each stack, whose segments follow each other from left to right, over an axis."""
    start = max(len(stack.name) for stack in stacks) * CHARACTER + 10
    totals = [sum(segment.value for segment in stack.segments) for stack in stacks]
    _, high, ticks = nice_range([0.0, *totals], floor=0.0)
    scale = LinearScale(0.0, high, start, width - VALUE_WIDTH)
    base = 2 + len(stacks) * (2 * BAR)
    parts: list[Child] = []
    for tick, label in fitted_ticks(list(zip(ticks, tick_labels(ticks), strict=True)), scale):
        parts.append(element("line", x1=scale(tick), x2=scale(tick), y1=0, y2=base, class_="grid"))
        parts.append(text(label, scale(tick), base + 14, anchor="middle"))
    for number, (stack, total) in enumerate(zip(stacks, totals, strict=True)):
        y = 2 + number * 2 * BAR
        parts.append(text(stack.name, start - 8, y + BAR + 2, anchor="end", class_="of"))
        parts += draw_segments(stack, scale, y)
        parts.append(text(stack.label, scale(total) + 5, y + BAR + 2, class_="of"))
    parts.append(text(x_label, (start + width - VALUE_WIDTH) / 2, base + AXIS_HEIGHT + 10, anchor="middle"))
    return element("svg", *parts, viewBox=f"0 0 {width} {base + AXIS_HEIGHT + 14}", role="img", aria_label=title)


def draw_segments(stack: Stack, scale: LinearScale, y: float) -> list[Html]:
    """Draws the segments of a stack, with a small gap between them."""
    drawn = []
    before = 0.0
    for segment in stack.segments:
        left, right = scale(before), scale(before + segment.value)
        before += segment.value
        if right - left < 0.5:
            continue
        rect = element(
            "rect",
            element("title", segment.tooltip),
            x=left,
            y=y + 1,
            width=round(max(right - left - 0.7, 0.0), 2),
            height=2 * BAR - 6,
            class_=f"segment fill-{segment.kind}",
        )
        drawn.append(rect)
        if right - left > bold_width(segment.name) + PADDING:
            drawn.append(text(segment.name, (left + right) / 2, y + BAR + 2, anchor="middle", class_="inside"))
    return drawn
