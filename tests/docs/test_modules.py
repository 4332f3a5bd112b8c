"""Statements about crates, folders and files match the tree, and dependencies point downward."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.house.rooms import is_test, rust_ways
from tests.house.table import ROOT

ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^//! \| (?:file|folder) \|.*\n//! \|---.*\n((?://! \|.*\n)+)", re.MULTILINE)
"""A table of modules in the documentation of a module."""

LISTED = {file: found[1] for file in ROOT.glob("crates/*/src/**/*.rs") if (found := TABLE.search(file.read_text()))}
KEPT_OUT = "accelerator"
"""A part that is described as tried and not kept."""


def rows_below(line: str) -> list[str]:
    """Returns the first cells of the table of the architecture whose header begins with a line."""
    table = ARCHITECTURE.partition(f"\n{line}\n")[2].partition("\n\n")[0]
    return [row.split("|")[1] for row in table.splitlines()[1:]]


def named(text: str) -> list[str]:
    """Returns the files and folders in code spans of a text, without their extensions."""
    return [name.removesuffix(".rs").rstrip("/") for name in re.findall(r"`([\w/-]+(?:/|\.rs))`", text)]


def modules_in(folder: Path) -> list[str]:
    """Returns the modules in a folder of Rust, without tests."""
    inside = (file.relative_to(folder) for file in folder.iterdir() if file.is_dir() or file.suffix == ".rs")
    return sorted(file.stem for file in inside if file.stem not in ("lib", "main", "mod") and not is_test(file))


def layers() -> list[str]:
    """Returns the crates of the table of layers, from the top."""
    cells = "".join(rows_below("| layer | knows | does not know |"))
    return re.findall("`crates/([a-z-]+)`", cells)


def test_every_crate_has_its_layer() -> None:
    crates = {manifest.parent.name for manifest in ROOT.glob("crates/*/Cargo.toml")}
    assert sorted(layers()) == sorted(crates - {"bench"})


@pytest.mark.parametrize("crate", layers())
def test_a_crate_depends_on_layers_below_it(crate: str) -> None:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    below = layers()[layers().index(crate) + 1 :]
    own = {name.removeprefix("hostnet-") for name in manifest["dependencies"] if name.startswith("hostnet-")}
    assert sorted(own - set(below)) == []


@pytest.mark.parametrize(("heading", "crate"), [("| folder | part | page |", "model"), ("| folder | what |", "sim")])
def test_the_architecture_names_every_folder(heading: str, crate: str) -> None:
    assert sorted(named("".join(rows_below(heading)))) == modules_in(ROOT / "crates" / crate / "src")


def test_no_room_of_sim_knows_one_below_it() -> None:
    rooms = named("".join(rows_below("| folder | what |")))
    ways = rust_ways(ROOT / "crates/sim/src")
    assert [f"{room} -> {end}" for place, room in enumerate(rooms) for end in ways[room] & set(rooms[place:])] == []


@pytest.mark.parametrize("file", LISTED, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_table_of_modules_names_every_one(file: Path) -> None:
    assert sorted(named(LISTED[file])) == modules_in(file.parent)


def test_tables_of_modules_are_found() -> None:
    assert len(LISTED) >= 3


def test_the_list_of_the_bindings_names_every_module() -> None:
    source = ROOT / "crates/python/src"
    listed = re.findall(r"\[`(\w+)`\]", (source / "lib.rs").read_text(encoding="utf-8"))
    assert sorted(listed) == modules_in(source)


def test_files_that_pages_name_are_there() -> None:
    code = re.compile(r"`((?:crates|python|specs|docs|tests|studies|examples|scripts)/[^`\s]*)`")
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("studies/**/*.md")]
    paths = {path for page in pages for path in code.findall(page.read_text(encoding="utf-8")) if KEPT_OUT not in path}
    assert len(paths) > 50
    assert sorted(path for path in paths if not any(ROOT.glob(re.sub("<.*?>", "*", path).rstrip("/")))) == []
