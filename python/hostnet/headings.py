"""Definitions of everything that screens and pages name: terms, columns of result tables, headings and keys."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.glossary import all_terms, content
from hostnet.glossary.keys import key_meanings

if TYPE_CHECKING:
    from collections.abc import Iterator

NEAR_MAX = 3
"""Maximum number of suggestions for an unknown name."""


@dataclass(frozen=True)
class Definition:
    """A meaning of a name, with the kind of thing that has it."""

    name: str
    kind: str
    """Such as "abbreviation" or "limit"; of a column or a heading with its table."""
    meaning: str
    page: str | None = None
    """Page of the docs that defines it; None for a heading."""
    keys: tuple[str, ...] = ()
    """Keys of the configuration that raise a limit."""


def all_definitions() -> Iterator[Definition]:
    """Yields every definition: terms first, then columns and headings."""
    for term in all_terms():
        yield Definition(term.name, term.kind, term.definition, term.page, term.keys)
    for table, columns in content()["columns"].items():
        for name, column in columns.items():
            unit = f" ({column['unit']})" if column["unit"] not in ("", "text", "count", "number") else ""
            yield Definition(name, f"column of {table}", f"{column['meaning']}{unit}", column["page"])
    yield from _headings()


def _headings() -> Iterator[Definition]:
    """Yields the headings of the tables of servers and clusters, on the screen and on pages."""
    from hostnet.cluster_view import all_views
    from hostnet.server_view import TABLES

    for table in TABLES.values():
        for one in table.columns:
            for heading in dict.fromkeys(filter(None, (one.screen, one.page))):
                yield Definition(heading, f'heading of "{table.title}"', table.definition(one) or "")
    for view in all_views(defaultdict(tuple)):
        for column in view.columns:
            yield Definition(column.heading, f'heading of "{view.title}"', view.definition(column) or "")


def find_definitions(name: str) -> list[Definition]:
    """Returns the definitions of a name, in any case of its letters if there is none with these.

    Raises:
        ConfigError: There is none; the message has the nearest names.
    """
    known = list(all_definitions())
    found = [one for one in known if one.name == name] or [one for one in known if one.name.lower() == name.lower()]
    found += [Definition(name, f"key of a {kind}", meaning) for kind, meaning in key_meanings(name).items()]
    if not found:
        names = {one.name.lower(): one.name for one in known}
        near = [f'"{names[match]}"' for match in get_close_matches(name.lower(), names, NEAR_MAX)]
        hint = f"did you mean {' or '.join(near)}?" if near else "`hostnet explain-term` lists those that are"
        raise _core.ConfigError("unknown-name", f'"{name}" is not a term, a column, a heading or a key; {hint}')
    return list(dict.fromkeys(found))


def as_json(definitions: list[Definition]) -> list[dict[str, Any]]:
    """Returns definitions, ready for JSON."""
    return [{**vars(one), "keys": list(one.keys)} for one in definitions]
