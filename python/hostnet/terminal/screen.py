"""Writes to the terminal. Printed text cannot control the terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from typing import Any

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that control a terminal or the direction of text, except tabs and line feeds."""


WIDTH_MAX = 100
"""Largest width of the output, in columns."""

WIDTH_MIN = 40
"""Smallest width of the output without a terminal, in columns."""


def screen_width() -> int:
    """Returns the width of the output in columns: that of the terminal, or without one that of COLUMNS."""
    if sys.stdout.isatty():
        return min(shutil.get_terminal_size().columns, WIDTH_MAX)
    wanted = os.environ.get("COLUMNS", "")
    width = max(int(wanted), WIDTH_MIN) if wanted.isdecimal() and len(wanted) < 5 else WIDTH_MAX
    return min(width, WIDTH_MAX)


def visible(text: str) -> str:
    r"""Escapes control characters, for example as `\u001b`. JSON keeps its meaning."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def echo(text: str = "", *, end: str = "\n") -> None:
    """Writes to stdout."""
    sys.stdout.write(visible(text) + end)


def flush_output() -> None:
    """Flushes stdout, so that the text arrives however the process ends."""
    sys.stdout.flush()


def echo_json(content: Any, indent: int = 2) -> None:
    """Writes JSON to stdout."""
    echo(json.dumps(content, indent=indent, ensure_ascii=False))


def echo_error(text: str) -> None:
    """Writes a line to stderr."""
    print(visible(text), file=sys.stderr, flush=True)
