"""A typed cluster equals the cluster of the corresponding file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import hostnet
from hostnet import (
    Bottleneck,
    Cable,
    Cluster,
    Compress,
    Control,
    Core,
    Fio,
    FioJob,
    Flow,
    Host,
    Job,
    JobCompute,
    JobStep,
    Lfb,
    Move,
    Network,
    Nic,
    NicLink,
    OtherRequests,
    Pfc,
    Ramp,
    Run,
    Service,
    Stack,
    Stream,
    Switch,
    Transport,
    _core,
    run_cluster,
)
from hostnet.system.convert import key_of
from hostnet.system.workload import KINDS
from tests.support import raises_code


def toml(value: Any, path: str = "") -> Iterator[str]:
    """Yields the lines of a file equivalent to `value`, with a full path in each."""
    if is_dataclass(value):
        if type(value) in KINDS:
            yield f'{path}.kind = "{KINDS[type(value)]}"'
        for field in (one for one in fields(value) if one.name != "base_dir"):
            yield from toml(getattr(value, field.name), f"{path}.{key_of(field.name)}".removeprefix("."))
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from list(toml(item, f'{path}."{name}"')) or [f'{path}."{name}" = {{}}']
    elif value is not None:
        yield f"{path} = {written(value)}"


def written(value: Any) -> str:
    """Returns a value as a file has it."""
    if is_dataclass(value):
        return "{ " + ", ".join(toml(value)) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value)


def maybe(strategy: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    return some.none() | strategy


def one_of(*values: Any) -> some.SearchStrategy[Any]:
    """Draws one of some values, or none."""
    return some.sampled_from([None, *values])


SPANS = some.sampled_from([(("1 us", "2 us"),), (("10 us", "20 us"), ("30 us", "1 ms"))])
SHARES = maybe(some.floats(0, 1))
CABLES = some.builds(
    Cable,
    rate=one_of("25 Gbps", "100 Gbps", "1.5 GB/s"),
    latency=one_of("1 ps", "3 us"),
    down=maybe(SPANS),
    corrupt=SHARES,
)
SWITCHES = some.builds(
    Switch,
    buffer=one_of("16 MB", "4 MiB"),
    alpha=maybe(some.floats(0.001, 1024)),
    latency=one_of("500 ns", "2 us"),
    ecn=one_of("65 packets", "100 kB", "off", Ramp(min="5 kB", max="200 kB", most=0.01)),
    pfc=one_of(Pfc(priorities=(3, 4), xoff="100 kB", xon="50 kB"), Pfc(xoff="200 kB", xon="0 B")),
)
WORKLOADS = some.builds(
    Stream, cores=some.sampled_from(["6-7", (6, 7)]), reads=SHARES, gap=one_of("10 ns")
) | some.just(Fio(cores="7", jobs=(FioJob(rw="read", bs="64 KiB", iodepth=4, size="1 GiB", ssd=0),)))
SERVERS = some.builds(
    Host,
    preset=some.just("cascade-lake-hostcc"),
    fidelity=one_of("line", "burst"),
    core=some.builds(Core, lfb=some.builds(Lfb, entries=maybe(some.integers(2, 32)))),
    nic=maybe(some.builds(Nic, ring=some.integers(16, 1024), pcie=some.just(NicLink(lanes=16)))),
    stack=maybe(some.builds(Stack, packet=some.just("120 ns"), poll=maybe(some.booleans()))),
    control=maybe(some.builds(Control, rule=some.sampled_from(["watch", "hostcc", "echo-only"]), hold=one_of("5 us"))),
    workload=some.dictionaries(some.sampled_from(["mapp"]), WORKLOADS),
)
ENDPOINTS = some.builds(
    Host,
    kind=some.just("endpoint"),
    count=maybe(some.integers(1, 5)),
    latency=one_of("8 us"),
    queue=maybe(some.integers(1, 1000)),
    compress=maybe(some.just(Compress(ratio=8.0, clock="1 GHz")) | some.just(Compress(shares=(0.5, 0.25, 0.25, 0.0)))),
)
TRANSPORTS = some.fixed_dictionaries(
    {
        "dctcp": some.builds(Transport, gain=maybe(some.floats(0.0001, 1)), sack=maybe(some.booleans())),
        "fast": some.builds(Transport, base=some.just("cubic"), rto_min=one_of("10 ms"), tso=one_of("0 B", "64 KiB")),
    }
)
MOVES = one_of(
    (Move(at="1 us", core=3),),
    (Move(at="5 us", core=1, end=None), Move(at="1 ms", core=0)),
)
FLOWS = (
    some.builds(
        Flow,
        kind=some.just("bulk"),
        from_=some.just("server"),
        to=some.just("client"),
        sendfile=one_of("local", "first-touch", "node:0"),
        move=MOVES,
    )
    | some.builds(
        Flow,
        kind=some.just("bulk"),
        from_=some.sampled_from(["client", ("client",)]),
        to=some.just("server"),
        count=maybe(some.integers(1, 9)),
        transport=one_of("dctcp", "fast", "reno"),
        class_=one_of("mine"),
        start=one_of("0 ps", "1 us"),
        deaf=one_of(("1 us", "1 ms")),
        bytes=one_of("1 MB"),
        move=MOVES,
    )
    | some.builds(
        Flow,
        kind=some.just("rpc"),
        from_=some.just("server"),
        to=some.just("client"),
        request=some.sampled_from(["128 B", "32 KiB"]),
        other=maybe(
            some.builds(OtherRequests, share=some.floats(0, 1), request=some.just("1 B"), response=some.just("1 kB"))
        ),
        in_flight=maybe(some.integers(1, 100)),
        think=one_of("1 us"),
        move=MOVES,
    )
    | some.builds(
        Flow,
        kind=some.just("service"),
        from_=some.just("server"),
        to=some.just("client"),
        request=some.sampled_from(["128 B", "32 KiB"]),
        response=one_of("1 kB"),
        service=some.builds(
            Service,
            rate=some.sampled_from([1000, 1e5]),
            arrivals=maybe(some.sampled_from(["poisson", "constant"])),
            time=one_of("1 us"),
            distribution=maybe(some.sampled_from(["constant", "exponential", "lognormal"])),
            workers=maybe(some.integers(1, 100)),
            burst=maybe(some.integers(1, 9)),
            verb=one_of("SET"),
        ),
        in_flight=maybe(some.integers(1, 100)),
    )
    | some.builds(
        Flow,
        kind=some.just("datagram"),
        from_=some.just("server"),
        to=some.just("client"),
        pattern=maybe(some.sampled_from(["open", "generate"])),
        size=some.sampled_from(["1 B", "1400 B"]),
        buffer=one_of("2 kB"),
    )
    | some.builds(
        Flow,
        kind=some.just("datagram"),
        from_=some.just("client"),
        to=some.just("server"),
        pattern=some.just("ping"),
        request=some.just("64 B"),
        response=one_of("1000 B"),
        timeout=one_of("50 us"),
    )
    | some.builds(
        Flow,
        kind=some.just("packets"),
        from_=some.just("client"),
        to=some.just("server"),
        sizes=some.sampled_from(["database", "hadoop"]),
        rate=some.just("1 Gbps"),
        arrivals=maybe(some.sampled_from(["poisson", "constant"])),
    )
)


TRAINING = some.builds(
    Job,
    kind=some.just("allreduce"),
    hosts=some.just("client"),
    bytes=some.sampled_from(["1 kB", "3 MB"]),
    ranks=maybe(some.integers(1, 20)),
    algorithm=maybe(some.sampled_from(["ring", "tree", "recursive-doubling", "halving-doubling", "aggregator"])),
    sum=one_of("10 GB/s"),
    bucket=one_of("300 kB"),
    compute=maybe(some.just(JobCompute(forward="1 us", backward="3 us", copy="1 us", update="2 us"))),
)

JOBS = (
    TRAINING
    | some.builds(
        Job,
        kind=some.sampled_from(["allreduce", "alltoall"]),
        hosts=some.just("client"),
        bytes=some.sampled_from(["1 kB", "3 MB"]),
        ranks=maybe(some.integers(1, 20)),
        iterations=maybe(some.integers(1, 3)),
        compute=one_of("1 us"),
        copy_rate=one_of("1 GB/s"),
        start=one_of("2 us"),
        launch=one_of("3 us"),
    )
    | some.builds(
        Job,
        kind=some.just("program"),
        hosts=some.just("client"),
        ranks=some.just(3),
        steps=some.just((JobStep(to=1, send="1 kB", from_=1, receive="1 kB", name="around", compute="1 us"),)),
    )
)


@some.composite
def joined(draw: some.DrawFn) -> dict[str, Any]:
    """Draws hosts "server" and "client", and the network between them."""
    server, endpoint = draw(SERVERS), draw(ENDPOINTS)
    hosts = {"server": server, "client": endpoint}
    network = Network(
        rate=draw(one_of("100 Gbps", "40 Gbps")),
        mtu=draw(one_of("9000 B")),
        switch=draw(SWITCHES | some.just(Switch())),
    )
    shape = draw(some.sampled_from(["star", "dumbbell", "direct", "cables"]))
    if shape == "star":
        tor = draw(some.dictionaries(some.just("tor"), SWITCHES))
        own = draw(some.dictionaries(some.just("server"), CABLES))
        return {"host": hosts, "network": network, "switch": tor, "cable": own}
    if shape == "dumbbell":
        narrow = draw(some.builds(Bottleneck, rate=one_of("10 Gbps"), down=maybe(SPANS), corrupt=SHARES))
        network = replace(network, topology="dumbbell", left="server", right=("client",), bottleneck=narrow)
        return {"host": hosts, "network": network}
    hosts["client"] = replace(endpoint, count=None)
    if shape == "direct":
        return {"host": hosts, "network": replace(network, topology="direct")}
    cables = {host: replace(draw(CABLES), ends=(host, "middle")) for host in hosts}
    return {"host": hosts, "network": network, "switch": {"middle": draw(SWITCHES)}, "cable": cables}


@some.composite
def clusters(draw: some.DrawFn) -> Cluster:
    """Draws random valid clusters."""
    flows = draw(some.dictionaries(some.sampled_from(["a", "b-1"]), FLOWS, min_size=1))
    run = Run(seed=draw(maybe(some.integers(0, 2**64 - 1))), duration=draw(one_of("1 ms")), warmup="5 us")
    jobs = draw(some.dictionaries(some.just("j"), JOBS))
    return Cluster(**draw(joined()), transport=draw(TRANSPORTS), flow=flows, job=jobs, run=run)


@given(clusters())
@settings(deadline=None, max_examples=60)
def test_it_resolves_to_the_plan_of_its_file(cluster: Cluster) -> None:
    typed = _core.resolve(json.dumps(cluster.to_dict()), format="json")
    assert typed.hash == _core.resolve("\n".join(toml(cluster))).hash


@given(clusters())
@settings(deadline=None, max_examples=30)
def test_it_survives_the_round_trip(cluster: Cluster) -> None:
    content = json.loads(json.dumps(cluster.to_dict()))
    assert Cluster.from_dict(content).to_dict() == content


@given(clusters())
@settings(deadline=None, max_examples=30)
def test_what_is_shown_of_it_makes_it_again(cluster: Cluster) -> None:
    assert eval(repr(cluster), vars(hostnet) | {name: getattr(hostnet, name) for name in hostnet.__all__}) == cluster


@pytest.mark.parametrize(
    "name",
    ["hostcc", "dumbbell", "incast", "rdma", "ping", "forward", "rack-pool", "mcn", "inceptionn", "h100", "nvl72"],
)
def test_a_file_becomes_the_same_cluster(tmp_path: Path, name: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(_core.cluster_template(name), encoding="utf-8")
    cluster = Cluster.from_toml(file)
    assert (cluster.run.name, cluster.base_dir) == ("mine", str(tmp_path))
    again = _core.resolve(json.dumps(cluster.to_dict()), format="json")
    assert again.hash == _core.resolve(_core.cluster_template(name)).hash
    effective = json.loads(again.effective_json())
    assert not any(differences(effective, Cluster.from_dict(effective).to_dict()))


def differences(said: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """Yields keys whose given value differs from the kept one; tables without keys are ignored."""
    for key in {*said, *kept}:
        if isinstance(said.get(key), Mapping):
            yield from differences(said[key], kept.get(key, {}))
        elif said.get(key) != kept.get(key):
            yield key


def test_it_runs_as_its_file_does(tmp_path: Path) -> None:
    ends = {"a": Host(kind="endpoint"), "b": Host(kind="endpoint", count=2)}
    flow = Flow(kind="bulk", from_="b", to="a", class_="mine")
    cluster = Cluster(host=ends, flow={"f": flow}, run=Run(duration="20 us", warmup="5 us"))
    file = tmp_path / "cluster.toml"
    file.write_text("\n".join(toml(cluster)), encoding="utf-8")
    typed, read = run_cluster(cluster, seed=3), run_cluster(file, seed=3)
    assert typed.tables == read.tables
    assert list(typed.classes) == ["mine"]
    assert run_cluster(cluster, overrides=["host.b.count=3"]).tables["flows"].num_rows == 3


def test_files_are_found_beside_it(tmp_path: Path) -> None:
    hosts = {"a": Host(kind="endpoint"), "b": Host(kind="endpoint")}
    flow = {"f": Flow(kind="replay", from_="a", to="b", pcap="mine.pcap")}
    with raises_code("file-not-found | mine.pcap | flow.f.pcap"):
        run_cluster(Cluster(host=hosts, flow=flow, base_dir=str(tmp_path / "here")))


@pytest.mark.parametrize(
    ("cluster", "says"),
    [
        (Cluster(host={"a": Host(kind="endpiont")}), 'unknown-name | host.a.kind | "endpiont"'),
        (Cluster(host={"a": Host(count=-1)}), "out-of-range | host.a.count"),
    ],
)
def test_what_is_wrong_is_told(cluster: Cluster, says: str) -> None:
    with raises_code(says):
        run_cluster(cluster)


def test_a_content_that_is_wrong_is_no_cluster(tmp_path: Path) -> None:
    with raises_code('unknown-key | host.a.pre_set | "preset"'):
        Cluster.from_dict({"host": {"a": {"pre_set": "x"}}})
    file = tmp_path / "mine.toml"
    file.write_text('[host.a]\nkind = "endpoint"\n[flow.f]\nform = "a"\n', encoding="utf-8")
    with raises_code('unknown-key | mine.toml:4 | flow.f.form | "from"'):
        Cluster.from_toml(file)
