"""The text of a drafted server file: every value with a comment that says where it comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.hwloc.sockets import nodes_words
from hostnet.hwloc.topology import printable
from hostnet.presets import PROBE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hostnet.hwloc.draft import Draft
    from hostnet.hwloc.topology import Nic

TABLES = ("core", "cha", "memory", "iio", "pcie", "ssd", "fio")
"""The tables of a server."""

IN_PRESET = ("memory.device", "memory.profile", "memory.dram", "memory.controller", "ssd.sockets")
"""What stays with the preset: naming the device again would undo what the preset changes of it.

Where its drives are does not hold for a machine whose sockets say how many they have.
"""

UNVALIDATED = "unvalidated: drafted from the topology of a machine; hostnet calibrate fits it to measurements"
"""What results of a draft say of themselves."""

LINE_BYTES = 64
"""What a cache holds whole numbers of."""

COLUMN = 40
"""Where comments begin."""


def text_of(draft: Draft, file: str, place: Path) -> str:
    """The server file.

    Args:
        draft: The server.
        file: The name of the topology, for the head.
        place: Where the server file will be.

    Raises:
        ConfigError: The server cannot be.
    """
    text = "\n".join(_lines(draft, file)) + "\n"
    _core.resolve(text, file=str(place), overrides=[PROBE])
    return text


def _lines(draft: Draft, file: str) -> Iterator[str]:
    package, base = draft.package, draft.base
    of = "" if draft.others else f", package {package.index}"
    yield f"# Drafted by hostnet import from {printable(file)}{of}."
    yield "# hwloc = what the machine says of itself; assumed = hwloc cannot know it: check, or measure and calibrate."
    yield from (f"# {note}." for note in draft.notes)
    yield "# To run it, add a workload; hostnet calibrate fits what is assumed to measurements."
    yield ""
    yield "[server]"
    yield _line("preset", base.name, f"{draft.why_base}; gives everything that is not here")
    yield _line("description", draft.description, "hwloc" if package.model else "hwloc tells no name")
    yield _line("unvalidated", UNVALIDATED, "")
    yield _line("sockets", 1 + len(draft.others), draft.sockets_source)
    yield from _nic_lines(package.nics)
    for table in (*TABLES, "upi") if draft.others else TABLES:
        yield ""
        yield from _table_lines(draft, table)
    if draft.others:
        yield from _socket_lines(draft)


def _table_lines(draft: Draft, table: str) -> Iterator[str]:
    """A table of the server, and so of its first socket."""
    package, base = draft.package, draft.base
    told = {value.path: value for value in draft.values}
    if table == "cha":
        yield f"# hwloc: {_cache('L2', package.l2, 'per core')}, {_cache('L3', package.l3, 'in all')}."
        yield "# [cache] is the preset's."
    yield f"[{table}]"
    if table == "memory":
        for key in ("device", "profile"):
            comment = "speed grade: " if key == "device" else ""
            known = base.effective["memory"].get(key)
            if known is not None:
                yield _line(f"# {key}", known, f"{comment}assumed as in {base.name}, check")
    for path, assumed in _leaves(base.effective[table], table):
        key = path.removeprefix(f"{table}.")
        if path in told:
            yield _line(key, told[path].value, told[path].source)
        else:
            yield _line(key, assumed, f"assumed as in {base.name}, check")
    for path, value in told.items():
        if path.startswith(f"{table}.dram."):
            yield _line(path.removeprefix(f"{table}."), value.value, value.source)


def _socket_lines(draft: Draft) -> Iterator[str]:
    """The tables of the other sockets."""
    package = draft.package
    yield ""
    yield f"# Socket 0 is package {package.index}{nodes_words(package.nodes)}."
    yield "# Of the others stands here what they have of their own."
    for socket in draft.others:
        yield ""
        yield f"# Socket {socket.number}: {socket.what}{'' if socket.values else '; as the first'}."
        yield from _nic_lines(socket.nics)
        if socket.values:
            yield f"[socket.{socket.number}]"
        for value in socket.values:
            yield _line(value.path, value.value, value.source)


def _nic_lines(nics: Sequence[Nic]) -> Iterator[str]:
    """The network cards of a socket, which a server file has no values for."""
    for nic in nics:
        yield f"# Network card {nic.address}{f' ({nic.name})' if nic.name else ''} hangs off this socket."


def _cache(name: str, size: int, whose: str) -> str:
    """What hwloc tells of a cache."""
    if not size:
        return f"no {name}"
    if size % LINE_BYTES:
        return f"{name} of {size} B {whose}, which is no whole number of lines: not to be relied on"
    return f"{name} of {size / 2**20:.4g} MiB {whose}"


def _line(key: str, value: Any, comment: str) -> str:
    line = f"{key} = {_toml(value)}"
    return f"{line:<{COLUMN}} # {comment}" if comment else line


def _toml(value: Any) -> str:
    """A value as TOML writes it. Strings are those of JSON, whose escapes TOML knows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def _leaves(tree: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Single values by dotted path, but for what stays with the preset."""
    for key, value in tree.items():
        below = f"{path}.{key}"
        if below in IN_PRESET or (isinstance(value, dict) and path == "memory"):
            continue
        if isinstance(value, dict):
            yield from _leaves(value, below)
        else:
            yield below, value
