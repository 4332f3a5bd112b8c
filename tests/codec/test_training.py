"""Workers that train with compressed gradients: replicas stay equal, and accuracy is as without compression."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from examples import train_compressed as example
from hostnet import codec
from tests.docs.reference import ROOT
from tests.support import HANG_S


class Row(NamedTuple):
    """A row of the example: a way to exchange gradients."""

    right: float
    alike: bool
    rest: str


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    """Returns the rows of the example, run as a process because it sets the number of threads of NumPy."""
    command = [sys.executable, str(ROOT / "examples/train_compressed.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=True)
    found = re.findall(r"^(.+?) +([\d.]+) % right, replicas (\w+) ?(.*)$", done.stdout, re.MULTILINE)
    return {name: Row(float(right), alike == "alike", rest) for name, right, alike, rest in found}


@pytest.mark.parametrize("workers", [2, 3, 4, 7])
def test_a_ring_without_loss_sums_up(workers: int) -> None:
    gradients = [np.arange(worker, worker + 23, dtype=np.float32) for worker in range(workers)]
    for total in example.ring_sum(gradients, lambda values: values):
        assert total.tolist() == np.sum(gradients, axis=0).tolist()


@pytest.mark.parametrize("mode", codec.MODES)
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_every_worker_of_a_ring_has_the_same_bits(workers: int, mode: str) -> None:
    draw = np.random.default_rng(workers)
    gradients = [draw.normal(0, 0.01, 103).astype("float32") for _ in range(workers)]
    for bound in range(1, 16):
        first, *others = example.ring_sum(gradients, example.Link(bound, mode))
        assert all(other.tobytes() == first.tobytes() for other in others)
        errors: Any = np.abs(first - np.sum(gradients, axis=0))
        # Each of the hops of the reduction adds at most one error, and so does the distribution.
        worst = 2.0**-7 if mode == "thesis" else 0.0
        assert errors.max() <= workers * max(2.0**-bound, worst) + 1e-6


@pytest.mark.long
def test_replicas_are_alike_after_every_step(rows: dict[str, Row]) -> None:
    assert list(rows) == ["as they are", "thesis 2^-10", "bounded 2^-10", "nearest 2^-8", "with feedback"]
    assert all(row.alike for row in rows.values())


@pytest.mark.long
def test_with_the_bound_kept_as_much_is_learned(rows: dict[str, Row]) -> None:
    plain = rows["as they are"].right
    assert plain > 45
    assert rows["bounded 2^-10"].right > plain - 1
    # Accuracy also varies by half a percent with the drawn batches.
    assert rows["nearest 2^-8"].right > plain - 2
    assert rows["with feedback"].right > plain - 2


@pytest.mark.long
def test_the_published_classes_cost_accuracy_and_the_others_bytes(rows: dict[str, Row]) -> None:
    assert rows["thesis 2^-10"].right < rows["bounded 2^-10"].right
    ratios = {name: float(re.findall(r"ratio ([\d.]+)", row.rest)[0]) for name, row in rows.items() if "2^" in name}
    assert ratios["thesis 2^-10"] > ratios["nearest 2^-8"] > ratios["bounded 2^-10"] > 2
