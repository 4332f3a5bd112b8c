"""Traces of processors through caches: what the caches see, and what they leave over for memory."""

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
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    Progress = Callable[[dict[str, Any]], bool | None]

COMPRESSIONS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
"""How the trace that is left over is compressed, by the end of its name."""

OUTPUT_FORMATS = ("ramulator", "ramulator1", "dramsim3")
"""What the memory system reads."""

REPLACEMENTS = ("lru", "random", "qlru")

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB)?")
_SCALES = {None: 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@dataclass(frozen=True)
class Level:
    """A level of caches. Lines have 64 B."""

    name: str
    """What the level is called in the results."""
    size: int
    """Bytes, a whole number of sets."""
    ways: int
    """Ways, 1 to 32."""
    replacement: str = "lru"
    """Which line of a set leaves: "lru", "random" or "qlru"."""

    def __post_init__(self) -> None:
        """Refuses a replacement that is not known."""
        if self.replacement not in REPLACEMENTS:
            raise _core.ConfigError(
                "unknown-name", f"{self.name}: {self.replacement!r} is no replacement; {nearest(self.replacement)}"
            )


L1 = Level("L1", 32 * 2**10, 8)
"""The first level of Intel's server cores up to Cascade Lake."""


@dataclass(frozen=True)
class Filtered:
    """What caches made of a trace."""

    trace: Path
    levels: tuple[Level, ...]
    summary: dict[str, Any]
    """Counts of the trace and of every level; docs/filter.md explains every key."""

    @property
    def complete(self) -> bool:
        """Whether the trace was read to its end."""
        return bool(self.summary["complete"])

    def to_dict(self) -> dict[str, Any]:
        """The counts with the shape of each level, ready for JSON."""
        shapes = [
            {"level": level.name, "bytes": level.size, "ways": level.ways, "replacement": level.replacement}
            for level in self.levels
        ]
        rows = [{**shape, **counts} for shape, counts in zip(shapes, self.summary["levels"], strict=True)]
        return {"trace": str(self.trace), **self.summary, "levels": rows}


def filter_trace(
    trace: str | PathLike[str],
    levels: Sequence[Level],
    *,
    format: str | None = None,
    output: str | PathLike[str] | None = None,
    output_format: str = "ramulator",
    keep_addresses: bool = False,
    progress: Progress | None = None,
) -> Filtered:
    """Runs a trace through caches.

    Args:
        trace: The trace, plain or compressed.
        levels: The caches, the one next to the processor first.
        format: Format of the trace, see docs/traffic.md; told by its first record if not given.
        output: Writes misses and write-backs of the last level to this file, which `memory` reads; compressed if it
            ends with .gz, .xz or .zst. It appears whole or not at all.
        output_format: "ramulator", "ramulator1" or "dramsim3"; a clock of the latter is one instruction.
        keep_addresses: Whether addresses are written as they are. Otherwise pages of 4 KiB are put side by side in the
            order of their first use, so that they fit into a memory.
        progress: Called about ten times a second with a dict of phase, bytes (read) and progress (0 to 1). If it
            returns False, the counts are of the part that was read, and no file appears.

    Raises:
        ConfigError: An argument or the trace is wrong.
        OSError: A file cannot be read or written.
    """
    path, shapes = Path(trace), [(level.size, level.ways, level.replacement) for level in levels]

    def run(**more: Any) -> Filtered:
        text = _core.filter_trace(str(path), shapes, format=format, progress=progress, **more)
        return Filtered(path, tuple(levels), json.loads(text))

    if not path.is_file():
        with path.open("rb"):  # raises what is wrong with it; a pipe is fine
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


def parse_level(name: str, text: str, replacement: str) -> Level:
    """A level from "size,ways" or "size,ways,replacement", such as "32KiB,8" or "24.75MiB,11,qlru".

    Raises:
        ConfigError: It is none.
    """
    size, ways, *more = [part.strip() for part in text.split(",")] if "," in text else ["", ""]
    match = _SIZE.fullmatch(size)
    count = Decimal(match[1]) * _SCALES[match[2]] if match is not None else Decimal("0.5")
    if count != int(count) or not re.fullmatch(r"\d{1,3}", ways, re.ASCII) or len(more) > 1:
        raise _core.ConfigError(
            "malformed-value", f"{text!r}: must be a size and ways, such as 32KiB,8 or 24.75MiB,11,qlru"
        )
    return Level(name, int(count), int(ways), *more or [replacement])


def preset_levels(preset: str) -> list[Level]:
    """The caches of a server preset, or of a configuration file: L1, the L2 of a core, and the whole LLC.

    Raises:
        ConfigError: There is no such preset, or it tells nothing about its caches.
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
        Level("L2", l2["sets"] * l2["ways"] * LINE_BYTES, l2["ways"], l2["replacement"]),
        Level("LLC", slices * llc["sets"] * llc["ways"] * LINE_BYTES, llc["ways"], llc["replacement"]),
    ]


def nearest(replacement: str) -> str:
    """The tail of a message about an unknown replacement."""
    near = get_close_matches(replacement, REPLACEMENTS, n=1)
    return f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(REPLACEMENTS)}"
