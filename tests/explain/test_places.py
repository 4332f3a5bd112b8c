"""What is of one place only says so: a socket of several, a channel, a slice."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hostnet
from hostnet.explain import explain_results, page_text
from hostnet.explain.buses import bus_text
from hostnet.explain.page import Page
from hostnet.pools import label_of, place_in_words, pool_at, rows_by_place, with_directions
from hostnet.report.explanation import pictures
from hostnet.running.results import Results


def run(seed: int, cores: str, memory: str) -> Results:
    """A stream on some cores of two sockets."""
    draw = random.Random(seed)
    load = {"kind": "stream", "cores": cores, "reads": draw.choice([1.0, 0.5]), "memory": memory}
    length = {"duration": "30 us", "warmup": "20 us", "seed": seed}
    config: dict[str, Any] = {"server": {"preset": "skylake-8160"}, "workload": {"load": load}, "run": length}
    return hostnet.run(config)


def explained(seed: int, cores: str, memory: str) -> Page:
    """The page of such a run."""
    return explain_results(run(seed, cores, memory))


@pytest.mark.parametrize(("seed", "memory"), [(1, "local"), (2, "node:0"), (3, "node:1")])
def test_what_is_of_one_socket_names_it(seed: int, memory: str) -> None:
    page = explained(seed, "0-47", memory)
    (row,) = page.explanation["workloads"]
    pool = pool_at(row, row["domain"])
    assert pool is not None
    told = " ".join(page_text(page).split())
    assert f"{pool['domain']} on {pool['place']}, where it is fullest: {pool['credits']:.0f}" in told
    assert f"ns in LFB on {pool['place']}" in told
    assert f"on {pool['place']} come from" in "".join(str(card) for card in pictures(page.as_dict()))


def test_what_uses_one_socket_names_none() -> None:
    page = explained(1, "0-23", "local")
    (row,) = page.explanation["workloads"]
    pool = pool_at(row, row["domain"])
    assert pool is not None
    assert pool.get("place") is None
    assert "where it is fullest" not in page_text(page)


def test_pools_between_sockets_are_called_by_the_way_that_their_messages_go() -> None:
    summary = run(2, "0-47", "node:0").summary
    moved = {label_of(row): row["throughput_gb_per_s"] for row in rows_by_place(summary) if row["workload"] == "all"}
    ways = {f"socket {way['from']} to {way['to']}": way["line_gb_per_s"] for way in summary["upi"]}
    assert len(ways) == 2
    assert max(ways.values()) > 1.0
    for way, lines in ways.items():
        # Lines go as the data of reads, and with write-backs.
        with_data = [moved[label] for label in (f"UPI data, {way}", f"UPI write-back, {way}") if label in moved]
        assert sum(with_data) == pytest.approx(lines, rel=0.05, abs=0.1)
    assert not any("upi" in label for label in moved)


@pytest.mark.parametrize("domain", ["UPI request", "UPI write-back", "UPI snoop", "UPI data", "UPI answer", "UPI link"])
def test_sentences_call_places_between_sockets_as_tables_do(domain: str) -> None:
    told = with_directions(f"load may be limited by {domain} (at upi 1-0, 98 % used; not known for sure)")
    assert place_in_words(domain, "upi 1-0") in told
    assert "upi 1-0" not in told
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
    assert bus_text({**row, "binding": ["C2M-Read"]}, page.together.channels) is None
    assert bus_text(row, ()) is None
