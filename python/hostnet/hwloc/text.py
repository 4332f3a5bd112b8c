"""Text of a drafted server file, in which each value has its source as a comment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.hwloc.chiplets import has_chiplets
from hostnet.hwloc.sockets import nodes_text
from hostnet.hwloc.topology import printable
from hostnet.presets import PROBE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hostnet.hwloc.draft import Draft
    from hostnet.hwloc.topology import Nic

TABLES = ("core", "cha", "chiplets", "memory", "iio", "pcie", "ssd", "fio", "upi")
"""Tables of a server, if it has them: some have chiplets, and those of one socket no UPI."""

IN_PRESET = ("memory.device", "memory.profile", "memory.dram", "memory.controller", "ssd.sockets")
"""Keys that the draft omits. Naming the device again would undo the changes that the preset makes to it. The placement
of drives in the preset does not hold for a machine whose sockets state their number of drives."""

UNVALIDATED = "unvalidated: drafted from the topology of a machine; hostnet calibrate fits it to measurements"
"""Note on the results of a draft."""

LINE_BYTES = 64
"""Size of a cache line, in bytes."""

COLUMN = 40
"""Column in which comments start."""


def text_of(draft: Draft, file: str, path: Path) -> str:
    """Returns the text of the server file.

    Args:
        draft: The server.
        file: Name of the topology, for the first line.
        path: Path of the server file.

    Raises:
        ConfigError: The server cannot be simulated.
    """
    text = "\n".join(_lines(draft, file)) + "\n"
    _core.resolve(text, file=str(path), overrides=[PROBE])
    return text


def _lines(draft: Draft, file: str) -> Iterator[str]:
    """Yields the lines of the server file."""
    package, base = draft.package, draft.base
    of = "" if draft.others else f", package {package.index}"
    yield f"# Drafted by hostnet import from {printable(file)}{of}."
    yield "# hwloc = reported by the machine; assumed = unknown to hwloc: check, or measure and calibrate."
    yield from (f"# {note}." for note in draft.notes)
    yield "# To run it, add a workload; hostnet calibrate fits what is assumed to measurements."
    yield ""
    yield "[server]"
    yield _line("preset", base.name, f"{draft.why_base}; provides every value not given here")
    yield _line("description", draft.description, "hwloc" if package.model else "hwloc reports no name")
    yield _line("unvalidated", UNVALIDATED, "")
    yield _line("sockets", 1 + len(draft.others), draft.sockets_source)
    yield from _nic_lines(package.nics)
    tables = [table for table in TABLES if table in base.effective and (draft.others or table != "upi")]
    for table in tables:
        yield ""
        yield from _table_lines(draft, table)
    if draft.others:
        yield from _socket_lines(draft)


def _table_lines(draft: Draft, table: str) -> Iterator[str]:
    """Yields a table of the server, which also applies to the first socket."""
    base = draft.base
    by_path = {value.path: value for value in draft.values}
    yield from _remarks(draft, table)
    yield f"[{table}]"
    if table == "memory":
        for key in ("device", "profile"):
            comment = "speed grade: " if key == "device" else ""
            known = base.effective["memory"].get(key)
            if known is not None:
                yield _line(f"# {key}", known, f"{comment}assumed as in {base.name}, check")
    # With chiplets the number of slices follows from the channels, also when these are changed by hand.
    omitted = (*IN_PRESET, "cha.slices") if has_chiplets(base) else IN_PRESET
    for path, assumed in _leaves(base.effective[table], table, omitted):
        key = path.removeprefix(f"{table}.")
        if path in by_path:
            yield _line(key, by_path[path].value, by_path[path].source)
        else:
            yield _line(key, assumed, f"assumed as in {base.name}, check")
    for path, value in by_path.items():
        if path.startswith(f"{table}.dram."):
            yield _line(path.removeprefix(f"{table}."), value.value, value.source)


def _remarks(draft: Draft, table: str) -> Iterator[str]:
    """Yields comments above a table."""
    if table != "cha":
        return
    package = draft.package
    several = f"in {len(package.l3_cores)} caches" if len(package.l3_cores) > 1 else "in all"
    yield f"# hwloc: {_cache('L2', package.l2, 'per core')}, {_cache('L3', package.l3, several)}."
    yield "# [cache] is the preset's."
    if has_chiplets(draft.base):
        yield "# With chiplets, every channel of memory has its own slice."


def _socket_lines(draft: Draft) -> Iterator[str]:
    """Yields the tables of the other sockets."""
    package = draft.package
    yield ""
    yield f"# Socket 0 is package {package.index}{nodes_text(package.nodes)}."
    yield "# Other sockets: only the values that differ from the first."
    for socket in draft.others:
        yield ""
        yield f"# Socket {socket.number}: {socket.what}{'' if socket.values else '; as the first'}."
        yield from _nic_lines(socket.nics)
        if socket.values:
            yield f"[socket.{socket.number}]"
        for value in socket.values:
            yield _line(value.path, value.value, value.source)


def _nic_lines(nics: Sequence[Nic]) -> Iterator[str]:
    """Yields comments on the network cards of a socket, which a server file cannot describe."""
    for nic in nics:
        yield f"# Network card {nic.address}{f' ({nic.name})' if nic.name else ''} hangs off this socket."


def _cache(name: str, size: int, whose: str) -> str:
    """Describes a cache."""
    if not size:
        return f"no {name}"
    if size % LINE_BYTES:
        return f"{name} of {size} B {whose}, which is no whole number of lines: not to be relied on"
    return f"{name} of {size / 2**20:.4g} MiB {whose}"


def _line(key: str, value: Any, comment: str) -> str:
    """Formats a value with its comment."""
    line = f"{key} = {_toml(value)}"
    return f"{line:<{COLUMN}} # {comment}" if comment else line


def _toml(value: Any) -> str:
    """Formats a value as TOML. Strings are those of JSON, whose escapes TOML accepts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def _leaves(tree: dict[str, Any], path: str, omitted: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yields single values with their dotted paths, except those that the draft omits."""
    for key, value in tree.items():
        below = f"{path}.{key}"
        if below in omitted or (isinstance(value, dict) and path == "memory"):
            continue
        if isinstance(value, dict):
            yield from _leaves(value, below, omitted)
        else:
            yield below, value
