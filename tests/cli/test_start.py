"""The modules that the command loads at its start, and the list of commands."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostnet.cli.app import COMMANDS, app, load
from tests.support import QUADRANT, Cli, assert_tells


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Returns the modules that a command has loaded when it exits."""
    code = (
        "import json, sys\n"
        "from hostnet.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print('\\n' + json.dumps(sorted(sys.modules)))\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_of_a_command_is_what_it_says_of_itself(name: str) -> None:
    described = load(name).help.split("\n\n")[0]
    assert COMMANDS[name][1] == " ".join(described.split())


def test_the_list_of_commands_is_whole(cli: Cli) -> None:
    shown = " ".join(cli("--help").stdout.split())
    assert [name for name, (_, summary) in COMMANDS.items() if f"{name} {summary}" not in shown] == []


def test_an_unknown_command_names_the_nearest(cli: Cli) -> None:
    assert_tells(cli.fails("valdate"), "usage")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",)])
def test_help_loads_no_command(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    modules = loaded(tmp_path, *arguments)
    assert not modules & {"hostnet.running.simulate", "hostnet.system", "pyarrow", "pydantic", "rich"}
    assert not [name for name in modules if name.endswith("_app")]


def test_importing_the_package_loads_nothing_but_the_standard_library() -> None:
    code = "import sys; before = set(sys.modules); import hostnet; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert roots - sys.stdlib_module_names == {"hostnet"}


def test_a_run_loads_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "quadrant.toml").write_text(QUADRANT)
    modules = loaded(tmp_path, "run", "quadrant.toml", "--quiet")
    assert {"hostnet.running.simulate", "hostnet.report.run_page"} <= modules
    needless = {"hostnet.comparison", "hostnet.ledger", "hostnet.sweeps", "hostnet.system", "hostnet.report.plot"}
    assert not modules & {*needless, "hostnet.report.cluster_page", "matplotlib", "numpy", "pandas", "pyarrow", "rich"}


def commands() -> Iterator[list[str]]:
    """Yields every command and its subcommands."""
    for name in COMMANDS:
        yield [name]
        yield from ([name, below] for below in getattr(load(name), "commands", {}))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_the_help_of_a_command_is_whole_at_80_columns(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    app([*words, "--help"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line or "[[" in line for line in lines)
    usage = next(index for index, line in enumerate(lines) if "Usage:" in line)
    assert lines[usage + 1].strip() == ""
    command = load(words[0])
    for word in words[1:] or ["run"]:
        command = getattr(command, "commands", {}).get(word, command)
    text = "\n".join(line.strip() for line in lines)
    for paragraph in command.help.split("\n\n"):
        assert "\n".join(textwrap.wrap(paragraph, 78, break_on_hyphens=False)) in text
