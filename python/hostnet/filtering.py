"""Filters a memory trace of a processor through caches, and writes the accesses that reach memory."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import scratch_file
from hostnet.units import LINE_BYTES, SIZE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    Progress = Callable[[dict[str, Any]], bool | None]

COMPRESSIONS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
"""Compression of the output trace, by the suffix of its name."""

OUTPUT_FORMATS = ("ramulator", "ramulator1", "dramsim3")
"""Trace formats that the memory system reads."""

REPLACEMENTS = ("lru", "random", "qlru")

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB)?")


@dataclass(frozen=True)
class CacheLevel:
    """A cache level. Lines have 64 B."""

    name: str
    """Name of the level in the results."""
    size: int
    """Capacity in bytes; must be a whole number of sets."""
    ways: int
    """Associativity, 1 to 32."""
    replacement: str = "lru"
    """Replacement policy: "lru", "random" or "qlru"."""

    def __post_init__(self) -> None:
        """Raises ConfigError if the replacement policy is unknown."""
        if self.replacement not in REPLACEMENTS:
            raise _core.ConfigError(
                "unknown-name",
                f"{self.name}: {self.replacement!r} is no replacement; {replacement_hint(self.replacement)}",
            )


L1 = CacheLevel("L1", 32 * 2**10, 8)
"""L1 data cache of Intel's server cores up to Cascade Lake."""


@dataclass(frozen=True)
class FilterResult:
    """Result of filtering a trace."""

    trace: Path
    levels: tuple[CacheLevel, ...]
    summary: dict[str, Any]
    """Counts of the trace and of every level; docs/filter.md explains every key."""

    @property
    def complete(self) -> bool:
        """True if the trace was read to its end."""
        return bool(self.summary["complete"])

    def to_dict(self) -> dict[str, Any]:
        """Returns the counts and the geometry of each level, ready for JSON."""
        shapes = [
            {"level": level.name, "bytes": level.size, "ways": level.ways, "replacement": level.replacement}
            for level in self.levels
        ]
        rows = [{**shape, **counts} for shape, counts in zip(shapes, self.summary["levels"], strict=True)]
        return {"trace": str(self.trace), **self.summary, "levels": rows}


def filter_trace(
    trace: str | PathLike[str],
    levels: Sequence[CacheLevel],
    *,
    format: str | None = None,
    output: str | PathLike[str] | None = None,
    output_format: str = "ramulator",
    keep_addresses: bool = False,
    progress: Progress | None = None,
) -> FilterResult:
    """Filters a memory trace through caches.

    Args:
        trace: The trace, plain or compressed.
        levels: The caches, starting with the one next to the processor.
        format: Format of the trace, see docs/traffic.md; by default detected from its first record.
        output: File for the misses and write-backs of the last level, which `memory` reads; compressed if its name ends
            with .gz, .xz or .zst. The file is written atomically.
        output_format: "ramulator", "ramulator1" or "dramsim3"; one clock of "dramsim3" is one instruction.
        keep_addresses: True to write addresses unchanged. By default, pages of 4 KiB are renumbered in the order of
            their
            first use, so that they fit into a memory.
        progress: Called about ten times a second with a dict of phase, bytes (read) and progress (0 to 1). If it
            returns
            False, the counts cover the part that was read, and no file is written.

    Raises:
        ConfigError: An argument or the trace is invalid.
        OSError: A file cannot be read or written.
    """
    path, shapes = Path(trace), [(level.size, level.ways, level.replacement) for level in levels]

    def run(**more: Any) -> FilterResult:
        text = _core.filter_trace(str(path), shapes, format=format, progress=progress, **more)
        return FilterResult(path, tuple(levels), json.loads(text))

    if not path.is_file():
        with path.open("rb"):  # raises if the file cannot be read; a pipe can
            pass
    if output is None:
        return run()
    target = Path(output)
    with scratch_file(target) as (scratch, keep):
        result = run(
            output=str(scratch),
            output_format=output_format,
            compression=COMPRESSIONS.get(target.suffix, "none"),
            keep_addresses=keep_addresses,
        )
        if result.complete:
            keep()
    return result


def parse_level(name: str, text: str, replacement: str) -> CacheLevel:
    """Parses a cache level from "size,ways" or "size,ways,replacement", such as "32KiB,8" or "24.75MiB,11,qlru".

    Raises:
        ConfigError: The text does not describe a cache level.
    """
    size, ways, *more = [part.strip() for part in text.split(",")] if "," in text else ["", ""]
    match = _SIZE.fullmatch(size)
    count = Decimal(match[1]) * SIZE_BYTES[match[2] or "B"] if match is not None else Decimal("0.5")
    if count != int(count) or not re.fullmatch(r"\d{1,3}", ways, re.ASCII) or len(more) > 1:
        raise _core.ConfigError(
            "malformed-value", f"{text!r}: must be a size and ways, such as 32KiB,8 or 24.75MiB,11,qlru"
        )
    return CacheLevel(name, int(count), int(ways), *more or [replacement])


def preset_levels(preset: str) -> list[CacheLevel]:
    """Returns the caches of a server preset or a configuration file: L1, the L2 of one core, and the whole LLC.

    Raises:
        ConfigError: There is no such preset, or it does not describe its caches.
    """
    from hostnet.presets import load_server

    effective = load_server(preset).effective
    if "cache" not in effective:
        raise _core.ConfigError(
            "missing-key", f"--preset {preset}: tells nothing about its caches; give --l1, --l2 and --llc"
        )
    l2, llc = effective["cache"]["l2"], effective["cache"]["llc"]
    slices = effective["cha"]["slices"]
    return [
        L1,
        CacheLevel("L2", l2["sets"] * l2["ways"] * LINE_BYTES, l2["ways"], l2["replacement"]),
        CacheLevel("LLC", slices * llc["sets"] * llc["ways"] * LINE_BYTES, llc["ways"], llc["replacement"]),
    ]


def replacement_hint(replacement: str) -> str:
    """Returns the end of an error message about an unknown replacement policy."""
    near = get_close_matches(replacement, REPLACEMENTS, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(REPLACEMENTS)}"
