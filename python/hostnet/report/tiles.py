"""Heat maps: a tile for each pair of a row and a column, darker for larger values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hostnet.report.html import Child, Html, element
from hostnet.report.numbers import number
from hostnet.report.svg import WIDTH, text

LABELS = 26
"""Room for the labels of the rows, and of the columns."""

TITLE = 18
"""Room for the title of the rows, which is above them, and for that of the columns, which is below."""

TILE_MAX = 56.0
"""Largest height of a tile."""

FAINT, STRONG = 0.1, 0.6
"""Opacity of the smallest and of the largest value: text stays readable on both."""


def heat_map(
    title: str,
    names: tuple[str, str],
    rows: Sequence[str],
    columns: Sequence[str],
    values: Mapping[tuple[int, int], float],
    unit: str,
    *,
    width: int = WIDTH,
) -> Html:
    """Draws the values of pairs of a row and a column; `names` are the titles of rows and columns."""
    side = (width - LABELS) / len(columns)
    height = min(side, TILE_MAX)
    low, high = min(values.values()), max(values.values())
    parts: list[Child] = [text(names[0], 0, 11)]
    parts += [text(row, LABELS - 8, TITLE + (at + 0.5) * height + 4, anchor="end") for at, row in enumerate(rows)]
    for (row, column), value in values.items():
        share = 0.5 if high == low else (value - low) / (high - low)
        x, y = LABELS + column * side, TITLE + row * height
        parts.append(
            element(
                "rect",
                element("title", f"{names[0]} {rows[row]}, {names[1]} {columns[column]}\n{number(value, 4)} {unit}"),
                x=round(x + 1, 2),
                y=round(y + 1, 2),
                width=round(side - 2, 2),
                height=round(height - 2, 2),
                rx=3,
                class_="fill-a",
                fill_opacity=round(FAINT + (STRONG - FAINT) * share, 3),
            )
        )
        parts.append(text(number(value), x + side / 2, y + height / 2 + 4, anchor="middle", class_="of"))
    base = TITLE + len(rows) * height
    parts += [text(name, LABELS + (at + 0.5) * side, base + 14, anchor="middle") for at, name in enumerate(columns)]
    parts.append(text(names[1], (LABELS + width) / 2, base + 14 + TITLE, anchor="middle"))
    size = f"0 0 {width} {round(base + TITLE + LABELS, 2):g}"
    return element("svg", *parts, viewBox=size, role="img", aria_label=title)
