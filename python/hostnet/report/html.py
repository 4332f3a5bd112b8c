"""HTML that cannot forget to escape: text becomes markup only through `element`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Html(str):
    """Markup that needs no further escaping. Only this module and constants of this package make it from text."""

    __slots__ = ()


Child = str | Html | None

VOID = frozenset({"meta", "br", "hr", "line", "rect", "circle", "path", "polyline", "polygon"})
"""Elements that are written without content."""


def escape(text: object) -> Html:
    """Text as markup; markup stays as it is."""
    return text if isinstance(text, Html) else Html(html.escape(str(text), quote=True))


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


def table(columns: Sequence[str], rows: Iterable[Sequence[Child]], *, text_columns: int = 1) -> Html:
    """A table that scrolls sideways when it is too wide. After the first `text_columns` columns, all are numbers."""

    def cells(name: str, row: Sequence[Child]) -> Html:
        return element(
            "tr",
            *(
                element(
                    name, cell, class_=None if index < text_columns else "number", scope="col" if name == "th" else None
                )
                for index, cell in enumerate(row)
            ),
        )

    content = element(
        "table",
        element("thead", cells("th", columns)),
        element("tbody", *(cells("td", row) for row in rows)),
    )
    return element("div", content, class_="scroll", tabindex="0")


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
