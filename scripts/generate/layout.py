"""The names and the homes of the classes in Python, which the schema does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from scripts.generate.schema import Schema, keys, tables

FOLDER = Path("python/hostnet/system")


@dataclass(frozen=True)
class Place:
    """Where the table of a class stands in a configuration, and what of the table is not its own."""

    path: str
    """The path of the table, as `schema.tables` has it."""
    base: str = "Description"
    """The class that has some of its keys already."""
    without: tuple[str, ...] = ()
    """Keys that another class has."""


@dataclass(frozen=True)
class Module:
    """A file of classes."""

    doc: str
    """The file's docstring."""
    classes: dict[str, str | Place]
    """The classes in their order, each with its table."""
    unions: dict[str, str] = field(default_factory=dict)
    """Names for what may be one of several classes, with the path of their tables."""


MODULES = {
    "io": Module(
        "The integrated IO controller, PCIe and the drives.",
        {
            "Iio": "iio",
            "Pcie": "pcie",
            "Ssd": "ssd",
            "FioCosts": "fio",
        },
    ),
}

OPTIONAL: frozenset[str] = frozenset()
"""Classes of parts that a server may be without: what they describe is None when nothing is said."""

HOMES = {kind: name for name, module in MODULES.items() for kind in module.classes}
"""The file of each class."""


def place_of(kind: str) -> Place:
    """Where the table of a class stands."""
    found = MODULES[HOMES[kind]].classes[kind]
    return found if isinstance(found, Place) else Place(found)


def table_of(kind: str) -> Schema:
    """The table of a class."""
    path = place_of(kind).path
    return tables("server").get(path) or tables("cluster")[path]


@cache
def _by_path() -> dict[str, str]:
    return {place_of(kind).path: kind for kind in HOMES}


@cache
def _by_keys() -> dict[frozenset[str], str]:
    return {frozenset(keys(table_of(kind))): kind for kind in HOMES}


def class_at(path: str, table: Schema) -> str:
    """The class of a table at a path: that of its place, or that of a table with the same keys.

    Raises:
        KeyError: No class has such a table.
    """
    found = _by_path().get(path) or _by_keys().get(frozenset(keys(table)))
    if found is None:
        raise KeyError(f"no class in {__name__} is of the table {path}")
    return found
