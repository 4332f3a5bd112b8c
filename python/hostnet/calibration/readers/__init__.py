"""Reads measurement files and detects their format."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import Conditions, DataError, name_hint
from hostnet.calibration.readers import counters, curves, fio, mess, mlc, stream, table
from hostnet.calibration.readers.data_file import DataFile
from hostnet.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostnet.calibration.readers.data_file import ParsedData
    from hostnet.presets import ServerFile

FILE_CONDITIONS = ["gap", "kernel", "server", *(field.name for field in fields(Conditions))]
"""Conditions that can be set for a whole file."""

FOREIGN = [
    (r"^\d;fio-\d", "is fio's terse output; use fio --output-format=json"),
    (r"^\S+: \(g=\d+\): rw=", "is fio's normal output; use fio --output-format=json"),
    (r"^BabelStream", "is output of BabelStream; give a table of cores, kernel and MB/s"),
]
"""Patterns that identify unsupported output, and what to give instead."""

BYTES_MAX = 64 << 20
"""Maximum size of a measurement file in bytes."""


@dataclass(frozen=True)
class FileFormat:
    """A file format."""

    name: str
    matches: Callable[[DataFile], bool]
    """Returns True if a file has this format; it may still be malformed."""
    read: Callable[[DataFile], ParsedData]
    """Parses the file; raises `DataError` with the position of an error."""


FORMATS = [
    FileFormat("Mess", mess.matches, mess.read),
    FileFormat("curves", curves.matches, curves.read),
    FileFormat("fio", fio.matches, fio.read),
    FileFormat("MLC", mlc.matches, mlc.read),
    FileFormat("STREAM", stream.matches, stream.read),
    FileFormat("counters", counters.matches, counters.read),
    FileFormat("table", table.matches, table.read),
]
"""The formats in the order in which they are tried."""


def read_data(argument: str, server: ServerFile) -> ParsedData:
    """Reads a measurement file: FILE, or FILE@name=value,... with conditions that hold for all of it.

    Raises:
        DataError: The format is unknown or the file is malformed; the message names the position.
        OSError: The file cannot be read.
    """
    content = open_content(argument, server)
    for kind in FORMATS:
        if kind.matches(content):
            found = kind.read(content)
            if not found.measurements and not found.curves:
                raise DataError("malformed-file", f"{content.file}: holds no measurements")
            return found
    for pattern, advice in FOREIGN:
        if re.search(pattern, content.text, re.M):
            raise DataError("malformed-file", f"{content.file}: {advice}")
    raise DataError(
        "malformed-file",
        f"{content.file}:1: neither a table of measurements, nor output of MLC, Mess, STREAM, fio, perf or PCM; "
        "docs/calibrate.md says what a table looks like",
    )


def open_content(argument: str, server: ServerFile) -> DataFile:
    """Returns the text of a file with the conditions given after its name."""
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
    return DataFile(name, text, given, server)


def parse_given(argument: str, text: str) -> dict[str, str]:
    """Parses the conditions after the @ of an argument."""
    given = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise DataError("malformed-value", f'--data {argument}: "{part}" is not name=value')
        if key.strip() not in FILE_CONDITIONS:
            raise DataError(
                "unknown-name",
                f'--data {argument}: "{key.strip()}" is not a condition; {name_hint(key.strip(), FILE_CONDITIONS)}',
            )
        given[key.strip()] = value.strip()
    return given
