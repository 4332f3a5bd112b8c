"""Definitions of terms, limits, columns and headings, as the docs have them.

`glossary.json` is written by `python -m scripts.generate` from the tables of the docs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from hostnet import _core

KEY = re.compile(r"[\w-]+(?:\.[\w-]+)+")
"""A path of a key."""


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
def _text() -> str:
    """Returns the text of the file."""
    return files(__package__).joinpath("glossary.json").read_text(encoding="utf-8")


@cache
def content() -> dict[str, Any]:
    """Returns the content of the file."""
    read: dict[str, Any] = json.loads(_text())
    return read


@cache
def native() -> _core.Glossary:
    """Returns the glossary for the native module."""
    return _core.Glossary(_text())


@cache
def all_terms() -> tuple[Term, ...]:
    """Returns every meaning of every term, by kind."""
    return tuple(Term(**{**entry, "keys": tuple(entry.get("keys", ()))}) for entry in content()["terms"])


def column_meaning(table: str, column: str, value: str | None = None) -> str | None:
    """Returns the meaning of a column of a result table, or of one of its values."""
    entry: dict[str, Any] = content()["columns"].get(table, {}).get(column, {})
    found: str | None = entry.get("meaning") if value is None else entry.get("values", {}).get(value)
    return found


def heading_definition(heading: str) -> str | None:
    """Returns the definition of a heading that no result table has: as it is, in lower case, or without its unit.

    Numbers in headings are all alike: `x 1.25` is defined as `x N`.
    """
    return native().heading_definition(heading) or (_key_definition(heading) if KEY.fullmatch(heading) else None)


def _key_definition(path: str) -> str | None:
    """Returns the meaning of a key of the configuration, which heads the values of a sweep."""
    from hostnet.glossary.keys import key_meanings

    return next(iter(key_meanings(path).values()), None)


short = _core.short_definition
