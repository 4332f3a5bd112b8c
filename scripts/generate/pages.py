"""Writes the tables of keys in the docs, between `<!-- keys: PATH, else WORD -->` and `<!-- end -->`.

WORD is what the column "when absent" says where the schema does not know: the file that has the value then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from scripts.generate.order import arranged, standing_rows
from scripts.generate.rows import row_of
from scripts.generate.schema import Schema, choices, insides, keys, tables

MARKED = re.compile(
    r"^(?P<begin><!-- keys: (?P<path>[^ ,]*)(?:, else (?P<word>.*?))? -->)\n(?P<rows>.*?)^<!-- end -->$",
    re.DOTALL | re.MULTILINE,
)

HEAD = ["| key | value | when absent | meaning |", "|---|---|---|---|"]

PAGES = {"config": "server"}
"""The pages with tables of keys, and what kind of configuration these are of."""


def files(root: Path) -> dict[Path, str]:
    """The content of every page with tables of keys."""
    pages = {root / "docs" / f"{name}.md": kind for name, kind in PAGES.items()}
    return {page: page_of(page.read_text(encoding="utf-8"), kind) for page, kind in pages.items()}


def page_of(page: str, kind: str) -> str:
    """A page with its tables written anew."""
    apart = {found["path"] for found in MARKED.finditer(page)}

    def written(found: re.Match[str]) -> str:
        path = found["path"]
        rows = dict(_rows_of(tables(kind), path, shown(path), apart, found["word"] or "see the meaning"))
        names = arranged(rows, standing_rows(found["rows"]))
        return "\n".join([found["begin"], *HEAD, *(rows[name] for name in names), "<!-- end -->"])

    return MARKED.sub(written, page)


def shown(path: str) -> str:
    """How a page writes a path: the kind of an alternative is not part of the key."""
    return re.sub(r":\w+", "", path).replace(".*", ".<name>")


def _rows_of(known: dict[str, Schema], path: str, name: str, apart: set[str], word: str) -> Iterator[tuple[str, str]]:
    """The rows of a table and of those below it that have no table of their own on the page."""
    table = known[path]
    for key, value in keys(table).items():
        at, label = f"{path}.{key}".removeprefix("."), f"{name}.{key}".removeprefix(".")
        if not _is_table(value):
            yield label, row_of(label, value, key in table.get("required", ()), word)
        for below, sign in ((at, ""), (f"{at}.*", "[]" if _is_list(value) else ".<name>")):
            if below in known and below not in apart:
                yield from _rows_of(known, below, f"{label}{sign}", apart, word)


def _is_table(value: Schema) -> bool:
    """Whether a key has rows of its own alone, below it."""
    return "properties" in value or (value.get("type") == "object" and "properties" in insides(value)[0])


def _is_list(value: Schema) -> bool:
    return value.get("type") == "array" or any(map(_is_list, choices(value)))
