"""HTML with enforced escaping: text becomes markup only through `element`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hostnet.glossary import heading_definition, short
from hostnet.units import with_no_breaks


class Html(str):
    """Markup that needs no escaping. Only this module and constants of this package create it from text."""

    __slots__ = ()


Child = str | Html | None


@dataclass(frozen=True)
class Cell:
    """A table cell whose copied text differs from the shown one (`copied`), or that is omitted in print (`minor`).

    `about` defines what it says; headings without it have the definition of the glossary.
    """

    content: Child
    copied: str | None = None
    minor: bool = False
    about: str | None = None


VOID = frozenset({"meta", "br", "hr", "img", "line", "rect", "circle", "path", "polyline", "polygon"})
"""Elements that are written without content."""


def escape(text: object) -> Html:
    """Escapes text and keeps numbers on a line with their percent signs; markup is returned unchanged."""
    return text if isinstance(text, Html) else Html(html.escape(with_no_breaks(str(text)), quote=True))


def join(children: Iterable[Child]) -> Html:
    """Concatenates pieces of text and markup."""
    return Html("".join(escape(child) for child in children if child is not None))


def element(name: str, /, *children: Child, **attributes: object) -> Html:
    """Creates an element. Children that are not `Html` are escaped.

    In attribute names, `_` stands for `-`, and a trailing `_` is dropped (`class_`). Attributes that are None or False
    are omitted.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(attribute_value(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID and not children:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def attribute_value(value: object) -> object:
    """Returns the value of an attribute; a whole number has no decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def table(
    columns: Sequence[Child | Cell],
    rows: Iterable[Sequence[Child | Cell]],
    *,
    text_columns: int = 1,
    label: str | None = None,
) -> Html:
    """Creates a table that scrolls horizontally if it is too wide. The first `text_columns` columns are text.

    The script of the page adds a button that copies it; `label` identifies the table.
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
    """Creates a cell, `td` or `th`."""
    if not isinstance(cell, Cell):
        cell = Cell(cell)
    about = cell.about or (heading_definition(str(cell.content)) if name == "th" else None)
    classes = " ".join(word for word, wanted in (("number", number), ("minor", cell.minor)) if wanted)
    scope = "col" if name == "th" else None
    return element(name, defined(cell.content, about), class_=classes or None, scope=scope, data_copied=cell.copied)


def defined(content: Child, about: str | None) -> Child:
    """Creates text whose definition appears under the pointer and on keyboard focus, if it has one."""
    return element("dfn", content, tabindex="0", aria_description=short(about)) if about else content


def details(summary: str, *content: Child, opened: bool = False) -> Html:
    """Creates content that is folded until opened, unless it is `opened` at first."""
    return element("details", element("summary", summary), *content, open="open" if opened else None)


def section(title: str, *content: Child, note: str | None = None) -> Html:
    """Creates a section with its heading and an optional explanation."""
    return element("section", element("h2", title), element("p", note, class_="note") if note else None, *content)


def fact_list(entries: Iterable[tuple[str, Child]]) -> Html:
    """Creates a list of names and values side by side."""
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", value)) for name, value in entries if value),
        class_="facts",
    )


def warning(message: str) -> Html:
    """Creates a prominent warning."""
    return element("p", element("b", "Note: "), message, class_="warning", role="note")
