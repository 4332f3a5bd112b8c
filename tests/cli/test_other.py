"""The small commands."""

from __future__ import annotations

import json
import time

import hostnet
from tests.support import Cli


def test_version_is_quick(cli: Cli) -> None:
    began_s = time.perf_counter()
    done = cli("--version")
    assert done.stdout == f"hostnet {hostnet.__version__}\n"
    assert time.perf_counter() - began_s < 2


def test_help_names_every_command(cli: Cli) -> None:
    for done in (cli(), cli("--help")):
        assert done.returncode == 0
        for command in ("run", "compare", "memory", "validate", "plot", "list", "schema", "new", "demo"):
            assert command in done.stdout


def test_new_writes_a_configuration_that_runs_and_does_not_overwrite(cli: Cli) -> None:
    done = cli("new", "mine.toml")
    assert done.returncode == 0
    before = (cli.folder / "mine.toml").read_text()
    assert "#" in before
    assert "mine.toml" in cli.fails("new", "mine.toml")
    assert (cli.folder / "mine.toml").read_text() == before
    done = cli("run", "mine.toml", "--quiet", "--set", "run.duration=5 us", "--set", "run.warmup=1 us")
    assert (done.returncode, done.stdout, done.stderr) == (0, "runs/mine-1\n", "")


def test_new_has_a_default_name(cli: Cli) -> None:
    assert cli("new").returncode == 0
    assert (cli.folder / "hostnet.toml").exists()


def test_schema_is_json_schema(cli: Cli) -> None:
    schema = json.loads(cli("schema").stdout)
    assert {"server", "memory", "workload", "run"} <= set(schema["properties"])


def test_list_presets(cli: Cli) -> None:
    done = cli("list", "presets")
    assert "cascade-lake-6234" in done.stdout


def test_list_devices_and_profiles(cli: Cli) -> None:
    assert "DDR5_4800" in cli("list", "devices").stdout.splitlines()
    assert cli("list", "profiles").stdout.splitlines() == ["intel", "ramulator"]


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
