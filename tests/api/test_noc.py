"""The network on a chip on its own, from Python."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import hostnet
from tests.support import raises_code

SHORT: dict[str, Any] = {"cycles": 3000, "warmup": 1000}


def test_a_result_knows_what_is_asked_for_first() -> None:
    result = hostnet.noc(traffic="uniform", rate=0.3, **SHORT)
    assert result.complete
    assert result.offered == pytest.approx(0.3, rel=0.02)
    assert result.accepted == pytest.approx(result.offered, rel=0.01)
    assert result.saturated is False
    assert result.bound == pytest.approx(0.5)
    latency, alone = result.latency, result.zero_load_cycles
    assert latency.mean_cycles is not None
    assert alone is not None
    assert alone < latency.mean_cycles < 1.5 * alone
    assert latency.mean_ns == pytest.approx(latency.mean_cycles / 2), "2 GHz"
    steps = latency.percentiles_cycles
    assert steps is not None
    assert steps == sorted(steps)
    assert (len(steps), steps[50], steps[99], steps[100]) == (
        101,
        latency.p50_cycles,
        latency.p99_cycles,
        latency.max_cycles,
    )
    assert repr(result).startswith(f"<NocResult {result.accepted:.4f} of {result.offered:.4f} flits/node/cycle, ")


def test_flits_are_conserved_on_every_link_of_a_run_that_drains() -> None:
    """Flits over links between routers, divided by flits that arrived, is the mean number of links per packet."""
    result = hostnet.noc(rate=0.1, packet_flits=4, warmup=0, settings={"run.drain": 10_000}, cycles=5000)
    assert result.summary["packets"]["drained"]
    between = sum(row["flits"] for row in result.links if not row["to_node"])
    home = sum(row["flits"] for row in result.links if row["to_node"])
    assert between / home == pytest.approx(result.summary["packets"]["links_mean"], rel=0.01)
    assert result.accepted == pytest.approx(home / 64 / 5000, rel=0.01), "but for packets half of which has arrived"


def test_links_carry_what_their_routes_say() -> None:
    result = hostnet.noc(rate=0.2, cycles=50_000)
    for row in result.links:
        assert row["busy_share"] == pytest.approx(0.2 * row["load"], abs=0.012), row["link"]


def test_a_network_that_is_saturated_says_so() -> None:
    result = hostnet.noc(rate=0.9, **SHORT)
    assert result.saturated is True
    assert result.accepted is not None
    assert result.bound is not None
    assert result.accepted < result.bound
    spots = hostnet.noc(hotspots=[27], rate=0.1, **SHORT)
    assert spots.saturated is True
    assert spots.accepted == pytest.approx(1 / 64, rel=0.01), "one node takes a flit per cycle"
    assert spots.bound == pytest.approx(1 / 64)


@pytest.mark.parametrize("flits", [1, 5])
@pytest.mark.parametrize(("source", "column", "row"), [(0, 0, 0), (63, 7, 7), (27, 3, 3), (7, 7, 0)])
def test_a_packet_alone_takes_three_cycles_a_link(
    tmp_path: Path, source: int, column: int, row: int, flits: int
) -> None:
    trace = tmp_path / "alone.txt"
    trace.write_text("".join(f"{100 * node} {source} {node} {flits}\n" for node in range(64)))
    result = hostnet.noc(trace=trace)
    links = [abs(column - node % 8) + abs(row - node // 8) for node in range(64)]
    expected = [3 * count + 5 + flits - 1 for count in links]
    latency = result.latency
    assert latency.count == 64
    assert latency.mean_cycles == sum(expected) / 64 == result.zero_load_cycles
    assert latency.max_cycles == max(expected)
    assert latency.percentiles_cycles is not None
    assert latency.percentiles_cycles[0] == min(expected)
    assert result.summary["packets"]["links_mean"] == sum(links) / 64
    assert (result.bound, result.saturated) == (None, None)


def test_a_trace_may_be_compressed_and_have_classes(tmp_path: Path) -> None:
    lines = "# cycle source destination flits class\n0 0 5 1 1\n\n0 0x3f 2 5 0 # an answer\n7 3 4 2\n"
    plain, packed = tmp_path / "a.txt", tmp_path / "b.gz"
    plain.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    found = [hostnet.noc(trace=file, settings={"noc.classes": 2}) for file in (plain, packed)]
    assert found[0].result_hash == found[1].result_hash
    assert found[0].latency.count == 3
    with raises_code('malformed-file | a.txt:2 | "1" | 0 to 0'):
        hostnet.noc(trace=plain)


def test_equal_configurations_give_equal_results() -> None:
    first, second = (hostnet.noc(rate=0.3, routing="o1turn", **SHORT) for _ in range(2))
    assert first.summary == second.summary
    assert first.result_hash != hostnet.noc(rate=0.3, routing="o1turn", seed=2, **SHORT).result_hash


def test_a_result_is_json_and_its_configuration_runs_again() -> None:
    result = hostnet.noc(topology="ring", size="12", rate=0.05, **SHORT)
    content = json.loads(json.dumps(result.to_dict()))
    assert content["speed"]["flit_hops_per_s"] > 0
    again = hostnet._core.run_noc(hostnet._core.noc_plan(json.dumps(content["config"]), format="json"))
    assert again.result_hash == result.result_hash


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": 1.1}, "out-of-range | hostnet.noc | traffic.rate | 1.1"),
        ({"traffic": "unifrm"}, 'unknown-name | "uniform"'),
        ({"size": "8 by 8"}, "malformed-value"),
        ({"trace": "a", "traffic": "uniform"}, "conflicting-keys"),
        ({"trace": "nowhere.txt"}, "file-not-found | nowhere.txt"),
        ({"settings": {"noc.x": 1}}, "unknown-key | noc.x"),
        ({"hotspots": [64]}, "does-not-exist | traffic.hotspots | 64"),
        ({"hotspots": []}, "requires-key"),
        ({"rate": float("nan")}, "wrong-type | hostnet.noc"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with raises_code(message):
        hostnet.noc(**arguments)


def test_progress_can_stop_a_run() -> None:
    seen = []

    def stop(status: dict[str, Any]) -> bool:
        seen.append(status)
        return False

    result = hostnet.noc(cycles=10**9, progress=stop)
    assert not result.complete
    assert set(seen[0]) == {"phase", "progress", "packets", "cycles", "simulated_ps"}
    assert "stopped" in repr(result)
    assert result.saturated is None


def test_an_exception_stops_a_run() -> None:
    def fail(_: dict[str, Any]) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hostnet.noc(cycles=10**9, progress=fail)
