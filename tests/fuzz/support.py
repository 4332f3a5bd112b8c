"""Hostile input for the command: its generation, its execution, and the invariants of every command."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from hostnet.cli.main import main
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import CONTROLS

LOOKS_MAX = 10
"""Number of progress checks after which a simulation is stopped, as by Ctrl-C."""

ALLOWED = (0, 1, 2, 130)
"""Exit codes: done, a simulation that could not continue, invalid input, stopped."""

SHORT = ("--set", "run.warmup=1 us", "--set", "run.duration=3 us")
"""Settings for a short simulation."""

NUMBERS = ["0", "-1", "1", "2", "1e9", "18446744073709551616", "0.5", "nan", "-inf", "1e999", "0x10", "1" * 5000]
WORDS = [
    "",
    "auto",
    "all",
    "0-3",
    "5 us",
    "4 KiB",
    "-1 ns",
    "1000000 s",
    "\u001b[2J",
    "\u202e",
    "é",
    "[/b]",
    "../x",
    "%s",
]
HOSTILE = [*NUMBERS, *WORDS]


def examples(few: int = 10) -> settings:
    """Sets the number of examples: `few`, always the same; a hundred times as many with `--hypothesis-profile many`."""
    many = settings.get_current_profile_name() == "many"
    return settings(
        max_examples=100 * few if many else few,
        derandomize=not many,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


@dataclass(frozen=True)
class Outcome:
    """Outcome of a command."""

    arguments: tuple[str, ...]
    code: int
    output: str
    errors: str


class Hostile:
    """A folder in which commands get hostile input. `last` holds the latest input, in case it ends the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "here"
        self.last = folder / "last-command.json"

    def empty(self) -> None:
        """Empties the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def write(self, name: str, content: str | bytes) -> None:
        """Writes a file into it."""
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))

    def __call__(self, *arguments: str) -> Outcome:
        """Runs a command in this process and checks the invariants of every command."""
        self.last.write_text(json.dumps(arguments))
        before = {path for path in self.folder.rglob("*") if path.is_file()}
        outcome = _run(self.folder, arguments)
        check(outcome)
        left = [path.name for path in self.folder.rglob("*") if path.name.startswith((".hostnet-", ".part"))]
        assert not left, (outcome, left)
        if outcome.code == 2 and "sweep" not in arguments:
            empty = [path for path in self.folder.rglob("*") if path not in before and path.is_file()]
            assert all(path.stat().st_size for path in empty), (outcome, empty)
        return outcome


def check(outcome: Outcome) -> None:
    """Asserts the invariants of every command."""
    assert outcome.code in ALLOWED, outcome
    assert "Traceback" not in outcome.errors, outcome
    assert not CONTROLS.search(outcome.output + outcome.errors), outcome
    if outcome.code in (1, 2) and re.search(r"error\[[a-z-]+\]: ", outcome.errors):
        assert len(outcome.errors) < 20_000, outcome
    elif outcome.code == 2:
        raise AssertionError(("no word about what is wrong", outcome))


def _run(folder: Path, arguments: tuple[str, ...]) -> Outcome:
    output, errors = io.StringIO(), io.StringIO()
    place = Path.cwd()
    os.chdir(folder)
    try:
        with bounded(), warnings.catch_warnings(), redirect_stdout(output), redirect_stderr(errors):
            warnings.simplefilter("ignore")
            main(arguments)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else -1
        return Outcome(arguments, code, output.getvalue(), errors.getvalue())
    finally:
        os.chdir(place)
    raise AssertionError("a command leaves with a code")


@contextmanager
def bounded() -> Iterator[None]:
    """Makes every simulation end soon, whatever its configured length."""
    looks = count()
    original = Watch.__call__

    def look(watch: Watch, status: dict[str, Any]) -> bool:
        return original(watch, status) and next(looks) < LOOKS_MAX

    with patch.object(Watch, "__call__", look):
        yield


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """Draws bytes with a few changes: cut, doubled, flipped, or with something hostile inserted."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(changed) - 1, 0)))
        length = draw(st.integers(1, 40))
        kind = draw(st.sampled_from(("flip", "delete", "double", "insert", "replace", "cut")))
        part = bytes(changed[place : place + length])
        if kind == "flip" and changed:
            changed[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "delete":
            del changed[place : place + length]
        elif kind == "double":
            changed[place:place] = part * draw(st.integers(1, 3))
        elif kind == "cut":
            del changed[place:]
        else:
            new = draw(st.sampled_from(HOSTILE).map(str.encode) | st.binary(max_size=8))
            changed[place : place + (length if kind == "replace" else 0)] = new
    return bytes(changed)


@st.composite
def mutated_lines(draw: st.DrawFn, text: str) -> str:
    """Draws a text of lines "key = value" with a few of them removed, doubled, moved, or with another value."""
    lines = text.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        if not lines:
            break
        place = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(("value", "value", "value", "delete", "double", "move", "bytes")))
        key, equals, _ = lines[place].partition("=")
        if kind == "value" and equals:
            value = draw(st.sampled_from(HOSTILE))
            lines[place] = f"{key}={value if draw(st.booleans()) else json.dumps(value)}"
        elif kind == "delete":
            del lines[place]
        elif kind == "double":
            lines.insert(place, lines[place])
        elif kind == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(place))
        else:
            lines[place] = draw(mutated(lines[place].encode())).decode("utf-8", "replace")
    return "\n".join(lines)
