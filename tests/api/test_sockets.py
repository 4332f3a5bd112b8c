"""Servers of several sockets in the Python API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import Config, Run, Server, Socket, Sockets, Ssd, Stream, Upi
from hostnet.explanation import explain_results
from hostnet.server_view import domain_table
from hostnet.system.host import Cha, Tor
from tests.support import raises_code

RUN = Run(duration="60 us", warmup="20 us")


def run(memory: str, **parts: Any) -> hostnet.Results:
    server, stream = Server(preset="broadwell-r730"), Stream(cores="14-17", memory=memory, reads=0.5)
    return hostnet.run(Config(server=server, workload={"stream": stream}, run=RUN, **parts))


def test_lines_of_another_socket_cross() -> None:
    upi = Sockets(snoop="directory")
    local, foreign = run("local", upi=upi), run("node:0", upi=upi)
    rows = foreign.domains
    assert rows["CHA->UPI"]["lines"] > 0
    assert rows["UPI data"]["throughput_gb_per_s"] > 0
    assert not local.domains.get("CHA->UPI", {"lines": 0})["lines"]
    assert foreign.workloads["stream"]["latency_mean_ns"] > local.workloads["stream"]["latency_mean_ns"] + 2 * 28
    moved = [foreign.channels[number]["read_gb_per_s"] > 0 for number in range(8)]
    assert moved == [True] * 4 + [False] * 4, "the memory of socket 0 is used"


def test_swapped_sockets_mirror_each_other() -> None:
    first = hostnet.run(
        Config(
            server=Server(preset="broadwell-r730"),
            workload={"stream": Stream(cores="0-3", memory="node:1", reads=0.5)},
            run=RUN,
        )
    )
    second = run("node:0")
    one, other = (result.workloads["stream"]["throughput_gb_per_s"] for result in (first, second))
    assert one == pytest.approx(other, rel=0.05)


def test_a_socket_of_its_own() -> None:
    results = run("local", socket={"1": Socket(ssd=Ssd(count=3))}, upi=Sockets(links=1))
    effective = json.loads(results.plan.effective_json())
    assert effective["socket"]["1"]["ssd"]["count"] == 3
    assert effective["upi"]["links"] == 1


def test_nothing_is_claimed_of_what_would_help() -> None:
    results = run("node:0")
    with raises_code("not-supported"):
        hostnet.predict(Config.from_dict(json.loads(results.plan.effective_json())))
    page = explain_results(results).with_steps()
    assert page.steps is None
    assert any("several sockets" in note for note in page.notes)
    assert results.workloads["stream"]["limited_by"].endswith(" ?")


def test_a_starved_way_is_named_and_not_who_waits_for_it() -> None:
    starved = run("node:0", upi=Sockets(link=Upi(data_credits=1)))
    assert (
        starved.workloads["stream"]["throughput_gb_per_s"]
        < 0.5 * run("node:0").workloads["stream"]["throughput_gb_per_s"]
    )
    assert starved.workloads["stream"]["limited_by"] == "UPI data ?"
    assert run("local").workloads["stream"]["limited_by"] != "UPI data ?"
    unasked = run("local", upi=Sockets(link=Upi(request_credits=1)))
    assert unasked.workloads["stream"]["throughput_gb_per_s"] < 5
    assert unasked.workloads["stream"]["limited_by"] == "UPI request ?", "it waits for snoops"


def test_what_crosses_is_told_of_each_direction() -> None:
    results = run("node:0")
    sent, rows = results.upi, results.domains
    assert sorted(sent) == [(0, 1), (1, 0)]
    assert run("local", upi=Sockets(snoop="directory")).upi[0, 1]["messages"] == 0
    snooped = run("local").upi
    assert all(row["messages"] > 1000 and row["lines"] == 0 for row in snooped.values()), "the home asks, nobody has it"
    window_ns = results.summary["window_ns"]
    for row in sent.values():
        bytes_ = row["lines"] * 72 + (row["messages"] - row["lines"]) * 8
        assert row["gb_per_s"] == pytest.approx(bytes_ / window_ns)
        assert row["busy_share"] == pytest.approx(row["gb_per_s"] / (2 * 19.2))
        assert row["line_gb_per_s"] == pytest.approx(row["lines"] * 64 / window_ns)
    asked = sent[1, 0]["messages"] - sent[1, 0]["lines"]
    ended = {"UPI data": sent[0, 1]["lines"], "UPI write-back": sent[1, 0]["lines"], "UPI request": asked}
    for domain, begun in ended.items():
        assert begun == pytest.approx(rows[domain]["lines"], abs=rows[domain]["capacity"])
    parts = {row["part"] for row in results.rows("domains") if row["domain"] == "UPI data"}
    assert parts == {"all", "upi 0-1", "upi 1-0"}
    assert results.rows("upi") == list(sent.values())


def test_a_server_of_one_socket_has_no_ways() -> None:
    config = Config(server=Server(preset="cascade-lake-6234"), workload={"s": Stream(cores="0")}, run=RUN)
    results = hostnet.run(config)
    assert results.upi == {}
    assert "upi" not in results.tables


def test_runs_of_several_sockets_can_be_compared(tmp_path: Path) -> None:
    upi = Sockets(snoop="directory")
    local, foreign = (
        run(memory, upi=upi).save(tmp_path / name) for memory, name in (("local", "local"), ("node:0", "foreign"))
    )
    assert hostnet.compare(local, local, rerun=False).identical
    found = hostnet.compare(local, foreign, rerun=False).results
    (sent,) = (row for row in found if (row.subject, row.column) == ("UPI 0 to 1", "busy_share"))
    assert (sent.a, sent.b > 0.1) == (0.0, True)


def test_pools_are_shown_at_their_socket() -> None:
    results = run("local", cha=Cha(tor=Tor(entries=2)))
    whole = results.domains["CHA TOR"]
    (own,) = (row for row in results.summary["places"] if (row["domain"], row["workload"]) == ("CHA TOR", "all"))
    assert (own["part"], own["capacity"]) == ("socket 1", whole["capacity"] / 2)
    assert own["in_use_mean"] == pytest.approx(whole["in_use_mean"])
    assert [row["part"] for row in domain_table(results.summary).rows if row["domain"] == "CHA TOR"] == ["socket 1"]
