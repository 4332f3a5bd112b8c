"""`hostnet chakra` writes jobs as execution traces, which take as long as the jobs when they are run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chakra_wire import BOOL, COLLECTIVE, COMPUTE, INT32, INT64, RECEIVE, SEND, attributes_of, messages
from tests.support import Cli

CLUSTER = """
[host.e]
kind = "endpoint"
count = 4
[network]
rate = "100 Gbps"
mtu = "9000 B"
switch.ecn = "65 packets"
[job.j]
hosts = "e"
{job}
[run]
until = "jobs"
"""


def job(cli: Cli, text: str, name: str = "job.toml") -> Path:
    file = cli.folder / name
    file.write_text(CLUSTER.format(job=text))
    return file


def took_us(cli: Cli, file: Path) -> float:
    done = cli("run", file, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads((cli.folder / done.stdout.rstrip("\n") / "summary.json").read_text())
    (row,) = results["jobs"]
    assert row["unfinished_ranks"] == 0
    return float(row["done_us"])


def again_us(cli: Cli, file: Path, *options: str) -> float:
    """Returns the time that the traces of a job take."""
    done = cli("chakra", file, "--out", "traces/t", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("traces/t.0.et to traces/t.3.et: ")
    return took_us(cli, job(cli, 'kind = "chakra"\ntrace = "traces/t"', "again.toml"))


RING = 'kind = "allreduce"\nbytes = "1 MB"\niterations = 2\n'


@pytest.mark.parametrize(
    ("text", "options", "most"),
    [
        (RING, (), 0.0),
        (RING + 'compute = "70 us"', (), 0.0),
        (RING + 'compute = "300 ns"', (), 0.5),
        (RING + 'bucket = "250 kB"\ncompute = { forward = "30 us", backward = "200 us" }', (), 0.0),
        (RING + 'compute = "70 us"', ("--messages",), 0.0),
        ('kind = "npb-is"\nproblem = "S"\niterations = 2', (), 0.5),
        ('kind = "npb-cg"\nproblem = "S"\niterations = 1', (), 0.5),
    ],
)
def test_a_job_takes_as_long_as_its_traces(cli: Cli, text: str, options: tuple[str, ...], most: float) -> None:
    (cli.folder / "traces").mkdir()
    file = job(cli, text)
    assert abs(again_us(cli, file, *options) - took_us(cli, file)) <= most


def test_nodes_have_the_types_that_generators_give_them(cli: Cli) -> None:
    text = """kind = "program"
ranks = 2
steps = [
    { rank = 0, name = "load", compute = "20 us", to = 1, send = "1 kB" },
    { rank = 1, name = "store", from = 0, receive = "600 B" },
    { rank = 1, from = 0, receive = "400 B" },
]"""
    assert cli("chakra", job(cli, text), "--out", "t").returncode == 0
    ring = job(cli, RING + 'compute = "70 us"', "ring.toml")
    assert cli("chakra", ring, "--job", "j", "--out", "r", "--set", "job.j.iterations=1").returncode == 0
    files = [list(messages((cli.folder / name).read_bytes())) for name in ("t.0.et", "t.1.et", "r.2.et")]
    for metadata, *_ in files:
        assert metadata == {1: [b"0.0.4"]}
    (_, load, first, second), (_, *received), (_, compute, summed) = files
    # Numbers and types are omitted where they are 0.
    assert (load[2], load[3], load[7], load.get(1, [0])) == ([b"load"], [COMPUTE], [20], [0])
    assert attributes_of(load) == {"is_cpu_op": (BOOL, 1)}
    assert [one[5] for one in (first, second)] == [[b"\0"], [b"\1"]]
    assert [one[3] for one in (first, second, *received)] == [[SEND], [SEND], [RECEIVE], [RECEIVE]]
    for number, (size, one, other) in enumerate(zip((600, 400), (first, second), received, strict=True)):
        message = {
            "is_cpu_op": (BOOL, 0),
            "comm_size": (INT64, size),
            "comm_src": (INT32, 0),
            "comm_dst": (INT32, 1),
            "comm_tag": (INT32, number),
        }
        assert attributes_of(one) == attributes_of(other) == message
    assert (compute[7], summed[3], summed[5]) == ([70], [COLLECTIVE], [b"\0"])
    training = 'bucket = "250 kB"\ncompute = { forward = "30 us", backward = "80 us" }'
    assert cli("chakra", job(cli, RING + training, "training.toml"), "--out", "b").returncode == 0
    _, *nodes = messages((cli.folder / "b.3.et").read_bytes())
    waits = [list(b"".join(after for after in one.get(5, []) if isinstance(after, bytes))) for one in nodes]
    # Forward, four parts backward, an all-reduce after each part and its predecessor, and again after the last one.
    once = [[], [0], [0, 1], [0, 2], [0, 3], [1], [5, 2], [6, 3], [7, 4]]
    assert waits == [*once, [8, 4], [9], [9, 10], [9, 11], [9, 12], [10], [14, 11], [15, 12], [16, 13]]
    expected = {"is_cpu_op": (BOOL, 0), "comm_type": (INT64, 0), "comm_size": (INT64, 1_000_000)}
    assert attributes_of(summed) == expected


def test_all_traces_are_written_or_none(cli: Cli) -> None:
    file = job(cli, RING)
    (cli.folder / "t.2.et").mkdir()
    done = cli("chakra", file, "--out", "t")
    assert (done.returncode, done.stdout) == (2, "")
    assert "t.2.et" in done.stderr
    (cli.folder / "t.2.et").rmdir()
    assert not list(cli.folder.glob("*.et")), "the others were not written"
    (cli.folder / "t.4.et").write_bytes(b"of a fifth rank")
    done = cli("chakra", file, "--out", "t")
    assert done.returncode == 2
    assert "t.4.et: is there, and would belong to these 4 traces; remove it" in done.stderr
    assert [one.name for one in cli.folder.glob("*t*.et")] == ["t.4.et"]


SUMS = ("--set", "network.switch.sum=100 Gbps")


def test_names_have_the_rank_where_they_say(cli: Cli) -> None:
    assert cli("chakra", job(cli, RING), "--out", "rank_%d.et").stdout.startswith("rank_0.et to rank_3.et: ")
    read = job(cli, 'kind = "chakra"\ntrace = "rank_%d.et"', "again.toml")
    assert took_us(cli, read) == took_us(cli, job(cli, RING))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("job.toml", "--out", "t", "--job", "k"), 'job: there is no "k"'),
        (("job.toml", "--out", "job.toml/t"), "job.toml/t: "),
        (
            ("job.toml", "--out", "t", "--set", "job.j.iterations=1000000", "--set", "job.j.compute=1 us"),
            "job.j.iterations: more than 1048576 nodes",
        ),
        (("job.toml", "--out", "t", "--set", "job.j.bytes=0 B"), "job.j.bytes"),
        (("quadrant.toml", "--out", "t"), "job: the configuration has none"),
        (("nothing.toml", "--out", "t"), "nothing.toml"),
        (("job.toml",), "--out"),
        (("job.toml", "--out", "."), "--out .: must be DIR/NAME"),
        (
            ("job.toml", "--out", "t", "--messages", "--set", "job.j.algorithm=in-network", *SUMS),
            "job.j.algorithm: switches sum up what its ranks send, and traces have no messages with switches",
        ),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    job(cli, RING)
    done = cli("chakra", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(cli.folder.glob("*.et"))


MODEL = """kind = "transformer"
peak = 1e12
model = { layers = 4, width = 256, sequence = 128, batch = 8, tp = 2, pp = 2 }
"""


def test_traces_for_astra_sim_have_durations_and_a_file_of_groups(cli: Cli) -> None:
    file = job(cli, MODEL)
    done = cli("chakra", file, "--out", "traces/t", "--for", "astra-sim")
    assert (done.returncode, done.stderr) == (0, "")
    groups = json.loads((cli.folder / "traces/t.groups.json").read_text())
    assert sorted(groups.values()) == [[0, 1], [2, 3]]
    _, *nodes = messages((cli.folder / "traces/t.0.et").read_bytes())
    assert {attributes_of(node)["is_cpu_op"] for node in nodes} == {(BOOL, 0)}
    again = job(
        cli, 'kind = "chakra"\ntrace = "traces/t"\ngroups = "traces/t.groups.json"\nalltoall = "direct"', "again.toml"
    )
    # Durations are whole microseconds, whose remainders are carried on: of 64 computations of a rank.
    assert abs(took_us(cli, again) - took_us(cli, file)) <= 2.0


def test_groups_of_a_model_are_in_its_traces(cli: Cli) -> None:
    file = job(cli, MODEL)
    done = cli("chakra", file, "--out", "traces/t")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (cli.folder / "traces/t.groups.json").exists()
    again = job(cli, 'kind = "chakra"\ntrace = "traces/t"\npeak = 1e12\nalltoall = "direct"', "again.toml")
    assert took_us(cli, again) == took_us(cli, file)
