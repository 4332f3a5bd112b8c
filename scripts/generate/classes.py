"""Writes the files of dataclasses that describe a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from scripts.generate.fields import Field, docstring, field_of, name_of
from scripts.generate.layout import EXPORTED, FOLDER, MODULES, Module, Place, class_at, inherited, place_of, table_of
from scripts.generate.order import arranged, standing_fields
from scripts.generate.schema import Schema, keys, kind_of, tables, text

HEADER = "# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src."

GIVEN = {
    "Mapping": "collections.abc",
    "Sequence": "collections.abc",
    "dataclass": "dataclasses",
    "field": "dataclasses",
    "Description": "hostnet.system.description",
    "Whole": "hostnet.system.whole",
    "WholeServer": "hostnet.system.whole",
}
"""Modules of imported names that are not classes of the layout."""

FIRST_MAX = 109
"""Maximum length of the first sentence of a docstring, in characters, so that it fits on one line."""

BASE_DIR = "The folder that relative paths of {} start from. It is not part of the file."


def files(root: Path) -> dict[Path, str]:
    """Returns the content of every file of classes."""
    standing = standing_fields(root / FOLDER)
    return {root / FOLDER / f"{name}.py": _file_of(name, module, standing) for name, module in MODULES.items()}


def _file_of(name: str, module: Module, standing: dict[str, list[str]]) -> str:
    body: list[str] = []
    for kind in module.classes:
        body += ["", "", *_class_of(kind, standing.get(kind, []))]
    for union, path in module.unions.items():
        body += ["", "", *_union_of(union, path)]
    return "\n".join([HEADER, f'"""{module.doc}"""', "", *_imports(name, "\n".join(body)), *body, ""])


def _class_of(kind: str, standing: list[str]) -> list[str]:
    place, table = place_of(kind), table_of(kind)
    lines = ["@dataclass(frozen=True, kw_only=True, repr=False)", f"class {kind}({', '.join(place.bases)}):"]
    lines += class_docstring(text(table))
    for field in _fields_of(place, table, standing):
        value = "" if field.value is None else f" = {field.value}"
        lines += [f"    {field.name}: {field.types}{value}", *field.doc]
    return lines


def _fields_of(place: Place, table: Schema, standing: list[str]) -> list[Field]:
    taken = {*place.without, *inherited(place.bases[-1])}
    required = table.get("required", ())
    own = {
        name_of(name): field_of(name, key, f"{place.path}.{name}".removeprefix("."), name in required)
        for name, key in keys(table).items()
        if name not in taken and not (name == "kind" and "const" in key)
    }
    folder = [BASE_DIR.format(place.base_dir)] if place.base_dir else []
    found = [own[name] for name in arranged(own, standing)]
    return [*found, *(Field("base_dir", "str", '"."', docstring(said)) for said in folder)]


def _union_of(name: str, path: str) -> list[str]:
    """Returns the lines that define a union of several classes and name the key that tells them apart."""
    kinds = {class_at(f"{path}:{kind_of(table)}", table): kind_of(table) for table in alternatives(path)}
    told = ", ".join(f'{kind}: "{word}"' for kind, word in kinds.items())
    what = f'"""Value of the key `kind` of a {name.lower()}, by class."""'
    return [f"{name} = {' | '.join(kinds)}", "", f"KINDS = {{{told}}}", what]


def alternatives(path: str) -> list[Schema]:
    """Returns the tables that may stand at a path, by kind."""
    return [table for at, table in tables("server").items() if at.startswith(f"{path}:") and "." not in at[len(path) :]]


def class_docstring(said: str) -> list[str]:
    """Returns the docstring of a class: its first sentence, then the others below."""
    first, _, rest = said.removesuffix(".").partition(". ")
    if len(first) > FIRST_MAX and ": " in first:
        first, _, more = first.rpartition(": ")
        rest = f"{more[0].upper()}{more[1:]}. {rest}".removesuffix(". ")
    return [*(docstring(f"{first}.", f"{rest}.") if rest else docstring(f"{first}.")), ""]


def _imports(name: str, body: str) -> list[str]:
    """Returns the import lines of a file."""
    used = set(re.findall(r"(?<![\w.`\"])[A-Za-z_]\w*", "\n".join(_code_in(body))))
    homes = {**GIVEN, **{kind: f"hostnet.system.{home}" for kind, home in EXPORTED.items() if home != name}}
    wanted: dict[str, list[str]] = {}
    for word in used & set(homes):
        wanted.setdefault(homes[word], []).append(word)
    lines = {home: import_line(home, words) for home, words in sorted(wanted.items())}
    ours = [line for home, line in lines.items() if home.startswith("hostnet")]
    return [*(line for home, line in lines.items() if not home.startswith("hostnet")), "", *ours]


def _code_in(body: str) -> Iterable[str]:
    """Returns the code without its docstrings."""
    return re.split(r'""".*?"""', body, flags=re.DOTALL)


def import_line(home: str, names: list[str], indent: str = "") -> str:
    """Returns the statement that imports names, sorted and wrapped as ruff does."""
    names = sorted(names, key=lambda name: (not (name.isupper() and len(name) > 1), name.lower()))
    line = f"{indent}from {home} import {', '.join(names)}"
    if len(line) <= 120:
        return line
    return "\n".join([f"{indent}from {home} import (", *(f"{indent}    {name}," for name in names), f"{indent})"])
