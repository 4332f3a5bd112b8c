"""Traces, read with Perfetto's own message classes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    CounterDescriptor,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

import hostnet
from tests.support import QUADRANT

MIXED = QUADRANT.replace('cores = "0-1"', 'cores = "0-1"\nreads = 0.5').replace(
    "jobs = [", 'jobs = [{ rw = "write", bs = "64 KiB", iodepth = 16, size = "1 GiB", ssd = 1 }, '
)
"""Cores that load and store, and drives that are read and written."""

DOMAINS = ("C2M-Read", "C2M-Write", "P2M-Read", "P2M-Write", "CHA->DRAM read", "CHA->MC write")


@dataclass
class Slice:
    """A slice, with its nested slices."""

    name: str
    begin_ns: int
    category: str = ""
    arguments: dict[str, int] = field(default_factory=dict)
    flows: list[int] = field(default_factory=list)
    end_ns: int = -1
    inside: list[Slice] = field(default_factory=list)


@dataclass
class Content:
    """Content of a trace."""

    names: dict[int, str] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    slices: dict[int, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    counters: dict[int, list[tuple[int, float]]] = field(default_factory=dict)

    def of_counter(self, name: str) -> list[list[tuple[int, float]]]:
        return [points for track, points in self.counters.items() if self.names[track] == name]

    def all_slices(self) -> list[Slice]:
        return [found for track in self.slices.values() for found in track]


def read(data: bytes) -> Content:
    """Reads a trace as Perfetto does, and enforces the rules of its format."""
    content = Content()
    interned: dict[str, dict[int, str]] = {}
    open_slices: dict[int, list[Slice]] = defaultdict(list)
    time_ns = 0
    for index, packet in enumerate(Trace.FromString(data).packet):
        assert packet.trusted_packet_sequence_id == 1
        if index == 0:
            assert packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
            for kind in ("event_names", "event_categories", "debug_annotation_names"):
                interned[kind] = {entry.iid: entry.name for entry in getattr(packet.interned_data, kind)}
        elif packet.HasField("track_descriptor"):
            describe(packet.track_descriptor, content)
        else:
            assert packet.sequence_flags & TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            assert packet.timestamp >= time_ns, "packets are in the order of time"
            time_ns = packet.timestamp
            happen(packet.track_event, time_ns, content, interned, open_slices)
    assert not any(open_slices.values()), "every begin has its end"
    return content


def parent_name(content: Content, track: int) -> str:
    return content.names[content.parents[track]]


def describe(descriptor: Any, content: Content) -> None:
    assert descriptor.uuid not in content.names
    assert descriptor.uuid > 0
    content.names[descriptor.uuid] = descriptor.name
    if descriptor.HasField("parent_uuid"):
        assert descriptor.parent_uuid in content.names, "a parent comes before its children"
        content.parents[descriptor.uuid] = descriptor.parent_uuid
        content.ranks[descriptor.uuid] = descriptor.sibling_order_rank
    else:
        assert descriptor.child_ordering == TrackDescriptor.EXPLICIT
    if descriptor.HasField("counter"):
        assert descriptor.counter.unit == CounterDescriptor.UNIT_COUNT
        content.counters[descriptor.uuid] = []


def happen(
    event: Any,
    time_ns: int,
    content: Content,
    interned: dict[str, dict[int, str]],
    open_slices: dict[int, list[Slice]],
) -> None:
    track = event.track_uuid
    assert track in content.names, "a track is described before its first event"
    stack = open_slices[track]
    if event.type == TrackEvent.TYPE_COUNTER:
        content.counters[track].append((time_ns, event.double_counter_value))
        return
    assert track not in content.counters
    if event.type == TrackEvent.TYPE_SLICE_END:
        assert stack, "every end has its begin"
        stack.pop().end_ns = time_ns
        return
    assert event.type == TrackEvent.TYPE_SLICE_BEGIN
    began = Slice(
        interned["event_names"][event.name_iid],
        time_ns,
        category="".join(interned["event_categories"][iid] for iid in event.category_iids),
        arguments={
            interned["debug_annotation_names"][entry.name_iid]: entry.uint_value for entry in event.debug_annotations
        },
        flows=list(event.flow_ids),
    )
    (stack[-1].inside if stack else content.slices[track]).append(began)
    stack.append(began)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trace") / "quadrant.toml"
    path.write_text(MIXED)
    return path


@pytest.fixture(scope="module")
def results(file: Path) -> hostnet.Results:
    """Returns a run whose trace covers its whole measurement."""
    return hostnet.run(file, trace="20 us")


@pytest.fixture(scope="module")
def content(results: hostnet.Results) -> Content:
    assert results.trace is not None
    return read(results.trace)


def test_a_trace_changes_no_result(file: Path, results: hostnet.Results) -> None:
    plain = hostnet.run(file)
    assert plain.trace is None
    assert plain.result_hash == results.result_hash
    assert plain.epochs == results.epochs
    assert hostnet.run(file, trace="20 us").trace == results.trace


def test_slices_nest(content: Content) -> None:
    for track in content.slices.values():
        for before, after in pairwise(track):
            assert before.end_ns <= after.begin_ns
        for outer in track:
            end_ns = outer.begin_ns
            for inner in outer.inside:
                assert end_ns <= inner.begin_ns <= inner.end_ns <= outer.end_ns
                assert not inner.inside
                end_ns = inner.end_ns
            assert not outer.inside or end_ns == outer.end_ns


@pytest.mark.parametrize("domain", DOMAINS)
def test_slices_take_as_long_as_the_domain_says(domain: str, content: Content, results: hostnet.Results) -> None:
    lengths = [found.end_ns - found.begin_ns for found in content.all_slices() if found.name == domain]
    row = results.domains[domain]
    assert len(lengths) == row["lines"] > 20
    assert sum(lengths) / len(lengths) == pytest.approx(row["latency_mean_ns"], abs=0.5)


@pytest.mark.parametrize(
    "queue", ["LFB", "CHA TOR", "RPQ", "WPQ", "P2M-Write", "P2M-Read", "PCIe posted", "PCIe non-posted"]
)
def test_counters_have_the_means_of_the_run(queue: str, content: Content, results: hostnet.Results) -> None:
    found = content.of_counter(queue)
    means = []
    for points in found:
        assert points[0][0] == 5000
        assert [time for time, _ in points] == sorted({time for time, _ in points})
        ends = [time for time, _ in points[1:]] + [25000]
        means.append(sum(value * (end - time) for (time, value), end in zip(points, ends, strict=True)) / 20000)
    assert sum(means) == pytest.approx(results.domains[queue]["in_use_mean"], rel=1e-9)


def test_tracks_have_the_names_of_parts_and_entries(content: Content) -> None:
    roots = {name for track, name in content.names.items() if track not in content.parents}
    assert roots == {"core 0", "core 1", "core 6", "core 7", "CHA", "IIO", "channel 0", "channel 1", "ssd 0", "ssd 1"}
    paths = {f"{content.names[parent]}/{content.names[track]}" for track, parent in content.parents.items()}
    order = sorted(
        (track for track in content.ranks if parent_name(content, track) == "core 0"), key=content.ranks.__getitem__
    )
    assert [content.names[track] for track in order] == ["LFB", *(f"LFB entry {entry}" for entry in range(12))]
    assert {"core 0/LFB", "core 0/LFB entry 0", "CHA/CHA TOR entry 0", "channel 1/WPQ"} <= paths


def test_slices_say_what_they_are_of(content: Content) -> None:
    slices = content.all_slices()
    assert {found.category for found in slices} == {"stream", "disk"}
    assert all(set(found.arguments) == {"channel", "bank", "row", "column"} for found in slices)
    flows = defaultdict(list)
    for found in slices:
        flows[found.flows[0]].append(found.name)
    pairs = {tuple(sorted(names)) for names in flows.values() if len(names) > 1}
    assert pairs == {
        ("C2M-Read", "CHA->DRAM read"),
        ("C2M-Write", "CHA->MC write"),
        ("CHA->DRAM read", "P2M-Read"),
        ("CHA->MC write", "P2M-Write"),
    }


def test_a_trace_is_saved_with_the_run(results: hostnet.Results, tmp_path: Path) -> None:
    path = results.save(tmp_path / "run")
    assert (path / "trace.pftrace").read_bytes() == results.trace


def test_a_long_trace_stays_small(tmp_path: Path) -> None:
    long = tmp_path / "long.toml"
    long.write_text(MIXED.replace("20 us", "400 us").replace('"0-1"', '"0-5"'))
    trace = hostnet.run(long, trace="400 us").trace
    assert trace is not None
    assert 5e6 < len(trace) < 50e6


@pytest.mark.parametrize("wrong", ["", "20", "0 us", "-1 us", "soon"])
def test_a_wrong_length_is_refused(file: Path, wrong: str) -> None:
    with pytest.raises(hostnet.ConfigError, match="trace"):
        hostnet.run(file, trace=wrong)
