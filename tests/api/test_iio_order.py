"""Writes that may not pass each other hold their IIO entries longer."""

from __future__ import annotations

import tomllib

import hostnet
from tests.support import QUADRANT


def test_writes_in_order_wait_for_the_slowest_before_them() -> None:
    stores = ["workload.stream.reads=0.0", "workload.stream.cores=0-3"]
    free, ordered = (
        hostnet.run(tomllib.loads(QUADRANT), overrides=[*stores, f"iio.relaxed_ordering={word}"]).domains["P2M-Write"]
        for word in ("true", "false")
    )
    assert ordered["latency_mean_ns"] > free["latency_mean_ns"] + 1
