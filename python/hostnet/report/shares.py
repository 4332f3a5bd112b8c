"""Horizontal stacked bars with a row for each name. Their texts are text of the page, so that they keep their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.report.charts import legend_icon
from hostnet.report.html import Html, element

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SCALE = 1000.0
"""Width of a bar in its own units; it is stretched to the width of the page."""

PARTS = "abcdefgh"
"""Colours of the parts. Further parts repeat them, paler."""

OTHERS = "others"
PARTS_MAX = 2 * len(PARTS) - 1
"""Maximum number of parts with a colour each; the smallest of more are added up."""


@dataclass(frozen=True)
class ShareRow:
    """A row: its name, the value of each part, and the text behind the bar."""

    name: str
    values: Mapping[str, float]
    text: str


def share_bars(
    title: str,
    rows: Sequence[ShareRow],
    *,
    text: Callable[[float], str],
    full: float | None = None,
    each_full: bool = False,
    order: Sequence[str] = (),
    fills: Mapping[str, str] | None = None,
) -> Html:
    """Draws a bar for each row, with its legend.

    Bars are as long as their sums, and `full` or the largest sum fills the width, with `each_full` that of each row.
    Parts are ordered by `order`, or by size. `text` formats a value, `fills` gives the styles of parts instead of those
    by order.
    """
    rows, names = with_others(rows, order)
    styles = {name: (fills or {}).get(name, part_fill(place)) for place, name in enumerate(names)}
    sums = [sum(row.values.values()) for row in rows]
    full = full or max(sums, default=0.0) or 1.0
    scales = sums if each_full else [full] * len(rows)
    lines = [
        part
        for row, scale in zip(rows, scales, strict=True)
        for part in share_row(title, row, names, styles, scale, text)
    ]
    return element("div", share_legend(names, styles), element("div", *lines, class_="shares"))


def with_others(rows: Sequence[ShareRow], order: Sequence[str]) -> tuple[Sequence[ShareRow], list[str]]:
    """Returns the rows, and the names of their parts. Of too many parts, the smallest become one."""
    sums: dict[str, float] = {}
    for row in rows:
        for name, value in row.values.items():
            sums[name] = sums.get(name, 0.0) + value
    names = [name for name in order if sums.get(name)]
    names += sorted((name for name in sums if sums[name] and name not in order), key=lambda name: -sums[name])
    if len(names) <= PARTS_MAX:
        return rows, names
    kept = sorted(names, key=lambda name: -sums[name])[: PARTS_MAX - 1]
    joined = [
        ShareRow(
            row.name,
            {
                **{name: value for name, value in row.values.items() if name in kept},
                OTHERS: sum(value for name, value in row.values.items() if name not in kept),
            },
            row.text,
        )
        for row in rows
    ]
    return joined, [*(name for name in names if name in kept), OTHERS]


def part_fill(place: int) -> str:
    """Returns the style of a part."""
    kind = PARTS[place % len(PARTS)]
    return f"bar fill-{kind}" + (" pale" if place >= len(PARTS) else "")


def share_row(
    title: str,
    row: ShareRow,
    names: Sequence[str],
    styles: Mapping[str, str],
    full: float,
    text: Callable[[float], str],
) -> list[Html]:
    """Draws a row: its name, its bar, and its text."""
    pieces, start = [], 0.0
    for name in names:
        value = row.values.get(name, 0.0)
        width = value / full * SCALE
        if width > 0:
            tip = element("title", f"{row.name}: {name} {text(value)}")
            size = {"x": f"{start:.5g}", "y": 0, "width": f"{width:.5g}", "height": 10}
            pieces.append(element("rect", tip, **size, class_=styles[name]))
        start += width
    said = ", ".join(f"{name} {text(row.values[name])}" for name in names if row.values.get(name))
    svg = element(
        "svg",
        element("rect", x=0, y=0, width=SCALE, height=10, class_="track"),
        *pieces,
        viewBox=f"0 0 {SCALE:g} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{title}: {row.name}: {said}",
    )
    return [element("span", row.name, class_="share-name"), svg, element("span", row.text, class_="share-text")]


def share_legend(names: Sequence[str], styles: Mapping[str, str]) -> Html:
    """Creates the legend of the parts."""
    icons = {name: legend_icon(element("rect", x=0, y=1, width=26, height=10, class_=styles[name])) for name in names}
    return element("ul", *(element("li", icon, name) for name, icon in icons.items()), class_="legend")
