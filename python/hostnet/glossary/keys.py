"""Meanings of the keys of configurations, from the schema."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hostnet import _core

Schema = dict[str, Any]

SCHEMAS = {
    "server": _core.schema,
    "cluster": _core.cluster_schema,
    "chip": _core.chip_schema,
    "memory": _core.memory_schema,
    "network on a chip": _core.noc_schema,
}
"""Schema of each kind of configuration."""


def keys_of(schema: Schema) -> Schema:
    """Returns the keys of a table, over all of its kinds."""
    keys: Schema = dict(schema.get("properties", {}))
    for kind in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        keys |= kind.get("properties", {})
    return keys


def inner_schema(schema: Schema, name: str) -> Schema:
    """Returns the schema of a key; in a table with user-defined names, all names have the same schema."""
    other = schema.get("additionalProperties")
    found: Schema = keys_of(schema).get(name) or (other if isinstance(other, dict) else {})
    return found


def key_meanings(path: str) -> dict[str, str]:
    """Returns the meaning of a key in each kind of configuration that has it."""
    found = {kind: _meaning(kind, path) for kind in SCHEMAS}
    return {kind: meaning for kind, meaning in found.items() if meaning is not None}


@cache
def _meaning(kind: str, path: str) -> str | None:
    """Returns the meaning of a key in a kind of configuration."""
    schema = _schema(kind)
    for name in path.split("."):
        schema = inner_schema(schema, name)
    return " ".join(schema["description"].split()) if schema.get("description") else None


@cache
def _schema(kind: str) -> Schema:
    """Returns a schema."""
    schema: Schema = json.loads(SCHEMAS[kind]())
    return schema
