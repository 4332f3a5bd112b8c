"""No requirement is unused, tests' requirements stay out of the library's dependencies, and no crate compiles twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.house.dependencies import unused_crates, unused_requirements
from tests.house.table import ROOT

CRATES = sorted(manifest.parent for manifest in ROOT.glob("crates/*/Cargo.toml"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_a_crate_names_all_that_it_depends_on(crate: Path) -> None:
    assert unused_crates(crate) == []


def test_the_package_imports_all_that_it_requires() -> None:
    assert unused_requirements(ROOT) == []


def with_features(*arguments: str) -> set[str]:
    """Returns the crates that a selection of the workspace compiles, each with its features."""
    command = ["cargo", "tree", "--locked", "--offline", "--prefix", "none", "--no-dedupe", "--format", "{p} {f}"]
    listed = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.removesuffix(" (*)") for line in listed.stdout.splitlines()}


def test_the_module_and_the_tests_in_rust_share_all_compiled_crates() -> None:
    module = with_features("--package", "hostnet-python", "--edges", "normal,build")
    assert module - with_features("--workspace") == set()


MANIFEST = """
[package]
name = "hostnet-x"
[dependencies]
in-code.workspace = true
used-whole = "1"
in-tests = "1"
in-comments = "1"
of-another = "1"
[dev-dependencies]
md-5 = "1"
for-tests = { version = "1" }
nowhere = "1"
"""

CODE = """
//! in_comments::x
use used_whole as whole;
fn f() -> in_code::Result { other::of_another::x("nowhere::y") }
#[cfg(test)]
mod tests { use in_tests::x; }
"""


def test_crates_count_as_used_where_they_may_be(tmp_path: Path) -> None:
    files = {"Cargo.toml": MANIFEST, "src/lib.rs": CODE, "tests/all.rs": "use md5::x;\nuse for_tests;\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert unused_crates(tmp_path) == [
        "dependencies: in-tests",
        "dependencies: in-comments",
        "dependencies: of-another",
        "dev-dependencies: nowhere",
    ]


def test_requirements_count_as_used_where_modules_import_them(tmp_path: Path) -> None:
    required = '[project]\ndependencies = ["late>=1,<2", "whole-name[extra]", "part", "nowhere>=1"]\n'
    (tmp_path / "pyproject.toml").write_text(required)
    (tmp_path / "python").mkdir()
    (tmp_path / "python/x.py").write_text(
        "import whole_name.y\nfrom part.z import x\nfrom . import nowhere\ndef f():\n    import late\n"
    )
    assert unused_requirements(tmp_path) == ["nowhere"]
