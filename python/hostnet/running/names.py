"""Hints for misspelled table names in assignments, which would create a new table."""

from __future__ import annotations

import json
import tomllib
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.running.results import Source


@contextmanager
def near_names(source: Source) -> Iterator[None]:
    """Adds the nearest existing name to an error about a table that only an assignment names.

    Raises:
        ConfigError: The body raised it; the message has the hint.
    """
    try:
        yield
    except ConfigError as error:
        message = str(error)
        hint = _hint(message, source) if source.overrides and "did you mean" not in message else None
        if hint is None:
            raise
        raise error.reworded(f"{message}; {hint}") from None


def _hint(message: str, source: Source) -> str | None:
    """Returns the nearest existing name, or the assignment that created the table if no name is near."""
    try:
        content = (json if source.format == "json" else tomllib).loads(source.text)
        paths = [_words(text.partition("=")[0]) for text in source.overrides]
    except ValueError:
        return None
    for path, assignment in zip(paths, source.overrides, strict=True):
        place, names, own = _new_table(content, path)
        # A section that a file omits, such as `iio`, comes from its preset, so only named tables can be misspelled.
        if names and own and f"{place}{own}." in message:
            near = get_close_matches(own, names, 1)
            named = f'did you mean "{place}{near[0]}"?' if near else None
            return named or f"the file has no {place}{own}, which {assignment} makes"
    return None


def _words(path: str) -> list[str]:
    """Returns the keys of a dotted path."""
    words, table = [], tomllib.loads(f"{path} = 0")
    while isinstance(table, dict):
        ((word, table),) = table.items()
        words.append(word)
    return words


def _new_table(content: Any, path: list[str]) -> tuple[str, list[str], str]:
    """Returns where a path leaves the configuration: its prefix, the names of tables there, and the unknown name."""
    place = ""
    for word in path[:-1]:
        if not isinstance(content, dict):
            break
        if word not in content:
            named = place and all(isinstance(inner, dict) for inner in content.values())
            return place, list(content) if named else [], word
        content, place = content[word], f"{place}{word}."
    return place, [], ""
