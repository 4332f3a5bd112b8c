"""The one way to the terminal: nothing that is printed can command it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from typing import Any

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that command a terminal or turn the direction of text, but for tabs and ends of lines."""


WIDTH_MAX = 100
"""Columns of the widest output."""

WIDTH_MIN = 40
"""Columns of the narrowest where there is no terminal."""


def screen_width() -> int:
    """Columns of the output: those of the terminal, or where there is none those that COLUMNS asks for, if any."""
    if sys.stdout.isatty():
        return min(shutil.get_terminal_size().columns, WIDTH_MAX)
    wanted = os.environ.get("COLUMNS", "")
    asked = max(int(wanted), WIDTH_MIN) if wanted.isdecimal() and len(wanted) < 5 else WIDTH_MAX
    return min(asked, WIDTH_MAX)


def visible(text: str) -> str:
    r"""The text with `\u001b` for an escape character and the like. JSON means the same after it as before."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str = "", *, end: str = "\n") -> None:
    """Writes to stdout."""
    sys.stdout.write(visible(text) + end)


def hand_over() -> None:
    """Hands over what was said so far to whoever reads it, however the process ends."""
    sys.stdout.flush()


def say_json(content: Any, indent: int = 2) -> None:
    """Writes to stdout as JSON."""
    say(json.dumps(content, indent=indent, ensure_ascii=False))


def complain(text: str) -> None:
    """Writes a line to stderr."""
    print(visible(text), file=sys.stderr, flush=True)
