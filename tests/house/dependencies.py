"""Finds libraries that the manifests require but the code does not use."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tests.house.rooms import imports, is_test
from tests.house.rust import bare

IDENTIFIERS = {"md-5": "md5"}
"""Names in code of crates whose package name differs."""

FOR_FEATURES = {
    "hostnet-python": {"bitflags", "indexmap", "num-traits", "toml_datetime", "toml_parser", "toml_writer", "winnow"}
}
"""Crates that a manifest lists only to enable their features in all builds."""

REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def unused_crates(crate: Path) -> list[str]:
    """Returns dependencies that only tests of a crate name or nothing does, and dev-dependencies that nothing names."""
    manifest: dict[str, Any] = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
    built, tested = code_of(crate)
    code = {"build-dependencies": built, "dependencies": built, "dev-dependencies": tested}
    excepted = FOR_FEATURES.get(manifest["package"]["name"], set())
    return [
        f"{table}: {name}"
        for table, text in code.items()
        for name in manifest.get(table, {})
        if name not in excepted and not is_named(name, text)
    ]


def code_of(crate: Path) -> tuple[str, str]:
    """Returns the library code of a crate, and all its code."""
    built, tested = "", ""
    for file in sorted(crate.rglob("*.rs")):
        inside = file.relative_to(crate)
        text = bare(file.read_text(encoding="utf-8"))
        tested += text
        if inside.parts[0] in ("src", "build.rs") and not is_test(inside):
            built += text.partition("#[cfg(test)]")[0]
    return built, tested


def is_named(crate: str, code: str) -> bool:
    """Returns true if code has a path that begins with a crate, or imports the whole crate."""
    name = IDENTIFIERS.get(crate, crate.replace("-", "_"))
    return re.search(rf"(?<![\w:.])(?:::)?{name}::|\b(?:use|extern crate)\s+{name}\b", code) is not None


def unused_requirements(root: Path) -> list[str]:
    """Returns the requirements of the package that none of its modules imports."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    imported = {
        name.partition(".")[0]
        for file in (root / "python").rglob("*.py")
        for name in imports(file.read_text(encoding="utf-8"))
    }
    wanted = [found[0] for line in project["dependencies"] if (found := REQUIREMENT.match(line))]
    return [name for name in wanted if name.replace("-", "_") not in imported]
