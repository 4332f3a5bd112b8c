"""Converts nested mappings and sequences to JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from hostnet._core import ConfigError


def json_of(content: Any, what: str) -> str:
    """Converts nested mappings and sequences to JSON, as a file with that content would hold it.

    Raises:
        ConfigError: The content cannot be stored as JSON; the message starts with `what` and names the place and the
            value.
    """
    try:
        return json.dumps(_plain(content, what, ""), indent=2, ensure_ascii=False)
    except RecursionError:
        raise ConfigError("syntax", f"{what}: is nested too deeply") from None


def _plain(value: Any, what: str, path: str) -> Any:
    """Converts a value to dicts, lists, strings and numbers of Python."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ConfigError("wrong-type", f"{what}: {path}{': ' if path else ''}keys must be text")
        return {key: _plain(item, what, f"{path}.{key}".removeprefix(".")) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item, what, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise ConfigError("wrong-type", f"{what}: {path}: {value!r} is no text, number, true or false, list or table")
