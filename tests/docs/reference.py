"""What the sources say that the reference pages must say too: configuration keys, table columns, domain names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hostnet import _core

Schema = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]


def config_keys() -> dict[str, str]:
    """The unit and range of every configuration key by its path, such as `memory.page`: `size, 4 KiB to 1 GiB`."""
    return dict(_keys_in(json.loads(_core.schema()), ""))


def memory_keys() -> dict[str, str]:
    """The keys of a configuration of the memory alone, as `config_keys` has them, that a server's has not or not so."""
    keys = dict(_keys_in(json.loads(_core.memory_schema()), ""))
    known = config_keys()
    return {key: value for key, value in keys.items() if known.get(key) != value}


def noc_keys() -> dict[str, str]:
    """The keys of a configuration of the network on a chip alone, as `config_keys` has them."""
    return dict(_keys_in(json.loads(_core.noc_schema()), ""))


def chip_keys() -> dict[str, str]:
    """The keys of a configuration of a chip, as `config_keys` has them."""
    return dict(_keys_in(json.loads(_core.chip_schema()), ""))


def _keys_in(table: Schema, path: str) -> Iterator[tuple[str, str]]:
    for name, schema in table.get("properties", {}).items():
        yield from _keys_of(schema, f"{path}{name}")


def _keys_of(schema: Schema, path: str) -> Iterator[tuple[str, str]]:
    """The keys at and below a path. A place with alternatives has the keys of all of them."""
    named = schema.get("additionalProperties")
    # The tables of a socket are those of the server.
    for kind in named.get("oneOf", (named,)) if isinstance(named, dict) and path != "socket" else ():
        yield from _keys_in(kind, f"{path}.<name>.")
    if "properties" not in schema and not isinstance(named, dict):
        yield path, value_text(schema)
    for table in (schema, *schema.get("anyOf", ())):
        yield from _keys_in(table, f"{path}.")
        for entry in (table.get("items", {}), *table.get("items", {}).get("anyOf", ())):
            yield from _keys_in(entry, f"{path}[].")


def value_text(schema: Schema) -> str:
    """The unit and the range of a value, as the page says them."""
    choices = schema.get("anyOf", ())
    if choices and choices[0].get("type") == "integer":
        return f"{value_text(choices[0])}, or list"
    forms = {"object": "table", "array": "list", "string": "text"}
    if any(choice.get("type") == "object" for choice in choices):
        return " or ".join(forms[choice["type"]] for choice in choices)
    kinds = {"integer": "count", "number": "number", "boolean": "true or false", "array": "list"}
    unit = schema.get("x-quantity") or kinds.get(schema.get("type", ""), "text")
    words = "".join(f' or "{word}"' for word in schema.get("x-words", ()))
    least, most = (schema.get(f"x-{end}", schema.get(f"{end}imum")) for end in ("min", "max"))
    if most is None:
        return f"{unit}{words}"
    span = f"up to {_bound(most)}" if least is None else f"{_bound(least)} to {_bound(most)}"
    return f"{unit}{words}, {span}"


def _bound(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def table_columns() -> dict[str, list[str]]:
    """The columns of every result table, in their order, read from the simulator's source."""
    sources = sorted((ROOT / "crates/sim/src/report").glob("*.rs"))
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    tables = re.findall(r"const (\w+): &\[Column<\w+>\] = &\[\n(.*?)^\];", text, re.DOTALL | re.MULTILINE)
    return {name.lower(): re.findall(r'Column::(?:text|integer|number)\(\s*"(\w+)"', body) for name, body in tables}


def domain_names() -> list[str]:
    """The names of domains in reports, read from the simulator's source."""
    text = (ROOT / "crates/model/src/part/group.rs").read_text(encoding="utf-8")
    return re.findall(r'^    \w+ "([^"]+)"', text[text.index("\ngroups! {") :], re.MULTILINE)


def documented(page: str, heading: str | None = None) -> dict[str, list[str]]:
    """The rows of a page's tables whose first cell is `code`: its text, and the cells after it.

    With a heading, only the tables below it and above the next heading.
    """
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if heading is not None:
        text = text[text.index(f"\n{heading}\n") + len(heading) + 2 :]
        text = re.split(r"^#", text, maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", text, re.MULTILINE)
    return {key: [cell.strip() for cell in cells.split(" | ")] for key, cells in rows}


def asked_keys() -> list[str]:
    """The keys of limits that a workload asks for, read from the source: the server is not changed by them."""
    text = (ROOT / "crates/analysis/src/limits/list.rs").read_text(encoding="utf-8")
    return re.findall(r'Key::asked\("([^"]+)"\)', text[: text.index("pub const TOGETHER")])


def documented_limits() -> list[tuple[list[str], list[str]]]:
    """The rows of the table of limits: the names of each, and the keys."""
    text = (ROOT / "docs" / "domains.md").read_text(encoding="utf-8")
    table = text[text.index("| name | key | what is raised |") :].partition("\n\n")[0]
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    return [(re.findall("`([^`]+)`", names), re.findall("`([^`]+)`", keys)) for names, keys, _ in rows]
