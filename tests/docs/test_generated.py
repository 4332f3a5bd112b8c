"""The generated files are up to date, and state for each key what the schema states."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.generate import pages
from scripts.generate.__main__ import ROOT, stale
from scripts.generate.comments import comment_of
from scripts.generate.fields import docstring, field_of
from scripts.generate.layout import LISTED, with_unlisted
from scripts.generate.order import arranged
from scripts.generate.pages import Page, label_of, page_of
from scripts.generate.rows import row_of
from scripts.generate.schema import keys, tables
from scripts.generate.wording import default, meaning, span
from tests.docs.reference import documented

TIME = {"type": "string", "x-quantity": "time", "x-max": "1 us", "description": "Mean time\nper line (time)."}


def test_nothing_is_stale() -> None:
    names = [str(file.relative_to(ROOT)) for file in stale(ROOT)]
    assert names == [], "python -m scripts.generate writes them anew"


def words(description: str, **senses: str) -> dict[str, Any]:
    """Returns the schema of a key whose value is one of some words."""
    return {"description": description, "oneOf": [{"const": word, "description": senses[word]} for word in senses]}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (TIME, "Mean time per line (time)."),
        (
            words("Order.", up="Line after line.", any="At random."),
            'Order: "up" (line after line) or "any" (at random).',
        ),
        (words("Order; up when absent.", up="Higher."), 'Order: "up" (higher); up when absent.'),
        (words("Of the L2. More.", lru="LRU (oldest)."), 'Of the L2: "lru" (LRU, oldest). More.'),
        (words('"a" or "b".', a="One.", b="Other."), '"a" or "b".'),
        (words("Which.", none="None."), 'Which: "none".'),
        ({"description": "Who.", "anyOf": [{"enum": ["x", "y"]}, {"properties": {}}]}, 'Who: "x" or "y".'),
    ],
)
def test_words_stand_where_a_description_does_not_name_them(schema: dict[str, Any], said: str) -> None:
    assert meaning(schema) == said


@pytest.mark.parametrize(
    ("schema", "limits"),
    [
        ({"minimum": 1, "maximum": 10**12}, "1 to 1000000000000"),
        ({"minimum": 0.0, "maximum": 0.5}, "0 to 0.5"),
        ({"x-max": "1 us"}, "at most 1 us"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"minimum": 0, "maximum": 7}}]}, "0 to 7"),
        ({}, ""),
    ],
)
def test_a_range_has_both_ends_that_there_are(schema: dict[str, Any], limits: str) -> None:
    assert span(schema) == limits


def test_a_default_is_as_a_file_has_it_or_python() -> None:
    assert [default({"default": value}) for value in (True, 2.0, "off", ())] == ["true", "2", '"off"', ""]
    assert default({"default": True}, python=True) == "True"
    assert default({}) == ""


@pytest.mark.parametrize(
    ("key", "types", "value"),
    [
        (TIME, "str | None", "None"),
        ({"type": ["integer", "string"]}, "int | str | None", "None"),
        (
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            "str | Sequence[int] | None",
            "None",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            "tuple[str, str] | None",
            "None",
        ),
    ],
)
def test_a_field_has_the_type_of_its_key(key: dict[str, Any], types: str, value: str) -> None:
    field = field_of("line", key, "iio.line", required=False)
    assert (field.types, field.value) == (types, value)
    assert field_of("line", key, "iio.line", required=True).value is None


def test_a_field_says_its_range_its_default_and_its_key_once() -> None:
    field = field_of("from", {**TIME, "default": "1 ns"}, "x.from", required=False)
    assert field.name == "from_"
    assert field.doc == [
        '    """Mean time per line (time). Its key in files is `from`. Range: at most "1 us". Default: "1 ns"."""'
    ]
    share = {"type": "number", "minimum": 0.0, "maximum": 1.0, "description": "A share (0 to 1); 1 when absent."}
    assert field_of("share", {**share, "default": 1.0}, "x", False).doc == [
        '    """A share (0 to 1); 1 when absent."""'
    ]


def test_a_docstring_that_is_too_long_has_its_range_apart() -> None:
    lines = docstring("word " * 30, "Range: 1 to 2.")
    assert lines[-3:] == ["", "    Range: 1 to 2.", '    """']
    assert all(len(line) <= 120 for line in lines)


def test_a_table_that_is_not_listed_has_a_class_named_after_its_key() -> None:
    paths = ("accelerator", "accelerator.queue", "workload.*:far-copy", "nic.onchip_queue")
    new: dict[str, Any] = {path: {"properties": {path: {}}} for path in paths}
    same = {"host.*.accelerator": new["accelerator"]}
    modules = with_unlisted(LISTED, {**tables("server"), **new, **tables("cluster"), **same})
    listed = {kind for module in LISTED.values() for kind in module.classes}
    classes = {name: set(module.classes) - listed for name, module in modules.items()}
    assert {name: kinds for name, kinds in classes.items() if kinds} == {
        "accelerator": {"Accelerator", "AcceleratorQueue"},
        "workload": {"FarCopy"},
        "nic": {"NicOnchipQueue"},
    }
    assert list(modules["accelerator"].classes) == ["AcceleratorQueue", "Accelerator"]


def test_keys_stay_where_they_stand_and_new_ones_come_last() -> None:
    assert arranged({"a", "b", "c", "d"}, ["c", "gone", "a"]) == ["c", "a", "b", "d"]


ELSEWHERE = {
    "server": ("socket",),  # a socket has the tables of the server
    "cluster": ("run", "network.switch", "host.*.compress", *(f"host.*.{key}" for key in keys(tables("server")[""]))),
    "memory": ("memory",),  # as of a server
}
"""Tables with the same keys as others."""


@pytest.mark.parametrize("root", sorted({page.root for page in pages.PAGES.values()}))
def test_every_key_is_in_a_table(root: str) -> None:
    shown = {name: documented(f"{name}.md") for name, page in pages.PAGES.items() if page.root == root}
    named = {key for rows in shown.values() for key in rows}
    page = next(page for page in pages.PAGES.values() if page.root == root)
    wanted = [
        f"{label_of(page, path)}.{key}"
        for path, table in tables(root).items()
        if path and not path.startswith(ELSEWHERE.get(root, ()))
        for key, value in keys(table).items()
        if "properties" not in value and value.get("type") != "object"
    ]
    assert len(wanted) > 8
    assert sorted(set(wanted) - named) == []


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("Time; 1.5 us when absent. Not with x.", "1.5 us"),
        ("Time. That of all when absent everywhere. Not with x.", "that of all"),
        ("Time; half of `a.b` when absent. Not with x.", "half of `a.b`"),
    ],
)
def test_what_a_key_is_when_it_is_absent_has_its_column(text: str, absent: str) -> None:
    row = row_of("x.y", {**TIME, "description": text}, False, "preset")
    assert row == f"| `x.y` | time, up to 1 us | {absent} | Time. Not with x. |"


def test_what_cannot_be_told_apart_stays_in_the_meaning() -> None:
    row = row_of("x.y", {**TIME, "description": "Time; 1 us when absent, 2 us with z."}, False, "preset")
    assert row == "| `x.y` | time, up to 1 us | see the meaning | Time; 1 us when absent, 2 us with z. |"


def test_a_row_says_the_default_or_where_the_value_is() -> None:
    told = row_of("x.y", {**TIME, "default": "2 ns"}, False, "preset")
    assert told == '| `x.y` | time, up to 1 us | `"2 ns"` | Mean time per line. |'
    assert row_of("x.y", TIME, False, "preset").split(" | ")[2] == "preset"
    assert row_of("x.y", TIME, True, "preset").split(" | ")[2] == "required"
    assert row_of("x.y", TIME, False, "preset", "#y").endswith("Mean time per line. [More](#y). |")


def test_a_page_has_its_tables_written_between_the_comments() -> None:
    first, second = "<!-- keys: iio; only line line_jitter -->", "<!-- keys: iio -->"
    text = f"Before.\n{first}\n| `iio.line_jitter` |\n<!-- end -->\n{second}\n<!-- end -->\n"
    written = page_of(text, Page("server"))
    first, second = (part.split("<!-- end -->")[0] for part in written.split("<!-- keys: ")[1:])
    assert written.startswith("Before.\n<!-- keys: iio; only line line_jitter -->\n| key | value |")
    assert first.index("`iio.line_jitter`") < first.index("`iio.line`")
    assert "`iio.write_ack`" in second
    assert "`iio.line`" not in second
    assert page_of(written, Page("server")) == written


def test_names_and_elements_are_written_as_the_page_does() -> None:
    assert label_of(Page("server"), "workload.*:fio.jobs.*") == "workload.<name>.jobs[]"
    assert label_of(Page("cluster", "NAME"), "host.*.mcn") == "host.NAME.mcn"


def test_a_comment_that_asks_for_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match='cannot have "never"'):
        comment_of("iio; never line")
