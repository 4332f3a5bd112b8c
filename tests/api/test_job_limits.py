"""Doubling the speed of the limit that is named for a job makes the job faster, or the limit is unknown."""

from __future__ import annotations

from random import Random

import pytest

from tests.limits import Content, assert_named_limits_help

KINDS = ["allreduce"] * 4 + ["allgather", "alltoall", "broadcast"]
ALGORITHMS = ["ring", "recursive-doubling", "halving-doubling", "tree", "aggregator", "hierarchical", "in-network"]
PARTS = ["forward", "backward", "copy", "update"]
OTHERS = frozenset({"timeouts", "losses", "marks"})
"""Limits that no change of a key relieves."""


def any_job(random: Random) -> Content:
    """Returns a job of endpoints, and its network."""
    job: Content = {"kind": random.choice(KINDS), "hosts": "h", "iterations": random.choice([1, 3])}
    job |= {"bytes": f"{random.choice([1, 16, 256, 1000])} kB"}
    host: Content = {"kind": "endpoint", "count": random.choice([2, 3, 4, 5, 8])}
    host |= {"latency": f"{random.choice([0.5, 3, 20])} us"}
    network: Content = {"rate": f"{random.choice([1, 10, 40, 100])} Gbps", "switch": {"latency": "500 ns"}}
    network |= {"latency": f"{random.choice([0.2, 1, 20])} us", "mtu": f"{random.choice([1500, 4096, 9000])} B"}
    if job["kind"] == "allreduce":
        job["algorithm"] = random.choice(ALGORITHMS)
    if job.get("algorithm") == "in-network":
        network["switch"]["sum"] = f"{random.choice([1, 10, 100])} Gbps"
    elif job["kind"] == "allreduce" and random.random() < 0.4:
        job["sum"] = f"{random.choice([0.2, 1, 10])} GB/s"
    if job["kind"] == "allreduce" and random.random() < 0.4:
        # An accelerator that continues while its results are exchanged.
        job["compute"] = {part: f"{random.choice([5, 50, 500, 2000])} us" for part in random.sample(PARTS, 2)}
        job["bucket"] = f"{random.choice([1, 16, 256])} kB"
    elif random.random() < 0.5:
        job["compute"] = f"{random.choice([5, 50, 500])} us"
    job["transport"] = random.choice(["dctcp", "reno", "cubic", "roce"])
    if job["transport"] != "roce" and random.random() < 0.4:
        job["socket_rate"] = f"{random.choice([2, 8, 30])} Gbps"
    elif job["transport"] != "roce" and job.get("algorithm") != "in-network" and random.random() < 0.4:
        job["compress"] = True
        host["compress"] = {"clock": f"{random.choice([25, 100, 400])} MHz", "ratio": random.choice([2, 8])}
    return {"host": {"h": host}, "network": network, "job": {"j": job}, "run": {"until": "jobs"}}


def scale(table: Content, key: str, factor: float) -> None:
    """Scales a value, if it is present."""
    if isinstance(table.get(key), dict):
        for part in table[key]:
            scale(table[key], part, factor)
    elif key in table:
        number, unit = table[key].split()
        table[key] = f"{float(number) * factor:g} {unit}"


def quicker(content: Content, limit: str) -> bool:
    """Doubles the speed of the named limit. Returns false if no change relieves it."""
    host, network, job = content["host"]["h"], content["network"], content["job"]["j"]
    changes: dict[str, list[tuple[Content, str, float]]] = {
        "cable": [(network, "rate", 2)],
        "latency": [(table, "latency", 0.5) for table in (host, network, network["switch"])],
        "compute": [(job, "compute", 0.5), (job, "sum", 2)],
        "rank cores": [(job, "socket_rate", 2), (job, "compute", 0.5), (job, "sum", 2)],
        "compression": [(host.get("compress", {}), "clock", 2)],
        "switch sums": [(network["switch"], "sum", 2)],
    }
    for change in changes.get(limit, []):
        scale(*change)
    return limit in changes


def test_what_limits_a_job_helps_or_is_not_known() -> None:
    assert_named_limits_help(any_job, quicker, seed=1, count=120, others=OTHERS, named=0.6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_what_limits_any_job_helps_or_is_not_known(seed: int) -> None:
    assert_named_limits_help(any_job, quicker, seed=seed, count=120, others=OTHERS, named=0.6)
