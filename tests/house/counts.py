"""Counts that must not grow: each is a list of places in the repository, ideally empty."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.house.files import file_ways, spread
from tests.house.rooms import circular, python_ways, rust_ways
from tests.house.rust import bare, functions

COLUMNS_MAX = 120
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 400
IMPL_FILES_MAX = 4

ROOTS = ("crates", "python", "tests", "examples", "scripts")
SKIPPED = {"target", "__pycache__"}


def sources(root: Path, *suffixes: str) -> Iterator[tuple[str, str]]:
    """Returns the files with these suffixes and their text, sorted."""
    for folder in ROOTS:
        for file in sorted((root / folder).rglob("*")):
            inside = file.relative_to(root)
            if file.suffix in suffixes and not SKIPPED & set(inside.parts):
                yield str(inside), file.read_text(encoding="utf-8")


def components_named(root: Path) -> list[str]:
    """Returns the places where code outside of the world names a kind of component."""
    return [
        f"{file}:{number}"
        for file, text in sources(root, ".rs")
        if not file.startswith("crates/model/src/world/")
        for number, line in enumerate(bare(text).splitlines(), 1)
        for _ in re.finditer(r"\bComponent::", line)
    ]


def long_lines(root: Path) -> list[str]:
    """Returns lines of more than 120 columns."""
    return [
        f"{file}:{number}"
        for file, text in sources(root, ".rs", ".py", ".pyi")
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS_MAX
    ]


def long_functions(root: Path) -> list[str]:
    """Returns functions of more than 70 lines."""
    found = [
        f"{file}:{function.line} {function.name} ({function.lines})"
        for file, text in sources(root, ".rs")
        for function in functions(text)
        if function.lines > FUNCTION_LINES_MAX
    ]
    for file, text in sources(root, ".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    found.append(f"{file}:{node.lineno} {node.name} ({lines})")
    return found


def long_files(root: Path) -> list[str]:
    """Returns files of more than 400 lines, not counting lines that only give a reason (`//`)."""
    files = ((file, len(without_reasons(text))) for file, text in sources(root, ".rs", ".py"))
    return [f"{file} ({lines})" for file, lines in files if lines > FILE_LINES_MAX]


def without_reasons(text: str) -> list[str]:
    """Returns the lines of a file that are not comments of Rust within code."""
    return [line for line in text.splitlines() if not re.match(r"\s*//(?![/!])", line)]


def root_files(root: Path) -> list[str]:
    """Returns the files at the root; in a repository, those under version control."""
    if not (root / ".git").exists():
        return sorted(path.name for path in root.iterdir() if path.is_file())
    command = ["git", "-C", str(root), "ls-files", "--cached", "--", ":(glob)*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def model_circles(root: Path) -> list[str]:
    """Returns dependencies on cycles between the modules of crates/model."""
    return circular(rust_ways(root / "crates/model/src"))


def sim_circles(root: Path) -> list[str]:
    """Returns dependencies on cycles between the modules of crates/sim."""
    return circular(rust_ways(root / "crates/sim/src"))


def file_circles(root: Path) -> list[str]:
    """Returns files of any crate that use each other in cycles."""
    found = []
    for source in sorted(root.glob("crates/*/src")):
        crate = source.parent.relative_to(root)
        found += sorted({f"{crate}/src/{way.split(' -> ')[0]}" for way in circular(file_ways(source))})
    return found


def scattered_types(root: Path) -> list[str]:
    """Returns types whose methods are in more than four files."""
    return [
        f"{source.parent.relative_to(root)}/src/{name} ({len(files)})"
        for source in sorted(root.glob("crates/*/src"))
        for name, files in sorted(spread(source).items())
        if len(files) > IMPL_FILES_MAX
    ]


def python_circles(root: Path) -> list[str]:
    """Returns dependencies on cycles between the modules of python/hostnet."""
    return circular(python_ways(root / "python/hostnet"))


class Count(NamedTuple):
    """A count that must not grow."""

    places: Callable[[Path], list[str]]
    what: str
    instead: str


COUNTS = {
    "components_named": Count(
        components_named,
        "mentions of `Component::` outside of crates/model/src/world",
        "let the world say who is who; a part knows ids and events, not kinds of components",
    ),
    "long_lines": Count(long_lines, "lines of more than 120 columns", "break the line, or say it shorter"),
    "long_functions": Count(
        long_functions, "functions of more than 70 lines", "give a step of the function a name of its own"
    ),
    "long_files": Count(long_files, "files of more than 400 lines", "split the file by question"),
    "root_files": Count(root_files, "files at the root", "put the file into a folder that says what it is for"),
    "model_circles": Count(
        model_circles,
        "ways on circles between the modules of crates/model",
        "let what both need stand below both; see docs/architecture.md",
    ),
    "sim_circles": Count(
        sim_circles,
        "ways on circles between the modules of crates/sim",
        "let what both need stand below both; see docs/architecture.md",
    ),
    "file_circles": Count(
        file_circles,
        "files of crates that use each other in circles",
        "let what both need stand in a file below both",
    ),
    "scattered_types": Count(
        scattered_types,
        "types whose methods are in more than four files",
        "split the type by who owns which field",
    ),
    "python_circles": Count(
        python_circles,
        "ways on circles between the modules of python/hostnet",
        "let what both need stand below both; see docs/architecture.md",
    ),
}
