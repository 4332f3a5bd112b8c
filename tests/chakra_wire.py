"""Writes and parses execution traces of Chakra byte by byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7

INT32, INT64, UINT32, UINT64, BOOL, BOOLS, TEXT = 7, 9, 11, 13, 27, 28, 29
"""Field numbers of an attribute by its type."""


def varint(value: int) -> bytes:
    """Returns a number in the varint encoding of protocol buffers."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def delimited(message: bytes) -> bytes:
    """Returns a message of a file, preceded by its length."""
    return varint(len(message)) + message


def attribute(name: str, field: int, value: int | str | Sequence[bool]) -> bytes:
    """Returns an attribute of a type."""
    if isinstance(value, int):
        content = number(field, int(value))
    elif isinstance(value, str):
        content = text(field, value.encode())
    else:
        content = text(field, text(1, bytes(value)))
    return text(1, name.encode()) + content


def typed(
    name: int,
    kind: int,
    after: Sequence[int] = (),
    micros: int = 0,
    attributes: Sequence[bytes] = (),
    more: bytes = b"",
) -> bytes:
    """Returns a node with attributes of any type, and with further fields."""
    whole = number(1, name) + text(2, b"a name") + number(3, kind) + b"".join(number(5, other) for other in after)
    whole += number(7, micros) + b"".join(text(10, one) for one in attributes) + more
    return delimited(whole)


def node(name: int, kind: int, after: Sequence[int] = (), micros: int = 0, **attributes: int) -> bytes:
    """Returns a node whose attributes are unsigned numbers."""
    return typed(name, kind, after, micros, [attribute(key, UINT64, value) for key, value in attributes.items()])


HEAD = text(1, b"0.0.4")
"""Metadata of most files."""


def write(folder: Path, files: Sequence[Sequence[bytes]], head: bytes = HEAD) -> str:
    """Writes the traces of the ranks. Returns their common name."""
    for rank, nodes in enumerate(files):
        (folder / f"model.{rank}.et").write_bytes(delimited(head) + b"".join(nodes))
    return str(folder / "model")


def fields(message: bytes) -> dict[int, list[int | bytes]]:
    """Returns the fields of a message by number: varints and length-delimited fields."""
    found: dict[int, list[int | bytes]] = {}
    at = 0
    while at < len(message):
        key, at = _varint_at(message, at)
        value, at = _varint_at(message, at)
        if key & 7 == 0:
            found.setdefault(key >> 3, []).append(value)
            continue
        assert key & 7 == 2, "no other kind of field is written"
        assert at + value <= len(message), "a field ends within its message"
        found.setdefault(key >> 3, []).append(message[at : at + value])
        at += value
    return found


def messages(content: bytes) -> Iterator[dict[int, list[int | bytes]]]:
    """Returns the messages of a file."""
    at = 0
    while at < len(content):
        length, at = _varint_at(content, at)
        assert at + length <= len(content), "a message ends within its file"
        yield fields(content[at : at + length])
        at += length


def attributes_of(one: dict[int, list[int | bytes]]) -> dict[str, tuple[int, int | bytes]]:
    """Returns the attributes of a node by name: the field number of the type, and the value."""
    found = {}
    for content in one.get(10, []):
        assert isinstance(content, bytes)
        parts = fields(content)
        (name,) = parts.pop(1)
        ((field, (value,)),) = parts.items()
        assert isinstance(name, bytes)
        found[name.decode()] = (field, value)
    return found


def _varint_at(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
