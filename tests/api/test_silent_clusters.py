"""No key of a cluster is ignored silently, whatever its traffic: a sweep over all keys around a server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostnet import _core
from tests.api.silent_keys import Fate, fate, keys_of, run
from tests.support import raises_code

HOSTS = """
host.a.kind = "endpoint"
[host.s]
preset = "cascade-lake-hostcc"
workload.w = { kind = "stream", cores = "6-7", reads = 0.5 }
"""

AROUND = """
[network]
rate = "100 Gbps"
switch.ecn = "65 packets"
[flow.f]
count = 2
"""

RUN = '[run]\nwarmup = "100 us"\nduration = "100 us"\n'
OF_TCP = 'transport = "t"\n[transport.t]\nbase = "dctcp"\n'
OF_RDMA = 'kind = "write"\ntransport = "t"\n[transport.t]\nbase = "dcqcn"\n'
INTO, OUT = 'from = "a"\nto = "s"\n', 'from = "s"\nto = "a"\n'

BASES = {
    "receives": HOSTS + AROUND + INTO + 'kind = "bulk"\n' + OF_TCP + RUN,
    "sends": HOSTS + AROUND + OUT + 'kind = "bulk"\n' + OF_TCP + RUN,
    "answers": HOSTS + AROUND + INTO + 'kind = "rpc"\nrequest = "1 kB"\nin_flight = 4\n' + OF_TCP + RUN,
    "is written to": HOSTS + AROUND + INTO + OF_RDMA + RUN,
    "hears datagrams": HOSTS + AROUND + INTO + 'kind = "datagram"\nsize = "1 kB"\n' + RUN,
    "is an endpoint": 'host = { a.kind = "endpoint", s.kind = "endpoint" }\n'
    + (AROUND + INTO + 'kind = "bulk"\n' + OF_TCP + RUN),
}
"""Two flows between an endpoint and `s`, in runs so short that few limits are reached."""

TABLES = ("host.s", "host.a", "flow.f", "transport.t", "switch.tor", "cable.a", "network", "run")

EXCEPTED = {
    "run.memory": "it bounds what a run may take, and nothing that it simulates",
    "flow.f.stagger": "the second flow waits behind the first anyway, if it begins so little later",
    "host.s.nic.relaxed_ordering": "few writes of acknowledgements or requests meet others on their way",
    "host.s.memory.controller.reads_few": "a controller with so many writes seldom has few reads",
    "host.s.memory.controller.reads_per_mode": "it has as few reads at a time",
    "network.frame_min": "all frames are larger",
}
"""Keys that have an effect, but not always in so short a run, with the reason."""

QUICK = {
    "receives": (
        *("host.s.nic.buffer", "host.s.nic.lro", "host.s.nic.send_window", "host.s.nic.pcie.mrrs", "host.s.stack.send"),
        *("transport.t.tso", "transport.t.ack_delay", "switch.tor.alpha", "flow.f.pairs", "cable.a.down"),
    ),
    "sends": ("host.s.stack.ack", "host.s.stack.copy_ahead", "host.a.queue", "transport.t.receive_buffer"),
    "answers": ("host.s.stack.budget", "host.s.stack.call_size", "transport.t.initial_window", "transport.t.base"),
    "is written to": ("host.s.nic.ring", "host.s.stack.call", "transport.t.additive", "transport.t.in_flight"),
    "hears datagrams": ("host.s.nic.transmit", "host.s.stack.segment", "network.switch.buffer"),
    "is an endpoint": ("transport.t.tso", "transport.t.send_buffer", "host.s.latency", "cable.a.rate"),
}
"""Keys that the default tests check."""


def keys() -> dict[str, dict[str, Any]]:
    """Yields every key of the tables around a server, and its schema."""
    tables = json.loads(_core.cluster_schema())["properties"]

    def schema_of(table: str) -> dict[str, Any]:
        kind, _, name = table.partition(".")
        schema: dict[str, Any] = tables[kind]["additionalProperties"] if name else tables[kind]
        return schema

    found = {key: schema for table in TABLES for key, schema in keys_of(schema_of(table), table)}
    # An endpoint refuses the tables of a server.
    return {key: schema for key, schema in found.items() if not key.startswith("host.a.") or key.count(".") == 2}


def fates(text: str, only: tuple[str, ...] = (), tries: int = 2) -> dict[str, Fate]:
    """Returns the effect of every key, or of the given ones."""
    before = run(text)
    found = {key: schema for key, schema in keys().items() if not only or key in only}
    assert set(only) <= found.keys()
    return {key: fate(text, before, key, schema, run, tries) for key, schema in found.items()}


def of_fate(found: dict[str, Fate], wanted: Fate) -> list[str]:
    return [key for key, fate in found.items() if fate == wanted and key not in EXCEPTED]


@pytest.mark.parametrize("base", BASES)
def test_some_keys_around_a_server_change_something_or_are_told_of(base: str) -> None:
    found = fates(BASES[base], QUICK[base], tries=1)
    assert (of_fate(found, "silent"), of_fate(found, "wrong")) == ([], [])
    assert "told" in found.values()


@pytest.mark.long
@pytest.mark.parametrize("base", BASES)
def test_every_key_around_a_server_changes_something_or_is_told_of(base: str) -> None:
    found = fates(BASES[base])
    assert (of_fate(found, "silent"), of_fate(found, "wrong")) == ([], [])
    assert len(of_fate(found, "changes")) + len(of_fate(found, "told")) > (50 if base == "is an endpoint" else 300)


def told(text: str, *settings: str) -> list[str]:
    """Returns the keys that had no effect or whose limits were never met."""
    after = run(text, *settings)
    return [*after.no_effect, *after.told]


ENDS = BASES["is an endpoint"]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("transport.roce.in_flight=3", "transport.roce.in_flight"),
        ("transport.mine.base=cubic", "transport.mine.base"),
        ('network.switch.pfc={priorities=[3],xoff="60 kB",xon="40 kB"}', "network.switch.pfc.xoff"),
        ('cable.a.down=[["50 ms","60 ms"]]', "cable.a.down"),
        ("flow.f.pairs=random", "flow.f.pairs"),
    ],
)
def test_what_meets_no_traffic_is_told_of(setting: str, expected: str) -> None:
    assert expected in told(ENDS, setting)
    assert run(ENDS, setting).found == run(ENDS).found


def test_flow_control_of_a_priority_that_flows_have_is_not_without_effect() -> None:
    pauses = 'network.switch.pfc={priorities=[0],xoff="3 kB",xon="2 kB"}'
    after = run(ENDS, pauses, 'cable.s.rate="10 Gbps"')
    assert "network.switch.pfc.xoff" not in (*after.no_effect, *after.told)
    assert after.found != run(ENDS, 'cable.s.rate="10 Gbps"').found


@pytest.mark.parametrize(("name", "near"), [("dctpc", True), ("rack", False)])
def test_a_transport_that_is_probably_mistyped_is_told_of(name: str, near: bool) -> None:
    built_in = ENDS.replace(OF_TCP, "")
    ignored = _core.resolve(built_in, overrides=[f"transport.{name}.base=dctcp"]).ignored
    assert [note.partition(":")[0] for note in ignored] == ([f"transport.{name}"] if near else [])
    assert all('"dctcp"' in note for note in ignored)


def test_a_transport_without_base_and_a_switch_of_no_topology_get_the_nearest_name() -> None:
    for setting, nearest in (
        ("transport.dctp.rto_min=1 ms", "missing-key | dctcp"),
        ("switch.tro.buffer=1 MB", "bad-cabling | tor"),
    ):
        with raises_code(nearest):
            _core.resolve(ENDS, overrides=[setting])
