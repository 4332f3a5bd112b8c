"""`hostnet run --trace`."""

from __future__ import annotations

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from tests.support import Cli, assert_tells, read_json


def times_of(data: bytes) -> list[int]:
    return [packet.timestamp for packet in Trace.FromString(data).packet if packet.HasField("track_event")]


def test_a_trace_comes_on_request_and_changes_nothing(cli: Cli) -> None:
    plain, traced = cli.run(), cli.run("--trace")
    assert not (plain / "trace.pftrace").exists()
    times_ns = times_of((traced / "trace.pftrace").read_bytes())
    assert 20_000 < max(times_ns) <= 25_000
    hashes = [read_json(run / "manifest.json")["result_hash"] for run in (plain, traced)]
    assert hashes[0] == hashes[1]
    assert (plain / "epochs.parquet").read_bytes() == (traced / "epochs.parquet").read_bytes()


def test_the_window_says_how_long_it_is(cli: Cli) -> None:
    run = cli.run("--trace", "--trace-window", "3 us")
    times_ns = times_of((run / "trace.pftrace").read_bytes())
    assert 7_000 < max(times_ns) <= 8_000
    assert 4_000 < min(times_ns) <= 5_000


def test_options_that_make_no_sense_are_refused(cli: Cli) -> None:
    assert_tells(cli.fails("run", cli.file, "--trace-window", "3 us"), "requires-key | --trace-window")
    assert_tells(cli.fails("run", cli.file, "--trace", "--trace-window", "long"), "bad-unit | --trace-window")
    assert_tells(cli.fails("run", cli.file, "--trace", "--seeds", "2"), "conflicting-keys | --seeds")


PING = """\
host.a = { preset = "netdimm-host", count = 2 }
network = { topology = "direct", rate = "40 Gbps" }
flow.ping = { kind = "datagram", pattern = "ping", from = "a-0", to = "a-1", request = "1 kB" }
run = { warmup = "10 us", duration = "60 us" }
"""


def test_stages_of_datagrams_tile_their_slices(cli: Cli) -> None:
    cli.file.write_text(PING, encoding="utf-8")
    plain, traced = cli.run(), cli.run("--trace", "--trace-window", "50 us", "--host", "a-1")
    assert (plain / "epochs.parquet").read_bytes() == (traced / "epochs.parquet").read_bytes()
    trace = Trace.FromString((traced / "trace.pftrace").read_bytes())
    names = {name.iid: name.name for packet in trace.packet for name in packet.interned_data.event_names}
    tracks = {p.track_descriptor.uuid: p.track_descriptor.name for p in trace.packet if p.HasField("track_descriptor")}
    assert "datagrams of ping" in tracks.values()
    open_since: dict[int, list[tuple[str, int]]] = {}
    whole, parts = [], 0
    for packet in (packet for packet in trace.packet if packet.HasField("track_event")):
        event = packet.track_event
        if not tracks[event.track_uuid].startswith("datagram "):
            continue
        stack = open_since.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((names[event.name_iid], packet.timestamp))
        else:
            name, since = stack.pop()
            took = packet.timestamp - since
            parts += took if name != "datagram" else 0
            whole += [took] if name == "datagram" else []
    assert len(whole) > 5
    assert parts == sum(whole), "stages lie one after the other within their datagram"
    stages = read_json(traced / "summary.json")["stages"]
    mean_ns = 1000 * next(row["mean_us"] for row in stages if row["stage"] == "all" and row["way"] == "there")
    assert abs(sum(whole) / len(whole) - mean_ns) < 0.05 * mean_ns
