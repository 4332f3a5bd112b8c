"""Makes a row of a table of a key: its unit and range, what it is when absent, and its meaning."""

from __future__ import annotations

import re

from scripts.generate.schema import Schema, bounds, choices
from scripts.generate.wording import default, meaning

KINDS = {"integer": "count", "number": "number", "boolean": "true or false", "array": "list"}
FORMS = {"object": "table", "array": "list", "string": "text"}

ABSENT = re.compile(r"(?:[;,]|(?P<sentence>\.)) (?P<value>(?:[^;.,]|\.\d)+) when absent(?=[.;])")
"""Where a description says what a key is when it is absent."""


def row_of(name: str, key: Schema, required: bool, otherwise: str) -> str:
    """The row of a key."""
    absent, said = absence(key, required, otherwise)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{name}`", value_of(key), absent, said)) + " |"


def absence(key: Schema, required: bool, otherwise: str) -> tuple[str, str]:
    """What a key is when it is absent, and its meaning without that."""
    said = plain(key)
    if required:
        return "required", said
    found = ABSENT.search(said)
    if found:
        rest = said[: found.start()] + (found["sentence"] or "") + said[found.end() :]
        return found["value"], rest.replace("..", ".")
    if default(key):
        return default(key), said
    return ("see the meaning" if "absent" in said else otherwise), said


def plain(key: Schema) -> str:
    """The meaning of a key without its unit and its range, which have a column of their own."""
    said = meaning(key)
    least, most = bounds(key)
    units = [f" ({key['x-quantity']})"] if "x-quantity" in key else []
    spans = [f" ({least:.10g} to {most:.10g})"] if isinstance(least, (int, float)) and most is not None else []
    for part in (*units, *spans):
        said = said.replace(part, "", 1)
    return said


def value_of(key: Schema) -> str:
    """The unit and the range of a value."""
    several = choices(key)
    if several and several[0].get("type") == "integer":
        return f"{value_of(several[0])}, or list"
    if any(choice.get("type") == "object" for choice in several):
        return " or ".join(FORMS[choice["type"]] for choice in several)
    unit = key.get("x-quantity") or KINDS.get(key.get("type", ""), "text")
    named = "".join(f' or "{word}"' for word in key.get("x-words", ()))
    least, most = (key.get(f"x-{end}", key.get(f"{end}imum")) for end in ("min", "max"))
    if most is None:
        return f"{unit}{named}"
    limits = f"up to {_bound(most)}" if least is None else f"{_bound(least)} to {_bound(most)}"
    return f"{unit}{named}, {limits}"


def _bound(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"
