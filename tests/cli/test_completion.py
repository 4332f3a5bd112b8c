"""Completion in shells: the scripts, and the values of options."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hostnet.cli.app import COMMANDS, load
from hostnet.cli.complete import COMPLETERS, attach, listed_choices
from hostnet.cli.extras import SHELLS
from tests.house.table import ROOT
from tests.support import HOSTNET, Cli, assert_tells

SHARE = ROOT / "packaging/wheel/data/share"

INSTALLED = {
    "bash": "bash-completion/completions/hostnet",
    "zsh": "zsh/site-functions/_hostnet",
    "fish": "fish/vendor_completions.d/hostnet.fish",
}
"""Files of a wheel's data by shell."""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script_that_a_wheel_installs(cli: Cli, shell: str) -> None:
    assert cli("completion", shell).stdout == (SHARE / INSTALLED[shell]).read_text(encoding="utf-8")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_can_read_its_script(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n", SHARE / INSTALLED[shell]], check=True)


def test_an_unknown_shell_names_the_nearest(cli: Cli) -> None:
    assert_tells(cli.fails("completion", "bsh"), 'unknown-name | did you mean "bash"?')


LINES = [
    ("hostnet completion z", "zsh"),
    ("hostnet run example.toml --set server.preset=cascade-lake-6", "cascade-lake-6234"),
    ("hostnet run example.toml --set core.lf", "core.lfb. nospace"),
    ("hostnet sweep example.toml --over memory.dev", "memory.device= nospace"),
    ("hostnet run exampl", "example.toml"),
    ("hostnet memory run --set memory.controller.pa", "memory.controller.page= nospace"),
]
"""Lines up to the cursor, and the replies in bash. Readline keeps the word up to its last equals sign."""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_words_with_equals_signs_and_goes_on_after_tables(cli: Cli) -> None:
    (cli.folder / "example.toml").write_text(cli.file.read_text())
    script = [
        f"source {SHARE / INSTALLED['bash']}",
        'compopt() { COMPREPLY+=("${*: -1}"); }',
        'ask() { COMP_LINE=$1; COMP_POINT=${#1}; _hostnet "$HOSTNET"; echo "${COMPREPLY[*]}"; }',
        *(f"ask '{line}'" for line, _ in LINES),
    ]
    environment = {**os.environ, "HOSTNET": str(HOSTNET)}
    command = ["bash", "-c", "\n".join(script)]
    done = subprocess.run(command, cwd=cli.folder, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [reply for _, reply in LINES]


def parameters() -> Iterator[tuple[str, Any]]:
    """Yields the parameters of all commands that take a value."""
    for name in COMMANDS:
        command = load(name)
        for found in (command, *getattr(command, "commands", {}).values()):
            yield from ((name, one) for one in found.params if not getattr(one, "is_flag", False))


def test_choices_that_a_help_text_lists_are_completed() -> None:
    found = {f"{name} {one.name}": listed_choices(one) for name, one in parameters()}
    assert found["noc routing"] == ["xy", "yx", "o1turn"]
    assert found["whatif attach"] == ["pcie", "onchip", "dimm", "cxl"]
    assert found["run compare"] == ["predict", "alone"]
    assert found["memory traffic"] == ["sequential", "random"]
    assert found["run out"] == []
    assert all(re.fullmatch(r"[\w-]+", choice) for choices in found.values() for choice in choices)


def test_the_last_entry_of_a_list_is_completed() -> None:
    (attached,) = [one for name, one in parameters() if (name, one.name) == ("whatif", "attach")]
    attach("whatif", [attached])
    items = attached._custom_shell_complete(None, attached, "pcie,on")
    assert [item.value for item in items] == ["pcie,onchip"]


def test_names_are_completed_as_lists_have_them() -> None:
    context = SimpleNamespace(params={"file": ROOT / "examples/power.toml"})
    assert "hostcc" in COMPLETERS["paper paper"](context, "")
    assert set(COMPLETERS["host"](context, "")) == {"client", "server"}
    assert "noc.topology=" in COMPLETERS["noc overrides"](context, "noc.")
    chip = SimpleNamespace(params={"file": ROOT / "examples/chip.toml"})
    assert "ni." in COMPLETERS["overrides"](chip, "n")


def test_a_run_directory_completes_its_hosts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[host.left]\n[host.right]\n")
    assert COMPLETERS["host"](SimpleNamespace(params={"what": str(tmp_path)}), "") == ["left", "right"]
