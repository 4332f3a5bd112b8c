"""The glossary of the package has what the docs define, and defines what results name."""

from __future__ import annotations

import json
import re

import pytest

from hostnet import _core, glossary
from hostnet.headings import all_definitions
from scripts.generate.glossary import plain
from tests.docs.reference import domain_names, table_columns


def test_every_domain_and_every_limit_has_a_definition() -> None:
    names = {*domain_names(), *(limit["limit"] for limit in json.loads(_core.limits()))}
    assert len(names) > 25
    assert sorted(names - {term.name for term in glossary.all_terms()}) == []


def test_every_column_of_every_table_has_a_definition() -> None:
    tables = {*_core.table_info(), *table_columns()}
    assert sorted(tables - set(glossary.content()["columns"])) == []
    for table, columns in table_columns().items():
        assert [column for column in columns if not glossary.column_meaning(table, column)] == []


def test_definitions_are_plain_text_without_references_to_other_rows() -> None:
    for one in all_definitions():
        assert one.meaning, one
        assert one.meaning == one.meaning.strip()
        assert "](" not in one.meaning
        assert "http" not in one.meaning
        assert not re.search(r"^its \w+$|\bthe same$|\bas above$|^[\w .]{,20} of (?:it|them)$", one.meaning), one


@pytest.mark.parametrize(
    ("heading", "start"),
    [
        ("P99 µs", "percentiles"),
        ("Throughput GB/s", "bytes per second"),
        ("x 1.25", "change of the throughput"),
        ("Within tolerance", "rows whose error"),
        ("memory.channels", "Number of"),
    ],
)
def test_headings_are_found_without_their_unit_and_number(heading: str, start: str) -> None:
    assert str(glossary.heading_definition(heading)).startswith(start)


def test_a_heading_is_no_limit_of_the_same_name() -> None:
    assert "ended" in {term.name for term in glossary.all_terms()}
    assert glossary.heading_definition("ended") is None


def test_a_long_definition_ends_after_a_sentence_or_a_clause() -> None:
    text = f"{'a' * 100}; {'b' * 100}. {'c' * 100}"
    assert glossary.short(text) == text[:202]
    assert glossary.short("d" * 500) == "d" * 500


def test_links_and_code_marks_are_left_out() -> None:
    assert plain("the `LFB` of a [core](models/core.md#lfb)") == "the LFB of a core"
