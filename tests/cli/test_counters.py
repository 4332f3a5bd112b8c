"""`hostnet run --counters` and `hostnet counters`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hostnet import counters
from hostnet.cli.app import COMMANDS
from hostnet.cli.counters import show_events
from tests.counters.support import quantities
from tests.support import Cli, assert_tells, read_json


@pytest.mark.parametrize("form", ["perf", "pcm"])
def test_a_run_writes_its_counters(cli: Cli, form: str) -> None:
    folder = cli.run("--counters", form, "--counters-interval", "5us")
    found = counters.read(folder / "counters.csv")
    assert (found.format, len(found.windows), found.missing) == (form, 4, [])
    summary = quantities(read_json(folder / "summary.json")["counters"])
    for name, value in quantities(found.total).items():
        assert value == pytest.approx(summary[name], rel=1e-3, abs=2e-3), name


def test_counters_do_not_change_a_run(cli: Cli) -> None:
    with_them, without = cli.run("--counters", "perf", "--counters-interval", "3us"), cli.run()
    assert read_json(with_them / "manifest.json")["result_hash"] == read_json(without / "manifest.json")["result_hash"]
    assert {file.name for file in with_them.iterdir()} - {file.name for file in without.iterdir()} == {"counters.csv"}


def test_an_interval_longer_than_the_run_is_one_window(cli: Cli) -> None:
    folder = cli.run("--counters", "perf")
    assert len(counters.read(folder / "counters.csv").windows) == 1


def test_counters_may_go_elsewhere(cli: Cli) -> None:
    folder = cli.run("--counters", "perf", "--counters-out", "mine.csv", "--counters-per-socket")
    assert not (folder / "counters.csv").exists()
    assert ",S0,18," in (cli.folder / "mine.csv").read_text()


def test_counters_survive_a_checkpoint(cli: Cli) -> None:
    options = ["--counters", "perf", "--counters-interval", "4us"]
    whole = cli.run(*options, "--checkpoint-at", "12us", "--checkpoint", "half")
    rest = cli.run(*options, "--from", "half")
    assert (rest / "counters.csv").read_bytes() == (whole / "counters.csv").read_bytes()
    assert_tells(cli.fails("run", cli.file, "--from", "half"), "other-configuration | belongs to configuration")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--counters", "likwid"], 'unknown-name | --counters | "likwid"'),
        (["--counters", "pcm-num"], 'unknown-name | "pcm-numa"'),
        (["--counters-interval", "5us"], "requires-key | --counters-interval"),
        (["--counters-out", "x.csv"], "requires-key | --counters-out"),
        (["--counters-per-socket"], "requires-key | --counters-per-socket"),
        (["--counters", "pcm", "--counters-per-socket"], "no-effect"),
        (["--counters", "perf", "--counters-interval", "1"], 'bad-unit | "1"'),
        (["--counters", "perf", "--counters-interval", "10ns"], "out-of-range | at least 1 us"),
        (["--counters", "perf", "--counters-interval", "1500500ps"], "out-of-range | whole ns"),
        (["--counters", "perf", "--seeds", "2"], "conflicting-keys"),
        (["--counters", "perf", "--counters-out", "none/x.csv"], "file-access | none"),
        (["--counters", "perf", "--counters-interval", "1us", "--set", "run.duration=30 ms"], "too-many | 20000"),
    ],
)
def test_options_that_make_no_sense(cli: Cli, options: list[str], message: str) -> None:
    assert_tells(cli.fails("run", cli.file, *options), message)


def test_a_file_is_shown(cli: Cli) -> None:
    folder = cli.run("--counters", "perf")
    done = cli("counters", "read", folder / "counters.csv", "--server", "cascade-lake-6234")
    assert (done.returncode, done.stderr) == (0, "")
    assert "perf, cascade-lake, 1 windows" in done.stdout
    assert "  channels               2\n" in done.stdout
    shown = json.loads(cli("counters", "read", folder / "counters.csv", "--json").stdout)
    assert shown["missing"] == []
    assert shown["total"] == counters.read(folder / "counters.csv").total


def test_what_is_missing_is_shown(cli: Cli) -> None:
    file = cli.folder / "small.csv"
    file.write_text("1.000000000,5,,UNC_M_CAS_COUNT.RD,1000000000,50.00,,\n")
    done = cli("counters", "read", file)
    assert done.returncode == 0
    assert "missing: UNC_M_WPQ_OCCUPANCY >=34 is missing: the write admission delay (P_fill) cannot" in done.stdout
    assert "warning: UNC_M_CAS_COUNT.RD was counted 50 % of the time" in done.stderr


def test_a_file_that_is_wrong(cli: Cli) -> None:
    file = cli.folder / "bad.csv"
    file.write_text("1.000000000,-5,,UNC_M_CAS_COUNT.RD,1000000000,50.00,,\n")
    assert_tells(cli.fails("counters", "read", file), f'malformed-file | {file} | "-5" | UNC_M_CAS_COUNT.RD')
    assert_tells(cli.fails("counters", "read", "none.csv"), "file-not-found | No such file")
    assert_tells(cli.fails("counters", "read", empty(cli.folder)), "malformed-file | is empty")
    assert_tells(cli.fails("counters", "read", file, "--server", "cascade"), "unknown-name | cascade")
    assert_tells(cli.fails("counters", "read", file, "--core-ghz", "2400"), "out-of-range | 0.1 | 10")


def empty(folder: Path) -> Path:
    path = folder / "empty.csv"
    path.touch()
    return path


def test_events_are_listed(cli: Cli) -> None:
    done = cli("counters", "events")
    for uarch in counters.uarchs().values():
        assert uarch.title in done.stdout
        assert all(event.name in done.stdout.split() for event in uarch.events.values())
    one = cli("counters", "events", "ice-lake-8362").stdout
    assert "cascade" not in one.lower()
    assert cli("list", "counters").stdout.count("\n") == len(counters.uarchs())


@pytest.mark.parametrize("width", [60, 80, 100])
def test_events_fit_the_screen(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert show_events(None, command=False, interval_ms=None) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for uarch in counters.uarchs().values():
        for event in uarch.events.values():
            assert {event.name, f"{event.encoding};", *event.meaning.split()[:-1]} <= set(words)


def test_the_command_for_perf_is_printed(cli: Cli) -> None:
    shown = cli("counters", "events", "cascade-lake", "--command", "--interval-ms", "10").stdout
    assert shown.startswith("perf stat -a --per-socket --no-merge -I 10 -x, -o counters.csv \\\n")
    assert_tells(cli.fails("counters", "events", "cascade-lak"), "unknown-name")
    assert_tells(cli.fails("counters", "events", "--command"), "missing-key | name one of")
    assert_tells(
        cli.fails("counters", "events", "ice-lake", "--command", "--interval-ms", "0"), "out-of-range | between 1 and"
    )


def test_tables_of_pcm_numa_go_out_and_in(cli: Cli) -> None:
    folder = cli.run("--counters", "pcm-numa", "--counters-interval", "5us")
    assert (folder / "counters.csv").read_text().startswith("Time elapsed: 0.005 ms\nCore,IPC,")
    done = cli("counters", "read", folder / "counters.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:] == [
        "  window_ns              20000",
        "* of the accesses of cores that DRAM served, none went to that of other sockets",
    ]


def test_an_unknown_command_of_the_group_lists_those_of_the_group(cli: Cli) -> None:
    listed = cli.fails("counters", "foo").rpartition(" are ")[2]
    assert listed.strip().split(", ") == ["events", "read"]
    assert cli.fails("foo").rpartition(" are ")[2].strip().split(", ") == [*COMMANDS]


def test_bursts_are_no_lines_to_count(cli: Cli) -> None:
    error = cli.fails("run", cli.file, "--set", "server.fidelity=burst", "--counters", "perf")
    assert_tells(error, "needs-line-fidelity | counters")
