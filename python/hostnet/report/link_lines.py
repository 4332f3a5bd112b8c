"""Links of a network on a chip, drawn as lines coloured by busy share."""

from __future__ import annotations

from hostnet.report.html import Html, element

Point = tuple[float, float]


def wire(start: Point, end: Point, share: float | None, text: str, *, gap: float, bow: float, thick: float) -> Html:
    """Draws one direction between two places, beside their centre line, with a distance of `gap` from both ends."""
    (x1, y1), (x2, y2) = start, end
    length = max(abs(x2 - x1) + abs(y2 - y1), 1.0)
    along = ((x2 - x1) / length, (y2 - y1) / length)
    aside = (-along[1] * bow, along[0] * bow)
    return element(
        "line",
        element("title", text),
        x1=round(x1 + along[0] * gap + aside[0], 1),
        y1=round(y1 + along[1] * gap + aside[1], 1),
        x2=round(x2 - along[0] * gap + aside[0], 1),
        y2=round(y2 - along[1] * gap + aside[1], 1),
        stroke_width=thick,
        style=f"stroke: {heat(share)}",
    )


def heat(share: float | None) -> str:
    """Returns the colour of a busy share."""
    return f"color-mix(in srgb, var(--bad) {100 * min(share or 0.0, 1.0):.0f}%, var(--track))"
