"""Axes and marks of the charts, as SVG markup. Colours come from the style of the page, which has a dark mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hostnet.report.html import Child, Html, element

WIDTH = 300
HEIGHT = 206
LEFT = 44
RIGHT = 6
TOP = 8
BOTTOM = 38

SHAPES = dict(zip("efgh", "abcd", strict=True))
"""Kinds that have the shape of another kind in a colour of their own."""

CHARACTER = 7.7
"""Width of a wide character of a label, a digit in wide fonts."""

MARGIN_CHARACTERS = 5
"""Number of characters that fit beside the y axis."""

BOLD = (7.2, 9.4)
"""Mean widths of a small and of a capital letter in bold."""


@dataclass(frozen=True)
class LinearScale:
    """Maps values to positions: `low` to `start`, `high` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Returns the position of a value, rounded to a hundredth of a unit."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)


@dataclass(frozen=True)
class LogScale(LinearScale):
    """Maps the logarithms of positive values to positions: `low` to `start`, `high` to `end`."""

    def __call__(self, value: float) -> float:
        """Returns the position of a value, rounded to a hundredth of a unit."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 2)


def nice_step(span: float, count: int) -> float:
    """Returns the distance of about `count` round ticks over a span: 1, 2 or 5 times a power of ten."""
    raw = span / count
    size = 10.0 ** math.floor(math.log10(raw))
    return next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)


def nice_range(values: Sequence[float], count: int = 5, floor: float | None = None) -> tuple[float, float, list[float]]:
    """Returns a range of round numbers around the values, and its ticks. It starts at `floor` or below."""
    low, high = min(values), max(values)
    if floor is not None:
        low = min(low, floor)
    if high - low < 1e-9:
        high = low + (abs(low) * 0.1 or 1.0)
    step = nice_step(high - low, count)
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    ticks = [round(index * step, 10) for index in range(first, last + 1)]
    return ticks[0], ticks[-1], ticks


@dataclass(frozen=True)
class ChartFrame:
    """Drawing area of a chart with its two scales and their ticks, which are labelled with their values by default."""

    x: LinearScale
    y: LinearScale
    x_ticks: tuple[float, ...]
    y_ticks: tuple[float, ...]
    width: int = WIDTH
    height: int = HEIGHT
    x_labels: tuple[str, ...] = ()
    y_labels: tuple[str, ...] = ()

    def axes(self, x_label: str) -> list[Html]:
        """Draws grid lines, tick labels and the title of the x axis; that of the y axis is above the chart."""
        parts = []
        for tick, label in zip(self.y_ticks, self.y_labels or margin_labels(self.y_ticks), strict=True):
            y = self.y(tick)
            parts.append(element("line", x1=LEFT, x2=self.width - RIGHT, y1=y, y2=y, class_="grid"))
            parts.append(text(label, LEFT - 6, y + 4, anchor="end"))
        base = self.height - BOTTOM
        parts.append(element("line", x1=LEFT, x2=self.width - RIGHT, y1=base, y2=base, class_="axis"))
        for tick, label in zip(self.x_ticks, self.x_labels or tick_labels(self.x_ticks), strict=True):
            parts.append(text(label, self.x(tick), base + 16, anchor="middle"))
        parts.append(text(x_label, (LEFT + self.width - RIGHT) / 2, self.height - 4, anchor="middle"))
        return parts

    def picture(self, label: str, *parts: Child, read_off: str | None = None, stacked: bool = False) -> Html:
        """Returns the finished chart; `label` describes it to screen readers.

        With `read_off`, the unit along x, the script of the page reads values off the chart; if its lines are
        `stacked`, their differences.
        """
        scales = {
            f"data_{name}": f"{scale.low:g} {scale.high:g} {scale.start:g} {scale.end:g}"
            for name, scale in (("x", self.x), ("y", self.y))
            if read_off
        }
        return element(
            "svg",
            None if read_off else element("title", label),
            *parts,
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=label,
            data_x_unit=read_off,
            data_stacked="yes" if stacked else None,
            **scales,
        )


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Formats ticks with as many decimals as their distance requires."""
    step = min((abs(after - before) for before, after in pairwise(ticks)), default=1.0)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{tick:,.{decimals}f}" for tick in ticks]


def margin_labels(ticks: Sequence[float]) -> list[str]:
    """Formats ticks for the margin of the y axis: in thousands, such as 50k, if 50,000 would be wider than it."""
    labels = tick_labels(ticks)
    if max(map(len, labels), default=0) <= MARGIN_CHARACTERS:
        return labels
    thousands = tick_labels([tick / 1000 for tick in ticks])
    return [f"{label}k" if tick else "0" for tick, label in zip(ticks, thousands, strict=True)]


def fitted_ticks(ticks: Sequence[tuple[float, str]], scale: LinearScale) -> list[tuple[float, str]]:
    """Returns the ticks whose labels do not overlap. The first and the last one stay if there is room for both."""

    def ends(tick: tuple[float, str]) -> tuple[float, float]:
        half = len(tick[1]) * CHARACTER / 2 + 2
        return scale(tick[0]) - half, scale(tick[0]) + half

    kept = list(ticks[:1])
    last = ticks[-1]
    for tick in ticks[1:]:
        left, right = ends(tick)
        if left >= ends(kept[-1])[1] and (tick is last or right <= ends(last)[0]):
            kept.append(tick)
    return kept


def bold_width(content: str) -> float:
    """Returns about the width of a bold text."""
    return sum(BOLD[letter.isupper()] for letter in content)


def text(content: str, x: float, y: float, *, anchor: str = "start", class_: str | None = None) -> Html:
    """Creates a label."""
    return element("text", content, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor, class_=class_)


def shape(kind: str, x: float, y: float, class_: str, tooltip: str | None = None, size: float = 3.4) -> Html:
    """Draws a mark: kinds `a` and `e` are circles, `b` and `f` squares, `c` and `g` diamonds, the others triangles."""
    title = element("title", tooltip) if tooltip else None
    kind = SHAPES.get(kind, kind)
    if kind == "a":
        return element("circle", title, cx=x, cy=y, r=size, class_=class_)
    if kind == "b":
        side = size * 1.8
        return element(
            "rect", title, x=round(x - side / 2, 2), y=round(y - side / 2, 2), width=side, height=side, class_=class_
        )
    offsets = (
        ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)) if kind == "c" else ((0, -1.3), (1.25, 0.95), (-1.25, 0.95))
    )
    corners = " ".join(f"{x + dx * size:.2f},{y + dy * size:.2f}" for dx, dy in offsets)
    return element("polygon", title, points=corners, class_=class_)
