"""`hostnet run` of clusters: the output for a newcomer, and the errors for mistakes."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from hostnet import _core
from hostnet.cli.show_seeds import METERED, tables_with_rows
from hostnet.notes import no_effect_notes, notes_of, wide_interval_notes
from hostnet.report.clusters.tables import ROWS_MAX
from tests.support import HANG_S, Cli

PAIRS = """
host.sender = { kind = "endpoint", count = 120 }
host.receiver = { kind = "endpoint", count = 120 }
network = { topology = "dumbbell", left = "sender", right = "receiver", rate = "10 Gbps" }
flow.bulk = { kind = "bulk", from = "sender", to = "receiver" }
run = { warmup = "10 us", duration = "200 us" }
"""

NAMES = ("dumbbell", "hostcc", "incast")
SHORT = ("--set", "run.warmup=100 us", "--set", "run.duration=300 us")


def written(cli: Cli, name: str) -> Path:
    """Returns the template as `hostnet new` writes it."""
    done = cli("new", "--cluster", name)
    assert (done.returncode, done.stdout) == (0, f"{name}.toml: run it with: hostnet run {name}.toml\n")
    return cli.folder / f"{name}.toml"


@pytest.mark.parametrize("name", NAMES)
def test_a_template_runs_and_says_what_limits_it(cli: Cli, name: str) -> None:
    done = cli("run", written(cli, name), *SHORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^\* \w+(?: is limited by [\w ]+| has no known limit)?: ", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) <= 100
    run = cli.folder / done.stdout.splitlines()[-1]
    assert {"summary.json", "manifest.json", "config.toml", "report.html"} <= {file.name for file in run.iterdir()}
    assert (run / "flows.parquet").is_file()
    assert not (run / "series.parquet").exists()


LEARNING = """
host.e = { kind = "endpoint", count = 6 }
network = { topology = "two-tier", leaves = 3, rate = "10 Gbps", switch.kind = "learning" }
flow.stranger = { kind = "datagram", from = "e-0", to = "e-5", size = "1 kB", rate = "1 Gbps" }
run = { warmup = "10 us", duration = "200 us" }
"""


def test_switches_that_learn_say_how_much_they_flood(cli: Cli) -> None:
    (cli.folder / "learning.toml").write_text(LEARNING, encoding="utf-8")
    done = cli("run", "learning.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^root +1 +25$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^e-3 +leaf-1 +0 +10.0 .* 25$", done.stdout, re.MULTILINE), done.stdout


def test_a_loop_of_switches_that_learn_is_refused(cli: Cli) -> None:
    text = LEARNING.replace('"two-tier", leaves = 3', '"ring", size = 3')
    (cli.folder / "loop.toml").write_text(text, encoding="utf-8")
    done = cli("run", "loop.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'a loop of switches that learn, "switch-2", "switch-1" and "switch-0"' in done.stderr


def test_the_report_has_sections_and_charts(cli: Cli) -> None:
    done = cli("run", written(cli, "hostcc"), *SHORT, "--series", "20us", "--quiet", "--csv")
    run = cli.folder / done.stdout.rstrip("\n")
    page = re.sub(r"</?dfn[^>]*>", "", (run / "report.html").read_text(encoding="utf-8"))
    for heading in ("The network and its limits", "Distributions", "Inside the servers", "Over time", "Tables"):
        assert f"<h2>{heading}</h2>" in page
    for table in ("What limits it", "Traffic", "Hosts: from the NIC to memory", "Control: levels", "Ports"):
        assert f"<summary>{table}</summary>" in page
    assert page.count("<svg") >= 6
    assert "--series 20us" in page
    assert len((run / "series.csv").read_text().splitlines()) == 16
    done = cli("plot", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert {Path(line).name for line in done.stdout.split()} == {
        f"{name}.{kind}" for name in ("goodput", "latencies", "series") for kind in ("png", "svg")
    }


def test_json_is_the_summary(cli: Cli) -> None:
    done = cli("run", written(cli, "dumbbell"), *SHORT, "--json")
    summary = json.loads(done.stdout)
    assert summary["engine"] == "cluster"
    assert summary["directory"] == "runs/dumbbell-1"
    assert [row["class"] for row in summary["limits"]] == [row["class"] for row in summary["classes"]]


@pytest.mark.parametrize(
    ("assignment", "says"),
    [
        ('network.rat="1 Gbps"', 'network.rat: unknown key; did you mean "rate"?'),
        ('network.rate="1 Gpbs"', '(did you mean "Gbps"?)'),
        ('flow.bulk.to="recever"', 'there is no host "recever"; did you mean "receiver"?'),
        ('flow.bulk.transport="dctpc"', 'there is no transport "dctpc"; did you mean "dctcp"?'),
        ('network.switch.ecn="100 MB"', "is above the buffer of 16 MB"),
        ('host.receiver.control.rule="hostc"', 'did you mean "hostcc"?'),
        ('host.receiver.control.rule="user"', 'controllers={"receiver": ...}'),
        ("host.receiver.nic.ring=0", "0 is out of range; 1 to 65536 is allowed"),
        ('flow.bulk.to_cores="99"', "core 99 does not exist at host.receiver"),
        ('host.sender.latency="-1 us"', "is negative"),
        ('run.duration="0 ms"', "run.duration"),
        ('flow.bulk.from="receiver"', "flow.bulk"),
    ],
)
def test_a_mistake_is_told_with_its_place(cli: Cli, assignment: str, says: str) -> None:
    done = cli("run", written(cli, "hostcc"), "--set", assignment)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (cli.folder / "runs").exists()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--counters", "perf"), "--host: none of the hosts is a server"),
        (("--trace",), "--host: none of the hosts is a server"),
        (("--compare", "predict"), "predictions cover single servers"),
        (("--threads", "0"), "--threads"),
        (("--host", "receiver"), "--host: says which server --trace and --counters are of"),
    ],
)
def test_options_that_say_nothing_of_endpoints_are_refused(cli: Cli, option: tuple[str, ...], says: str) -> None:
    done = cli("run", written(cli, "dumbbell"), *option)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (cli.folder / "runs").exists()


def test_seeds_of_a_cluster_have_means(cli: Cli) -> None:
    done = cli("run", written(cli, "dumbbell"), *SHORT, "--seeds", "2")
    assert done.returncode == 0
    assert "2 seeds from" in done.stdout
    assert "Gbps" in done.stdout
    (folder,) = (cli.folder / "runs").iterdir()
    assert {path.name for path in folder.iterdir()} >= {"seed-1", "seed-2", "seeds.json"}


def test_a_cluster_is_swept_and_drawn(cli: Cli) -> None:
    done = cli("sweep", written(cli, "dumbbell"), *SHORT, "--over", "network.latency=1 us,5 us", "--quiet")
    assert done.returncode == 0, done.stderr


JOB = """
[host.e]
kind = "endpoint"
count = 3
[cable.e-1]
rate = "10 Gbps"
[network]
rate = "100 Gbps"
[job.j]
kind = "allreduce"
hosts = "e"
bytes = "1 MB"
[run]
until = "jobs"
"""


def test_seeds_show_each_table_that_has_rows_and_no_empty_column(cli: Cli) -> None:
    (cli.folder / "job.toml").write_text(JOB)
    done = cli("run", "job.toml", "--seeds", "2")
    assert done.returncode == 0, done.stderr
    tables = [part.splitlines() for part in done.stdout.split("\n\n")]
    headings = {lines[0].split()[0]: lines for lines in tables if len(lines) > 2}
    combined = json.loads(next(cli.folder.glob("runs/*/seeds.json")).read_text())
    (job,) = combined["jobs"]
    assert f"{job['done_us']['mean']:.0f}" in headings["job"][-1]
    assert "host" not in headings, "no host is a server"
    assert all(cell != "-" for lines in tables for line in lines for cell in line.split())


def test_a_sweep_of_a_job_says_what_binds_each_point(cli: Cli) -> None:
    import pyarrow.parquet as pq

    (cli.folder / "job.toml").write_text(JOB)
    over = ("--over", "cable.e-1.rate=10 Gbps,100 Gbps", "--over", "job.j.algorithm=ring,tree")
    done = cli("sweep", "job.toml", *over)
    assert done.returncode == 0, done.stderr
    assert "limited by" in done.stdout
    assert "path at" in done.stdout
    rows = pq.read_table(cli.folder / done.stdout.splitlines()[-1] / "sweep.parquet").to_pylist()
    slow = [row for row in rows if row["cable.e-1.rate"] == "10 Gbps"]
    assert [row["limited_by"] for row in slow] == ["cable", "cable"]
    assert all("e-1" in row["limited_at"] and row["path_host"] == "e-1" for row in slow)
    assert all(row["path_share"] > 0.5 for row in slow)


def test_captures_are_of_clusters(cli: Cli) -> None:
    done = cli("run", cli.file, "--pcap", "a.pcap")
    assert done.returncode == 2
    assert "--pcap" in done.stderr
    assert not (cli.folder / "a.pcap").exists()


def test_a_run_of_endpoints_is_compared_and_has_nothing_to_explain(cli: Cli) -> None:
    run = cli("run", written(cli, "dumbbell"), *SHORT, "--quiet").stdout.rstrip("\n")
    same = cli("compare", run, run)
    assert same.returncode == 0
    assert "the same run" in same.stdout
    why = cli("explain", run)
    assert why.returncode == 2
    said = " ".join(why.stderr.split())
    assert "none of the hosts is a server" in said
    assert "`hostnet run` says what limits its jobs and flows" in said


def test_ctrl_c_keeps_what_was_measured(cli: Cli) -> None:
    file = written(cli, "dumbbell")
    process = cli.start("run", file, "--set", "run.duration=100 s", "--set", "run.warmup=1 ms")
    try:
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=HANG_S)
    finally:
        process.kill()
    assert process.returncode == 130
    run = cli.folder / stdout.splitlines()[-1]
    assert json.loads((run / "manifest.json").read_text())["complete"] is False


def test_a_run_goes_on_from_a_checkpoint(cli: Cli) -> None:
    file = written(cli, "hostcc")
    first = cli("run", file, *SHORT, "--checkpoint-at", "200us", "--checkpoint", "c.bin", "--quiet")
    assert first.returncode == 0, first.stderr
    second = cli("run", file, *SHORT, "--from", "c.bin", "--quiet")
    assert second.returncode == 0, second.stderr
    hashes = [
        json.loads((cli.folder / done.stdout.strip() / "manifest.json").read_text())["result_hash"]
        for done in (first, second)
    ]
    assert hashes[0] == hashes[1]
    (cli.folder / "c.bin").write_bytes(b"hostnet")
    damaged = cli("run", file, *SHORT, "--from", "c.bin")
    assert damaged.returncode == 2


def test_the_schema_of_clusters_has_every_table(cli: Cli) -> None:
    done = cli("schema", "--cluster")
    assert json.loads(done.stdout) == json.loads(_core.cluster_schema())
    properties = json.loads(done.stdout)["properties"]
    assert {"host", "network", "switch", "cable", "flow", "transport", "run"} <= set(properties)


def test_a_page_shows_the_first_rows_of_long_tables(cli: Cli) -> None:
    file = cli.folder / "pairs.toml"
    file.write_text(PAIRS)
    run = cli.folder / cli("run", file, "--quiet").stdout.rstrip("\n")
    queues = json.loads((run / "summary.json").read_text())["queues"]
    page = (run / "report.html").read_text(encoding="utf-8")
    assert len(queues) > 2 * ROWS_MAX
    assert f"{len(queues) - ROWS_MAX} more rows are in the tables beside this page." in page
    assert page.count("<tr>") < 4 * ROWS_MAX


UNUSED = """
host.a = { kind = "endpoint" }
host.b = { preset = "cascade-lake-hostcc" }
network.rate = "100 Gbps"
flow.f = { kind = "bulk", from = "a", to = "b" }
run = { warmup = "2 us", duration = "10 us" }
"""


@pytest.mark.parametrize("options", [(), ("--brief",), ("--seeds", "2")], ids=["whole", "brief", "seeds"])
def test_every_screen_has_the_notes_of_the_summary(cli: Cli, options: tuple[str, ...]) -> None:
    (cli.folder / "unused.toml").write_text(UNUSED, encoding="utf-8")
    done = cli("run", "unused.toml", "--set", 'host.b.ssd.latency="3 us"', *options)
    run = cli.folder / done.stdout.splitlines()[-1]
    summary = json.loads((run / ("seeds.json" if "--seeds" in options else "summary.json")).read_text(encoding="utf-8"))
    assert summary["no_effect"] == ["host.b.ssd.latency"]
    assert summary["unvalidated"]
    notes = [" ".join(note.split()) for note in re.split(r"^note: ", done.stdout, flags=re.MULTILINE)[1:]]
    assert [note for note in notes_of({**summary, "complete": True}) if not any(note in own for own in notes)] == []


def test_a_note_names_the_first_of_many_keys() -> None:
    keys = [f"k{index}" for index in range(100)]
    notes = no_effect_notes({"no_effect": keys, "never_met": keys[:2]})
    assert [sum(key in re.findall(r"k\d+", note) for key in keys) for note in notes] == [8, 2]
    assert "92" in notes[0]


def test_the_means_over_seeds_show_power_and_energy() -> None:
    value = {"mean": 4.25, "ci95": 0.5}
    shown = {
        name: [dict.fromkeys(keys, "x") | {column: value for column, _ in columns.values()} for _ in range(14)]
        for name, (keys, columns) in METERED.items()
    }
    tables = list(tables_with_rows(shown, METERED))
    assert len(tables) == len(METERED)
    for table, (_, columns) in zip(tables, METERED.values(), strict=True):
        assert {"W", "pJ per byte"} & {str(column.header) for column in table.columns}
        assert len(table.columns) == 2 + len(columns)
        assert (table.row_count, str(table.caption).split(" of ")[0]) == (12, "2 more rows")
        assert "±" in str(next(iter(table.columns[2].cells)))
    for rows in shown.values():
        rows[:] = [{key: cell for key, cell in row.items() if key != "host"} for row in rows]
    assert [len(table.columns) for table in tables_with_rows(shown, METERED)] == [
        len(table.columns) - 1 for table in tables
    ]
    assert not list(tables_with_rows({}, METERED))


def test_a_rate_with_an_interval_beyond_it_is_said_not_to_be_told() -> None:
    rows = [
        {"class": "answer", "goodput_gbps": 3.28, "goodput_ci95": 9.38},
        {"class": "bulk", "goodput_gbps": 60.0, "goodput_ci95": 2.0},
        {"class": "none", "goodput_gbps": 0.0, "goodput_ci95": None},
    ]
    (note,) = wide_interval_notes({"classes": rows})
    assert note.endswith("a longer run.duration narrows it: answer")
    means = {"classes": [{"class": "answer", "goodput_gbps": {"mean": 3.28, "ci95": 9.38}}], "seeds": [1, 2]}
    (note,) = wide_interval_notes(means)
    assert "or more seeds narrow it: answer" in note
