"""Axes of a sweep: a parameter and its values."""

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
"""Maximum number of points of a sweep."""

KEYS_MAX = 12
"""Maximum number of keys of a dotted path."""

SHOWN_MAX = 100
"""Longest text in messages; longer ones are cut."""

INT64 = range(-(2**63), 2**63)

EXAMPLE = "write iio.write_credits=46,92,184"

_RANGE = re.compile(r"([+-]?\d{1,18})\.\.([+-]?\d{1,18})(?:\.\.([+-]?\d{1,18}))?")

_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"|'[^']*'""")

CLOSING = {"[": "]", "{": "}"}


@dataclass(frozen=True)
class Value:
    """A value of a parameter."""

    text: str
    """Text after the "=" of an assignment."""
    content: Scalar
    """Meaning of the text; the text itself if it is no number, boolean or string."""

    @property
    def name(self) -> str:
        """Name in plots and messages."""
        return self.content if isinstance(self.content, str) else self.text


@dataclass(frozen=True)
class Axis:
    """A parameter and its values, in the given order."""

    path: str
    values: tuple[Value, ...]

    def setting(self, index: int) -> str:
        """Returns the assignment of a value."""
        return f"{self.path}={self.values[index].text}"

    @property
    def columns(self) -> list[Scalar]:
        """Values as stored in a column of one type, which is text unless all are numbers or all booleans."""
        contents = [value.content for value in self.values]
        if all(isinstance(content, bool) for content in contents):
            return contents
        if all(type(content) is int and content in INT64 for content in contents):
            return contents
        if all(type(content) is float or (type(content) is int and content in INT64) for content in contents):
            return [float(content) for content in contents]
        return [value.name for value in self.values]


def parse_over(text: str) -> Axis:
    """Parses "path.to.key=value,value,...".

    A value may be a range of whole numbers, 1..6 or 1..64..4. A comma inside quotes or brackets belongs to the value.

    Raises:
        ConfigError: The syntax is wrong, or a value is listed twice.
    """
    path, equals, values = text.partition("=")
    if not equals:
        raise ConfigError("malformed-value", f'--over {shown(text)}: "=" is missing; {EXAMPLE}')
    where = f"--over {shown(text)}"
    path = clean_path(path, where)
    parts = split_values(values, where)
    return _axis(path, [value for part in parts for value in _expand(part, where)], where)


def axis_of(path: str, values: Sequence[Any]) -> Axis:
    """Creates the axis of a path and Python values.

    Raises:
        ConfigError: The path is not dotted, there are no values, or one is listed twice or is neither text nor number.
    """
    where = f"over[{path!r}]"
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ConfigError("wrong-type", f"{where}: {shown(repr(values))} is not a list of values")
    return _axis(clean_path(path, where), [_python_value(value, where) for value in values], where)


def axes_of(over: Mapping[str, Sequence[Any]] | Sequence[str]) -> tuple[Axis, ...]:
    """Creates the axes of a mapping from paths to values, or of texts as on the command line.

    Raises:
        ConfigError: An axis is invalid, there are none, or two are of the same parameter.
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
    """Removes the spaces around the keys of a dotted path.

    Raises:
        ConfigError: The path has an empty key, no dot, or too many keys.
    """
    keys = [key.strip() for key in path.split(".")]
    if not 2 <= len(keys) <= KEYS_MAX or not all(keys):
        raise ConfigError("malformed-value", f'{where}: not a dotted path before "="; {EXAMPLE}')
    return ".".join(keys)


def split_values(text: str, where: str) -> list[str]:
    """Splits a list at its commas, except those inside quotes or brackets.

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
    """Formats a text for messages: on one line, and cut if it is long."""
    short = text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
    return short if short.isprintable() else repr(short)[1:-1]


def _is_open(text: str) -> bool:
    """Returns True if a value starts with a quote or a bracket that is not closed."""
    if not text.lstrip().startswith(("'", '"', "[", "{")):
        return False
    rest = _QUOTED.sub("", text)
    return any(mark in rest for mark in "'\"") or any(rest.count(mark) > rest.count(CLOSING[mark]) for mark in CLOSING)


def _axis(path: str, values: list[Value], where: str) -> Axis:
    """Creates an axis and checks that its values differ."""
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
    """Yields the values of a text, which may be a range."""
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
    """Parses a text as a TOML value; returns the text if it is none, as in an assignment with --set."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    if list(parsed) != ["value"] or not isinstance(parsed["value"], bool | int | float | str):
        return text
    content: Scalar = parsed["value"]
    return content


def _python_value(value: Any, where: str) -> Value:
    """Converts a Python value."""
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
