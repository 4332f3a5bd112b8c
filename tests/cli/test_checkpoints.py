"""Invalid checkpoints are refused, and a state that no run can reach is not reported as a defect of hostnet."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest

from hostnet import CheckpointError, SimulationError, _core
from tests.support import QUADRANT, Cli, assert_tells

HEAD = 16
"""Bytes before the label: magic, version, and the length of the label."""


def forge(content: bytes, place: int, value: int) -> bytes:
    """Returns the checkpoint with a byte of its state changed, and a matching checksum."""
    (length,) = struct.unpack_from("<I", content, HEAD - 4)
    head, body = content[: HEAD + length], bytearray(content[HEAD + length + 8 :])
    body[place] = value
    checksum = 0xCBF29CE484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return head + struct.pack("<Q", checksum) + bytes(body)


@pytest.fixture
def state(cli: Cli) -> Path:
    """Returns a checkpoint."""
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
    assert_tells(cli.fails("run", cli.file, "--from", "state"), f"bad-checkpoint | {message} | state: ")


def test_a_damaged_checkpoint_is_named(cli: Cli, state: Path) -> None:
    content = bytearray(state.read_bytes())
    content[-1] ^= 1
    state.write_bytes(content)
    assert_tells(cli.fails("run", cli.file, "--from", "state"), "bad-checkpoint")


def test_a_forged_checkpoint_is_named_and_is_no_defect(cli: Cli, state: Path) -> None:
    content = state.read_bytes()
    state.write_bytes(forge(content, 2, 255))
    message = cli.fails("run", cli.file, "--from", "state")
    assert_tells(message, "bad-checkpoint | state: the checkpoint ")


def test_a_state_that_makes_the_simulator_panic_is_an_error_of_its_checkpoint() -> None:
    plan = _core.resolve(QUADRANT)
    content = _core.run(plan, checkpoint_at_ps=8_000_000).checkpoint
    assert content is not None
    said = []
    for place in range(500, 560, 4):
        with suppress(SimulationError):
            try:
                _core.run(plan, checkpoint=forge(content, place, 121), progress=lambda _: False)
            except CheckpointError as error:
                said.append(str(error))
    assert any("holds a state that no run comes to (panicked at" in message for message in said), said
