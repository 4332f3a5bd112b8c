"""Random servers and clusters give the same results however they are run and observed."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from hostnet import _core
from hostnet.running import simulate
from hostnet.running.results import Source
from tests.api import cached_servers, random_servers
from tests.api.test_contested_cables import cluster

SHORT = {"duration": "60 us", "warmup": "30 us"}
PS_PER_US = 1_000_000


def config_of(seed: int) -> dict[str, Any]:
    """Returns a cluster, a server or a server with caches, round robin."""
    if seed % 3 == 0:
        content = cluster(random.Random(seed))
    else:
        content = random_servers.server(seed) if seed % 3 == 1 else cached_servers.cached_server(seed)
    return {**content, "run": {**SHORT, "seed": seed}}


def plan_of(seed: int) -> tuple[_core.Plan, Source]:
    source = Source(json.dumps(config_of(seed)), "json", "random", ".", ())
    return simulate.resolve(source), source


def hash_of(seed: int) -> str:
    return _core.run(plan_of(seed)[0]).result_hash


def sockets_of(plan: _core.Plan, host: str | None) -> int:
    """Returns the number of sockets of a server: traces support only one."""
    config = json.loads(plan.effective_json())
    server = (config if host is None else config["host"][host]).get("server") or {}
    return int(server.get("sockets") or 1)


def ways_of(seed: int) -> dict[str, str]:
    """Returns the hash of the results by the way in which they were computed."""
    plan, source = plan_of(seed)
    first = plan.servers[0] if plan.servers else None
    looked_at = {} if plan.is_cluster and first is None else {"counters_ps": 10 * PS_PER_US}
    if looked_at and sockets_of(plan, first) == 1:
        looked_at["trace_ps"] = 5 * PS_PER_US
    kept: list[bytes] = []
    parts: dict[str, bytes] = {}

    def keep(name: str | None, _: int, content: bytes) -> None:
        if name is None:
            kept.append(content)
        else:
            parts[name] = content

    def run(**ways: Any) -> str:
        return simulate.run_plan(plan, source, **ways).result_hash

    hashes = {
        "plain": run(),
        "two threads": run(threads=2),
        "looked at": run(series_ps=5 * PS_PER_US, host=first if looked_at else None, **looked_at),
        "keeps a checkpoint": run(checkpoint_at_ps=50 * PS_PER_US, on_checkpoint=keep),
    }
    index = parts.pop("index", None)
    if kept or index is not None:
        begun: dict[str, Any] = {"checkpoint": index or kept[0], "records": list(parts.values())}
        hashes["goes on from it"] = run(**begun)
        hashes["goes on with two threads"] = run(threads=2, **begun)
    return hashes


def assert_alike(seeds: Sequence[int]) -> None:
    hashes = {seed: ways_of(seed) for seed in seeds}
    # A new process, so that no state of earlier runs remains.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as elsewhere:
        for seed, found in zip(seeds, elsewhere.map(hash_of, seeds), strict=True):
            hashes[seed]["another process"] = found
    assert all("goes on from it" in ways for ways in hashes.values())
    assert {seed: ways for seed, ways in hashes.items() if len(set(ways.values())) != 1} == {}


def test_random_configurations_have_one_result() -> None:
    assert_alike(range(3))


@pytest.mark.long
def test_many_random_configurations_have_one_result() -> None:
    assert_alike(range(3, 120))
