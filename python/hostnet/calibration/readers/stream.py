"""Reads the output of STREAM: the best rate of each kernel, and the number of threads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import Conditions, Measurement, error_at, parse_kernel, parse_positive
from hostnet.calibration.readers.data_file import ParsedData

if TYPE_CHECKING:
    from hostnet.calibration.readers.data_file import DataFile

BANNER = re.compile(r"^\s*STREAM version|^\s*Function\s+(?:Best )?Rate \(?MB/s\)?", re.M)
"""Identifies output of STREAM."""

RATE = re.compile(r"\s*(Copy|Scale|Add|Triad):\s*(\S*)(?:\s+(\S+)){0,3}\s*")
"""Matches a kernel and its best rate in MB/s."""

THREADS = re.compile(r"\s*Number of (?:Threads (?:requested|counted)|MPI ranks)\s*=\s*(\d+)\s*")
"""Matches the number of threads or ranks; STREAM built without OpenMP prints none and runs one."""

ELEMENT = re.compile(r"\s*This system uses (\d+) bytes per")
ARRAY = re.compile(r"\s*(?:Total Aggregate )?Array size = (\d+)")

FAILED = re.compile(r"Failed Validation|AvgErrByEps", re.I)
"""Matches what STREAM prints if its results are wrong."""

ARRAY_BYTES_MIN = 100_000_000
"""Size in bytes below which an array may partly fit in the caches."""

NON_TEMPORAL_RATIO = 1.25
"""Ratio of Copy to Scale above which Copy must use non-temporal stores."""

MB = 1e-3
"""GB per MB."""


def matches(content: DataFile) -> bool:
    """Returns True if the text is STREAM's."""
    return BANNER.search(content.text) is not None


def read(content: DataFile) -> ParsedData:
    """Reads the bandwidth of every kernel, plus the reads caused by stores, which STREAM does not count.

    Raises:
        DataError: A rate is not a number, or the run failed.
    """
    found = ParsedData()
    reader = _Reader(content, found)
    for index, line in enumerate(content.text.splitlines(), 1):
        reader.take(index, line)
    reader.close()
    if not found.measurements:
        place = len(content.text.splitlines())
        raise error_at(content.file, place, "the output of STREAM ends without a rate; is it truncated?")
    return found


class _Reader:
    """Parses the output of one run after another."""

    def __init__(self, content: DataFile, found: ParsedData) -> None:
        self.content, self.found = content, found
        self.threads, self.element, self.rates = 1, 8, dict[str, tuple[int, float]]()

    def take(self, index: int, line: str) -> None:
        """Parses the next line."""
        if line.strip().startswith("STREAM version"):
            self.close()
            self.threads, self.element = 1, 8
        elif match := THREADS.fullmatch(line):
            self.threads = int(match[1][:9])
        elif match := ELEMENT.match(line):
            self.element = int(match[1][:9])
        elif match := ARRAY.match(line):
            self.check_size(self.element * int(match[1][:18]))
        elif FAILED.search(line):
            raise error_at(self.content.file, index, "STREAM reports that validation failed; the rates mean nothing")
        elif match := RATE.fullmatch(line):
            self.take_rate(index, match[1].lower(), match[2])

    def check_size(self, size: int) -> None:
        """Notes arrays that may partly fit in the caches."""
        if size < ARRAY_BYTES_MIN:
            note = f"{self.content.file}: arrays of {size / 2**20:.4g} MiB may partly fit in the caches"
            self.found.notes.append(f"{note}; STREAM requires four times the largest cache")

    def take_rate(self, index: int, kernel: str, text: str) -> None:
        """Parses the rate of a kernel."""
        if kernel in self.rates:
            self.close()
        try:
            self.rates[kernel] = index, parse_positive(text, kernel)
        except ValueError as error:
            raise error_at(self.content.file, index, f"{error}; is the file truncated?") from None

    def close(self) -> None:
        """Adds the measurements of a run."""
        copy, scale = self.rates.get("copy"), self.rates.get("scale")
        if copy and scale and copy[1] > NON_TEMPORAL_RATIO * scale[1]:
            del self.rates["copy"]
            self.found.notes.append(
                f"{self.content.file}:{copy[0]}: Copy is left out: it is {copy[1] / scale[1]:.2f} times as fast as "
                "Scale, so it is a library copy with non-temporal stores, which do not read the line first"
            )
        wanted = self.content.given.get("kernel", "").lower()
        for kernel, (index, rate) in self.rates.items():
            if wanted in ("", kernel):
                self.add(index, kernel, rate)
        self.rates = {}

    def add(self, index: int, kernel: str, rate: float) -> None:
        """Adds the memory traffic for the bytes that STREAM counts as a measurement."""
        reads, moved = parse_kernel(kernel)
        start = Conditions(cores=self.threads, reads=reads)
        conditions = self.content.conditions(start, but=("kernel",))
        self.found.measurements.append(
            Measurement("bandwidth", rate * MB * moved, conditions, self.content.file, str(index))
        )
