"""Counts do not grow, and the counters are correct."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import rust
from tests.house.counts import COUNTS, Count
from tests.house.rooms import circular, imported, python_ways, rust_ways
from tests.house.table import COMMAND, ROOT, committed, complaint, lowered


@pytest.mark.parametrize("name", COUNTS)
def test_what_must_not_grow_is_as_committed(name: str) -> None:
    said = complaint(name, COUNTS[name].places(ROOT), committed()[name])
    assert said is None, said


def test_the_table_has_every_count() -> None:
    assert committed().keys() == COUNTS.keys()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Returns a repository with one flaw of each kind, and look-alikes that are none."""
    files = {
        "Makefile": "",
        ".gitignore": "",
        "crates/sim/src/lib.rs": "mod a;\nmod b;\n",
        "crates/sim/src/a.rs": "use crate::b;\n#[cfg(test)]\nmod tests { use crate::c; }\n",
        "crates/sim/src/b/mod.rs": "use super::a::{self, X}; // use crate::c\n",
        "crates/sim/src/c.rs": "use crate::{a, b::{Y, c}};\nmod tests;\n",
        "crates/sim/src/c/tests.rs": "use crate::a;\n",
        "crates/noc/src/x.rs": "pub struct X;\nimpl X { }\n",
        "crates/noc/src/y/mod.rs": "mod a;\npub use crate::x::X;\nimpl X { }\nimpl Clone for X { }\n",
        "crates/noc/src/y/a.rs": "use super::X;\nimpl X { }\n",
        "crates/noc/src/y/b.rs": "use super::{a, X};\nimpl X { }\n",
        "crates/noc/src/y/c.rs": "use crate::y::X;\nimpl X { }\n",
        "crates/noc/src/z.rs": "struct X;\nimpl X { }\n",
        "crates/model/src/core/mod.rs": 'use crate::cha;\nlet x = Component::Core; // Component::Cha\n"Component::";\n',
        "crates/model/src/cha/mod.rs": "use super::super::x;\n",
        "crates/model/src/cha/tests.rs": "use crate::core;\n",
        "crates/model/src/world/mod.rs": "Component::Core\n",
        "crates/model/target/x.rs": "x" * 200,
        "python/hostnet/__init__.py": "from hostnet.a import x\n",
        "python/hostnet/a.py": "import hostnet.b\n",
        "python/hostnet/b/c.py": "def f():\n    from hostnet import a\n",
        "python/hostnet/d.py": "import other.b\n",
        "tests/long.py": "def f():\n" + "    x\n" * 70 + "\n\n" + "# " + "x" * 119 + "\n# " + "x" * 118 + "\n" * 330,
        "tests/short.py": "def f():\n" + "    x\n" * 69 + "\n" * 330,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


FLAWS = {
    "components_named": ["crates/model/src/core/mod.rs:2"],
    "long_lines": ["tests/long.py:74"],
    "long_functions": ["tests/long.py:1 f (71)"],
    "long_files": ["tests/long.py (404)"],
    "root_files": [".gitignore", "Makefile"],
    "model_circles": [],
    "sim_circles": ["a -> b", "b -> a"],
    "python_circles": ["a -> b", "b -> a"],
    "file_circles": ["crates/sim/src/a.rs", "crates/sim/src/b/mod.rs"],
    "scattered_types": ["crates/noc/src/x.rs X (5)"],
}


@pytest.mark.parametrize(("name", "places"), FLAWS.items())
def test_flaws_are_found_where_they_are(tree: Path, name: str, places: list[str]) -> None:
    assert COUNTS[name].places(tree) == places


def test_every_counter_is_tried() -> None:
    assert FLAWS.keys() == COUNTS.keys()


def test_more_than_committed_says_what_to_do_and_where() -> None:
    said = complaint("long_files", ["a.rs (401)", "b.py (500)"], 1)
    assert said == (
        "2 files of more than 400 lines, at most 1 may be: split the file by question.\na.rs (401)\nb.py (500)"
    )
    assert str(complaint("long_lines", ["x"] * 100, 0)).endswith("x\n...")


def test_less_than_committed_says_how_to_keep_it_so() -> None:
    said = complaint("long_files", ["a.rs (401)"], 2)
    assert said == f"only 1 files of more than 400 lines are left of 2; keep it so: {COMMAND}"
    assert complaint("long_files", ["a.rs (401)"], 1) is None


def test_the_table_is_lowered_and_never_raised(tree: Path) -> None:
    table = {**dict.fromkeys(COUNTS, 1), "long_files": 7, "sim_circles": 0}
    assert lowered(table, tree) == {
        **{name: len(places) for name, places in FLAWS.items()},
        "root_files": 1,
        "sim_circles": 0,
        "python_circles": 1,
        "file_circles": 1,
    }


def test_every_count_says_what_and_what_instead() -> None:
    for count in COUNTS.values():
        assert isinstance(count, Count)
        assert count.what
        assert count.instead


def test_strings_and_comments_are_no_code() -> None:
    code = rust.bare("""let a = '"'; let b = "{\\"}"; // {\nlet c: &'static str = r#"{"}"#; /* {\n */ b'{'""")
    assert "{" not in code
    assert "}" not in code
    assert code.count("\n") == 2
    assert "&'static str" in code


def test_functions_of_rust_are_measured() -> None:
    text = "trait T {\n    fn a(&self) -> [u8; 2];\n    fn b() {\n        if x { '}' }\n    }\n}\nfn c<'a>() { }\n"
    assert rust.functions(text) == [("b", 3, 3), ("c", 7, 1)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("use crate::a::B;", {"a"}),
        ("use crate::{a::{b, c}, d};\nfn f() { crate::e::g() }", {"a", "d", "e"}),
        ("use super::a;", set()),
        ('// use crate::a;\nlet x = "crate::b";', set()),
    ],
)
def test_modules_that_are_named(text: str, named: set[str]) -> None:
    assert rust.modules_named(text, at_top=False) == named


def test_parents_of_the_topmost_are_the_crate() -> None:
    assert rust.modules_named("use super::{a, b};", at_top=True) == {"a", "b"}


def test_ways_of_rust_are_those_outside_of_tests(tree: Path) -> None:
    assert rust_ways(tree / "crates/sim/src") == {"a": {"b"}, "b": {"a"}, "c": {"a", "b"}}


def test_ways_of_python_are_those_of_late_imports_too(tree: Path) -> None:
    assert python_ways(tree / "python/hostnet") == {"a": {"b"}, "b": {"a"}, "d": set()}
    assert imported("from hostnet import run, cli\nimport hostnet\nfrom hostnetwork.x import y", "hostnet") == {
        "run",
        "cli",
    }


def test_only_ways_on_a_circle_count() -> None:
    assert circular({"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": set()}) == ["a -> b", "b -> c", "c -> a"]
    assert circular({"a": {"b"}, "b": {"c"}, "c": set()}) == []
