"""The WebAssembly module of the playground, called from node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import _core, noc_alone
from hostnet.chips.run import chip as run_chip
from scripts import playground
from tests.support import HANG_S

Answer = dict[str, Any]
Calls = Callable[[Sequence[Sequence[Any]]], list[Answer]]

EXAMPLES = playground.ROOT / "examples"


@cache
def native(name: str) -> tuple[str, dict[str, Any]]:
    """Runs an example natively and returns its result hash and its summary."""
    file = EXAMPLES / name
    if name == "noc.toml":
        noc = noc_alone.run_plan(noc_alone.resolve_settings([], file))
        return noc.result_hash, noc.summary
    if _core.is_chip(file.read_text(encoding="utf-8"), "toml"):
        chip = run_chip(file)
        return chip.result_hash, chip.summary
    results = hostnet.run(file)
    return results.result_hash, results.summary


@pytest.fixture(scope="session")
def module() -> Path:
    """Returns the folder of the playground; skips the test if there is none, or an old one."""
    if shutil.which("node") is None:
        pytest.skip("no node to run WebAssembly with")
    stamp = playground.OUT / playground.STAMP
    if not stamp.exists() or stamp.read_text(encoding="ascii").strip() != playground.digest_sources():
        pytest.skip("no playground of these sources, which make playground builds")
    return playground.OUT


@pytest.fixture(scope="session")
def calls(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """Returns a function that calls functions of the module, in one process, and returns their answers."""
    # Without a package.json, node takes a file for a module only by its name.
    script = tmp_path_factory.mktemp("node") / "hostnet_web.mjs"
    shutil.copy(module / f"{playground.MODULE}.js", script)
    command = ["node", str(Path(__file__).with_name("calls.mjs")), str(script)]
    command.append(str(module / f"{playground.MODULE}_bg.wasm"))

    def answers(wanted: Sequence[Sequence[Any]]) -> list[Answer]:
        done = subprocess.run(command, input=json.dumps(wanted), capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return answers
