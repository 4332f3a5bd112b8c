"""Which libraries the manifests ask for, and which of them the code names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tests.house.rooms import imports, is_test
from tests.house.rust import bare

IDENTIFIERS = {"md-5": "md5"}
"""The names in code of crates that are called otherwise."""

FOR_FEATURES = {"hostnet-python": {"bitflags", "num-traits"}}
"""Crates that a manifest names for the features that they then have in all builds."""

REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def unused_crates(crate: Path) -> list[str]:
    """The dependencies that only tests of a crate name or nothing does, and the dev-dependencies that nothing names."""
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
    """The code of a crate that is built for others, and all its code."""
    built, tested = "", ""
    for file in sorted(crate.rglob("*.rs")):
        inside = file.relative_to(crate)
        text = bare(file.read_text(encoding="utf-8"))
        tested += text
        if inside.parts[0] in ("src", "build.rs") and not is_test(inside):
            built += text.partition("#[cfg(test)]")[0]
    return built, tested


def is_named(crate: str, code: str) -> bool:
    """Whether code has a path that begins with a crate, or uses it as a whole."""
    name = IDENTIFIERS.get(crate, crate.replace("-", "_"))
    return re.search(rf"(?<![\w:.])(?:::)?{name}::|\b(?:use|extern crate)\s+{name}\b", code) is not None


def unused_requirements(root: Path) -> list[str]:
    """The requirements of the package that no module of it imports."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    imported = {
        name.partition(".")[0]
        for file in (root / "python").rglob("*.py")
        for name in imports(file.read_text(encoding="utf-8"))
    }
    wanted = [found[0] for line in project["dependencies"] if (found := REQUIREMENT.match(line))]
    return [name for name in wanted if name.replace("-", "_") not in imported]
