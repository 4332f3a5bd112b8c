"""Frame of the output of a cell: the style of the report's pages, limited to this output."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.report.html import Html, element, join, table
from hostnet.report.page import asset, with_definitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.report.html import Cell, Child

ROWS_MAX = 40
"""Maximum number of rows of a table that a notebook shows."""

OUTPUT = "hostnet-output"
"""Class of the element to which the style applies."""

VARIABLES = re.compile(r":root \{(.*?)\}", re.DOTALL)
"""Matches the colours of the light theme, then those of the dark one."""

ANCHOR = re.compile(r' (?:id|href|tabindex)="(?:#[^"]*|point-[^"]*|-1)"')
"""Matches the links of charts to rows of a page, and the names of these rows."""

PRINT = re.compile(r"^@page [^\n]*\n|^@media print \{.*?^\}\n", re.DOTALL | re.MULTILINE)
"""Matches the rules for paper."""

DARK = (
    '[data-jp-theme-light="false"]',
    '[data-theme="dark"]',
    '[theme="dark"]',
    ".vscode-dark",
)
"""Elements around the output by which notebooks and sites of documentation say that they are dark."""

LIGHT = (
    '[data-jp-theme-light="true"]',
    '[data-theme="light"]',
    '[theme="light"]',
    ".vscode-light",
)
"""Likewise, that they are light. Without any of them, the system decides, as for a page."""


def block(*content: Child, page: Path | None = None) -> str:
    """Returns the output of a cell, with a link to the page of the results if there is one."""
    link = None if page is None else element("p", "Page: ", element("a", str(page), href=address(page)), class_="sub")
    shown = element("div", element("style", stylesheet()), with_definitions(join(content)), link, class_=OUTPUT)
    # Places on a page that its charts link to are not in the output, or are there once for each output.
    return ANCHOR.sub("", shown)


@cache
def stylesheet() -> Html:
    """Returns the style of the pages, nested so that it applies to the output only, not to the notebook around it."""
    style = PRINT.sub("", asset("style.css"))
    light, dark = VARIABLES.findall(style)[:2]
    nested = style.replace(":root {", "& {").replace("body {", "& {") + asset("notebook/notebook.css")
    themes = (("light", LIGHT, light), ("dark", DARK, dark))
    return join(
        [
            # The class twice, because JupyterLab's own rules for tables are as specific as one class and an attribute.
            Html(f".{OUTPUT}.{OUTPUT} {{\n{nested}}}\n"),
            *(
                Html(f":is({', '.join(around)}) .{OUTPUT} {{{colours}color-scheme: {name}; }}\n")
                for name, around, colours in themes
            ),
        ]
    )


def address(page: Path) -> str:
    """Returns the address of a page: relative to the notebook's folder, from which notebooks may open files."""
    try:
        return Path(os.path.relpath(page)).as_posix()
    except ValueError:  # on another drive of Windows
        return page.resolve().as_uri()


def headline(name: str, facts: str) -> Html:
    """Creates the first line: the name of the results, and facts."""
    return element("p", element("b", name), f": {facts}" if facts else None, class_="lead")


def notes_list(notes: Sequence[str]) -> Html | None:
    """Creates a list of notes, unless it is empty."""
    return element("ul", *(element("li", note) for note in notes), class_="notes") if notes else None


def small_table(
    columns: Sequence[Child | Cell], rows: Sequence[Sequence[Child]], *, texts: int = 1, total: int | None = None
) -> Html | None:
    """Creates a table, unless it is empty, and says how many of `total` rows it omits."""
    if not rows:
        return None
    omitted = (len(rows) if total is None else total) - len(rows[:ROWS_MAX])
    more = f"{omitted:,} more {'row is' if omitted == 1 else 'rows are'} in the table"
    note = element("p", more, class_="note below") if omitted else None
    return join([table(columns, rows[:ROWS_MAX], text_columns=texts), note])
