"""`hostnet memory`: its output, the traces that it takes, and its errors."""

from __future__ import annotations

import gzip
import json
import lzma
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hostnet import _core
from hostnet.cli.show_memory import is_overloaded, notes
from tests.support import HANG_S, HOSTNET, Cli, assert_tells, complaint_of, status_of

SMALL = ("--requests", "3k")

KEYS = {
    "bandwidth": ["gb_per_s", "offered_gb_per_s", "read_gb_per_s", "share_of_peak", "write_gb_per_s"],
    "commands": ["ACT", "PRE", "RD", "REF", "REFSB", "WR"],
    "latency": ["read_from_acceptance", "read_from_arrival", "write_residence"],
    "memory": [
        *("capacity_bytes", "channels", "clock_ns", "controllers", "device", "map"),
        *("peak_gb_per_s", "profile", "ranks"),
    ],
    "requests": [
        *("accepted", "forwarded", "measured", "merged", "reads", "unserved", "warm_up", "writes"),
    ],
    "rows": [
        *("activations_per_request", "conflict_share", "conflicts", "hit_share", "hits", "miss_share", "misses"),
    ],
    "speed": ["cpu_s", "requests_per_cpu_s", "requests_per_s", "wall_s"],
    "time": [
        *("elapsed_clocks", "elapsed_ns", "idle_share", "read_mode_share", "refresh_share", "switches"),
        *("write_mode_share", "write_modes"),
    ],
}
"""Tables of the JSON, and their keys. Programs rely on them."""

WRONG = {
    "traffic": (("--traffic", "randm"), 'unknown-name | "random"'),
    "streams": (("--traffic", "str65"), "out-of-range | 1 to 64"),
    "reads": (("--reads", "1.5"), "out-of-range | 0.0 to 1.0"),
    "reads is no share": (("--reads", "most"), "malformed-value | 0.5 | 50 %"),
    "load": (("--load", "0"), "out-of-range | 0.0001 to 10.0"),
    "load is no number": (("--load", "nan"), "malformed-value | 0.5 | 50 %"),
    "requests": (("--requests", "0"), "out-of-range | 1 to 1000000000000"),
    "requests is no count": (("--requests", "1X"), "malformed-value | 250"),
    "half a request": (("--requests", "1.5"), "malformed-value | whole number"),
    "too many requests": (("--requests", "2T"), "malformed-value | 10 | 12"),
    "seed": (("--seed", str(2**64)), "out-of-range | 64"),
    "outstanding": (("--outstanding", "2M"), "out-of-range | 0 to 1000000"),
    "warmup": (("--warmup", "91%"), "out-of-range | 0.0 to 0.9"),
    "device": (("--device", "DDR4_293"), 'unknown-name | "DDR4_2933"'),
    "channels": (("--channels", "65"), "out-of-range | 1 to 64"),
    "map": (("--map", "Z"), 'unknown-name | "intel" | "A" | "B"'),
    "map lacks a field": (("--map", "bg co ba ro"), "bad-address-map | rank"),
    "profile": (("--profile", "intell"), 'unknown-name | "intel"'),
    "queue of reads": (("--queue-reads", "0"), "out-of-range | 1 to 4096"),
    "queue of writes": (("--queue-writes", "4097"), "out-of-range | 1 to 4096"),
    "one watermark": (("--watermarks", "0.8"), "malformed-value | two marks"),
    "watermarks the wrong way round": (("--watermarks", "0.2,0.8"), "wrong-order | below write_high"),
    "watermark beyond the queue": (("--watermarks", "42,2"), "does-not-fit | wpq.entries | 41"),
    "scheduler": (("--scheduler", "frfcs"), 'unknown-name | "frfcfs"'),
    "row hits": (("--row-hits", "2M"), "out-of-range | 0 to 1000000"),
    "row hold": (("--row-hold", "4"), "bad-unit | no unit"),
    "page": (("--page", "opn"), 'unknown-name | "open"'),
    "timeout without a time": (("--profile", "ramulator", "--page", "timeout"), "requires-key | idle_close"),
    "idle close": (("--idle-close", "2 ms"), "out-of-range | 1 ms"),
    "refresh": (("--refresh", "some"), "unknown-name | same-bank"),
    "refresh that the device lacks": (("--refresh", "same-bank"), "requires-key | same_bank"),
    "format without a trace": (("--format", "ramulator"), "requires-key | name one"),
    "set": (("--set", "memory.x=1"), "unknown-key | unknown key"),
}
"""A wrong value for each option, and a part of the rule in its error."""


@pytest.fixture
def memory(cli: Cli) -> Cli:
    """Returns the command in an empty folder."""
    cli.file.unlink()
    return cli


def summary_of(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    done = cli("memory", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_the_page_fits_100_columns_and_says_what_was_simulated(memory: Cli) -> None:
    done = memory("memory", *SMALL, "--reads", "0.5", "--load", "60%", "--traffic", "str4", "--channels", "6")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "DDR4_2933, 6 channels, map A, profile intel, queues 46 + 41"
    assert lines[1].startswith("str4, 50 % reads, load 60 %, seed 1, 2700 requests in ")
    assert max(map(len, lines)) <= 100
    for word in ("of peak", "P99", "from arrival", "conflict", "ACT per request", "write mode", "RPQ", "stream"):
        assert word in done.stdout
    assert memory.entries() == []


@pytest.mark.parametrize("traffic", ["random", "sequential"])
@pytest.mark.parametrize(("load", "longer"), [(0.3, False), (0.8, False), (1.05, True), (1.6, True), (10, True)])
def test_requests_that_pile_up_are_told(memory: Cli, traffic: str, load: float, longer: bool) -> None:
    def summary(requests: int) -> dict[str, Any]:
        options = ("--traffic", traffic, "--load", str(load), "--requests", str(requests), "--json")
        content: dict[str, Any] = json.loads(memory("memory", *options).stdout)
        return content

    short, long = summary(20_000), summary(60_000)
    assert [is_overloaded(short), is_overloaded(long)] == [longer, longer]
    means = [one["latency"]["read_from_arrival"]["mean_ns"] for one in (short, long)]
    assert (means[1] > 2 * means[0]) is longer
    assert any("more are offered" in note for note in notes(long)) is longer


def test_what_a_change_of_the_device_drops_is_told(memory: Cli) -> None:
    (memory.folder / "mine.toml").write_text('[memory]\ndevice = "DDR4_2933"\ndram.timing.cl = 30\n')
    done = memory("memory", "--config", "mine.toml", "--device", "DDR4_3200", "--requests", "1k")
    assert 'note: memory.device = "DDR4_3200" drops what was set over "DDR4_2933": memory.dram.timing.cl' in done.stdout


def test_the_json_has_its_keys(memory: Cli) -> None:
    summary = summary_of(memory, *SMALL)
    assert {key: sorted(summary[key]) for key in KEYS} == KEYS
    assert set(summary) == {
        *KEYS,
        *("channels", "complete", "config", "config_hash", "domains", "format", "ignored", "result_hash", "sources"),
    }
    assert (summary["format"], summary["complete"]) == (1, True)


def test_numbers_hang_together(memory: Cli) -> None:
    summary = summary_of(memory, "--requests", "20k", "--reads", "0.67", "--load", "0.5", "--profile", "ramulator")
    requests, time_, rates = summary["requests"], summary["time"], summary["bandwidth"]
    assert (requests["accepted"], requests["warm_up"], requests["measured"]) == (20_000, 2000, 18_000)
    assert requests["reads"] + requests["writes"] == 18_000
    assert requests["reads"] / 18_000 == pytest.approx(0.67, abs=0.02)
    assert rates["offered_gb_per_s"] == pytest.approx(0.5 * 64 / 4 / (7.5 / 11))
    assert rates["gb_per_s"] == pytest.approx(rates["offered_gb_per_s"], rel=0.03)
    assert rates["read_gb_per_s"] + rates["write_gb_per_s"] == pytest.approx(rates["gb_per_s"], rel=0.01)
    assert time_["read_mode_share"] + time_["write_mode_share"] + time_["idle_share"] == pytest.approx(1)
    elapsed_intervals = time_["elapsed_clocks"] / 11437
    assert abs(summary["commands"]["REF"] - 2 * elapsed_intervals) <= 2
    assert summary["latency"]["read_from_arrival"]["mean_ns"] > summary["latency"]["read_from_acceptance"]["mean_ns"]
    for row in summary["domains"]:
        assert row["latency_little_ns"] == pytest.approx(row["latency_mean_ns"], rel=0.02)
    assert sum(row["reads"] for row in summary["channels"]) == summary["commands"]["RD"]


@pytest.mark.parametrize("device", _core.devices())
@pytest.mark.parametrize("profile", _core.profiles())
def test_the_commands_of_every_device_keep_its_rules(memory: Cli, device: str, profile: str) -> None:
    refresh = ("--refresh", "same-bank") if device.startswith(("DDR5", "HBM")) else ()
    out = memory.folder / "commands.csv.gz"
    options = ("--reads", "0.5", "--device", device, "--profile", profile, "--channels", "2", *refresh)
    summary = summary_of(memory, "--requests", "6k", "--warmup", "0", *options, "--commands", out)
    with gzip.open(out, "rt") as file:
        names = [line.split(",")[2] for line in file][1:]
    assert {name: names.count(name) for name in ("ACT", "REF", "REFSB")} == {
        name: summary["commands"][name] for name in ("ACT", "REF", "REFSB")
    }
    assert summary["commands"]["RD"] == names.count("RD") + names.count("RDA")
    half_served = names.count("WR") + names.count("WRA") - summary["commands"]["WR"]
    assert 0 <= half_served <= summary["requests"]["unserved"]
    assert summary["latency"]["read_from_acceptance"]["count"] == summary["requests"]["reads"]
    done = memory("memory", "check", out, "--device", device)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{out}: {len(names)} commands up to clock {clock_of(out)} keep the rules of {device}\n"


def clock_of(file: Path) -> int:
    with gzip.open(file, "rt") as lines:
        return max(int(line.split(",")[0]) for line in list(lines)[1:])


def test_a_planted_violation_is_found_with_its_line(memory: Cli) -> None:
    out = memory.folder / "commands.csv"
    summary_of(memory, "--requests", "500", "--profile", "ramulator", "--commands", out)
    lines = out.read_text().splitlines()
    at = next(index for index, line in enumerate(lines) if ",RD," in line)
    clock, rest = lines[at].split(",", 1)
    lines[at] = f"{int(clock) - 1},{rest}"
    out.write_text("\n".join(lines) + "\n")
    done = memory("memory", "check", "commands.csv")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"commands.csv:{at + 1}: tRCD: RD at clock {int(clock) - 1} (channel 0, ")
    assert "1 clock too early: ACT at clock 0 needs 21 clocks, 20 passed" in done.stdout
    assert done.stdout.splitlines()[1:] == ["  first   " + lines[1], "  second  " + lines[at], "  missing 1"]


def test_all_violations_are_counted_on_request(memory: Cli) -> None:
    out = memory.folder / "commands.csv"
    summary_of(memory, "--requests", "500", "--profile", "ramulator", "--commands", out)
    slower = ("--set", "memory.dram.timing.rcd=22")
    done = memory("memory", "check", out, *slower, "--all")
    assert done.returncode == 1
    rule, times = done.stdout.splitlines()[-1].split()
    assert rule == "tRCD"
    assert int(times) > 1
    assert len(memory("memory", "check", out, *slower).stdout.splitlines()) == 4


@pytest.mark.parametrize("device", ["DDR4_3200", "HBM2E"])
def test_a_file_of_another_device_is_a_violation_or_wrong(memory: Cli, device: str) -> None:
    out = memory.folder / "commands.csv"
    summary_of(memory, "--requests", "500", "--commands", out)
    assert memory("memory", "check", out, "--device", device).returncode in (1, 2)


def test_what_is_no_command_file_is_refused(memory: Cli) -> None:
    (memory.folder / "x.csv").write_text("LD 0\n")
    assert_tells(memory.fails("memory", "check", "x.csv"), 'malformed-file | x.csv:1 | "LD 0"')
    assert_tells(memory.fails("memory", "check", "nowhere.csv"), "file-not-found | nowhere.csv")
    assert_tells(memory.fails("memory", "check", "x.csv", "--device", "DDR4_2934"), "unknown-name")
    assert memory.fails("memory", "check")


@pytest.mark.parametrize(("options", "rule"), WRONG.values(), ids=WRONG.keys())
def test_wrong_options_are_named_with_their_rule(memory: Cli, options: tuple[str, ...], rule: str) -> None:
    message = memory.fails("memory", *options)
    assert message.startswith(("--", " ".join(options[-2:])))
    assert_tells(message, rule)


def test_places_that_cannot_be_written(memory: Cli) -> None:
    (memory.folder / "mine").mkdir()
    (memory.folder / "a.trace").write_text("LD 0\n")
    assert_tells(memory.fails("memory", "--commands", "mine"), "file-access")
    assert_tells(memory.fails("memory", "--commands", "nowhere/x"), "file-access")
    assert_tells(memory.fails("memory", "a.trace", "--commands", "a.trace"), "file-access | a.trace")
    assert_tells(memory.fails("memory", "--config", "nowhere.toml"), "file-not-found | nowhere.toml")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_commands(memory: Cli) -> None:
    assert_tells(memory.fails("memory", *SMALL, "--commands", "/dev/full"), "file-access")
    assert Path("/dev/full").is_char_device()


TRACES = {
    "ramulator": "LD 0x{0:x}\nST {1}\n",
    "ramulator1": "0x{0:x} R\n{1} W\n",
    "dramsim3": "0x{0:x} READ {2}\n{1:x} WRITE {2}\n",
}


def trace_of(name: str, pairs: int) -> str:
    """Returns a trace of `pairs` reads, each followed by a write."""
    return "".join(TRACES[name].format(128 * index, 128 * index + 64, 40 * index) for index in range(pairs))


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_read_in_its_format(memory: Cli, name: str) -> None:
    (memory.folder / "a.trace").write_text(trace_of(name, 500))
    summary = summary_of(memory, "a.trace")
    assert summary["requests"]["accepted"] == 1000
    assert (summary["requests"]["warm_up"], summary["requests"]["measured"]) == (100, 900)
    assert summary["requests"]["reads"] == 450
    assert (summary["latency"]["read_from_arrival"] is None) == (name != "dramsim3")
    if name == "dramsim3":
        assert summary["time"]["elapsed_clocks"] == pytest.approx(450 * 40, rel=0.02)
    assert summary_of(memory, "a.trace", "--format", name)["result_hash"] == summary["result_hash"]
    assert summary_of(memory, "a.trace", "--warmup", "0")["requests"]["measured"] == 1000


def test_compressed_traces_give_the_same_results(memory: Cli) -> None:
    content = trace_of("ramulator", 300).encode()
    (memory.folder / "a.trace").write_bytes(content)
    (memory.folder / "a.trace.gz").write_bytes(gzip.compress(content))
    (memory.folder / "a.trace.xz").write_bytes(lzma.compress(content))
    names = ("a.trace", "a.trace.gz", "a.trace.xz")
    assert len({summary_of(memory, name)["result_hash"] for name in names}) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("LD 0\nST zz\n", 'malformed-file | a.trace:2 | "zz"'),
        ("LD 0\nLD 0x400000000\n", "malformed-file | a.trace:2"),
        ("0x0 READ 5\n0x0 READ 4\n", "malformed-file | a.trace:2"),
        ("hello\n", "malformed-file | a.trace:1"),
        ("", "malformed-file | a.trace"),
    ],
)
@pytest.mark.parametrize("warmup", ["10%", "0"])
def test_wrong_traces_are_refused_with_their_line(memory: Cli, content: str, message: str, warmup: str) -> None:
    (memory.folder / "a.trace").write_text(content)
    commands = ("--commands", "out.csv")
    assert_tells(memory.fails("memory", "a.trace", "--warmup", warmup, *commands), message)


@pytest.mark.parametrize("option", [("--load", "0.5"), ("--traffic", "seq"), ("--requests", "5"), ("--seed", "2")])
def test_a_trace_and_a_description_exclude_each_other(memory: Cli, option: tuple[str, str]) -> None:
    (memory.folder / "a.trace").write_text("LD 0\n")
    message = memory.fails("memory", "a.trace", *option)
    assert message.startswith(" ".join(option))
    assert_tells(message, "conflicting-keys | a.trace")


def test_a_command_that_is_almost_one_is_named(memory: Cli) -> None:
    assert_tells(memory.fails("memory", "chek", "x"), 'usage | "check"')
    assert_tells(memory.fails("memory", "x.trace"), "file-not-found | x.trace")


def test_a_pipe_cannot_be_counted() -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [str(HOSTNET), "memory", "/dev/stdin", "--json", *options]
        text = trace_of("ramulator", 50)
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=HANG_S, check=False)

    if not Path("/dev/stdin").exists():
        pytest.skip("needs /dev/stdin")
    done = run()
    assert done.returncode == 2
    assert complaint_of(done.stderr).code == "not-supported"
    assert json.loads(run("--warmup", "0").stdout)["requests"]["measured"] == 100


def test_equal_runs_are_equal(memory: Cli) -> None:
    options = ("--requests", "20k", "--reads", "0.5", "--load", "0.7")
    first, again = (summary_of(memory, *options) for _ in range(2))
    first.pop("speed")
    again.pop("speed")
    assert first == again
    assert summary_of(memory, *options, "--seed", "2")["result_hash"] != first["result_hash"]
    written = summary_of(memory, *options, "--commands", "out.csv")
    assert written["result_hash"] == first["result_hash"], "writing the commands changes nothing"


def test_the_options_set_their_keys(memory: Cli) -> None:
    options = ("--queue-reads", "32", "--queue-writes", "64", "--watermarks", "0.8,0.2", "--page", "closed")
    config = summary_of(memory, *SMALL, *options, "--scheduler", "frfcfs-cap", "--refresh", "off")["config"]
    controller = config["memory"]["controller"]
    assert controller["rpq"] == {"entries": 32, "full_threshold": 32}
    assert controller["wpq"] == {"entries": 64, "full_threshold": 64}
    assert (controller["write_high"], controller["write_low"]) == (52, 12)
    assert (controller["scheduler"], controller["protect"]) == ("column-first", "all-hits")
    assert (controller["row_hits"], controller["row_hold"]) == (4, "off")
    assert (controller["page"], controller["refresh"]) == ("closed", "off")
    for name, expected in (
        ("frfcfs-rowhit", ("oldest-ready", "older-hits")),
        ("frfcfs", ("oldest-ready", "nothing")),
        ("fcfs", ("fcfs", "nothing")),
    ):
        controller = summary_of(memory, *SMALL, "--scheduler", name)["config"]["memory"]["controller"]
        assert (controller["scheduler"], controller["protect"]) == expected
    capped = summary_of(memory, *SMALL, "--scheduler", "frfcfs-cap", "--row-hold", "100 ns")["config"]
    assert (capped["memory"]["controller"]["row_hits"], capped["memory"]["controller"]["row_hold"]) == (0, "100 ns")


def test_a_configuration_can_be_written_and_refined(memory: Cli) -> None:
    (memory.folder / "deep").mkdir()
    (memory.folder / "deep" / "my.toml").write_text('[memory]\ndevice = "DDR3_1600"\n[run]\nwarmup = 0.5\n')
    (memory.folder / "a.trace").write_text("LD 0\nLD 64\n")
    summary = summary_of(memory, "a.trace", "--config", "deep/my.toml", "--set", "run.warmup=0.0")
    assert (summary["memory"]["device"], summary["requests"]["measured"]) == ("DDR3_1600", 2)
    (memory.folder / "again.json").write_text(json.dumps(summary["config"]))
    again = summary_of(memory, "--config", "again.json")
    assert (again["config_hash"], again["result_hash"]) == (summary["config_hash"], summary["result_hash"])
    (memory.folder / "deep" / "my.toml").write_text("[memory]\ndevise = 1\n")
    assert_tells(memory.fails("memory", "--config", "deep/my.toml"), "unknown-key | my.toml:2 | memory.devise")


def test_ctrl_c_shows_what_was_measured_and_leaves_no_command_file(memory: Cli) -> None:
    process = memory.start("memory", "--requests", "1G", "--load", "0.01", "--commands", "out.csv")
    assert " simulated" in status_of(process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    assert "being kept" in errors
    assert "stopped before its end" in output
    assert memory.entries() == []
