"""Tables of single ranks, steps, requests and ports agree with the tables that sum them up."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import hostnet
from hostnet import Cluster, Flow, Host, Job, Network, Run
from tests.docs.reference import documented

Rows = list[dict[str, Any]]


def job(count: int = 4, ranks_per_host: int = 1) -> hostnet.ClusterResults:
    """Runs an all-reduce of some ranks."""
    hosts = {"worker": Host(kind="endpoint", count=count)}
    train = Job(
        kind="allreduce", hosts="worker", bytes="1 MB", iterations=2, compute="50 us", ranks_per_host=ranks_per_host
    )
    network, run = Network(mtu="9000 B"), Run(until="jobs")
    return hostnet.run_cluster(Cluster(host=hosts, network=network, job={"train": train}, run=run))


@pytest.fixture(scope="module")
def trained() -> hostnet.ClusterResults:
    return job()


def test_steps_of_a_rank_follow_each_other_until_it_is_done(trained: hostnet.ClusterResults) -> None:
    steps: dict[int, Rows] = defaultdict(list)
    for row in trained.rows("timeline"):
        times = [row[f"{name}_us"] for name in ("began", "computed", "written", "received", "ended")]
        assert times == sorted(times)
        steps[row["rank"]].append(row)
    for rank in trained.rows("ranks"):
        own = steps[rank["rank"]]
        assert len(own) == rank["steps"]
        assert [row["began_us"] for row in own[1:]] == [row["ended_us"] for row in own[:-1]]
        assert own[-1]["ended_us"] == rank["done_us"]
        compute = sum(row["computed_us"] - row["began_us"] for row in own)
        assert compute == pytest.approx(rank["compute_us"])
        assert own[-1]["ended_us"] - own[0]["began_us"] - compute == pytest.approx(rank["communication_us"])


def test_pieces_of_the_critical_path_are_the_path(trained: hostnet.ClusterResults) -> None:
    pieces = trained.rows("path_pieces")
    assert [row["from_us"] for row in pieces[1:]] == [row["to_us"] for row in pieces[:-1]]
    row = trained.jobs["train"]
    assert (pieces[0]["from_us"], pieces[-1]["to_us"]) == (pytest.approx(row["began_us"], abs=1e-5), row["done_us"])
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for piece in pieces:
        sums[piece["step"], piece["does"], piece["limit"]] += piece["to_us"] - piece["from_us"]
    path = {(row["step"], row["does"], row["limit"]): row["time_us"] for row in trained.summary["path"]}
    assert path == pytest.approx(dict(sums))
    of_ranks: dict[int, float] = defaultdict(float)
    for piece in pieces:
        of_ranks[piece["from_rank"]] += piece["to_us"] - piece["from_us"]
    assert {row["rank"]: row["path_us"] for row in trained.rows("ranks")} == pytest.approx(of_ranks)


def test_of_many_ranks_the_timeline_has_the_slowest_and_those_on_the_critical_path() -> None:
    results = job(count=10, ranks_per_host=10)
    shown = {row["rank"] for row in results.rows("timeline")}
    ranks = results.rows("ranks")
    assert len(ranks) == 100
    assert 32 <= len(shown) <= 97
    assert results.jobs["train"]["slowest_rank"] in shown
    by_path = sorted(ranks, key=lambda row: -row["path_us"])
    assert {row["rank"] for row in by_path[:20]} <= shown


def test_the_histogram_has_all_requests_and_their_percentiles() -> None:
    hosts = {"e": Host(kind="endpoint", count=2)}
    flow = Flow(kind="rpc", from_="e-0", to="e-1", request="1 kB", response="1 kB", in_flight=8)
    results = hostnet.run_cluster(Cluster(host=hosts, flow={"f": flow}, run=Run(warmup="10 us", duration="2 ms")))
    rows, (row,) = results.rows("latency_histogram"), results.summary["latencies"]
    values = [value["latency_us"] for value in rows]
    assert values == sorted(values)
    assert sum(value["requests"] for value in rows) == row["count"]
    seen, share = 0, {}
    for value in rows:
        seen += value["requests"]
        share[value["latency_us"]] = seen / row["count"]
    for name, wanted in (("p50_us", 0.5), ("p99_us", 0.99)):
        assert row[name] == next(latency for latency, reached in share.items() if reached >= wanted)


@pytest.mark.parametrize("senders", [2, 12])
def test_ports_that_overflow_have_a_row(senders: int) -> None:
    hosts = {"sender": Host(kind="endpoint", count=senders), "receiver": Host(kind="endpoint")}
    flow = Flow(kind="bulk", from_="sender", to="receiver", bytes="200 kB", transport="reno")
    network = Network(rate="10 Gbps", switch=hostnet.Switch(buffer="40 kB" if senders > 2 else "16 MB"))
    cluster = Cluster(host=hosts, network=network, flow={"f": flow}, run=Run(warmup="0 us", duration="2 ms"))
    results = hostnet.run_cluster(cluster)
    lost = results.summary["classes"][0]["fabric_dropped"]
    drops = results.rows("drops") if "drops" in results.table_names else []
    assert bool(lost) == bool(drops) == (senders > 2)
    assert sum(row["dropped_packets"] for row in drops) == lost
    assert {(row["place"], row["to"]) for row in drops} <= {("tor", "receiver")}
    if drops:
        assert list(documented("clusters.md", "### drops")) == results.tables["drops"].column_names


@pytest.mark.parametrize("table", ["ranks", "timeline", "path_pieces"])
def test_columns_of_jobs_are_documented(trained: hostnet.ClusterResults, table: str) -> None:
    assert list(documented("jobs.md", f"### {table}")) == trained.tables[table].column_names
