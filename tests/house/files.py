"""Counts uses between the files of a crate, and the files over which the methods of a type are spread."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.house.rooms import Ways, is_test
from tests.house.rust import bare, parts

Module = tuple[str, ...]

USE = re.compile(r"^[ \t]*(?P<public>pub(?:\([^)]*\))?\s+)?use\s+(?P<tree>[^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:])[a-z_]\w*(?:::\w+)+")
IMPL = re.compile(r"^impl(?:<[^>]*>)? (\w+)(?:<[^{]*>)? \{", re.MULTILINE)
REEXPORTS_MAX = 8


class Crate(NamedTuple):
    """The files of a crate by module, with the paths that each names."""

    files: dict[Module, str]
    code: dict[Module, str]
    exports: dict[Module, dict[str, Module]]
    imports: dict[Module, dict[str, Module]]


def read_crate(source: Path) -> Crate:
    """Reads the files of a crate, without its tests."""
    crate = Crate({}, {}, defaultdict(dict), defaultdict(dict))
    for file in sorted(source.rglob("*.rs")):
        inside = file.relative_to(source)
        if not is_test(inside):
            module = inside.with_suffix("").parts
            module = module[:-1] if module[-1] in ("mod", "lib", "main") else module
            crate.files[module] = str(inside)
            crate.code[module] = bare(file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests {")[0])
    for module, code in crate.code.items():
        for use in USE.finditer(code):
            for path in paths_of(use["tree"]):
                target = absolute(crate, module, path)
                if target is not None:
                    crate.imports[module][target[-1] if target else ""] = target
                    if use["public"]:
                        crate.exports[module][target[-1] if target else ""] = target
    return crate


def paths_of(tree: str) -> Iterator[str]:
    """Yields the paths in a tree of a `use`, without renames."""
    found = re.fullmatch(r"\s*((?:\w+::)*)\{(.*)\}\s*", tree, re.DOTALL)
    if found is None:
        yield re.sub(r"\s+as\s+\w+", "", tree).strip()
        return
    for member in parts(found[2]):
        if member.strip():
            yield from (found[1] + path for path in paths_of(member))


def absolute(crate: Crate, module: Module, path: str) -> Module | None:
    """Returns the path of an item from the root of the crate, or None for an item of another crate."""
    first, *rest = path.split("::")
    if first == "crate":
        return tuple(rest)
    if first == "self":
        return (*module, *rest)
    if first == "super":
        names = [first, *rest]
        while names and names[0] == "super":
            module, names = module[:-1], names[1:]
        return (*module, *names)
    if (*module, first) in crate.files:
        return (*module, first, *rest)
    if first in crate.imports[module]:
        return (*crate.imports[module][first], *rest)
    return None


def defining(crate: Crate, path: Module, depth: int = 0) -> Module:
    """Returns the module that defines an item, following re-exports."""
    for length in range(len(path), -1, -1):
        module, rest = path[:length], path[length:]
        if module in crate.files:
            exports = crate.exports[module]
            if rest and rest[0] in exports and depth < REEXPORTS_MAX:
                return defining(crate, (*exports[rest[0]], *rest[1:]), depth + 1)
            return module
    return ()


def file_ways(source: Path) -> Ways:
    """Returns the files that each file of a crate uses. A parent may name its children: `mod.rs` declares them."""
    crate = read_crate(source)
    ways: Ways = {file: set() for file in crate.files.values()}
    for module, code in crate.code.items():
        paths = set(crate.imports[module].values())
        body = USE.sub("", code)
        paths |= {target for found in PATH.findall(body) if (target := absolute(crate, module, found)) is not None}
        for path in paths:
            user = defining(crate, path)
            if user[: len(module)] != module and user in crate.files:
                ways[crate.files[module]].add(crate.files[user])
    return ways


def spread(source: Path) -> dict[str, set[str]]:
    """Returns the files with methods of each type of a crate; a type is identified by its file and its name."""
    crate = read_crate(source)
    found: dict[str, set[str]] = defaultdict(set)
    for module, code in crate.code.items():
        for name in IMPL.findall(code):
            target = crate.imports[module].get(name, (*module, name))
            home = crate.files.get(defining(crate, target), "")
            found[f"{home} {name}"].add(crate.files[module])
    return found
