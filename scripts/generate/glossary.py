"""Writes the terms and the columns that the docs define into the package, for pages and `hostnet explain-term`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path("python/hostnet/glossary/glossary.json")

TABLE = re.compile(r"^\| (?P<head>[^\n]+) \|\n\|[-|: ]+\|\n(?P<rows>(?:\|[^\n]*\|\n)+)", re.MULTILINE)
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
CELLS = re.compile(r"(?<!\\) *\| *")
VALUE = re.compile(r"(?:^|; )`(?P<name>[^`]+)`: (?P<meaning>.*?)(?=; `[^`]+`: |$)")

COLUMN_PAGES = ("tables.md", "clusters.md", "jobs.md")
"""Pages with tables of columns, under headings that are names of result tables."""

RENAMED = {("clusters.md", "series"): "host_series"}
"""Result tables whose heading has another name, by page and heading."""

INHERITED = {"flows": "classes"}
"""Tables whose columns without a meaning have that of another table."""


@dataclass(frozen=True)
class Source:
    """A table of the docs that defines terms: its kind of terms, and how a row reads."""

    page: str
    head: tuple[str, ...]
    kind: str
    meaning: str
    """Meaning of a term, with the cells of its row by column."""
    long: str | None = None
    """Column of the long form."""
    keys: str | None = None
    """Column whose quoted words are keys of the configuration."""


SOURCES = (
    Source("glossary.md", ("short", "long", "meaning"), "abbreviation", "{meaning}", "long"),
    Source("glossary.md", ("word", "meaning"), "word", "{meaning}"),
    Source("glossary.md", ("heading", "meaning"), "heading", "{meaning}"),
    Source(
        "domains.md",
        ("domain", "used by", "credits", "taken when", "returned when", "hops"),
        "domain",
        "domain of {used by}; its credits, {credits}, are taken when {taken when}, and returned when {returned when}",
    ),
    Source(
        "domains.md",
        ("name in reports", "pool", "held from", "to"),
        "pool",
        "{pool}; taken: {held from}; returned: {to}",
    ),
    Source("domains.md", ("name", "key", "what is raised"), "limit", "a bottleneck: {what is raised}", keys="key"),
    Source("clusters.md", ("limit", "condition"), "limit of traffic", "limits a class of traffic: {condition}"),
    Source("jobs.md", ("`limit`", "condition"), "limit of a job", "limits a step of a job: {condition}"),
    Source("explain.md", ("regime", "condition"), "regime", "a regime: {condition}"),
)


def files(root: Path) -> dict[Path, str]:
    """Returns the content of the file of terms."""
    docs = root / "docs"
    content = {
        "terms": [term for source in SOURCES for term in _terms(docs, source)],
        "columns": _columns(docs),
    }
    return {root / FILE: json.dumps(content, indent=1, ensure_ascii=False) + "\n"}


def _terms(docs: Path, source: Source) -> Iterator[dict[str, Any]]:
    """Yields the terms of the tables with the head of a source."""
    found = [rows for _, head, rows in _tables(docs / source.page) if head == source.head]
    if not found:
        raise ValueError(f"docs/{source.page}: there is no table | {' | '.join(source.head)} |")
    for row in (row for rows in found for row in rows):
        cells = dict(zip(source.head, row, strict=True))
        names = _names(cells[source.head[0]])
        longs = cells[source.long].split(", ") if source.long else []
        for index, name in enumerate(names):
            paired = longs[index] if len(longs) == len(names) else ", ".join(longs)
            yield {
                "name": name,
                "kind": source.kind,
                **({"long": plain(paired)} if paired else {}),
                "meaning": plain(source.meaning.format(**cells)),
                **({"keys": re.findall("`([^`]+)`", cells[source.keys])} if source.keys else {}),
                "page": source.page,
            }


def _names(cell: str) -> list[str]:
    """Returns the names in the first cell of a row: quoted ones, or parts between commas."""
    return re.findall("`([^`]+)`", cell) or cell.split(", ")


def _columns(docs: Path) -> dict[str, Any]:
    """Returns the columns of every result table."""
    found: dict[str, dict[str, Any]] = {}
    for page in COLUMN_PAGES:
        for title, head, rows in _tables(docs / page):
            if head == ("column", "unit", "meaning"):
                found[RENAMED.get((page, title), title)] = {
                    _names(name)[0]: _column(unit, meaning, page) for name, unit, meaning in rows
                }
    for table, other in INHERITED.items():
        for name, column in found[table].items():
            column["meaning"] = column["meaning"] or found[other][name]["meaning"]
    for table, columns in found.items():
        for name, column in columns.items():
            if not column["meaning"]:
                raise ValueError(f"docs/{column['page']}: {table}.{name} has no meaning")
    return found


def _column(unit: str, meaning: str, page: str) -> dict[str, Any]:
    """Returns the entry of a column, with the meanings of its values if it lists them."""
    values = {found["name"]: plain(found["meaning"]) for found in VALUE.finditer(meaning)}
    return {"unit": plain(unit), "meaning": plain(meaning), **({"values": values} if values else {}), "page": page}


def _tables(page: Path) -> Iterator[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Yields each table of a page: the heading that it is under, the heads of its columns, and its rows."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for table in TABLE.finditer(text):
        titles = HEADING.findall(text, 0, table.start())
        rows = [_cells(line) for line in table["rows"].splitlines()]
        yield titles[-1] if titles else "", tuple(_cells(f"| {table['head']} |")), rows


def _cells(line: str) -> list[str]:
    """Returns the cells of a line of a table."""
    return [cell.replace("\\|", "|") for cell in CELLS.split(line.strip())[1:-1]]


def plain(text: str) -> str:
    """Returns a text without links and code marks."""
    return LINK.sub(r"\1", text).replace("`", "").strip()
