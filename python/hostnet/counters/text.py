"""Opens files and rejects those that are not counter files."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hostnet._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

HEAD = 256 * 1024
"""Number of characters read to identify the format of a file."""

_FOREIGN = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
    (b"PAR1", "a Parquet file"),
    (b"PERFILE2", "recorded with perf record; perf stat -I ... -x, -o FILE writes what is needed"),
    (b"\xff\xfe", "UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "UTF-16; save it as UTF-8"),
)

_RAW = "use pcm-raw, which has the counts that are needed"

_FOR_PEOPLE = (
    (r"Performance counter stats for", "the human-readable table of perf stat, whose columns vary; add -x,"),
    (r"IB write,IB read", f"written by pcm-iio, which has only bytes per second; {_RAW}"),
    (r"Mem Ch\s+\d+: Reads \(MB/s\)", f"the human-readable table of pcm-memory, which has only MB/s; {_RAW}"),
    (r"\bSkt\s*,\s*PCIRdCur", f"written by pcm-pcie, which has only totals per socket; {_RAW}"),
    (
        r"\A\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d(?:\.\d+)?,[A-Za-z_][\w.:=]*,\d",
        "written by pcm-raw -tr, whose rows lack the socket and channel of a count; record without -tr",
    ),
)
"""Patterns of tools that read hardware counters but do not print the required counts."""

EXPECTED = "expected is what `perf stat -I 1000 -x, -a`, `pcm-raw -csv` or `pcm-numa -csv` writes"


def fail(path: str | Path, line: int | None, message: str, code: str = "malformed-file") -> NoReturn:
    """Raises an error that names the file and the line.

    Raises:
        ConfigError: Always.
    """
    place = f"{path}:{line}" if line is not None else f"{path}"
    raise ConfigError(code, f"{place}: {message}", str(path), line)


@contextmanager
def open_input(path: str | Path) -> Iterator[tuple[TextIO, str]]:
    """Opens a text file and yields it with its first `HEAD` characters.

    Raises:
        ConfigError: The file is empty, a pipe or not text.
        OSError: The file cannot be read.
    """
    if Path(path).is_fifo():
        fail(path, None, "is a pipe, but counters are read twice; give a file", "file-access")
    with Path(path).open("rb") as raw:
        start = raw.read(4096)
    _reject_foreign(path, start)
    with Path(path).open(encoding="utf-8-sig") as file:
        try:
            head = file.read(HEAD)
            file.seek(0)
            yield file, head
        except UnicodeDecodeError as error:
            fail(path, None, f"is not UTF-8 text (byte {error.object[error.start]:#04x} at {error.start})")


def _reject_foreign(path: str | Path, start: bytes) -> None:
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        fail(path, None, "is empty")
    for magic, kind in _FOREIGN:
        if start.startswith(magic):
            fail(path, None, f"is no file of counters but {kind}; {EXPECTED}")
    if b"\0" in start:
        fail(path, None, f"is no text; {EXPECTED}")
    text = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if re.match(r"<(?:!doctype|html|\?xml|svg|head|body)", text, re.IGNORECASE):
        fail(path, 1, f"is no file of counters but HTML or XML; {EXPECTED}")
    for mark, kind in _FOR_PEOPLE:
        if re.search(mark, text):
            fail(path, None, f"is {kind}; {EXPECTED}")
    if re.match(r"[{\[]\s*[\"{\[\]}]", text):
        fail(path, 1, f"is no file of counters but JSON; {EXPECTED}")
