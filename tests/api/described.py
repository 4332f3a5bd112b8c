"""Holds dataclasses against the schema of what they describe."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

from hostnet.system.workload import KINDS


def tables(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every table that a file can hold, with its path; `*` is any name or any element."""
    if "properties" in schema:
        yield path, schema
    for name, key in schema.get("properties", {}).items():
        yield from tables(key, f"{path}.{name}".removeprefix("."))
    for choice in (*schema.get("oneOf", []), *schema.get("anyOf", [])):
        kind = choice.get("properties", {}).get("kind", {}).get("const", "")
        yield from tables(choice, f"{path}:{kind}".removesuffix(":"))
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from tables(schema[part], f"{path}.*")


def classes(kind: type, path: str = "") -> Iterator[tuple[str, type]]:
    """Every dataclass with the path at which it stands in a file."""
    yield path, kind
    for name, hint in get_type_hints(kind).items():
        yield from _classes_in(hint, f"{path}.{key_of(name)}".removeprefix("."))


def _classes_in(hint: Any, path: str) -> Iterator[tuple[str, type]]:
    if isinstance(hint, type) and is_dataclass(hint):
        kind = f":{KINDS[hint]}" if hint in KINDS else ""
        yield from classes(hint, path + kind)
    for argument in get_args(hint):
        inside = ".*" if getattr(hint, "__origin__", None) is not None and argument is not str else ""
        yield from _classes_in(argument, path + inside)


def key_of(name: str) -> str:
    """The key of a field: names that Python keeps for itself end with an underscore."""
    return {"from_": "from", "class_": "class", "global_": "global", "async_": "async"}.get(name, name)


def docstrings(kind: type) -> dict[str, str]:
    """What stands below each field of a class, by its key."""
    found = {}
    for part in (one for one in kind.__mro__ if is_dataclass(one)):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                assert isinstance(field.target, ast.Name)
                found[key_of(field.target.id)] = " ".join(str(text.value.value).split())
    return found


def said(key: dict[str, Any]) -> Iterator[str]:
    """What the description of a field has to say: its largest value, and its words."""
    limit = key.get("x-max", key.get("maximum"))
    if limit is not None:
        yield f"{limit:.7g}" if isinstance(limit, float) else str(limit)
    for choice in key.get("oneOf", []):
        if "const" in choice:
            yield f'"{choice["const"]}"'
    yield from (f'"{word}"' for word in key.get("enum", []))
    for choice in key.get("anyOf", []):
        yield from said(choice)
