"""Definitions of terms, limits, columns and headings, as the docs have them.

`glossary.json` is written by `python -m scripts.generate` from the tables of the docs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container

SHORT_MAX = 240
"""Maximum length of a definition on a page; a longer one ends after a sentence or a clause."""

OF_HEADINGS = ("heading", "domain", "pool", "abbreviation", "word")
"""Kinds of terms that headings may be."""

UNIT = re.compile(
    r"[ ,]*(?:\b(?:GB/s|Gbps|GHz|ns|[uµ]s|ms|s|W|MiB|MB|kB|ms each)|%)$"  # after the name of a quantity
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Term:
    """A term with one of its meanings."""

    name: str
    kind: str
    """Kind of term: abbreviation, word, domain, limit and so on."""
    meaning: str
    page: str
    """Page of the docs that defines it."""
    long: str | None = None
    """Long form of an abbreviation."""
    keys: tuple[str, ...] = ()
    """Keys that raise a limit."""

    @property
    def definition(self) -> str:
        """The meaning, after the long form if that says more than the name."""
        spelled = self.long and self.long.lower() != self.name.lower()
        return f"{self.long}: {self.meaning}" if spelled else self.meaning


@cache
def content() -> dict[str, Any]:
    """Returns the content of the file."""
    read: dict[str, Any] = json.loads(files(__package__).joinpath("glossary.json").read_text(encoding="utf-8"))
    return read


@cache
def all_terms() -> tuple[Term, ...]:
    """Returns every meaning of every term, by kind."""
    return tuple(Term(**{**entry, "keys": tuple(entry.get("keys", ()))}) for entry in content()["terms"])


@cache
def terms() -> dict[str, tuple[Term, ...]]:
    """Returns the meanings of each term, by name."""
    found: dict[str, tuple[Term, ...]] = {}
    for term in all_terms():
        found[term.name] = (*found.get(term.name, ()), term)
    return found


def column_meaning(table: str, column: str, value: str | None = None) -> str | None:
    """Returns the meaning of a column of a result table, or of one of its values."""
    entry: dict[str, Any] = content()["columns"].get(table, {}).get(column, {})
    found: str | None = entry.get("meaning") if value is None else entry.get("values", {}).get(value)
    return found


def definition(name: str, kinds: Container[str] | None = None) -> str | None:
    """Returns the first definition of a term, or of the given kinds of terms."""
    found = (term for term in terms().get(name, ()) if kinds is None or term.kind in kinds)
    return next((term.definition for term in found), None)


def heading_definition(heading: str) -> str | None:
    """Returns the definition of a heading that no result table has: as it is, in lower case, or without its unit.

    Numbers in headings are all alike: `x 1.25` is defined as `x N`.
    """
    for name in (heading, NUMBER.sub("N", heading)):
        plain = UNIT.sub("", name)
        for shown in (name, name[:1].lower() + name[1:], plain, plain[:1].lower() + plain[1:]):
            if found := definition(shown, OF_HEADINGS):
                return found
    return None


def short(text: str) -> str:
    """Shortens a definition to its first sentences or clauses."""
    for mark in (". ", "; "):
        while len(text) > SHORT_MAX and mark in text:
            text = text.rpartition(mark)[0]
    return text
