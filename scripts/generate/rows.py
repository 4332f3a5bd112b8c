"""Generates the table row of a key: unit and range, default, and meaning."""

from __future__ import annotations

import re

from scripts.generate.schema import Schema, bounds, choices, kind_of, text
from scripts.generate.wording import bound, default, meaning

KINDS = {"integer": "count", "number": "number", "boolean": "true or false", "array": "list"}
FORMS = {"object": "table", "array": "list", "string": "text"}

ABSENT = re.compile(r"(?:[;,]|(?P<sentence>\.)) (?P<value>(?:[^;.,]|\.(?=\w))+) when absent(?: everywhere)?(?=[.;])")
"""Pattern of the part of a description that states the default."""


def row_of(name: str, key: Schema, required: bool, otherwise: str, link: str = "") -> str:
    """Returns the row of a key."""
    absent, said = absence(key, required, otherwise)
    return _row(name, value_of(key), absent, f"{said} [More]({link})." if link else said)


def kind_row(name: str, table: Schema) -> str:
    """Returns the row of the key that selects one of several tables at its place."""
    return _row(name, "text", "required", f'"{kind_of(table)}": {text(table)}')


def _row(name: str, *cells: str) -> str:
    return "| " + " | ".join([f"`{name}`", *(in_code(cell).replace("|", "\\|") for cell in cells)]) + " |"


def in_code(said: str) -> str:
    """Returns a text with its quoted words as code, as a file has them."""
    parts = said.split("`")
    parts[::2] = [re.sub(r'"[^"]+"', r"`\g<0>`", part) for part in parts[::2]]
    return "`".join(parts)


def absence(key: Schema, required: bool, otherwise: str) -> tuple[str, str]:
    """Returns the default of a key, and its meaning without that part."""
    said = plain(key)
    if required:
        return "required", said
    found = ABSENT.search(said)
    if found:
        rest = said[: found.start()] + (found["sentence"] or "") + said[found.end() :]
        value = found["value"]
        return value[0].lower() + value[1:] if found["sentence"] else value, rest.replace("..", ".")
    if default(key):
        return f"`{default(key)}`" if isinstance(key["default"], list) else default(key), said
    return ("see the meaning" if "absent" in said else otherwise), said


def plain(key: Schema) -> str:
    """Returns the meaning of a key without its unit and range, which have their own column."""
    said = meaning(key)
    least, most = bounds(key)
    units = [f" ({unit})" for unit in (key.get("x-quantity"), KINDS.get(str(key.get("type")))) if unit]
    spans = [f" ({least:.10g} to {most:.10g})"] if isinstance(least, (int, float)) and most is not None else []
    for part in (*units, *spans):
        said = said.replace(part, "", 1)
    return said


def value_of(key: Schema) -> str:
    """Returns the unit and the range of a value."""
    if "properties" in key:
        return "table"
    several = choices(key)
    if several and several[0].get("type") == "integer":
        return f"{value_of(several[0])}, or list"
    if several:
        return " or ".join(FORMS[choice.get("type", "string")] for choice in several)
    unit = key.get("x-quantity") or KINDS.get(key.get("type", ""), "text")
    named = "".join(f' or "{word}"' for word in key.get("x-words", ()))
    least, most = (key.get(f"x-{end}", key.get(f"{end}imum")) for end in ("min", "max"))
    if most is None:
        return f"{unit}{named}"
    limits = f"up to {bound(most)}" if least is None else f"{bound(least)} to {bound(most)}"
    return f"{unit}{named}, {limits}"
