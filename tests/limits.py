"""Makes jobs faster at their named limit."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from hostnet import run_cluster

Content = dict[str, Any]

LEAST = 0.04
"""Minimum relative speed-up of a job."""


def assert_named_limits_help(
    any_job: Callable[[Random], Content],
    quicker: Callable[[Content, str], bool],
    *,
    seed: int,
    count: int,
    others: frozenset[str] = frozenset(),
    named: float,
) -> None:
    """Asserts for a number of jobs "j" that doubling the speed of the named limit makes them faster.

    `quicker` changes a configuration; it returns false if no change relieves the limit: it is unknown, or in `others`.
    At least a share of `named` of the jobs must have a limit that a change relieves.
    """
    random, found = Random(seed), 0
    for _ in range(count):
        content = any_job(random)
        before = run_cluster(content)
        (limit,) = (row for row in before.summary["limits"] if row["class"] == "j")
        changed = deepcopy(content)
        if not quicker(changed, limit["limit"]):
            assert limit["limit"] in {"not known", *others}, limit
            continue
        found += 1
        took, then = (results.jobs["j"]["iteration_us"] for results in (before, run_cluster(changed)))
        assert then < (1 - LEAST) * took, f"{limit}: {took} us, then {then} us of {content}"
    assert found >= named * count
