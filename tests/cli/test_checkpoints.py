"""Checkpoints: what is none is refused, and a state that no run comes to is no defect of hostnet."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.support import Cli

HEAD = 16
"""Bytes before the label: magic, version, and the length of the label."""


def forge(content: bytes, place: int, value: int) -> bytes:
    """The checkpoint with another byte in its state, and the checksum that belongs to that."""
    (length,) = struct.unpack_from("<I", content, HEAD - 4)
    head, body = content[: HEAD + length], bytearray(content[HEAD + length + 8 :])
    body[place] = value
    checksum = 0xCBF29CE484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return head + struct.pack("<Q", checksum) + bytes(body)


@pytest.fixture
def state(cli: Cli) -> Path:
    """A checkpoint."""
    cli.run("--checkpoint-at", "8 us", "--checkpoint", "state")
    return cli.folder / "state"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hostnet", "not a hostnet checkpoint"),
        (b"hostnetC", "the checkpoint is damaged: cut short"),
    ],
)
def test_files_that_are_no_checkpoint(cli: Cli, content: bytes, message: str) -> None:
    (cli.folder / "state").write_bytes(content)
    assert cli.fails("run", cli.file, "--from", "state") == f"state: {message}"


def test_a_damaged_checkpoint_is_named(cli: Cli, state: Path) -> None:
    content = bytearray(state.read_bytes())
    content[-1] ^= 1
    state.write_bytes(content)
    assert cli.fails("run", cli.file, "--from", "state") == "state: the checkpoint is damaged: wrong checksum"


def test_a_forged_checkpoint_is_named_and_is_no_defect(cli: Cli, state: Path) -> None:
    content = state.read_bytes()
    state.write_bytes(forge(content, 2, 255))
    message = cli.fails("run", cli.file, "--from", "state")
    assert message.startswith("state: the checkpoint ")
