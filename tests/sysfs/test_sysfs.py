"""Output of Linux and turbostat about cores becomes a table that a server accepts, and invalid output is refused."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import ConfigError, _core
from hostnet.presets import PROBE
from hostnet.sysfs import power_table, read_cores, read_turbostat
from tests.hwloc.machines import ONE_SOCKET
from tests.support import Cli, assert_tells
from tests.sysfs.machines import DESKTOP, IDLE, SERVER, WORKING, write


def drafted(folder: Path, files: dict[str, str], turbostat: str | None = None) -> tuple[dict[str, Any], str]:
    """Returns the table, which a server accepts, as nested dicts and as text."""
    measured = None
    if turbostat is not None:
        (folder / "turbostat.txt").write_text(turbostat)
        measured = read_turbostat(folder / "turbostat.txt")
    text = power_table(read_cores(write(folder / "cpu", files)), measured)
    _core.resolve(f'server.preset = "cascade-lake-6234"\n{text}', overrides=[PROBE])
    return tomllib.loads(text)["power"], text


def test_a_machine_that_lists_its_frequencies(tmp_path: Path) -> None:
    power, text = drafted(tmp_path, DESKTOP)
    assert power["pstates"] == ["0.8 GHz @ 0.65 V", "1.5 GHz @ 0.8174 V", "2.3 GHz @ 1.0087 V", "3.1 GHz @ 1.2 V"]
    assert power["governor"] == {"kind": "ondemand", "variant": "3.9", "period": "4000 us", "up_threshold": 80}
    assert (power["domain"], power["idle"]) == ("chip", "menu")
    assert power["cstate"] == {
        "C1": {"exit": "1 us", "residency": "1 us", "power": "static"},
        "C1E": {"exit": "10 us", "residency": "20 us", "power": "static", "disable": True},
        "C6": {"exit": "104 us", "residency": "345 us", "power": "0 W"},
        "C3": {"disable": True},
    }
    assert "Voltages are in no file of sysfs" in text
    assert "# sysfs: cpu0/cpuidle/state3; power assumed as in i7-3770" in text


def test_a_machine_that_tells_a_range_and_does_not_sleep(tmp_path: Path) -> None:
    power, text = drafted(tmp_path, SERVER)
    assert power["pstates"] == {"count": 28, "from": "1 GHz @ 0.65 V", "to": "3.7 GHz @ 1.2 V"}
    assert (power["governor"], power["domain"], power["idle"]) == ("schedutil", "core", "poll")
    assert power["cstate"] == {name: {"disable": True} for name in ("C1", "C3", "C6")}
    assert "is powersave of intel_pstate, which follows the load; the nearest is assumed" in text


def test_every_value_says_where_it_comes_from(tmp_path: Path) -> None:
    for number, files in enumerate((DESKTOP, SERVER)):
        _, text = drafted(tmp_path / str(number), files)
        for line in text.splitlines():
            assert " = " not in line or line.startswith(("#", "pstates")) or " # " in line, line


def test_threads_of_one_core_do_not_share_its_frequency_with_others(tmp_path: Path) -> None:
    without = {name: text for name, text in DESKTOP.items() if "freqdomain" not in name}
    power, _ = drafted(tmp_path, {**without, "cpu0/cpufreq/related_cpus": "0,4\n"})
    assert power["domain"] == "core"


@pytest.mark.parametrize(
    ("governor", "wanted"),
    [
        ("performance", "performance"),
        ("schedutil", "schedutil"),
        ("userspace", "performance"),
        ("interactive", {"kind": "ondemand", "variant": "3.9"}),
        ("conservative", {"kind": "conservative", "up_threshold": 70, "step": 10}),
    ],
)
def test_governors_become_the_nearest(tmp_path: Path, governor: str, wanted: object) -> None:
    own = {"cpufreq/conservative/up_threshold": "70", "cpufreq/conservative/freq_step": "10"}
    power, _ = drafted(tmp_path, {**DESKTOP, **own, "cpu0/cpufreq/scaling_governor": governor})
    assert power["governor"] == wanted


@pytest.mark.parametrize("driver", ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"])
def test_powersave_of_drivers_that_follow_a_hint_is_not_the_lowest_frequency(tmp_path: Path, driver: str) -> None:
    files = {**SERVER, "cpufreq/policy0/scaling_driver": driver}
    files["cpufreq/policy0/energy_performance_preference"] = "balance_performance"
    power, text = drafted(tmp_path, files)
    assert power["governor"] == "schedutil"
    assert f"powersave of {driver}, which follows the load and balance_performance" in text


@pytest.mark.parametrize("driver", ["acpi-cpufreq", "intel_cpufreq", "amd-pstate", "amd_pstate", "cppc_cpufreq"])
def test_powersave_of_other_drivers_is(tmp_path: Path, driver: str) -> None:
    assert drafted(tmp_path, {**SERVER, "cpufreq/policy0/scaling_driver": driver})[0]["governor"] == "powersave"


def test_frequencies_are_those_that_the_governor_may_choose(tmp_path: Path) -> None:
    limits = {"scaling_min_freq": "1500000", "scaling_max_freq": "2300000"}
    power, text = drafted(tmp_path / "a", DESKTOP | {f"cpu0/cpufreq/{name}": khz for name, khz in limits.items()})
    assert power["pstates"] == ["1.5 GHz @ 0.8174 V", "2.3 GHz @ 1.0087 V"]
    assert "scaling_max_freq limit it to 1.5 GHz to 2.3 GHz" in text
    power, _ = drafted(tmp_path / "b", SERVER | {f"cpufreq/policy0/{name}": khz for name, khz in limits.items()})
    assert power["pstates"] == {"count": 9, "from": "1.5 GHz @ 0.7519 V", "to": "2.3 GHz @ 0.9148 V"}


@pytest.mark.parametrize(("governor", "said"), [("ondemand\n", False), ("performance\n", True)])
def test_cores_that_are_not_as_the_first_are_said_to_be(tmp_path: Path, governor: str, said: bool) -> None:
    first = {name: text for name, text in DESKTOP.items() if "cpufreq/" in name and name.startswith("cpu0")}
    other = {name.replace("cpu0", "cpu4"): text for name, text in first.items()}
    _, text = drafted(tmp_path, {**DESKTOP, **other, "cpu4/cpufreq/scaling_governor": governor})
    assert ("cpu4/cpufreq has other frequencies or another governor" in text) == said


def test_headings_that_run_together_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "turbostat.txt"
    file.write_text("Core\tCPU\tBusy%\tPkgWatt\tCorWatt\tGFXWattRAMWatt\n-\t-\t31.0\t15.2\t14.1\t0.00\t0.46\n")
    assert read_turbostat(file).values == {
        "Busy%": 31.0, "PkgWatt": 15.2, "CorWatt": 14.1, "GFXWatt": 0.0, "RAMWatt": 0.46,
    }  # fmt: skip


def test_states_that_are_not_deeper_are_left_out(tmp_path: Path) -> None:
    files = {**DESKTOP, "cpu0/cpuidle/state2/latency": "1\n", "cpu0/cpuidle/state3/residency": "7\n"}
    power, text = drafted(tmp_path, files)
    assert "# cpu0/cpuidle/state2 (C1E) is left out: it is not deeper than the state before." in text
    assert power["cstate"]["C6"]["residency"] == "104 us"
    assert "its residency is 7 us" in text


def test_watts_of_cores_at_work_are_their_power(tmp_path: Path) -> None:
    power, text = drafted(tmp_path, DESKTOP, WORKING)
    assert "# turbostat, mean of 2 samples, 4 cores: Avg_MHz 3095, Busy% 99.77, Bzy_MHz 3100" in text
    assert power["dynamic"] == {"power": "10.890 W", "at": "3.1 GHz @ 1.2 V"}, "72 W of four, less 7.11 W of each"
    assert "turbostat: 0.1 % of time" in text
    plan = _core.resolve(f'server.preset = "cascade-lake-6234"\n{text}', overrides=[PROBE])
    assert json.loads(plan.effective_json())["power"]["dynamic"]["power"] == "10.89 W"


def test_watts_of_idle_cores_are_not_taken_for_work(tmp_path: Path) -> None:
    power, text = drafted(tmp_path, DESKTOP, IDLE)
    assert "dynamic" not in power
    assert "# No power derived: cores worked 0.5 % of the time at 900 MHz; 90 % are needed." in text
    assert "C6 97.0 %" in text
    _, text = drafted(tmp_path, DESKTOP, "Busy%\tBzy_MHz\n50\t2000\n60\t3000\n")
    assert "mean of 2 samples: Busy% 55, Bzy_MHz 2500." in text
    assert "# No power derived: it lacks the watts of the cores" in text


WRONG_TREES = [
    ({}, "has neither cpu0/cpufreq nor cpu0/cpuidle"),
    (
        {"cpu0/cpufreq/scaling_available_frequencies": "fast"},
        "scaling_available_frequencies: 'fast' is not a frequency",
    ),
    ({"cpu0/cpufreq/scaling_available_frequencies": "9" * 400}, "is not a frequency in kHz from 10000 to 10000000"),
    ({"cpu0/cpufreq/scaling_available_frequencies": "800000 5"}, "'5' is not a frequency in kHz"),
    ({"cpu0/cpufreq/scaling_available_frequencies": " ".join(map(str, range(10_000, 10_100)))}, "has 100 frequencies"),
    ({"cpu0/cpufreq/cpuinfo_min_freq": "800000"}, "cpuinfo_max_freq: is missing"),
    ({"cpu0/cpufreq/cpuinfo_min_freq": "9000000", "cpu0/cpufreq/cpuinfo_max_freq": "800000"}, "are more than 800000"),
    ({"cpu0/cpufreq/scaling_governor": "on demand"}, "scaling_governor: 'on demand' is not a name"),
    ({"cpu0/cpufreq/related_cpus": "0-99999999999"}, "related_cpus: '99999999999' is not a list of processors"),
    ({"cpu0/cpuidle/state0/name": "C1"}, "state0/latency: is missing"),
    (
        {"cpu0/cpuidle/state0/latency": "2", "cpu0/cpuidle/state0/residency": "-1"},
        "residency: '-1' is not a time in us",
    ),
    ({"cpu0/cpuidle/state0/latency": "18446744073709551615"}, "latency: '18446744073709551615' is not a time in us"),
    ({"cpu0/cpufreq/scaling_governor/inside": ""}, "scaling_governor: is no file"),
]


@pytest.mark.parametrize(("files", "message"), WRONG_TREES)
def test_what_linux_does_not_write_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_cores(write(tmp_path / "cpu", files))
    assert message in str(error.value)
    assert "cpu" in str(error.value).partition(":")[0]


WRONG_MEASUREMENTS = [
    ("", "has no line of columns with Busy% or Bzy_MHz"),
    ("Core CPU Busy%\n0 0 1.0\n", 'has no row of the whole machine, which turbostat writes with a "-" under CPU'),
    ("Busy%\nmuch\n", "turbostat.txt:2: Busy% 'much' is not a number"),
    ("Busy%\nnan\n", "turbostat.txt:2: Busy% 'nan' is not a number"),
    ("Busy%\n-1\n", "turbostat.txt:2: Busy% '-1' is not a number"),
    ("Busy%\n1e400\n", "turbostat.txt:2: Busy% '1e400' is not a number"),
    ("Busy%\n1 2\n", "turbostat.txt:2: has 2 cells under 1 columns"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_MEASUREMENTS)
def test_what_turbostat_does_not_write_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "turbostat.txt").write_text(text)
    with pytest.raises(ConfigError) as error:
        read_turbostat(tmp_path / "turbostat.txt")
    assert message in str(error.value)


@settings(deadline=None)
@given(st.sampled_from(sorted(DESKTOP)), st.binary(max_size=40))
def test_no_content_of_a_file_is_more_than_a_message(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder), DESKTOP)
        (root / name).write_bytes(content)
        try:
            text = power_table(read_cores(root))
        except ConfigError:
            return
        _core.resolve(f'server.preset = "cascade-lake-6234"\n{text}', overrides=[PROBE])


@settings(deadline=None)
@given(st.integers(0, len(WORKING)), st.binary(max_size=20))
def test_no_measurement_is_more_than_a_message(at: int, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "turbostat.txt"
        file.write_bytes(WORKING[:at].encode() + content + WORKING[at:].encode())
        try:
            text = power_table(read_cores(write(Path(folder) / "cpu", DESKTOP)), read_turbostat(file))
        except ConfigError:
            return
        _core.resolve(f'server.preset = "cascade-lake-6234"\n{text}', overrides=[PROBE])


def test_the_command_drafts_a_server_that_runs(cli: Cli) -> None:
    write(cli.folder / "cpu", DESKTOP)
    (cli.folder / "turbostat.txt").write_text(WORKING)
    done = cli("import", "--power", "cpu", "--turbostat", "turbostat.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "server.toml"
    run = ("run", "server.toml", "-q", "--set", 'workload.x={kind="stream",cores="0"}', "--set", "run.duration=5 us")
    assert cli(*run).returncode == 0
    assert_tells(cli.fails("import", "--power", "cpu"), "file-access | server.toml")
    (cli.folder / "machine.xml").write_text(ONE_SOCKET)
    assert cli("import", "machine.xml", "--power", "cpu", "--out", "both.toml").returncode == 0
    both = tomllib.loads((cli.folder / "both.toml").read_text())
    assert (both["core"]["count"], both["power"]["domain"]) == (8, "chip")
    assert cli("run", "both.toml", *run[2:]).returncode == 0


def test_the_command_says_what_is_wrong(cli: Cli) -> None:
    assert_tells(cli.fails("import"), "missing-key | FILE.xml | --power DIR")
    for wrong in (("x.xml",), ("x.xml", "--turbostat", "t"), ("x.xml", "--package", "99"), ("--package", "0", "x.xml")):
        assert_tells(cli.fails("import", *wrong), "file-not-found | x.xml")
    (cli.folder / "x.xml").touch()
    assert_tells(cli.fails("import", "x.xml", "--turbostat", "t"), "file-not-found")
    assert_tells(cli.fails("import", "x.xml", "--turbostat", "x.xml"), "requires-key | --turbostat | --power")
    assert_tells(cli.fails("import", "--power", "x.xml", "--package", "0"), "requires-key | --package | FILE.xml")
    assert_tells(cli.fails("import", "--power", "no"), "file-not-found")
    assert_tells(cli.fails("import", "--power", "x.xml"), "wrong-kind | x.xml")
    write(cli.folder / "cpu", DESKTOP)
    (cli.folder / "cpu/cpu0/cpufreq/scaling_governor").write_bytes(b"\xff\x00" * 9)
    assert_tells(cli.fails("import", "--power", "cpu"), "malformed-file")
    write(cli.folder / "cpu", DESKTOP)
    assert_tells(cli.fails("import", "--power", "cpu", "--turbostat", "t.txt"), "file-not-found | t.txt")
