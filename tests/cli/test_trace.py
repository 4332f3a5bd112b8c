"""`hostnet run --trace`."""

from __future__ import annotations

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from tests.support import Cli, read_json


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
    assert "--trace-window" in cli.fails("run", cli.file, "--trace-window", "3 us")
    assert "--trace-window" in cli.fails("run", cli.file, "--trace", "--trace-window", "long")
    assert "--seeds" in cli.fails("run", cli.file, "--trace", "--seeds", "2")
