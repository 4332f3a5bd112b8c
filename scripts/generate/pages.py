"""Writes the tables of keys in the docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.generate.comments import MARKED, Comment, below, comment_of, comments_of
from scripts.generate.layout import inherited_at
from scripts.generate.order import arranged, standing_rows
from scripts.generate.rows import kind_row, row_of
from scripts.generate.schema import Schema, choices, insides, keys, kind_of, tables

HEAD = ["| key | value | when absent | meaning |", "|---|---|---|---|"]


@dataclass(frozen=True)
class Page:
    """A page with tables of keys."""

    root: str
    """Kind of configuration of the keys."""
    name: str = "<name>"
    """Placeholder that the page uses for a name chosen by the user."""


PAGES = {
    "chakra": Page("cluster", "NAME"),
    "chip": Page("chip"),
    "clusters": Page("cluster", "NAME"),
    "config": Page("server"),
    "jobs": Page("cluster", "NAME"),
    "memory": Page("memory"),
    "noc": Page("noc"),
}


def files(root: Path) -> dict[Path, str]:
    """Returns the content of every page with tables of keys."""
    pages = {root / "docs" / f"{name}.md": page for name, page in PAGES.items()}
    return {file: page_of(file.read_text(encoding="utf-8"), page) for file, page in pages.items()}


def page_of(text: str, page: Page) -> str:
    """Returns a page with its tables regenerated."""
    covered: set[str] = set().union(*(comment.covered() for comment in comments_of(text)))

    def written(found: re.Match[str]) -> str:
        comment = comment_of(found["said"])
        rows = {row.label: row for row in rows_of(page, comment, covered - comment.covered())}
        lines = [rows[label].line(comment) for label in arranged(rows, standing_rows(found["rows"]))]
        return "\n".join([f"{found[0].partition('-->')[0]}-->", *HEAD, *lines, "<!-- end -->"])

    return MARKED.sub(written, text)


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    label: str
    """The key as the page writes it."""
    key: Schema
    """Schema of the key."""
    required: bool
    """True if the key is required."""

    def line(self, comment: Comment) -> str:
        """Returns the row in Markdown."""
        if kind_of(self.key):
            return kind_row(self.label, self.key)
        link = comment.links.get(self.label.rpartition(".")[2], "")
        return row_of(self.label, self.key, self.required, comment.otherwise, link)


def rows_of(page: Page, comment: Comment, apart: set[str]) -> Iterator[Row]:
    """Returns the rows that a comment requests, without paths that only other comments list."""
    for path in comment.paths:
        only = comment.only or set(keys(tables(page.root)[path])) - inherited_at(path)
        yield from _rows_in(page, comment, apart, (path, label_of(page, path)), only)


def _rows_in(page: Page, comment: Comment, apart: set[str], at: tuple[str, str], only: set[str]) -> Iterator[Row]:
    path, label = at
    table = tables(page.root)[path]
    for key, value in keys(table).items():
        place, name = below(path, key), below(label, key)
        if "const" in value:
            yield Row(name, table, required=True)
        elif key in only and (key in comment.flat or place not in apart):
            is_flat = key in comment.flat
            if is_flat or not _is_table(value):
                yield Row(name, value, key in table.get("required", ()))
            for inner in (place, f"{place}.*"):
                if inner in tables(page.root) and inner not in apart and not is_flat:
                    inside = set(keys(tables(page.root)[inner]))
                    yield from _rows_in(page, comment, apart, (inner, label_of(page, inner)), inside)


def label_of(page: Page, path: str) -> str:
    """Returns the path of a table as the page writes it, without the kind of an alternative."""
    label, parts = "", path.split(".")
    for place, part in enumerate(parts):
        if part.partition(":")[0] == "*":
            outer = tables(page.root).get(".".join(parts[: place - 1]), {})
            label += "[]" if _is_list(keys(outer).get(parts[place - 1], {})) else f".{page.name}"
        else:
            label = below(label, part)
    return label


def _is_table(value: Schema) -> bool:
    """Returns true if a key has only rows below it and none of its own."""
    return "properties" in value or (value.get("type") == "object" and "properties" in insides(value)[0])


def _is_list(value: Schema) -> bool:
    return value.get("type") == "array" or any(map(_is_list, choices(value)))
