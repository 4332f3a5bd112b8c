"""Links of a network on a chip, drawn as lines coloured by busy share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hostnet import _core
from hostnet.report.charts import legend_icon
from hostnet.report.html import Html, element
from hostnet.report.numbers import percent
from hostnet.report.svg import nice_step, text

FONT, SMALLEST, NARROW = 12.0, 9.6, 336.0
"""Size of texts, and their smallest size in pixels in a drawing as wide as a card on a screen of 400 pixels."""

DIGIT = 0.66
"""Width of a digit as a share of the size of the text."""

STEPS = 4
"""Steps of the scale in its legend."""

Point = tuple[float, float]


def wire(start: Point, end: Point, share: float | None, words: str, *, gap: float, bow: float, thick: float) -> Html:
    """Draws one direction between two places, beside their centre line, with a distance of `gap` from both ends."""
    return Html(_core.link_line(start, end, share, words, gap=gap, bow=bow, thick=thick))


heat = _core.heat


def font_size(width: float, narrow: float = NARROW) -> float:
    """Returns the size of texts of a drawing that stay readable where it is `narrow` pixels wide."""
    return max(FONT, SMALLEST * width / narrow)


def column_labels(columns: Sequence[float], y: float, font: float) -> list[Html]:
    """Numbers columns at a height; only some if they are closer than their numbers are wide."""
    step = label_step(columns, font * DIGIT * (1 + len(str(len(columns)))))
    return [text(str(at), columns[at], y, anchor="middle", class_="where") for at in range(0, len(columns), step)]


def row_labels(rows: Sequence[float], x: float, font: float) -> list[Html]:
    """Numbers rows to the left of a place; only some if they are closer than their numbers are high."""
    step = label_step(rows, 1.4 * font)
    return [text(str(at), x, rows[at] + font / 3, anchor="end", class_="where") for at in range(0, len(rows), step)]


def label_step(places: Sequence[float], room: float) -> int:
    """Returns how many places a label takes."""
    return max(math.ceil(room / (places[1] - places[0])), 1) if len(places) > 1 else 1


def heat_scale(largest: float) -> float:
    """Returns the busy share of the hottest colour: 1, or a round number above the largest share if that is small."""
    if largest <= 0 or largest > 0.5:
        return 1.0
    return min(STEPS * nice_step(largest, STEPS), 1.0)


def heat_legend(full: float = 1.0) -> Html:
    """Creates the legend of the colours; `full` is the busy share of the hottest one."""
    decimals = max(0, -math.floor(math.log10(full / STEPS) + 1e-9) - 2)
    entries = (
        element(
            "li",
            legend_icon(element("rect", x=0, y=1, width=26, height=10, style=f"fill: {heat(step / STEPS)}")),
            percent(full * step / STEPS, decimals),
        )
        for step in range(STEPS + 1)
    )
    return element("ul", *entries, class_="legend")
