"""Everything that `hostnet new` writes runs where it was written, also with its commented parts switched on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import _core
from hostnet.cli.templates import TRACE, Template, write_template
from tests.support import Cli, assert_tells, with_small_llc

TEMPLATES = {
    "server": Template(),
    "stream-and-drives": Template(stream_and_drives=True),
    **{app: Template(app=app) for app, _ in _core.apps()},
    **{f"{app} alone": Template(app=app, alone=True) for app, _ in _core.apps()},
    **{f"cluster {name}": Template(cluster=name) for name in _core.cluster_templates()},
    **{f"chip {name}": Template(chip=True, preset=name) for name in _core.chips()},
}
QUICK = ("server", "stream-and-drives", "trace", "cluster hostcc", "cluster forward", "chip scale-out-64")

SETTING = re.compile(
    r"""^\# \ (?= \[[\w."-]+\]$ | [\w."-]+ \ = \ (?:"[^"]*" | [\d.]+ | true | false | \[.*\]) \s* (?:\# | $))""",
    re.MULTILINE | re.VERBOSE,
)
"""A comment that is a table or a setting."""


def run_briefly(file: Path) -> dict[str, Any]:
    """Runs a configuration for a few microseconds and returns the summary."""
    text = file.read_text(encoding="utf-8")
    if _core.is_chip(text, "toml"):
        return dict(hostnet.chip(file, overrides=["run.warmup=1 us", "run.window=1 us", "run.max=2"]).summary)
    short = ["run.warmup=2 us", "run.duration=5 us", *with_small_llc(file)]
    return hostnet.run(file, overrides=short).summary


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.long]) for name in TEMPLATES]
)
@pytest.mark.parametrize("switched_on", [False, True], ids=["as-is", "switched-on"])
def test_a_template_runs_in_an_empty_folder(
    name: str, switched_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_template(TEMPLATES[name])
    (file,) = tmp_path.glob("*.toml")
    if switched_on:
        text = file.read_text(encoding="utf-8")
        assert SETTING.search(text) or name.startswith("cluster"), "it has commented parts"
        file.write_text(SETTING.sub("", text), encoding="utf-8")
    assert run_briefly(file)["complete"] is not False


def test_the_trace_of_a_template_is_written_beside_it(cli: Cli) -> None:
    cli("new", "--app", "trace")
    assert {entry.name for entry in cli.folder.iterdir()} >= {"trace.toml", TRACE}
    assert_tells(cli.fails("new", "other.toml", "--app", "trace"), f"file-access | {TRACE}")


def test_the_question_of_the_readme_is_a_template(cli: Cli) -> None:
    done = cli("new", "--stream-and-drives")
    assert done.stdout == "server.toml: run it with: hostnet run server.toml\n"
    summary = run_briefly(cli.folder / "server.toml")
    assert {row["workload"]: row["kind"] for row in summary["workloads"]} == {"stream": "stream", "disk": "fio"}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--stream-and-drives", "--chip"), "conflicting-keys | --stream-and-drives and --chip"),
        (("--app", "redis", "--cluster", "ping"), "conflicting-keys | --app and --cluster"),
        (("--preset", "scale-out-64"), "requires-key | --preset | --chip"),
        (("--alone",), "requires-key | --alone | --app"),
        (("--cluster", "hostc"), 'unknown-name | --cluster | "hostcc"'),
    ],
)
def test_templates_that_cannot_be_are_refused(cli: Cli, options: tuple[str, ...], wanted: str) -> None:
    assert_tells(cli.fails("new", *options), wanted)
