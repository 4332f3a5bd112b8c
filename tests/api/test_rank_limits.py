"""Doubling the named limit of a rank that computes on a server makes its job faster."""

from __future__ import annotations

from random import Random

import pytest

from tests.limits import Content, assert_named_limits_help


def any_job(random: Random) -> Content:
    """Returns ranks on two servers that compute and exchange messages; other workloads may use their memory."""
    work: Content = {"instructions": random.choice([10_000, 100_000, 1_000_000])}
    what = random.choice(["reads", "copies", "gathers", "both"])
    if what != "gathers":
        work["reads"] = f"{random.choice([1, 4])} MB"
    if what == "copies":
        work["writes"] = f"{random.choice([1, 4])} MB"
    if what in ("gathers", "both"):
        work |= {"gathers": random.choice([1_000, 10_000]), "gather_set": "256 MB"}
    host: Content = {"preset": "cascade-lake-hostcc", "count": 2, "cache": {"enabled": True}}
    host["memory"] = {"channels": random.choice([1, 2])}
    host["core"] = {"lfb": {"entries": random.choice([4, 10, 20])}, "rob": random.choice([64, 224])}
    if random.random() < 0.6:
        host["workload"] = {"other": {"kind": "stream", "cores": f"1-{random.choice([1, 2, 4])}"}}
    steps = [work, {"to": 1, "send": "1 kB", "from": 1, "receive": "1 kB"}]
    job = {"kind": "program", "hosts": "n", "cores": "0", "steps": steps, "iterations": 2}
    return {"host": {"n": host}, "network": {"rate": "100 Gbps"}, "job": {"j": job}, "run": {"until": "jobs"}}


def quicker(content: Content, limit: str) -> bool:
    """Doubles the named limit. Returns false if no change relieves it."""
    host, work = content["host"]["n"], content["job"]["j"]["steps"][0]
    changes: dict[str, tuple[Content, str, float]] = {
        "LFB": (host["core"]["lfb"], "entries", 2),
        "reorder window": (host["core"], "rob", 2),
        "memory bandwidth": (host["memory"], "channels", 2),
        "rank cores": (work, "instructions", 0.5),
    }
    if limit not in changes:
        return False
    table, key, factor = changes[limit]
    table[key] = int(table[key] * factor)
    return True


def test_what_limits_a_rank_helps_or_is_not_known() -> None:
    assert_named_limits_help(any_job, quicker, seed=1, count=2, named=0.5)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
def test_what_limits_any_rank_helps_or_is_not_known(seed: int) -> None:
    assert_named_limits_help(any_job, quicker, seed=seed, count=40, named=0.5)
