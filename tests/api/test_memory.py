"""The memory system on its own, from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hostnet
from tests.support import raises_code


def test_a_result_knows_what_is_asked_for_first() -> None:
    result = hostnet.memory(traffic="random", reads=0.5, load=0.6, requests=20_000, profile="ramulator")
    assert result.complete
    assert result.bandwidth_gb_per_s == pytest.approx(0.6 * result.peak_gb_per_s, rel=0.05)
    latency, arrival = result.read_latency, result.read_latency_from_arrival
    assert latency.mean_ns is not None
    assert arrival.mean_ns is not None
    assert latency.p50_ns is not None
    assert latency.p99_ns is not None
    assert latency.max_ns is not None
    assert latency.p50_ns <= latency.p99_ns <= latency.max_ns
    assert latency.mean_ns < arrival.mean_ns
    assert latency.count == arrival.count == result.summary["requests"]["reads"]
    assert result.write_residence.count > 0
    assert set(result.commands) == {"ACT", "PRE", "RD", "WR", "REF", "REFSB"}
    assert result.rows["hits"] + result.rows["misses"] + result.rows["conflicts"] > 0
    assert len(result.channels) == 1
    assert repr(result).startswith("<MemoryResult 20000 requests, 1")


def test_a_result_is_json() -> None:
    result = hostnet.memory(requests=1000)
    content = json.loads(json.dumps(result.to_dict()))
    assert content["speed"]["requests_per_s"] > 0
    assert content["result_hash"] == result.result_hash
    assert result.read_latency_from_arrival == hostnet.Latency(0, None, None, None, None)


def test_one_read_at_a_time_takes_what_the_timing_says() -> None:
    result = hostnet.memory(
        device="DDR4_2933",
        requests=1000,
        outstanding=1,
        profile="ramulator",
        settings={"memory.controller.refresh": "off"},
    )
    conflict_ns = (21 + 21 + 21 + 4) * 7.5 / 11
    assert result.read_latency.p50_ns == pytest.approx(conflict_ns, rel=1 / 64)


def test_settings_reach_every_key() -> None:
    result = hostnet.memory(requests=1000, channels=6, map="intel", settings={"memory.controller.wpq.entries": 64})
    assert result.summary["config"]["memory"]["controller"]["wpq"]["entries"] == 64
    assert len(result.channels) == 6
    assert sum(row["reads"] for row in result.channels) == result.commands["RD"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reads": 1.1}, "out-of-range | hostnet.memory | traffic.reads | 1.1"),
        ({"device": "DDR9"}, 'unknown-name | memory.device | "DDR9"'),
        ({"trace": "a", "traffic": "random"}, "conflicting-keys"),
        ({"settings": {"memory.x": 1}}, "unknown-key | memory.x"),
        ({"settings": {"memory.device.x": 1}, "device": "HBM2E"}, "wrong-type"),
        ({"trace": "nowhere.trace"}, "file-not-found | nowhere.trace"),
        ({"load": float("nan")}, "wrong-type | hostnet.memory"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with raises_code(message):
        hostnet.memory(**arguments)


def test_progress_can_stop_a_run(tmp_path: Path) -> None:
    seen = []

    def stop(status: dict[str, Any]) -> bool:
        seen.append(status)
        return False

    out = tmp_path / "commands.csv"
    result = hostnet.memory(requests=10**9, commands=out, progress=stop)
    assert not result.complete
    assert set(seen[0]) == {"phase", "progress", "requests", "simulated_ps"}
    assert "stopped" in repr(result)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_stops_a_run() -> None:
    def fail(_: dict[str, Any]) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hostnet.memory(requests=10**9, progress=fail)


@pytest.mark.parametrize("name", ["commands.csv", "commands.csv.gz", "commands.csv.zst"])
def test_commands_are_written_and_checked(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    result = hostnet.memory(device="DDR5_4800", requests=2000, warmup=0, reads=0.5, commands=out)
    assert list(tmp_path.iterdir()) == [out]
    found = hostnet.check_commands(out, device="DDR5_4800")
    assert found.clean
    assert found.commands > result.commands["RD"] + result.commands["WR"]
    assert (found.line, found.rule, found.message, found.pair, found.missing_clocks) == (None,) * 5
    slow = hostnet.check_commands(out, device="DDR5_4800", settings={"memory.dram.timing.rcd": 50}, all=True)
    assert not slow.clean
    assert slow.rule == "tRCD"
    assert slow.line is not None
    assert slow.missing_clocks is not None
    assert slow.missing_clocks > 0
    assert dict(slow.counts)["tRCD"] > 1


def test_the_schema_and_the_profiles_are_told() -> None:
    schema = json.loads(hostnet._core.memory_schema())
    assert set(schema["properties"]) == {"memory", "traffic", "trace", "run"}
    assert hostnet._core.profiles() == ["intel", "intel-lone", "ramulator"]
