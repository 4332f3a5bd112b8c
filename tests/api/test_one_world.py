"""A server is a cluster of one host: both offer the same results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.counters import write
from hostnet.explanation import explain_file, explain_results, explain_run
from hostnet.running import simulate
from hostnet.running.run_dir import manifest
from tests.support import raises_code

TRACE = Path(__file__).parents[2] / "examples" / "traces" / "redis-get.lackey.xz"

SERVER: dict[str, Any] = {
    "server": {"preset": "cascade-lake-6234"},
    "workload": {"stream": {"kind": "stream", "cores": "0-1", "reads": 0.5}},
    "run": {"warmup": "5 us", "duration": "30 us"},
}


def cluster(**receiver: Any) -> dict[str, Any]:
    """Returns two flows into a server, with a stream on its idle cores."""
    stream = {"kind": "stream", "cores": "6-7", "reads": 0.5}
    host = {"preset": "cascade-lake-hostcc", "workload": {"stream": stream}, **receiver}
    return {
        "host": {"receiver": host, "sender": {"kind": "endpoint", "latency": "1 us"}},
        "network": {"rate": "100 Gbps", "latency": "1 us", "mtu": "4000 B"},
        "flow": {"bulk": {"kind": "bulk", "from": "sender", "to": "receiver", "count": 2}},
        "run": {"warmup": "100 us", "duration": "150 us", "name": "pair"},
    }


@pytest.fixture(scope="module")
def results() -> hostnet.Results:
    return hostnet.run(cluster(), series="50 us")


def test_a_dict_a_file_and_its_description_are_the_same_run(tmp_path: Path) -> None:
    file = tmp_path / "server.json"
    file.write_text(json.dumps(SERVER))
    hashes = {hostnet.run(given).result_hash for given in (SERVER, file, hostnet.Config.from_dict(SERVER))}
    assert len(hashes) == 1
    assert hostnet.run_cluster is hostnet.run


def test_overrides_hold_for_servers() -> None:
    assert hostnet.run(SERVER, overrides=["memory.channels=4"]).channels.keys() == {-1, 0, 1, 2, 3}


def test_servers_of_a_cluster_have_what_a_server_alone_has(results: hostnet.Results) -> None:
    server = results.server("receiver")
    assert set(server.workloads) == {"stream", "bulk"}
    assert server.workloads["bulk"]["kind"] == "network"
    assert server.domains["LFB"]["in_use_ci95"] is not None
    assert results.workloads == server.workloads, "it is the only server"
    assert results.tables["workloads"].column_names[:2] == ["host", "workload"]
    assert {"stream", "bulk"} <= set(results.tables["host_series"]["subject"].to_pylist())


def test_a_server_that_is_not_there_is_told(results: hostnet.Results) -> None:
    with raises_code('does-not-exist | "reciever" | "receiver"'):
        results.server("reciever")
    with raises_code("no-effect"):
        hostnet.run(SERVER, trace="1 us", host="receiver")


def test_a_core_of_a_cluster_replays_a_trace() -> None:
    replay = {"kind": "app", "app": "trace", "file": str(TRACE), "cores": "7"}
    found = hostnet.run(cluster(cache={"enabled": True}, workload={"replay": replay}))
    assert found.workloads["replay"]["operations"] > 10_000, "it goes on beyond the first steps"


def test_counters_and_trace_are_of_one_server(results: hostnet.Results, tmp_path: Path) -> None:
    looked = hostnet.run(cluster(), counters="50 us", trace="5 us", host="receiver")
    assert looked.trace is not None
    assert b"bulk" in looked.trace
    assert looked.result_hash == results.result_hash, "looking changes nothing"
    write(looked, tmp_path / "counters.csv", form="perf")
    assert (tmp_path / "counters.csv").stat().st_size > 1000


def test_a_server_of_a_cluster_is_explained(results: hostnet.Results, tmp_path: Path) -> None:
    page = explain_results(results)
    assert {row["workload"] for row in page.explanation["workloads"]} >= {"stream", "bulk"}
    saved = results.save(tmp_path / "run")
    assert explain_run(saved).explanation == page.explanation
    assert (saved / "servers" / "receiver" / "explanation.txt").read_text()
    fluid = tmp_path / "fluid.json"
    fluid.write_text(json.dumps(cluster(fidelity="burst")))
    with raises_code("needs-line-fidelity | host.receiver.fidelity"):
        explain_file(fluid)


def test_what_an_explanation_cannot_tell_apart_is_said() -> None:
    load = {"kind": "remote", "sockets": "0", "reads": 0.5}
    notes = explain_results(hostnet.run(cluster(workload={"mapp": load}))).notes
    assert any("at UPI are not broken out" in note for note in notes)
    alone = explain_results(hostnet.run(SERVER)).notes
    assert not any("UPI" in note or "NIC" in note for note in alone)


def test_runs_of_clusters_are_compared(results: hostnet.Results, tmp_path: Path) -> None:
    saved = results.save(tmp_path / "run")
    assert hostnet.compare(saved, cluster()).identical
    other = cluster()
    other["flow"]["bulk"]["count"] = 1
    found = hostnet.compare(saved, other)
    assert found.results[0].table == "classes"
    assert found.events is not None
    assert found.events["outcome"] == "diverged"
    assert any(
        "sender" in event["part"] or "receiver" in event["part"] or "endpoint" in event["part"]
        for event in found.events["a"]
    )


def test_epochs_of_a_cluster_do_not_depend_on_threads(results: hostnet.Results) -> None:
    threaded = hostnet.run(cluster(), threads=2)
    assert threaded.result_hash == results.result_hash
    assert threaded.epochs.equals(results.epochs)
    assert results.epochs.num_rows > 10
    assert manifest(threaded)["threads"] == 2
    assert manifest(threaded)["pending_events_max"] > 0


def test_a_cluster_is_swept() -> None:
    over: dict[str, Any] = {"flow.bulk.count": [1, 2], "host.receiver.workload.stream.reads": [0.0, 1.0]}
    found = hostnet.sweep(cluster(), over, seeds=2)
    rows = found.table.to_pylist()
    assert len(rows) == 8
    assert {row["class"] for row in rows} == {"bulk"}
    assert len({row["result_hash"] for row in rows}) == 8
    assert {"host", "in_use_mean"} <= set(found.domains.column_names)


def test_predictions_of_clusters_are_refused() -> None:
    with raises_code("not-supported"):
        hostnet.predict(cluster())


def test_a_checkpoint_comes_at_its_time() -> None:
    source = simulate.source_of(cluster())
    plan = simulate.resolve(source)
    kept: list[bytes] = []

    def stop(_: dict[str, Any]) -> bool:
        return not kept

    def keep(_name: str | None, _at_ps: int, content: bytes) -> None:
        kept.append(content)

    stopped = simulate.run_plan(plan, source, checkpoint_at_ps=120 * 10**6, on_checkpoint=keep, progress=stop)
    assert len(kept) == 1, "it is there although the run may have been stopped after it"
    whole = simulate.run_plan(plan, source)
    assert simulate.run_plan(plan, source, checkpoint=kept[0]).result_hash == whole.result_hash
    assert stopped.plan.hash == whole.plan.hash
