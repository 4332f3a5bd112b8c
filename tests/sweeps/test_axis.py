"""Axes of --over."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostnet import ConfigError
from hostnet.sweeps.axis import axes_of, axis_of, parse_over, shown, split_values
from tests.support import raises_code


def contents(text: str) -> list[Any]:
    return [value.content for value in parse_over(f"a.b={text}").values]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("46,92,184", [46, 92, 184]),
        (" 46 , 92 ", [46, 92]),
        ("0-0,0-1,0-2", ["0-0", "0-1", "0-2"]),
        ('"0,2","4,6"', ["0,2", "4,6"]),
        ("'0,2', '4,6'", ["0,2", "4,6"]),
        ("[0, 2],[4, 6]", ["[0, 2]", "[4, 6]"]),
        ('["a]", "b,"],c', ['["a]", "b,"]', "c"]),
        (r'"a\",b",c', ['a",b', "c"]),
        ("it's,fine", ["it's", "fine"]),
        ("1..4", [1, 2, 3, 4]),
        ("1..64..21,128", [1, 22, 43, 64, 128]),
        ("-1..1", [-1, 0, 1]),
        ("3..3", [3]),
        ("0.5,1", [0.5, 1]),
        ("true,false", [True, False]),
        ("10 us,20 us", ["10 us", "20 us"]),
        ("all,1 GiB", ["all", "1 GiB"]),
        ("2001-01-01,x", ["2001-01-01", "x"]),
    ],
)
def test_values_are_read(text: str, expected: list[Any]) -> None:
    assert contents(text) == expected
    assert list(map(type, contents(text))) == list(map(type, expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.b", '"=" is missing'),
        ("", '"=" is missing'),
        ("=1", "not a dotted path"),
        ("a=1", "not a dotted path"),
        ("a..b=1", "not a dotted path"),
        (".a=1", "not a dotted path"),
        ("a.b=", "no values"),
        ("a.b= ", "no values"),
        ("a.b=,", "value 1 is empty"),
        ("a.b=1,", "value 2 is empty"),
        ("a.b=1,,2", "value 2 is empty"),
        ("a.b=1,2,1", "the same value twice: 1"),
        ("a.b=1,1.0", "the same value twice: 1 and 1.0"),
        ('a.b=0-1,"0-1"', 'the same value twice: 0-1 and "0-1"'),
        ("a.b=1..3,2", "the same value twice: 2"),
        ("a.b=3..1", "runs backwards"),
        ("a.b=1..3..0", "the step of 1..3..0 must be at least 1"),
        ("a.b=1..3..-1", "must be at least 1"),
        ("a.b=1..1000001", "1000001 values; at most 1000000 points"),
        ("a.b=0..999999999999999999", "at most 1000000 points"),
        ('a.b="0,1', "a quote or a bracket is not closed"),
        ("a.b=[0,1", "a quote or a bracket is not closed"),
    ],
)
def test_what_is_wrong_is_told(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        parse_over(text)
    assert str(caught.value).startswith("--over ")


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        axis = parse_over(f"a.b={text}")
    except ConfigError as error:
        message = str(error)
    else:
        message = "".join(shown(value.text) for value in axis.values)
    assert message
    assert message.isprintable()


@given(st.lists(st.from_regex(r"[0-9A-Za-z:/ -]{0,5}[0-9A-Za-z]", fullmatch=True) | st.just('"a,b"'), min_size=1))
def test_splitting_undoes_joining(parts: list[str]) -> None:
    assert split_values(",".join(parts), "") == [part.strip() for part in parts]


def test_a_column_has_one_type() -> None:
    assert parse_over("a.b=1,2").columns == [1, 2]
    assert [type(value) for value in parse_over("a.b=1,2.5").columns] == [float, float]
    assert parse_over("a.b=1,x").columns == ["1", "x"]
    assert parse_over("a.b=true,false").columns == [True, False]
    assert parse_over("a.b=true,1").columns == ["true", "1"]
    assert parse_over(f"a.b=1,{2**64 - 1}").columns == ["1", str(2**64 - 1)], "nothing is rounded"


def test_python_values_mean_themselves() -> None:
    axis = axis_of("a.b", ["46", 46, 0.5, True, [0, 1], 'it\'s "x"'])
    assert [value.text for value in axis.values] == ['"46"', "46", "0.5", "true", "[0, 1]", '"it\'s \\"x\\""']
    assert axis.values[0].content == "46"


@pytest.mark.parametrize("values", ["46", 46, [], [None], [{"a": 1}], [1, 1]])
def test_python_values_that_are_none_are_refused(values: Any) -> None:
    with pytest.raises(ConfigError):
        axis_of("a.b", values)


def test_a_parameter_is_swept_once() -> None:
    with raises_code("duplicate | stands twice"):
        axes_of(["a.b=1", "a . b=2"])
    with raises_code("missing-key | missing"):
        axes_of([])
