"""Any run directory is drawn, compared and explained, or refused with the name of a file."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from tests.fuzz.support import HOSTILE, SHORT, Hostile, examples, mutated
from tests.support import Cli

COMMANDS = {
    "plot": ("plot", "run"),
    "compare": ("compare", "run", "whole", "--no-rerun"),
    "compare turned round": ("compare", "whole", "run", "--no-rerun", "--json"),
    "explain": ("explain", "run", "--brief"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns complete run directories of a server, of one with two sockets, of a cluster and of a study."""
    cli = Cli(tmp_path_factory.mktemp("whole"))
    server = cli.run(*SHORT, "--series", "1us", "--out", "server")
    two = ("--set", 'server.preset="broadwell-r730"', "--set", 'workload.s={kind="stream",cores="0",memory="node:1"}')
    sockets = cli.run(*SHORT, *two, "--out", "sockets")
    done = cli("new", "--cluster", "hostcc")
    assert done.returncode == 0
    short = ("--set", "run.warmup=0 us", "--set", "run.duration=20 us")
    done = cli("run", "hostcc.toml", *short, "--series", "5us", "--out", "cluster", "--quiet")
    assert done.returncode == 0, done
    done = cli("validate", "host_network", "--engine", "predict", "--quick", "--out", "study")
    assert done.returncode == 0, done
    return {"server": server, "sockets": sockets, "cluster": cli.folder / "cluster", "study": cli.folder / "study"}


@pytest.fixture(autouse=True)
def quick_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws pictures only in one format and to memory."""

    def draw(path: Path, figure: Figure, **_: Any) -> None:
        if path.suffix == ".png":
            figure.draw_without_rendering()
        path.write_bytes(b"drawn")

    monkeypatch.setattr(import_module("hostnet.report.plot"), "write_figure", draw)


@st.composite
def changed_json(draw: st.DrawFn, text: str) -> str:
    """Draws a JSON text with a few values replaced, removed or given another type."""
    tree = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        at: Any = tree
        while True:
            keys = list(at) if isinstance(at, dict) else range(len(at))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(at[key], dict | list) and at[key] and draw(st.integers(0, 7)):
                at = at[key]
                continue
            if draw(st.booleans()):
                del at[key]
            else:
                at[key] = draw(st.sampled_from([None, True, 0, -1, 10**400, 1e308, [], {}, [[]], {"a": 1}, *HOSTILE]))
            break
    return json.dumps(tree)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["server", "sockets", "cluster", "study"])
def test_damaged_run_directories(hostile: Hostile, runs: dict[str, Path], kind: str, command: str) -> None:
    whole = runs[kind]
    names = sorted(path.name for path in whole.iterdir() if path.is_file() and path.suffix not in (".html", ".txt"))

    @examples(1 if command == "plot" else 8)
    @given(st.sampled_from(names), st.data())
    def holds(name: str, data: st.DataObject) -> None:
        hostile.empty()
        shutil.copytree(whole, hostile.folder / "run")
        (hostile.folder / "whole").symlink_to(whole)
        content = (whole / name).read_bytes()
        if name.endswith(".json") and data.draw(st.integers(0, 3)):
            changed = data.draw(changed_json(content.decode())).encode()
        else:
            changed = data.draw(mutated(content))
        hostile.write(f"run/{name}", changed)
        outcome = hostile(*COMMANDS[command])
        if outcome.code == 2:
            assert "run" in outcome.errors, outcome

    holds()


def test_a_file_that_is_gone(hostile: Hostile, runs: dict[str, Path]) -> None:
    for kind, whole in runs.items():
        for path in [path.relative_to(whole) for path in whole.rglob("*") if path.is_file()]:
            hostile.empty()
            shutil.copytree(whole, hostile.folder / "run")
            (hostile.folder / "whole").symlink_to(whole)
            (hostile.folder / "run" / path).unlink()
            for name in ("compare", "explain"):
                assert hostile(*COMMANDS[name]).code in (0, 2), (kind, path)


def test_whole_directories_are_drawn(hostile: Hostile, runs: dict[str, Path]) -> None:
    hostile.empty()
    for whole in runs.values():
        shutil.copytree(whole, hostile.folder / whole.name)
        assert hostile("plot", whole.name).code == 0
