"""A server whose memory has rates, from Python: measuring them is told of, and can be stopped."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet

CLUSTER: dict[str, Any] = {
    "host": {
        "receiver": {"preset": "cascade-lake-hostcc", "fidelity": "fluid"},
        "sender": {"kind": "endpoint"},
    },
    "flow": {"bulk": {"kind": "bulk", "from": "sender", "to": "receiver"}},
    "run": {"warmup": "100 us", "duration": "1 ms"},
}


def test_rates_come_before_the_run_and_say_how_far_they_are() -> None:
    told: list[dict[str, Any]] = []
    results = hostnet.run_cluster(CLUSTER, progress=told.append)
    assert results.complete
    rates = [status for status in told if "points" in status]
    assert rates
    assert all(status["phase"] == "rates of the memory" and status["events"] == 0 for status in rates)
    assert [status["progress"] for status in rates] == sorted(status["progress"] for status in rates)
    assert told[: len(rates)] == rates


def test_stopped_before_the_run_there_is_nothing_to_keep() -> None:
    with pytest.raises(KeyboardInterrupt):
        hostnet.run_cluster(CLUSTER, progress=lambda _: False)
