"""Displays of results in an interpreter and in a notebook."""

from __future__ import annotations

import re

import pytest

import hostnet
from hostnet import Cluster, Config, Flow, Host, Run, Server, Stream
from hostnet.report.brief import NAMED_MAX
from hostnet.report.notebook.block import ROWS_MAX
from tests.report.outputs import shown

RUN = Run(name="<b>&", duration="20 us", warmup="5 us")
STREAM = Stream(cores="0-1")
SERVER = Config(server=Server(preset="cascade-lake-6234"), workload={"stream": STREAM}, run=RUN)


@pytest.fixture(scope="module")
def results() -> hostnet.Results:
    return hostnet.run(SERVER)


@pytest.fixture(scope="module")
def cluster() -> hostnet.ClusterResults:
    hosts = {"a": Host(kind="endpoint"), "b": Host(kind="endpoint")}
    bulk = Flow(kind="bulk", from_="a", to="b")
    flows = {"bulk": bulk, "ask": Flow(kind="rpc", from_="a", to="b", request="1 kB")}
    return hostnet.run_cluster(Cluster(host=hosts, flow=flows, run=RUN))


def test_a_run_is_a_line(results: hostnet.Results, cluster: hostnet.ClusterResults) -> None:
    rate = results.workloads["stream"]["throughput_gb_per_s"]
    assert repr(results) == f"<Results <b>&, seed 1: stream {rate:.1f} GB/s>"
    assert re.fullmatch(r"<Results <b>&, seed 1: ask [\d.]+ Gbps, bulk [\d.]+ Gbps>", repr(cluster))
    assert "predicted: stream" in repr(hostnet.predict(SERVER))


def test_many_workloads_are_counted() -> None:
    streams = {f"s{core}": Stream(cores=[core]) for core in range(NAMED_MAX + 2)}
    many = Config(server=SERVER.server, workload=streams, run=Run(duration="1 us", warmup="1 us"))
    assert repr(hostnet.run(many)).endswith("GB/s, 2 more>")


def test_a_run_that_was_stopped_says_so() -> None:
    long = Config(server=SERVER.server, workload=SERVER.workload, run=Run(duration="1 s"))
    stopped = hostnet.run(long, progress=lambda _: False)
    assert "seed 1, stopped: stream" in repr(stopped)
    assert any("stopped before its end" in item for item in shown(stopped).items)
    assert stopped.notes[0].startswith("stopped before its end")


def test_a_notebook_shows_workloads_limits_and_notes(results: hostnet.Results) -> None:
    page = shown(results)
    ((head, row),) = page.tables
    assert head[0] == "workload"
    assert (row[0], row[-1]) == ("stream", results.workloads["stream"]["limited_by"])
    assert float(row[1].split()[0]) == pytest.approx(results.workloads["stream"]["throughput_gb_per_s"], rel=0.01)
    assert {*results.notes, *results.summary["regime"]["evidence"]} <= set(page.items)
    assert all(limit in page.text for limit in results.summary["limits"])
    assert page.classes.count("host") == 1, "the picture of the host"
    assert "&lt;b&gt;&amp;" in results._repr_html_()


def test_a_notebook_shows_what_is_not_validated() -> None:
    other = hostnet.run(Config(server=Server(preset="ice-lake-8362"), workload=SERVER.workload, run=RUN))
    assert other.summary["unvalidated"] in shown(other).items


def test_a_notebook_shows_classes_and_requests(cluster: hostnet.ClusterResults) -> None:
    page = shown(cluster)
    traffic, requests = page.tables
    assert all(row["why"] in page.text for row in cluster.summary["limits"])
    assert [row[0] for row in traffic] == ["class", "ask", "bulk"]
    assert [row[0] for row in requests] == ["class", "ask"]
    assert page.items[-len(cluster.notes) :] == cluster.notes


def test_a_notebook_shows_a_prediction() -> None:
    predicted = hostnet.predict(SERVER)
    assert "in 95 of 100 servers" in shown(predicted).text
    assert shown(predicted).tables[0][1][0] == "stream"


def test_a_sweep_is_a_line_and_a_table() -> None:
    swept = hostnet.sweep(SERVER, {"memory.channels": [2, 4]}, seeds=2, engine="run")
    assert repr(swept) == "<SweepResults <b>&: 4 points simulated: 2 x memory.channels, 2 seeds>"
    head, *rows = shown(swept).tables[-1]
    assert head[:3] == ["memory.channels", "seed", "workload"]
    assert [row[:3] for row in rows] == [[str(n), str(seed), "stream"] for n in (2, 4) for seed in (1, 2)]
    assert swept.to_polars().to_dict(as_series=False) == swept.table.to_pydict()


def test_a_long_sweep_is_cut() -> None:
    swept = hostnet.sweep(SERVER, ["core.lfb.entries=4..44"], engine="predict")
    page = shown(swept)
    assert len(page.tables[-1]) == 1 + ROWS_MAX
    assert "1 more row is in the table" in page.text
