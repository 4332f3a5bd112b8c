"""Reads the schemas of the compiled module: their tables, and the values allowed for each key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from hostnet import _core

Schema = dict[str, Any]

ROOTS = {
    "server": _core.schema,
    "cluster": _core.cluster_schema,
    "memory": _core.memory_schema,
    "noc": _core.noc_schema,
    "chip": _core.chip_schema,
}
"""Schema function of each kind of configuration."""


@cache
def tables(root: str) -> dict[str, Schema]:
    """Returns every table of a kind of configuration by its path.

    `*` is any name or any element, and `:kind` an alternative with a kind: `workload.*:fio.jobs.*`.
    """
    return dict(_tables_in(json.loads(ROOTS[root]()), ""))


def _tables_in(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    if "properties" in schema:
        yield path, schema
    for name, key in keys(schema).items():
        yield from _tables_in(key, f"{path}.{name}".removeprefix("."))
    for choice in choices(schema):
        kind = kind_of(choice)
        yield from _tables_in(choice, f"{path}:{kind}" if kind else path)
    for inside in insides(schema):
        yield from _tables_in(inside, f"{path}.*")


def keys(schema: Schema) -> dict[str, Schema]:
    """Returns the keys of a table; none if the schema is not a table."""
    found: dict[str, Schema] = schema.get("properties", {})
    return found


def choices(schema: Schema) -> list[Schema]:
    """Returns the alternatives of a value, except words."""
    every = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    return [choice for choice in every if "const" not in choice]


def insides(schema: Schema) -> list[Schema]:
    """Returns the schemas of the elements of a list, or of the values below names chosen by the user."""
    found = (schema.get(part) for part in ("items", "additionalProperties"))
    return [part for part in found if isinstance(part, dict)]


def kind_of(table: Schema) -> str:
    """Returns the value of the key `kind` of an alternative, if that key tells the alternatives apart."""
    kind: str = keys(table).get("kind", {}).get("const", "")
    return kind


def words(schema: Schema) -> dict[str, str]:
    """Returns the words allowed as a value, each with its meaning."""
    found = {one["const"]: text(one) for one in schema.get("oneOf", ()) if "const" in one}
    found |= dict.fromkeys(schema.get("enum", ()), "")
    for choice in choices(schema):
        found |= words(choice)
    return found


def text(schema: Schema) -> str:
    """Returns the description of a key or a table, in one line."""
    return " ".join(schema.get("description", "").split())


def bounds(schema: Schema) -> tuple[Any, Any]:
    """Returns minimum and maximum of a key, or of the elements of its list; None where there is no bound."""
    least, most = (schema.get(f"x-{end}", schema.get(f"{end}imum")) for end in ("min", "max"))
    if most is not None or least is not None:
        return least, most
    parts = [*choices(schema), *(inside for inside in insides(schema) if schema.get("type") == "array")]
    found = (bounds(part) for part in parts if "properties" not in part)
    return next((pair for pair in found if pair != (None, None)), (None, None))
