"""Writes the lists of class names: of the package that defines them, and of `hostnet`, which loads them lazily."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from scripts.generate.classes import HEADER, import_line
from scripts.generate.layout import FOLDER, HOMES, MODULES, place_of

SYSTEM = '"""Descriptions of servers, clusters and their workloads, with the same names as in configuration files."""'

NAMES = '"""The names of the classes that describe a configuration, without importing the classes."""'


def files(root: Path) -> dict[Path, str]:
    """Returns the content of both files."""
    return {
        root / FOLDER / "__init__.py": "\n".join([HEADER, SYSTEM, "", *_imports(), "", *_listed(), ""]),
        root / FOLDER.parent / "class_names.py": "\n".join([HEADER, NAMES, "", *_typed(), "", *_listed(), ""]),
    }


def _imports() -> list[str]:
    homes = {f"hostnet.system.{name}": _public(module.classes) for name, module in MODULES.items()}
    return [import_line(home, names) for home, names in sorted(homes.items())]


def _public(classes: Iterable[str]) -> list[str]:
    return [kind for kind in classes if place_of(kind).is_public]


def _typed() -> list[str]:
    """Returns the lines from which type checkers learn the names."""
    loaded = import_line("hostnet.system", _public(HOMES), "    ")
    return ["from typing import TYPE_CHECKING", "", "if TYPE_CHECKING:", loaded]


def _listed() -> list[str]:
    names = sorted(_public(HOMES), key=lambda name: (not (name.isupper() and len(name) > 1), name))
    return ["__all__ = [", *(f'    "{name}",' for name in names), "]"]
