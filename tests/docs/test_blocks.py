"""Every code block of every page runs, or says why it does not.

Blocks without a marker run in each test run, those marked `long` only with `make test-all`. `python -m scripts.pages`
runs the blocks of a page by hand, and with `--write` renews the outputs that the page shows.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hostnet.cli.app import COMMANDS, load
from scripts.pages.blocks import Block, blocks_of, markers_above, pages
from scripts.pages.runner import Session, check
from tests.docs.reference import ROOT
from tests.zygote import zygote

BLOCKS = {page: blocks_of(page.read_text(encoding="utf-8")) for page in pages()}
EXECUTED = {page: [block for block in blocks if block.runs] for page, blocks in BLOCKS.items()}
NOT_RUN = [(page, block) for page, blocks in BLOCKS.items() for block in blocks if block.not_run is not None]

LANGUAGES = {"sh", "console", "python", "toml", "csv", "json", "text", "rust", "{picture}", "{toctree}"}
MARKERS = {"not run", "long", "file", "fails", "output", "before"}
OF_GENERATORS = {"keys", "end", "errors", "ledger", "/ledger", "speed", "/speed"}
"""Comments that stand above blocks by chance."""

BLOCKS_NOT_RUN = 23
"""Blocks that need hardware, a network, other software or minutes. The number may fall."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def in_zygote(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return zygote().run(arguments, folder)


def run_blocks(blocks: Sequence[Block], folder: Path) -> int:
    """Runs the blocks of a page in a folder and returns the number of commands and Python blocks."""
    session = Session(folder, hostnet=in_zygote)
    return sum(check(session, block) for block in blocks)


@pytest.mark.parametrize(
    "page", [page for page, blocks in EXECUTED.items() if not all(block.long for block in blocks)], ids=name_of
)
def test_the_quick_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    assert run_blocks([block for block in EXECUTED[page] if not block.long], tmp_path) >= 0


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [page for page, blocks in EXECUTED.items() if any(block.long for block in blocks)], ids=name_of
)
def test_all_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    assert run_blocks(EXECUTED[page], tmp_path) > 0


@pytest.mark.parametrize("page", BLOCKS, ids=name_of)
def test_every_block_has_a_language_and_known_markers(page: Path) -> None:
    wrong = [(block.line, block.language) for block in BLOCKS[page] if block.language not in LANGUAGES]
    assert wrong == []
    assert markers_above(page.read_text(encoding="utf-8")) <= MARKERS | OF_GENERATORS


@pytest.mark.parametrize("page", BLOCKS, ids=name_of)
def test_no_command_stands_in_an_indented_block(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    fenced = {line for block in BLOCKS[page] for line in range(block.line, block.line + block.text.count("\n"))}
    assert [
        line for number, line in enumerate(lines, 1) if line.startswith("    hostnet ") and number not in fenced
    ] == []


def test_blocks_that_do_not_run_say_why_and_are_counted() -> None:
    assert all(len((block.not_run or "").split()) >= 2 for _, block in NOT_RUN)
    places = [f"{name_of(page)}:{block.line}" for page, block in NOT_RUN]
    assert len(places) == BLOCKS_NOT_RUN, places


def commands_of(page: Path) -> list[list[str]]:
    """Returns the words of all commands of `hostnet` on a page, whether they run or not."""
    blocks = (block for block in BLOCKS[page] if not block.fails)
    words = [command.words for block in blocks for command in block.commands()]
    return [line[: line.index("&&")] if "&&" in line else line for line in words if line[0] == "hostnet"]


@pytest.mark.parametrize("page", [page for page in BLOCKS if commands_of(page)], ids=name_of)
def test_every_command_of_a_page_has_options_that_there_are(page: Path) -> None:
    for _, name, *arguments in commands_of(page):
        assert name in COMMANDS
        parsed(load(name), name, [*arguments])


def parsed(command: Any, name: str, arguments: list[str]) -> None:
    """Parses the arguments of a command without running it."""
    commands = getattr(command, "commands", None)
    context = command.make_context(f"hostnet {name}", arguments)
    if commands:
        words = [*context._protected_args, *context.args]
        parsed(commands[words[0]], f"{name} {words[0]}", words[1:])
