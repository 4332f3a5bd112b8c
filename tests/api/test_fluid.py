"""A server whose memory is a fluid model, from Python: its calibration runs are reported, and can be stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.explanation.page import explain_run
from tests.support import raises_code

CLUSTER: dict[str, Any] = {
    "host": {
        "receiver": {"preset": "cascade-lake-hostcc", "fidelity": "fluid"},
        "sender": {"kind": "endpoint"},
    },
    "flow": {"bulk": {"kind": "bulk", "from": "sender", "to": "receiver"}},
    "run": {"warmup": "100 us", "duration": "1 ms"},
}


def test_rates_come_before_the_run_and_say_how_far_they_are() -> None:
    told: list[dict[str, Any]] = []
    results = hostnet.run_cluster(CLUSTER, progress=told.append)
    assert results.complete
    rates = [status for status in told if "points" in status]
    assert rates
    assert all(status["phase"] == "rates of the memory" and status["events"] == 0 for status in rates)
    assert [status["progress"] for status in rates] == sorted(status["progress"] for status in rates)
    assert told[: len(rates)] == rates


def test_stopped_before_the_run_there_is_nothing_to_keep() -> None:
    with pytest.raises(KeyboardInterrupt):
        hostnet.run_cluster(CLUSTER, progress=lambda _: False)


def test_tables_are_kept_in_the_folder_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcome(folder: str) -> tuple[str, bool]:
        told: list[dict[str, Any]] = []
        monkeypatch.setenv("HOSTNET_CACHE_DIR", folder)
        results = hostnet.run_cluster(CLUSTER, seed=7, progress=told.append)
        return results.result_hash, any("points" in status for status in told)

    expected, measured = outcome("")
    assert measured
    cache = tmp_path / "cache"
    assert outcome(str(cache)) == (expected, True)
    (table,) = (path for path in cache.rglob("*") if path.is_file())
    assert outcome(str(cache)) == (expected, False)
    # Another process knows the folder alone; what is damaged it measures anew, and replaces.
    for content in (table.read_bytes(), b"damaged"):
        table.write_bytes(content)
        script = (
            "import hostnet, json, sys; told = [];"
            "results = hostnet.run_cluster(json.load(sys.stdin), seed=7, progress=told.append);"
            "print(results.result_hash, any('points' in status for status in told))"
        )
        command = [sys.executable, "-c", script]
        ran = subprocess.run(command, input=json.dumps(CLUSTER), capture_output=True, text=True, check=True)
        assert ran.stdout.split() == [expected, str(content == b"damaged")]


def test_what_lines_would_tell_is_not_said_of_a_memory_of_rates(tmp_path: Path) -> None:
    results = hostnet.run_cluster(CLUSTER)
    server = results.summary["servers"]["receiver"]
    assert not {"counters", "binding", "regime", "limits"} & set(server)
    assert results.summary["memory"][0]["gb_per_s"] > 0
    place = results.save(tmp_path / "run")
    with raises_code("needs-line-fidelity | host.receiver.fidelity") as refused:
        explain_run(place)
    assert "damaged" not in str(refused.value)


def test_workloads_of_a_fluid_server_have_the_rates_of_its_memory() -> None:
    config = {**CLUSTER, "run": {"warmup": "100 us", "duration": "200 us"}}
    receiver = {**config["host"]["receiver"], "workload": {"c": {"kind": "stream", "cores": "0-3"}}}
    config["host"] = {**config["host"], "receiver": receiver}
    results = hostnet.run_cluster(config)
    of_server = results.summary["servers"]["receiver"]
    moved = {row["workload"]: row for row in results.summary["memory"]}
    measured_by_lines = ("throughput_gb_per_s", "throughput_ci95", "lines", "limited_by", "latency_mean_ns")
    for row in of_server["workloads"]:
        for name in ("read_gb_per_s", "write_gb_per_s"):
            assert row[name] == moved[row["workload"]][name]
        assert {row[name] for name in measured_by_lines} == {None}
    assert moved["c"]["read_gb_per_s"] > 10
    assert of_server["channels"] == []
    assert "lines" not in of_server
