"""What is of one place only says so: a socket of several, a channel, a slice."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hostnet
from hostnet.explain import explain_results, page_text
from hostnet.explain.page import Page
from hostnet.pools import pool_at
from hostnet.report.explanation import pictures


def explained(seed: int, cores: str, memory: str) -> Page:
    """The page of a stream on some cores of two sockets."""
    draw = random.Random(seed)
    load = {"kind": "stream", "cores": cores, "reads": draw.choice([1.0, 0.5]), "memory": memory}
    run = {"duration": "30 us", "warmup": "20 us", "seed": seed}
    config: dict[str, Any] = {"server": {"preset": "skylake-8160"}, "workload": {"load": load}, "run": run}
    return explain_results(hostnet.run(config))


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
