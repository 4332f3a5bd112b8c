"""Stores finished points, so that a sweep can be killed at any time.

A journal is an append-only file. Each record is preceded by its length and checksum. A record that a kill left
incomplete at the end is cut off when the journal is opened again. The file is locked while it is open; the system
releases the lock when the process ends for any reason.
"""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from hostnet.errors import CodedError
from hostnet.locks import LockedError, lock_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    Record = dict[str, Any]

MAGIC = b"hostnet sweep journal 1\n"

HEAD = struct.Struct("<II")
"""Length and checksum of the following record."""

SYNC_EVERY_S = 1.0
"""A crash of the machine loses at most this much work, in s; a kill of the process loses no written record."""

CACHED = 128
"""Records kept in memory while points are read in order."""

ABSENT = -1


class JournalError(CodedError, OSError):
    """Raised if the file is in use, or is no journal."""


class Journal:
    """The finished points of a sweep, on disk."""

    def __init__(self, path: Path) -> None:
        """Opens or creates a journal and locks it.

        Raises:
            JournalError: Another process has it open, or the file is no journal.
            OSError: The file cannot be read or written.
        """
        self.path = path
        self.header: Record | None = None
        self.types: Record = {}
        self._offsets = array("q")
        self._cache: OrderedDict[int, dict[int, Record]] = OrderedDict()
        self._synced_s = time.monotonic()
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644), "r+b", 0)
        try:
            self._lock()
            self._load()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        """Returns the journal, which is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file and releases the lock."""
        self._file.close()

    def __contains__(self, point: int) -> bool:
        """Returns True if a point is finished."""
        return point < len(self._offsets) and self._offsets[point] != ABSENT

    def begin(self, header: Record, points: int) -> None:
        """Writes the identity of the sweep, before anything else."""
        self._append({"header": header, "points": points})
        self.sync()

    def add(self, outcomes: Sequence[Record], types: Record) -> int:
        """Stores finished points and returns how many were new. Points that are already stored are ignored."""
        fresh = [outcome for outcome in outcomes if outcome["point"] not in self]
        if not fresh:
            return 0
        self._append({"outcomes": fresh} if self.types else {"outcomes": fresh, "types": types})
        if time.monotonic() - self._synced_s > SYNC_EVERY_S:
            self.sync()
        return len(fresh)

    def sync(self) -> None:
        """Flushes everything to disk."""
        os.fsync(self._file.fileno())
        self._synced_s = time.monotonic()

    def missing(self) -> Iterator[int]:
        """Yields the unfinished points, in order."""
        return (point for point, offset in enumerate(self._offsets) if offset == ABSENT)

    def outcome(self, point: int) -> Record:
        """Returns a finished point."""
        offset = self._offsets[point]
        if offset not in self._cache:
            record = self._read(offset)
            assert record is not None, "a record that was read before is there"
            self._cache[offset] = {outcome["point"]: outcome for outcome in record[0]["outcomes"]}
            if len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(offset)
        return self._cache[offset][point]

    def _lock(self) -> None:
        """Locks the file."""
        try:
            lock_file(self._file, self.path)
        except LockedError as error:
            done = "has just finished" if error.released else "is running"
            raise JournalError("file-access", f"{self.path.parent}: another sweep {done} there") from None

    def _load(self) -> None:
        """Reads all records and truncates the file at the first damaged one."""
        self._file.seek(0)
        magic = self._file.read(len(MAGIC))
        if magic != MAGIC[: len(magic)]:
            raise JournalError("malformed-file", f"{self.path}: is not the journal of a sweep")
        end = len(MAGIC) if magic == MAGIC else 0
        while magic == MAGIC and (found := self._read(end)) is not None:
            record, after = found
            self._note(record, end)
            end = after
        self._file.truncate(end if self.header is not None else 0)
        if self.header is None:
            self._write(0, MAGIC)

    def _read(self, offset: int) -> tuple[Record, int] | None:
        """Returns a record and the offset of its end; None if it is incomplete."""
        self._file.seek(offset)
        head = self._file.read(HEAD.size)
        if len(head) < HEAD.size:
            return None
        length, checksum = HEAD.unpack(head)
        if length > os.fstat(self._file.fileno()).st_size - offset:
            return None
        content = self._file.read(length)
        if zlib.crc32(content) != checksum:
            return None
        record: Record = json.loads(zlib.decompress(content))
        return record, offset + HEAD.size + length

    def _append(self, record: Record) -> None:
        """Appends a record."""
        content = zlib.compress(json.dumps(record, ensure_ascii=False).encode(), 1)
        end = self._file.seek(0, os.SEEK_END)
        self._write(end, HEAD.pack(len(content), zlib.crc32(content)) + content)
        self._note(record, end)

    def _write(self, offset: int, content: bytes) -> None:
        """Writes bytes at an offset."""
        self._file.seek(offset)
        view = memoryview(content)
        while view:
            view = view[self._file.write(view) or 0 :]

    def _note(self, record: Record, offset: int) -> None:
        """Updates the index with a record."""
        if "header" in record:
            self.header = record["header"]
            self._offsets = array("q", [ABSENT]) * record["points"]
            return
        self.types = self.types or record["types"]
        for outcome in record["outcomes"]:
            self._offsets[outcome["point"]] = offset
