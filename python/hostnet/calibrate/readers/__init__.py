"""Files of measurements: which kind one is, and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.calibrate.measurement import Conditions, DataError, nearest
from hostnet.calibrate.readers import counters, fio, mlc, stream, table
from hostnet.calibrate.readers.content import Content
from hostnet.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostnet.calibrate.readers.content import Found
    from hostnet.presets import ServerFile

GIVEN = ["gap", "kernel", *(field.name for field in fields(Conditions))]
"""Conditions that can hold for a whole file."""

FOREIGN = [
    (r"^\d;fio-\d", "is fio's terse output; use fio --output-format=json"),
    (r"^\S+: \(g=\d+\): rw=", "is fio's normal output; use fio --output-format=json"),
    (r"^BabelStream", "is output of BabelStream; give a table of cores, kernel and MB/s"),
]
"""Patterns that identify unsupported output, and what to give instead."""

BYTES_MAX = 64 << 20
"""The largest file of measurements."""


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    name: str
    matches: Callable[[Content], bool]
    """Whether a file is of this kind; it may still be wrong."""
    read: Callable[[Content], Found]
    """What it says; raises `DataError` with the place of what is wrong."""


KINDS = [
    Kind("fio", fio.matches, fio.read),
    Kind("MLC", mlc.matches, mlc.read),
    Kind("STREAM", stream.matches, stream.read),
    Kind("counters", counters.matches, counters.read),
    Kind("table", table.matches, table.read),
]
"""The kinds in the order in which they are tried. Another kind is another entry."""


def read_data(argument: str, server: ServerFile) -> Found:
    """Reads a file of measurements: FILE, or FILE@name=value,... with conditions that hold for all of it.

    Raises:
        DataError: It is no such file, or something in it is wrong; the message says where.
        OSError: It cannot be read.
    """
    content = open_content(argument, server)
    for kind in KINDS:
        if kind.matches(content):
            found = kind.read(content)
            if not found.measurements:
                raise DataError("malformed-file", f"{content.file}: holds no measurements")
            return found
    for pattern, advice in FOREIGN:
        if re.search(pattern, content.text, re.M):
            raise DataError("malformed-file", f"{content.file}: {advice}")
    raise DataError(
        "malformed-file",
        f"{content.file}:1: neither a table of measurements, nor output of MLC, STREAM, fio, perf or PCM; "
        "docs/calibrate.md says what a table looks like",
    )


def open_content(argument: str, server: ServerFile) -> Content:
    """The text of a file and the conditions given with its name."""
    name, given = argument, {}
    if not Path(argument).exists() and "@" in argument:
        name, _, conditions = argument.rpartition("@")
        given = parse_given(argument, conditions)
    path = Path(name)
    text = read_text(path, BYTES_MAX).removeprefix("\ufeff")
    if not text.strip():
        raise DataError("malformed-file", f"{name}: is empty")
    if "\0" in text:
        raise DataError("malformed-file", f"{name}: is not text")
    return Content(name, text, given, server)


def parse_given(argument: str, text: str) -> dict[str, str]:
    """The conditions after the @ of an argument."""
    given = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise DataError("malformed-value", f'--data {argument}: "{part}" is not name=value')
        if key.strip() not in GIVEN:
            raise DataError(
                "unknown-name", f'--data {argument}: "{key.strip()}" is not a condition; {nearest(key.strip(), GIVEN)}'
            )
        given[key.strip()] = value.strip()
    return given
