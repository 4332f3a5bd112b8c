"""The headline, the table of raises and a prediction of the raised server agree on one channel."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hostnet
from hostnet.explanation import explain_results

RAISE = 1.25
"""Factor of the raise whose gain a headline claims."""

NEAR = 0.02
"""Tolerance between two predictions of one raise; a smaller gain counts as none."""


def one_channel(seed: int) -> dict[str, Any]:
    """Returns a few cores and drives that share a channel."""
    draw = random.Random(seed)
    rw, block = draw.choice(["read", "write", "randread", "randrw"]), draw.choice(["4 KiB", "64 KiB", "256 KiB"])
    drives = range(draw.randint(1, 4))
    jobs = [{"rw": rw, "bs": block, "iodepth": 64, "size": "1 GiB", "ssd": drive} for drive in drives]
    stream = {"kind": "stream", "cores": f"0-{draw.randint(3, 5)}", "reads": draw.choice([1.0, 0.5, 0.0])}
    return {
        "server": {"preset": "cascade-lake-6234"},
        "memory": {"channels": 1},
        "workload": {"w": stream, "f": {"kind": "fio", "cores": "6-7", "jobs": jobs}},
        "run": {"duration": "20 us", "warmup": "10 us", "seed": seed},
    }


def check(seed: int, *, confirm: bool) -> int:
    """Asserts that the gains of the headline are those of the table. Returns the number of refuted gains."""
    page = explain_results(hostnet.run(one_channel(seed))).with_steps(confirm=confirm)
    assert page.steps is not None
    told = {step.path: step for step in page.steps.steps if step.factor == RAISE}
    refuted = 0
    for row in page.explanation["workloads"]:
        name = row["workload"]
        for gain in row["limits"]["gains"]:
            if (step := told.get(gain["key"])) is None or not step.gains:
                continue
            assert gain["gain"] == pytest.approx(step.gains[name], abs=NEAR), (seed, name, gain, step)
        first = next(iter(row["limits"]["gains"]), None)
        if confirm and first is not None and not row["doubtful"] and (step := told.get(first["key"])) is not None:
            sure, noise = (step.confirmed or {}).get(name, 0.0), (step.noise or {}).get(name, 0.0)
            refuted += first["gain"] >= NEAR and sure + noise < NEAR
    return refuted


@pytest.mark.parametrize("seed", range(2))
def test_the_headline_claims_what_the_table_says(seed: int) -> None:
    check(seed, confirm=False)


@pytest.mark.long
def test_of_300_servers_every_headline_claims_what_the_table_says() -> None:
    for seed in range(300):
        check(seed, confirm=False)


@pytest.mark.long
def test_no_headline_survives_a_simulation_that_refutes_it() -> None:
    assert sum(check(seed, confirm=True) for seed in range(100)) == 0
