"""What is swept: a parameter and the values that it takes."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Scalar = bool | int | float | str

POINTS_MAX = 1_000_000
"""The most points of a sweep."""

KEYS_MAX = 12
"""The most keys of a dotted path."""

SHOWN_MAX = 100
"""Longer texts are cut in messages."""

INT64 = range(-(2**63), 2**63)

EXAMPLE = "write iio.write_credits=46,92,184"

_RANGE = re.compile(r"([+-]?\d{1,18})\.\.([+-]?\d{1,18})(?:\.\.([+-]?\d{1,18}))?")

_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"|'[^']*'""")

CLOSING = {"[": "]", "{": "}"}


@dataclass(frozen=True)
class Value:
    """One value of a parameter."""

    text: str
    """As it stands behind the "=" of an assignment."""
    content: Scalar
    """What it means; the text where that is no number, truth value or string."""

    @property
    def name(self) -> str:
        """How plots and messages call it."""
        return self.content if isinstance(self.content, str) else self.text


@dataclass(frozen=True)
class Axis:
    """A parameter and the values that it takes, in the order in which they were given."""

    path: str
    values: tuple[Value, ...]

    def setting(self, index: int) -> str:
        """The assignment of one value."""
        return f"{self.path}={self.values[index].text}"

    @property
    def columns(self) -> list[Scalar]:
        """The values as they stand in a column: of one type, which is text unless all are numbers or truth values."""
        contents = [value.content for value in self.values]
        if all(isinstance(content, bool) for content in contents):
            return contents
        if all(type(content) is int and content in INT64 for content in contents):
            return contents
        if all(type(content) is float or (type(content) is int and content in INT64) for content in contents):
            return [float(content) for content in contents]
        return [value.name for value in self.values]


def parse_over(text: str) -> Axis:
    """Reads "path.to.key=value,value,...".

    A value may be a range of whole numbers, 1..6 or 1..64..4. A comma inside quotes or brackets belongs to the value.

    Raises:
        ConfigError: It is not written like that, or a value stands twice.
    """
    path, equals, values = text.partition("=")
    if not equals:
        raise ConfigError("malformed-value", f'--over {shown(text)}: "=" is missing; {EXAMPLE}')
    where = f"--over {shown(text)}"
    path = clean_path(path, where)
    parts = split_values(values, where)
    return _axis(path, [value for part in parts for value in _expand(part, where)], where)


def axis_of(path: str, values: Sequence[Any]) -> Axis:
    """The axis of a path and of values that Python has.

    Raises:
        ConfigError: The path is not dotted, there are no values, or one stands twice or is neither text nor number.
    """
    where = f"over[{path!r}]"
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ConfigError("wrong-type", f"{where}: {shown(repr(values))} is not a list of values")
    return _axis(clean_path(path, where), [_python_value(value, where) for value in values], where)


def axes_of(over: Mapping[str, Sequence[Any]] | Sequence[str]) -> tuple[Axis, ...]:
    """Axes of a mapping from paths to values, or of texts as on the command line.

    Raises:
        ConfigError: One is wrong, there are none, or two are of the same parameter.
    """
    if isinstance(over, str):
        over = [over]
    axes = (
        [parse_over(text) for text in over] if not hasattr(over, "items") else [axis_of(*item) for item in over.items()]
    )
    if not axes:
        raise ConfigError("missing-key", f"--over: missing; name what to sweep: {EXAMPLE}")
    for index, axis in enumerate(axes):
        if any(axis.path == other.path for other in axes[:index]):
            raise ConfigError("duplicate", f"--over {axis.path}: stands twice; give all its values in one list")
    return tuple(axes)


def clean_path(path: str, where: str) -> str:
    """A dotted path without spaces around its keys.

    Raises:
        ConfigError: It has an empty key, no dot, or more keys than any parameter.
    """
    keys = [key.strip() for key in path.split(".")]
    if not 2 <= len(keys) <= KEYS_MAX or not all(keys):
        raise ConfigError("malformed-value", f'{where}: not a dotted path before "="; {EXAMPLE}')
    return ".".join(keys)


def split_values(text: str, where: str) -> list[str]:
    """Cuts a list at its commas, but not at those inside quotes or brackets.

    Raises:
        ConfigError: A value is empty, or a quote or a bracket is not closed.
    """
    parts: list[str] = []
    begun = ""
    for piece in text.split(","):
        begun += piece
        if _is_open(begun):
            begun += ","
        else:
            parts.append(begun.strip())
            begun = ""
    if begun:
        raise ConfigError("malformed-value", f"{where}: a quote or a bracket is not closed")
    if parts == [""]:
        raise ConfigError("malformed-value", f"{where}: no values; {EXAMPLE}")
    if "" in parts:
        raise ConfigError("malformed-value", f"{where}: value {parts.index('') + 1} is empty; {EXAMPLE}")
    return parts


def shown(text: str) -> str:
    """A text as messages show it: on one line and not too long."""
    short = text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
    return short if short.isprintable() else repr(short)[1:-1]


def _is_open(text: str) -> bool:
    """Whether a value begins with a quote or a bracket that is not closed yet."""
    if not text.lstrip().startswith(("'", '"', "[", "{")):
        return False
    rest = _QUOTED.sub("", text)
    return any(mark in rest for mark in "'\"") or any(rest.count(mark) > rest.count(CLOSING[mark]) for mark in CLOSING)


def _axis(path: str, values: list[Value], where: str) -> Axis:
    if not values:
        raise ConfigError("wrong-count", f"{where}: no values")
    seen: dict[tuple[bool, Scalar], Value] = {}
    for value in values:
        key = (isinstance(value.content, bool), value.content)
        if key in seen:
            first = seen[key].text
            both = shown(first) if first == value.text else f"{shown(first)} and {shown(value.text)}"
            raise ConfigError("duplicate", f"{where}: the same value twice: {both}")
        seen[key] = value
    return Axis(path, tuple(values))


def _expand(text: str, where: str) -> Iterator[Value]:
    match = _RANGE.fullmatch(text)
    if match is None:
        yield Value(text, _content(text))
        return
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if step < 1:
        raise ConfigError("out-of-range", f"{where}: the step of {text} must be at least 1")
    if first > last:
        raise ConfigError("wrong-order", f"{where}: the range {text} runs backwards")
    numbers = range(first, last + 1, step)
    if len(numbers) > POINTS_MAX:
        raise ConfigError(
            "too-many", f"{where}: {text} are {len(numbers)} values; at most {POINTS_MAX} points are allowed"
        )
    for number in numbers:
        yield Value(str(number), number)


def _content(text: str) -> Scalar:
    """What a text means as a TOML value; the text itself where it is none, as in an assignment with --set."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    if list(parsed) != ["value"] or not isinstance(parsed["value"], bool | int | float | str):
        return text
    content: Scalar = parsed["value"]
    return content


def _python_value(value: Any, where: str) -> Value:
    if isinstance(value, bool):
        return Value("true" if value else "false", value)
    if isinstance(value, Integral):
        return Value(str(int(value)), int(value))
    if isinstance(value, Real):
        return Value(repr(float(value)), float(value))
    if isinstance(value, str):
        return Value(json.dumps(value, ensure_ascii=False), value)
    if isinstance(value, list | tuple):
        text = f"[{', '.join(_python_value(item, where).text for item in value)}]"
        return Value(text, text)
    raise ConfigError("wrong-type", f"{where}: {shown(repr(value))} is neither text nor a number")
