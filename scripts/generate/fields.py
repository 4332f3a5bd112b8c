"""Generates a field of a dataclass from a key: its type, its default and its docstring."""

from __future__ import annotations

import keyword
import textwrap
from dataclasses import dataclass

from scripts.generate.layout import OPTIONAL, UNIONS, class_at
from scripts.generate.schema import Schema, choices, insides, kind_of, words
from scripts.generate.wording import default, meaning, span

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

WIDTH = 120


@dataclass(frozen=True)
class Field:
    """A field of a dataclass."""

    name: str
    """Its name in Python."""
    types: str
    """Its type."""
    value: str | None
    """Its default; None if the field is required."""
    doc: list[str]
    """Lines of its docstring."""


def field_of(name: str, key: Schema, path: str, required: bool) -> Field:
    """Returns the field of a key at a path."""
    types = types_at(key, path)
    value = None if required else _value_of(types)
    return Field(name_of(name), f"{types} | None" if value == "None" else types, value, docstring(*doc_of(name, key)))


def name_of(key: str) -> str:
    """Returns the field name of a key; reserved words of Python get another."""
    return f"{key}_" if keyword.iskeyword(key) else key


def types_at(key: Schema, path: str) -> str:
    """Returns the type of the value of a key at a path."""
    if path in UNIONS:
        return UNIONS[path]
    if "properties" in key:
        kind = kind_of(key)
        return class_at(f"{path}:{kind}" if kind else path, key)
    if words(key) and not choices(key):
        return "str"
    if choices(key):
        return " | ".join(dict.fromkeys(types_at(choice, path) for choice in choices(key)))
    if key.get("type") == "array":
        (inside,) = insides(key)
        element = types_at(inside, f"{path}.*")
        return f"tuple[{element}, {element}]" if element == "str" and _is_pair(key) else f"Sequence[{element}]"
    if key.get("type") == "object":
        return f"Mapping[str, {types_at(insides(key)[0], f'{path}.*')}]"
    kinds = key["type"]
    return " | ".join(SCALARS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _is_pair(key: Schema) -> bool:
    return bool(key.get("minItems") == key.get("maxItems") == 2)


def _value_of(types: str) -> str:
    """Returns the default of a field by its type: an empty table, or None."""
    if types.startswith("Mapping[str, ") and not types.endswith("]]"):
        return "field(default_factory=dict)"
    is_table = types.isidentifier() and types not in SCALARS.values()
    return f"{types}()" if is_table and types not in OPTIONAL else "None"


def doc_of(name: str, key: Schema) -> tuple[str, str]:
    """Returns the meaning of a key, and a text with its range and default."""
    said, more = meaning(key), []
    if name_of(name) != name:
        more.append(f"Its key in files is `{name}`.")
    limits = span(key, quote=True)
    if limits and limits not in said and limits.replace('"', "") not in said:
        more.append(f"Range: {limits}.")
    if default(key) and "when absent" not in said and "properties" not in key:
        more.append(f"Default: {default(key, python=True)}.")
    return said, " ".join(more)


def docstring(said: str, more: str = "", indent: str = "    ") -> list[str]:
    """Returns the lines of a docstring: one line if everything fits, else `more` is a paragraph below."""
    whole = f'{indent}"""{said} {more}'.rstrip() + '"""'
    if len(whole) <= WIDTH and not whole.endswith('""""'):
        return [whole]
    return [*_wrapped(f'"""{said}', indent), *(["", *_wrapped(more, indent)] if more else []), f'{indent}"""']


def _wrapped(said: str, indent: str) -> list[str]:
    lines = textwrap.wrap(said, WIDTH - len(indent), break_on_hyphens=False, break_long_words=False)
    return [f"{indent}{line}" for line in lines]
