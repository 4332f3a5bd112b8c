"""Limits of a single place name it: one socket of several, a channel, a slice."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.cli.show_server import print_run
from hostnet.explanation import explain_results, page_text
from hostnet.explanation.page import Page
from hostnet.pools import find_pool, with_directions
from hostnet.report import write_report
from hostnet.report.server import draw_explanation
from hostnet.running.results import Results
from hostnet.server_view import domain_table, link_table


def run(seed: int, cores: str, memory: str) -> Results:
    """Runs a stream on some cores of two sockets."""
    draw = random.Random(seed)
    load = {"kind": "stream", "cores": cores, "reads": draw.choice([1.0, 0.5]), "memory": memory}
    length = {"duration": "30 us", "warmup": "20 us", "seed": seed}
    config: dict[str, Any] = {"server": {"preset": "skylake-8160"}, "workload": {"load": load}, "run": length}
    return hostnet.run(config)


def explained(seed: int, cores: str, memory: str) -> Page:
    """Returns the page of such a run."""
    return explain_results(run(seed, cores, memory))


@pytest.mark.parametrize(("seed", "memory"), [(1, "local"), (2, "node:0"), (3, "node:1")])
def test_what_is_of_one_socket_names_it(seed: int, memory: str) -> None:
    page = explained(seed, "0-47", memory)
    (row,) = page.explanation["workloads"]
    pool = find_pool(row, row["domain"])
    assert pool is not None
    told = " ".join(page_text(page).split())
    assert f"{pool['domain']} on {pool['place']}, where it is fullest: {pool['credits']:.0f}" in told
    assert f"ns in LFB on {pool['place']}" in told
    assert f"on {pool['place']} come from" in (draw_explanation(page.as_dict()) or "")


def test_what_uses_one_socket_names_none() -> None:
    page = explained(1, "0-23", "local")
    (row,) = page.explanation["workloads"]
    pool = find_pool(row, row["domain"])
    assert pool is not None
    assert pool.get("place") is None
    assert "where it is fullest" not in page_text(page)


def test_pools_between_sockets_are_called_by_the_way_that_their_messages_go() -> None:
    summary = run(2, "0-47", "node:0").summary
    moved = {row["label"]: row.get("throughput_gb_per_s") or 0.0 for row in domain_table(summary).rows}
    ways = {f"socket {way['from']} to {way['to']}": way["line_gb_per_s"] for way in summary["upi"]}
    assert len(ways) == 2
    assert max(ways.values()) > 1.0
    for way, lines in ways.items():
        # Lines cross as data of reads, and with write-backs.
        with_data = [moved[label] for label in (f"UPI data, {way}", f"UPI write-back, {way}") if label in moved]
        assert sum(with_data) == pytest.approx(lines, rel=0.05, abs=0.1)
    assert not any("upi" in label for label in moved)


def four_sockets(*cores: str) -> Results:
    """Runs streams of socket 0 that read the memory of socket 1, on a server of four sockets."""
    load = [{"kind": "stream", "cores": own, "reads": 1.0, "memory": "node:1"} for own in cores]
    server = {"preset": "cascade-lake-6234", "sockets": 4}
    workloads = {f"load{number}": workload for number, workload in enumerate(load)}
    return hostnet.run({"server": server, "workload": workloads, "run": {"duration": "10 us", "warmup": "5 us"}})


def test_directions_without_traffic_share_a_line() -> None:
    results = four_sockets("0-1", "2")
    summary = results.summary
    links = link_table(summary).rows
    assert [link["direction"] for link in links] == ["socket 0 to 1", "socket 1 to 0", "10 other directions"]
    assert [link["idle"] for link in links] == [False, False, True]
    between = [row for row in summary["places"] if row["part"].startswith("upi ") and row["workload"] == "all"]
    told = [row["label"] for row in domain_table(summary).rows if str(row["domain"]).startswith("UPI")]
    assert len(between) == 24
    assert told == ["UPI request, socket 0 to 1", "UPI data, socket 1 to 0", "UPI, other directions"]


def test_screen_and_page_have_a_line_for_what_is_idle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = four_sockets("0-1")
    print_run(results.summary, None)
    screen = capsys.readouterr().out
    html = write_report(results.save(tmp_path / "run")).read_text(encoding="utf-8")
    assert re.search(r"^10 other directions +idle$", screen, re.MULTILINE)
    assert len(re.findall(r"^UPI, other directions +idle$", screen, re.MULTILINE)) == 1
    assert len(re.findall(r">[^<]*other directions<", html)) == 2
    # Two lines of directions; the channels of three sockets, two rows of idle channels, and all channels unfolded.
    assert html.count(">idle</td>") == 2 + (3 + 2) + 3


@pytest.mark.parametrize(("domain", "way"), [("UPI request", "1 to 0"), ("UPI link", "1 to 0"), ("UPI data", "0 to 1")])
def test_sentences_call_places_between_sockets_as_tables_do(domain: str, way: str) -> None:
    told = with_directions(f"load may be limited by {domain} (at upi 1-0, 98 % used; not known for sure)")
    assert f"(at socket {way}, 98 % used" in told
    assert with_directions("load is limited by CHA TOR (at socket 0)") == "load is limited by CHA TOR (at socket 0)"


def test_what_counts_as_used_stands_beside_the_busy_share_of_the_table() -> None:
    page = explained(1, "0-23", "local")
    (row,) = page.explanation["workloads"]
    assert row["binding"] == ["DRAM channel"]
    assert page.together is not None
    used, place = max(
        (stage["load"]["rate"]["used"], stage["place"]) for stage in row["stages"] if stage["limit"] == "DRAM channel"
    )
    busy = {f"channel {channel['channel']}": channel["bus_busy_share"] for channel in page.together.channels}[place]
    assert busy < 0.95 <= used
    assert f"bus of {place} {100 * busy:.0f} % of the time" in " ".join(page_text(page).split())


def test_a_wait_of_other_lines_for_admission_is_not_that_of_a_workload() -> None:
    """Lines of `far` wait for UPI at the CHA of the remote socket, where those of `near` do not."""
    streams = {"far": ("0-23", 1.0), "near": ("24-29", 0.5)}
    results = hostnet.run(
        {
            "server": {"preset": "skylake-8160", "sockets": 2},
            "workload": {
                name: {"kind": "stream", "cores": cores, "reads": reads, "memory": "node:1"}
                for name, (cores, reads) in streams.items()
            },
            "run": {"duration": "60 us", "warmup": "40 us"},
        }
    )
    rows = explain_results(results).explanation["workloads"]
    (latency,) = (row["latency"] for row in rows if row["workload"] == "near")
    assert latency["cha_admission_ns"] is None
    assert latency["unexplained_ns"] > -0.1 * latency["mean_ns"]
