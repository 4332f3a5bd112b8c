"""Puts the schema of a key into words: meaning, allowed words, range and default."""

from __future__ import annotations

import json
import re

from scripts.generate.schema import Schema, bounds, text, words

END = re.compile(r";|\.(?= |$)")
"""End of the first clause of a description."""


def meaning(schema: Schema) -> str:
    """Returns the description of a key, with the allowed words if the description does not name them."""
    said, known = text(schema), words(schema)
    if all(f'"{word}"' in said for word in known):
        return said
    listed = [f'"{word}"{_aside(word, sense)}' for word, sense in known.items()]
    whole = " or ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))
    end = END.search(said)
    place = end.start() if end else len(said)
    return f"{said[:place]}: {whole}{said[place:]}"


def _aside(word: str, sense: str) -> str:
    """Returns the meaning of a word, in parentheses."""
    sense = sense.removesuffix(".").replace(" (", ", ").replace(")", "")
    begins_as_sentences_do = re.match(r"[A-Z][a-z]*\b", sense)
    sense = sense[0].lower() + sense[1:] if begins_as_sentences_do else sense
    return "" if sense in ("", word) else f" ({sense})"


def span(schema: Schema, quote: bool = False) -> str:
    """Returns the range of a value, such as `1 to 64`; empty if it has none."""
    least, most = (None if end is None else bound(end, quote) for end in bounds(schema))
    if most is None:
        return "" if least is None else f"at least {least}"
    return f"at most {most}" if least is None else f"{least} to {most}"


def bound(value: float | str, quote: bool = False) -> str:
    """Returns one bound of a range."""
    if isinstance(value, str):
        return f'"{value}"' if quote else value
    return str(value) if isinstance(value, int) else f"{value:.10g}"


def default(schema: Schema, python: bool = False) -> str:
    """Returns the default of a key in the notation of a file or of Python; empty if the schema has none."""
    value = schema.get("default")
    if value is None or value in ([], (), {}):
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value) if python and isinstance(value, bool) else json.dumps(value)
