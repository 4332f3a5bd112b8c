"""Reads the schemas of the compiled module: their tables, and what each key may hold."""

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
"""Where each kind of configuration has its schema."""


@cache
def tables(root: str) -> dict[str, Schema]:
    """Every table of a kind of configuration by its path.

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
    """The keys of a table; none of what is no table."""
    found: dict[str, Schema] = schema.get("properties", {})
    return found


def choices(schema: Schema) -> list[Schema]:
    """The alternatives of a value, words aside."""
    every = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    return [choice for choice in every if "const" not in choice]


def insides(schema: Schema) -> list[Schema]:
    """What the elements of a list are, or the values below names of one's own."""
    found = (schema.get(part) for part in ("items", "additionalProperties"))
    return [part for part in found if isinstance(part, dict)]


def kind_of(table: Schema) -> str:
    """What the key `kind` of an alternative says, if that is what tells it from the others."""
    kind: str = keys(table).get("kind", {}).get("const", "")
    return kind


def words(schema: Schema) -> dict[str, str]:
    """The words that a value may be, each with its meaning."""
    found = {one["const"]: text(one) for one in schema.get("oneOf", ()) if "const" in one}
    found |= dict.fromkeys(schema.get("enum", ()), "")
    for choice in choices(schema):
        found |= words(choice)
    return found


def text(schema: Schema) -> str:
    """The description of a key or a table, in one line."""
    return " ".join(schema.get("description", "").split())


def bounds(schema: Schema) -> tuple[Any, Any]:
    """The least and the largest value of a key, or of the elements of its list; None where there is no bound."""
    least, most = (schema.get(f"x-{end}", schema.get(f"{end}imum")) for end in ("min", "max"))
    if most is not None or least is not None:
        return least, most
    parts = [*choices(schema), *(inside for inside in insides(schema) if schema.get("type") == "array")]
    found = (bounds(part) for part in parts if "properties" not in part)
    return next((pair for pair in found if pair != (None, None)), (None, None))
