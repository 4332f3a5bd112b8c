"""Percentages have one notation everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

import pytest

from hostnet.explanation.text import wrapped
from hostnet.report.html import escape
from hostnet.terminal.layout import wrapped_text
from hostnet.units import format_percent
from tests.docs.reference import ROOT

NOT_SHOWN = {
    "cli/memory_options.py": "the value of a key",
    "report/clusters/timeline.py": "places in CSS",
}
"""Files with percentages that are never shown, and their use."""


@pytest.mark.parametrize(
    ("share", "digits", "sign", "text"),
    [
        (0.954, 0, "", "95 %"),
        (0.25, 0, "+", "+25 %"),
        (-0.125, 1, "+", "-12.5 %"),
        (-0.0004, 1, "", "0.0 %"),
        (-0.004, 0, "+", "0 %"),
        (0.004, 0, "+", "0 %"),
        (12.0, 0, "+", "+1200 %"),
    ],
)
def test_a_percentage_has_a_space_and_zero_no_sign(share: float, digits: int, sign: str, text: str) -> None:
    assert format_percent(share, digits, sign) == text


def without_space(tree: ast.AST) -> Iterator[int]:
    """Returns the lines with formatted strings that put a percent sign right behind a number."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            if ast.unparse(node.format_spec).rstrip("'\"").endswith("%"):
                yield node.lineno
        elif isinstance(node, ast.JoinedStr):
            for value, text in pairwise(node.values):
                sign = str(text.value)[:1] if isinstance(text, ast.Constant) else ""
                if isinstance(value, ast.FormattedValue) and sign == "%":
                    yield node.lineno


def test_no_percentage_is_formatted_without_a_space() -> None:
    assert list(without_space(ast.parse("f'{a:.0%} {b}% {c} %'"))) == [1, 1]
    package = ROOT / "python/hostnet"
    files = {file.relative_to(package).as_posix(): file for file in package.rglob("*.py")}
    found = {name: list(without_space(ast.parse(file.read_text()))) for name, file in files.items()}
    assert {name for name, lines in found.items() if lines} == set(NOT_SHOWN), found


@pytest.mark.parametrize("width", range(10, 40))
def test_no_line_ends_between_a_number_and_its_percent_sign(width: int) -> None:
    text = "the links are busy 95 % of the time and full 8 % of it"
    lines = wrapped_text(text, width).split("\n")
    assert " ".join(lines) == text
    assert max(map(len, lines)) <= width
    assert not any(line.startswith("%") for line in lines)


def test_pages_keep_numbers_with_their_percent_signs() -> None:
    assert escape("busy 95 % of <all>") == "busy 95\u00a0% of &lt;all&gt;"
    line = f"{'a' * 76} 95 %"
    assert wrapped(line) == ["a" * 76, "95 %"]
