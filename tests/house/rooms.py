"""Finds dependencies between modules, and cycles among them."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.house.rust import modules_named

Ways = dict[str, set[str]]


def rust_ways(source: Path) -> Ways:
    """Returns the topmost modules of a crate, and the modules that each names outside of its tests."""
    rooms = {path.stem for path in source.iterdir() if path.is_dir() or path.suffix == ".rs"} - {"lib", "main"}
    ways: Ways = {room: set() for room in rooms}
    for file in source.rglob("*.rs"):
        inside = file.relative_to(source)
        room = Path(inside.parts[0]).stem
        if room in rooms and not is_test(inside):
            at_top = len(inside.parts) == 1 or inside.parts[1:] == ("mod.rs",)
            text = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
            ways[room] |= (modules_named(text, at_top=at_top) & rooms) - {room}
    return ways


def is_test(file: Path) -> bool:
    """Returns true if a file of a crate holds only tests."""
    return any(part in ("tests", "tests.rs") or part.endswith("_tests.rs") for part in file.parts)


def python_ways(package: Path) -> Ways:
    """Returns the topmost modules of a package, and the modules that each imports, even lazily or for types only."""
    rooms = {path.stem for path in package.iterdir() if path.is_dir() or path.suffix == ".py"} - {"__init__"}
    rooms -= {"__pycache__"}
    ways: Ways = {room: set() for room in rooms}
    for file in package.rglob("*.py"):
        room = Path(file.relative_to(package).parts[0]).stem
        if room in rooms:
            ways[room] |= (imported(file.read_text(encoding="utf-8"), package.name) & rooms) - {room}
    return ways


def imported(text: str, package: str) -> set[str]:
    """Returns the topmost modules of a package that a file of it imports."""
    return {name.split(".")[1] for name in imports(text) if name.startswith(f"{package}.")}


def imports(text: str) -> set[str]:
    """Yields the modules that a file imports, late or for types, and `module.name` of every imported name."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def circular(ways: Ways) -> list[str]:
    """Returns the dependencies "a -> b" that are part of a cycle."""
    return sorted(f"{a} -> {b}" for a, ends in ways.items() for b in ends if a in reached(ways, b))


def reached(ways: Ways, start: str) -> set[str]:
    """Returns the modules reachable from one."""
    found, left = {start}, [start]
    while left:
        new = ways[left.pop()] - found
        found |= new
        left += new
    return found
