"""No key of a configuration is ignored silently: it changes the result, is refused, or a note names it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from hostnet import _core
from tests.api.silent_keys import Engine, Fate, fate, keys_of, predict, run
from tests.support import raises_code

STREAMS = """
server.preset = "cascade-lake-6234"
run = { warmup = "1 us", duration = "5 us" }
[workload.w]
kind = "stream"
cores = "0-1"
reads = 0.5
working_set = "1 MiB"
"""

CACHED = (
    STREAMS.replace("5 us", "200 us")
    + """
[workload.disk]
kind = "fio"
jobs = [{ rw = "rw", bs = "16 KiB", iodepth = 8, size = "1 MiB", ssd = 0 }]
cores = "6"
[cache]
enabled = true
l2.sets = 64
llc.sets = 16
filter.sets = 64
"""
)

CLUSTER = """
run = { warmup = "1 us", duration = "30 us" }
network = { rate = "100 Gbps", latency = "100 ns" }
[host.a]
preset = "cascade-lake-hostcc"
nic.coalesce = "1 us"
workload.w = { kind = "stream", cores = "4-5", reads = 0.5, working_set = "1 MiB" }
[host.b]
preset = "cascade-lake-hostcc"
nic.coalesce = "1 us"
[flow.to]
kind = "bulk"
from = "b"
to = "a"
[flow.fro]
kind = "bulk"
from = "a"
to = "b"
"""

NETWORK = """
run = { warmup = "50 us", duration = "300 us" }
network = { rate = "10 Gbps", latency = "1 us", switch = { ecn = "20 packets", buffer = "60 kB" } }
host.e = { kind = "endpoint", count = 4 }
transport.t = { base = "dctcp" }
[flow.f]
kind = "bulk"
from = ["e-1", "e-2", "e-3"]
to = "e-0"
count = 2
transport = "t"
[job.j]
kind = "allreduce"
hosts = "e"
bytes = "100 kB"
compute = "20 us"
"""
"""Three hosts send to one, which takes part in a job, with loss and marks."""

NAMED = {"flow": "f", "transport": "t", "job": "j"}
"""Tables that users name."""

NOT_SET = ("run", "server", "socket", "workload")
"""Tables of the workloads, the length of the run and its start."""

IN_THIS_MIX = "it takes part, and the mix with caches has too few of what it is about"
UNDER_LOAD = "two flows need not bring so much traffic that it shows"
IDLE = {"core.count": "a core without work does nothing, but others may be put on it"}
OF_CACHES = ("cache.l2.hit", "core.rob", "prefetch.pages", "fio.kernel_loads", "cha.io_write_to_mc")
EXCEPTED = {
    "streams": IDLE,
    "cached": {**IDLE, **dict.fromkeys(OF_CACHES, IN_THIS_MIX)},
    "cluster": {**IDLE, "nic.relaxed_ordering": UNDER_LOAD},
    "network": {
        "flow.f.pairs": "three hosts and one make the same pairs in every way",
        "job.j.compress": "it is false, and hosts without engines refuse another value",
    },
}
"""Keys that may change nothing without a note, with the reason."""

QUICK = {
    "streams": (
        *("cache.l2.sets", "cache.filter.ways", "prefetch.credits", "ddio.write", "core.rob", "core.frequency"),
        *("iio.write_credits", "iio.relaxed_ordering", "cha.io_write_to_mc", "pcie.lanes", "ssd.latency"),
        *("fio.kernel_loads", "upi.links", "expander.lanes", "memory.dram.postponed_max", "memory.controller.merging"),
        *("memory.controller.forwarding", "memory.controller.row_hold", "core.lfb.entries", "memory.channels"),
    ),
    "cluster": (
        *("cache.llc.sets", "ddio.enabled", "prefetch.distance", "control.target", "control.hold", "remote.sockets"),
        *("fio.kernel_loads", "ssd.latency", "core.rob", "upi.links", "pcie.lanes", "stack.generate", "stack.packet"),
    ),
    "network": (
        *("network.switch.sum", "network.switch.sharers", "flow.f.priority"),
        *(
            "transport.t.rto_min",
            "transport.t.rto_initial",
            "transport.t.gain",
            "job.j.copy_rate",
            "job.j.copy_latency",
        ),
    ),
}
"""Keys that the default tests check, most of which change nothing."""


def schema_of(kind: str) -> dict[str, Any]:
    """Returns the schema of a key of a server, of the host that the cluster is tested by, or of tables around hosts."""
    if kind == "network":
        of_all = json.loads(_core.cluster_schema())["properties"]
        named = {table: {"properties": {name: of_all[table]["additionalProperties"]}} for table, name in NAMED.items()}
        return {"properties": {"network": of_all["network"], **named}}
    if kind == "cluster":
        of_hosts = json.loads(_core.cluster_schema())["properties"]["host"]["additionalProperties"]
    else:
        of_hosts = json.loads(_core.schema())
    tables = {name: table for name, table in of_hosts["properties"].items() if name not in NOT_SET}
    return {"properties": tables}


CONFIGURATIONS = {"streams": STREAMS, "cached": CACHED, "cluster": CLUSTER, "network": NETWORK}


def fates(kind: str, only: tuple[str, ...] = (), engine: Engine = run, tries: int = 3) -> dict[str, Fate]:
    """Returns the effect of every key of a configuration, or of the given ones."""
    text, prefix = CONFIGURATIONS[kind], "host.a." if kind == "cluster" else ""
    before = engine(text)
    keys = {key: schema for key, schema in keys_of(schema_of(kind)) if not only or key in only}
    assert set(only) <= keys.keys()
    return {key: fate(text, before, prefix + key, schema, engine, tries) for key, schema in keys.items()}


def check(kind: str, found: dict[str, Fate]) -> None:
    """Asserts that no key is silent except the excepted ones, and that no note is wrong."""
    silent = [key for key, fate in found.items() if fate == "silent"]
    assert [key for key in silent if key not in EXCEPTED[kind]] == []
    assert [key for key, fate in found.items() if fate == "wrong"] == []


@pytest.mark.parametrize("kind", QUICK)
def test_some_keys_change_something_or_are_told_of(kind: str) -> None:
    found = fates(kind, QUICK[kind], tries=1)
    check(kind, found)
    assert Counter(found.values())["told"] > len(found) / 2


@pytest.mark.long
@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_every_key_changes_something_or_is_told_of(kind: str) -> None:
    found = fates(kind)
    check(kind, found)
    counts = Counter(found.values())
    assert counts["changes"] + counts["told"] > (45 if kind == "network" else 160)


@pytest.mark.long
def test_predictions_read_every_key_or_tell_of_it() -> None:
    check("streams", fates("streams", engine=predict))


def test_ecn_that_is_off_is_not_told_of_where_switches_drop_for_want_of_it() -> None:
    off = run(NETWORK, 'transport.t.base="cubic"', "transport.t.ecn=false")
    assert "transport.t.ecn" not in (*off.no_effect, *off.told)


def test_pairs_that_draw_a_single_flow_are_not_told_of() -> None:
    single = NETWORK.replace('["e-1", "e-2", "e-3"]', '"e-0"').replace('to = "e-0"', 'to = ["e-1", "e-2"]')
    single = single.replace("count = 2", 'count = 1\npairs = "random"')
    result = run(single)
    assert "flow.f.pairs" not in (*result.no_effect, *result.told)
    assert run(single, 'flow.f.pairs="all-to-all"').found != result.found


@pytest.mark.parametrize(("jobs", "told"), [("", True), ("[job.j]" + NETWORK.partition("[job.j]")[2], False)])
def test_a_priority_matters_only_beside_another(jobs: str, told: bool) -> None:
    text = NETWORK.partition("[job.j]")[0] + jobs
    before, after = run(text), run(text, "flow.f.priority=3")
    assert ("flow.f.priority" in after.no_effect, after.found == before.found) == (told, told)


@pytest.mark.parametrize(("period", "told"), [("10 ms", True), ("50 us", False)])
def test_a_governor_that_does_not_look_in_time_is_told_of(period: str, told: bool) -> None:
    power = ('power.governor.kind="ondemand"', f'power.governor.period="{period}"', 'run.duration="150 us"')
    result = run(STREAMS, *power)
    assert ("power.governor.kind" in result.told) == told


def test_receive_offload_matters_only_to_tcp() -> None:
    rdma = CLUSTER.partition("[flow")[0]
    assert rdma
    for kind, told in (("write", True), ("bulk", False)):
        flow = f'[flow.f]\nkind = "{kind}"\nfrom = "b"\nto = "a"\n'
        assert ("host.a.nic.lro" in run(rdma + flow, "host.a.nic.lro=true").no_effect) == told


def test_predictions_refuse_a_mesh() -> None:
    plan = _core.resolve(STREAMS, overrides=["noc.die=cascade-lake-18"])
    with raises_code("not-supported"):
        _core.predict(plan)


def ignored(text: str, *settings: str) -> list[str]:
    """Returns the notes on idle cores."""
    return [note for note in _core.resolve(text, overrides=list(settings)).ignored if " is on core" in note]


def test_cores_without_work_are_told_of() -> None:
    host = '{ preset = "cascade-lake-hostcc", cache.enabled = true }'
    job = f"""
    network = {{ rate = "100 Gbps", latency = "1 us" }}
    host = {{ a = {host}, b = {host} }}
    job.j = {{ kind = "allreduce", hosts = ["a", "b"], bytes = "1 MB" }}
    """
    assert ignored(job, "job.j.cores=[2]") == []
    assert ignored(job, "job.j.cores=2,4-5") == ["job.j.cores: no rank is on cores 4-5"]
    assert ignored(CLUSTER, "flow.to.to_cores=1") == []
    assert ignored(CLUSTER, "flow.to.to_cores=1-2") == ["flow.to.to_cores: no application is on core 2"]
    assert ignored(CACHED, "workload.disk.cores=5-6") == ["workload.disk.cores: no job is on core 6"]
    assert ignored(CACHED) == []
