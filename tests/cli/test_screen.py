"""No text written by a user sends control sequences to the terminal."""

from __future__ import annotations

import json
import sys
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from hostnet.terminal.console import Screen
from hostnet.terminal.screen import CONTROLS, visible
from tests.support import QUADRANT, Cli

HOSTILE = "\x1b[2J\x9b31m\u202e[/bold]"
"""Clears the screen, switches to red, reverses the text, and closes sequences that were never opened."""

TRACE = "".join(f" L {64 * line:x},8\n" for line in range(1000))


@given(st.text())
def test_visible_text_commands_nothing_and_json_keeps_its_meaning(text: str) -> None:
    assert not CONTROLS.search(visible(text))
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


@given(st.text(max_size=20))
def test_whatever_stands_in_a_table_is_shown_as_it_is(text: str) -> None:
    screen = Screen(file=StringIO(), width=200, color_system=None)
    table = Table(text, box=None)
    table.add_row(text)
    screen.print(text)
    screen.print(table)
    assert isinstance(screen.file, StringIO)
    assert not CONTROLS.search(screen.file.getvalue())


@pytest.fixture
def hostile(cli: Cli) -> Cli:
    """Returns a command whose configuration has hostile text wherever text is allowed."""
    hostile = json.dumps(HOSTILE)
    text = QUADRANT.replace("[run]", f"unvalidated = {hostile}\ndescription = {hostile}\n[run]")
    cli.file.write_text(text, "utf-8")
    return cli


@pytest.mark.parametrize(
    "command",
    [
        ("run", "quadrant.toml"),
        ("run", "quadrant.toml", "--json"),
        ("run", "quadrant.toml", "--seeds", "2"),
        ("predict", "quadrant.toml"),
        ("explain", "quadrant.toml", "--brief"),
        ("curve", "quadrant.toml", "--engine", "predict"),
        ("sweep", "quadrant.toml", "--over", "core.lfb.entries=6,12", "--engine", "predict"),
    ],
    ids=" ".join,
)
def test_a_reason_for_doubt_is_made_visible(hostile: Cli, command: tuple[str, ...]) -> None:
    done = hostile(*command, encoding="utf-8")
    assert done.returncode == 0, done
    assert not CONTROLS.search(done.stdout + done.stderr)
    assert "[2J" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed")
@pytest.mark.parametrize(
    "command", [("run",), ("plot",), ("counters", "read"), ("filter",), ("import",), ("memory", "check")], ids=" ".join
)
def test_a_name_of_a_file_is_made_visible(cli: Cli, command: tuple[str, ...]) -> None:
    name = HOSTILE.replace("/", "")
    (cli.folder / name).write_text("?", "utf-8")
    done = cli(*command, name, encoding="utf-8")
    assert done.returncode == 2, done
    assert not CONTROLS.search(done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not allowed")
def test_names_of_files_are_no_markup(cli: Cli) -> None:
    (cli.folder / "[bold]").write_text(TRACE)
    done = cli("filter", "[bold]", "--l1", "4KiB,4", "--output", "[red]")
    assert done.returncode == 0, done
    assert "[bold]: " in done.stdout
    assert "[red]: " in done.stdout
