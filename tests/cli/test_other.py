"""The small commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import hostnet
from hostnet import _core
from hostnet.cli.app import COMMANDS, load
from hostnet.cli.complete import COMPLETERS
from hostnet.cli.listing import LISTS
from tests.docs.reference import ROOT
from tests.support import Cli, assert_tells


def test_the_version_is_told(cli: Cli) -> None:
    first, *rest = cli("--version").stdout.splitlines()
    assert first == f"hostnet {hostnet.__version__}"
    assert len(rest) == _core.has_assertions()


def test_commands_start_without_what_is_slow_to_load() -> None:
    code = "import sys, hostnet.cli.app; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "matplotlib", "numpy", "scipy", "tomlkit", "distributed"} & set(done.stdout.split())


def test_help_names_every_command(cli: Cli) -> None:
    for done in (cli(), cli("--help")):
        assert done.returncode == 0
        for command in ("run", "compare", "memory", "validate", "plot", "list", "schema", "new", "demo"):
            assert command in done.stdout


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("pre", "predict"),
        ("run --ser", "--series"),
        ("predict exa", "example.toml"),
        ("calibrate cascade-lake-6234 --fit core.lfb.ref", "core.lfb.refill"),
        ("counters events ice", "ice-lake"),
        ("counters events cascade-lake-6", "cascade-lake-6234"),
        ("memory run --device DDR4_29", "DDR4_2933"),
        ("memory check commands --device exa", "example.toml"),
        ("memory run --profile ramu", "ramulator"),
    ],
)
def test_a_shell_completes_commands_and_options(cli: Cli, words: str, completed: str) -> None:
    (cli.folder / "example.toml").touch()
    line = f"hostnet {words}"
    asked = {"_HOSTNET_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    assert completed in cli(env={**os.environ, **asked}).stdout.split()


@pytest.mark.parametrize(
    ("parameter", "start", "words"),
    [
        ("list what", "pre", ["presets"]),
        ("new cluster", "host", ["hostcc"]),
        ("new app", "redi", ["redis"]),
        ("validate studies", "netd", ["netdimm", "netdimm_traces"]),
        ("server", "cascade-lake-6", ["cascade-lake-6234"]),
        ("overrides", "memory.device=DDR5", [f"memory.device=DDR5_{rate}" for rate in (4800, 5600, 6400)]),
        ("overrides", "core.lf", ["core.lfb."]),
        ("over", "workload.stream.patt", ["workload.stream.pattern="]),
        ("over", "host.", []),
    ],
)
def test_a_shell_completes_values(cli: Cli, parameter: str, start: str, words: list[str]) -> None:
    context = SimpleNamespace(params={"file": cli.file})
    found = [word for word in COMPLETERS[parameter](context, start) if word.startswith(start)]
    assert found == words


def test_a_shell_completes_keys_of_clusters_and_run_directories(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    context = SimpleNamespace(params={"file": ROOT / "examples/power.toml"})
    assert set(COMPLETERS["over"](context, "host.")) >= {"host.client.", "host.server."}
    assert "host.server.power.governor=" in COMPLETERS["over"](context, "host.server.power.gov")
    cli.run()
    monkeypatch.chdir(cli.folder)
    assert list(COMPLETERS["compare a"](context, "runs/")) == ["runs/quadrant-1"]


def test_every_completed_parameter_exists() -> None:
    names = set()
    for command in COMMANDS:
        loaded = load(command)
        for found in (loaded, *getattr(loaded, "commands", {}).values()):
            names |= {name for one in found.params for name in (one.name, f"{command} {one.name}")}
    assert set(COMPLETERS) <= names


def test_a_missing_argument_shows_the_usage_and_an_unknown_command_the_commands(cli: Cli) -> None:
    assert_tells(cli.fails("run"), "usage | usage: hostnet run [OPTIONS]")
    assert set(COMMANDS) <= set(re.findall(r"[\w-]+", cli.fails("nope")))


def test_list_says_what_can_be_listed(cli: Cli) -> None:
    done = cli("list")
    assert (done.returncode, [line.split()[0] for line in done.stdout.splitlines()]) == (0, list(LISTS))
    assert_tells(cli.fails("list", "preset"), 'unknown-name | "presets"')


@pytest.mark.parametrize("what", [[], *([name] for name in LISTS)])
def test_lists_wrap_where_the_screen_ends(what: list[str], cli: Cli) -> None:
    wide, narrow = (cli("list", *what, env={**os.environ, "COLUMNS": str(width)}).stdout for width in (100, 60))
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.split() == wide.split()


def test_new_writes_a_configuration_that_runs_and_does_not_overwrite(cli: Cli) -> None:
    done = cli("new", "mine.toml")
    assert done.returncode == 0
    before = (cli.folder / "mine.toml").read_text()
    assert "#" in before
    assert_tells(cli.fails("new", "mine.toml"), "file-access | mine.toml")
    assert (cli.folder / "mine.toml").read_text() == before
    done = cli("run", "mine.toml", "--quiet", "--set", "run.duration=5 us", "--set", "run.warmup=1 us")
    assert (done.returncode, done.stdout, done.stderr) == (0, "runs/mine-1\n", "")


def test_new_has_a_default_name(cli: Cli) -> None:
    assert cli("new").returncode == 0
    assert (cli.folder / "server.toml").exists()


@pytest.mark.parametrize("app", [name for name, _ in _core.apps()])
@pytest.mark.parametrize("alone", [(), ("--alone",)])
def test_new_writes_a_configuration_of_an_application_that_runs(cli: Cli, app: str, alone: tuple[str, ...]) -> None:
    done = cli("new", "--app", app, *alone)
    assert (done.returncode, done.stdout) == (0, f"{app}.toml: run it with: hostnet run {app}.toml\n")
    text = (cli.folder / f"{app}.toml").read_text()
    assert f"[workload.{app}]" in text
    assert ("[workload.disk]" in text) == (not alone)
    plan = json.loads(_core.resolve(text, base_dir=str(cli.folder)).effective_json())
    assert plan["cache"]["enabled"]


def test_new_refuses_an_application_that_is_not_known(cli: Cli) -> None:
    before = cli.entries()
    assert_tells(cli.fails("new", "--app", "rediss"), 'unknown-name | --app | "rediss" | "redis"')
    assert_tells(cli.fails("new", "--alone"), "requires-key | --alone")
    assert cli.entries() == before


def test_the_help_of_list_names_every_list_and_flags_have_no_type(cli: Cli) -> None:
    words = set(re.findall(r"\w+", cli("list", "--help").stdout))
    assert {line.split()[0] for line in cli("list").stdout.splitlines()} <= words
    assert "<bool>" not in cli("run", "--help").stdout


def test_list_apps_says_what_each_is(cli: Cli) -> None:
    lines = cli("list", "apps").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [name for name, _ in _core.apps()]
    assert all(len(line.split()) > 2 for line in lines)


def test_predictions_refuse_caches(cli: Cli) -> None:
    cli("new", "--app", "redis")
    cached = ("--set", "cache.enabled=true")
    before = cli.entries()
    for arguments in (
        ("predict", "redis.toml"),
        ("predict", "redis.toml", *cached, "--out", "there"),
        ("run", "redis.toml", "--compare", "predict"),
        ("sweep", "redis.toml", "--over", "cache.llc.ways=11,12", "--engine", "predict"),
    ):
        message = cli.fails(*arguments)
        assert_tells(message, "not-supported | cache.enabled")
        assert cli.entries() == before


def test_schema_is_json_schema(cli: Cli) -> None:
    schema = json.loads(cli("schema").stdout)
    assert {"server", "memory", "workload", "run"} <= set(schema["properties"])


def test_list_presets(cli: Cli) -> None:
    done = cli("list", "presets")
    assert "cascade-lake-6234" in done.stdout


def test_list_devices_and_profiles(cli: Cli) -> None:
    assert "DDR5_4800" in cli("list", "devices").stdout.splitlines()
    assert cli("list", "profiles").stdout.splitlines() == ["intel", "intel-lone", "ramulator"]


def test_list_workloads_explains_every_key(cli: Cli) -> None:
    output = cli("list", "workloads").stdout
    for word in ("stream", "pattern", "reads", "working_set", "fio", "job", "iodepth", "rwmixread"):
        assert word in output
    assert max(map(len, output.splitlines())) <= 100


def test_list_studies(cli: Cli) -> None:
    assert "host_network" in cli("list", "studies").stdout


def test_plot_draws_a_run(cli: Cli) -> None:
    path = cli.run("--series", "1us")
    done = cli("plot", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    for line in done.stdout.splitlines():
        assert (cli.folder / line).stat().st_size > 1000
