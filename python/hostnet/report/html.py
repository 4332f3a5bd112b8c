"""HTML that cannot forget to escape: text becomes markup only through `element`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hostnet.units import unbroken


class Html(str):
    """Markup that needs no further escaping. Only this module and constants of this package make it from text."""

    __slots__ = ()


Child = str | Html | None


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is copied otherwise than it is shown (`copied`), or that paper has no room for."""

    content: Child
    copied: str | None = None
    minor: bool = False


VOID = frozenset({"meta", "br", "hr", "line", "rect", "circle", "path", "polyline", "polygon"})
"""Elements that are written without content."""


def escape(text: object) -> Html:
    """Text as markup, numbers on a line with their percent signs; markup stays as it is."""
    return text if isinstance(text, Html) else Html(html.escape(unbroken(str(text)), quote=True))


def join(children: Iterable[Child]) -> Html:
    """Several pieces of text and markup, one after the other."""
    return Html("".join(escape(child) for child in children if child is not None))


def element(name: str, /, *children: Child, **attributes: object) -> Html:
    """An element. Children that are not `Html` are escaped.

    In attribute names `_` stands for `-`, and a trailing `_` is dropped (`class_`). Attributes that are None or False
    are left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID and not children:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def table(
    columns: Sequence[Child | Cell],
    rows: Iterable[Sequence[Child | Cell]],
    *,
    text_columns: int = 1,
    label: str | None = None,
) -> Html:
    """A table that scrolls sideways when it is too wide. After the first `text_columns` columns, all are numbers.

    The page's script gives it a button that copies it; `label` says which table it is.
    """

    def cells(name: str, row: Sequence[Child | Cell]) -> Html:
        return element("tr", *(table_cell(name, cell, number=index >= text_columns) for index, cell in enumerate(row)))

    content = element(
        "table",
        element("thead", cells("th", columns)),
        element("tbody", *(cells("td", row) for row in rows)),
    )
    region = element(
        "div", content, class_="scroll", tabindex="0", role="region" if label else None, aria_label=label or None
    )
    return element("div", region, class_="table")


def table_cell(name: str, cell: Child | Cell, *, number: bool) -> Html:
    """One cell, `td` or `th`."""
    if not isinstance(cell, Cell):
        cell = Cell(cell)
    classes = " ".join(word for word, wanted in (("number", number), ("minor", cell.minor)) if wanted)
    scope = "col" if name == "th" else None
    return element(name, cell.content, class_=classes or None, scope=scope, data_copied=cell.copied)


def details(summary: str, *content: Child) -> Html:
    """Content that is folded until asked for."""
    return element("details", element("summary", summary), *content)


def section(title: str, *content: Child, note: str | None = None) -> Html:
    """A part of a page with its heading and, where needed, a line on how to read it."""
    return element("section", element("h2", title), element("p", note, class_="note") if note else None, *content)


def facts(entries: Iterable[tuple[str, Child]]) -> Html:
    """Names and values side by side."""
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in entries if value),
        class_="facts",
    )
