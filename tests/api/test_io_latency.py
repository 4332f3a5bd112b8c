"""The latency of I/Os is that of a full queue, however short the warm-up."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from hostnet.cli.show_storage import queues_of, recommended_windows


def results_of(depth: int, duration: str) -> hostnet.Results:
    """Returns the results of a drive that reads blocks of 16 KiB with the given number of commands in flight."""
    job = {"rw": "read", "bs": "16 KiB", "iodepth": depth, "size": "1 GiB", "ssd": 0}
    config = {
        "server": {"preset": "cascade-lake-6234"},
        "workload": {"disk": {"kind": "fio", "cores": "0", "jobs": [job]}},
        "run": {"warmup": "1 us", "duration": duration},
    }
    return hostnet.run(config)


def disk(depth: int, duration: str) -> dict[str, Any]:
    """Returns the row of such a drive."""
    row: dict[str, Any] = results_of(depth, duration).summary["workloads"][0]
    return row


@pytest.mark.parametrize(("depth", "duration"), [(1, "3 ms"), (64, "2 ms")])
def test_latency_is_that_of_littles_law(depth: int, duration: str) -> None:
    row = disk(depth, duration)
    in_flight = row["io_latency_mean_ns"] * row["app_gb_per_s"] / (16 * 1024)
    assert in_flight == pytest.approx(depth, rel=0.02)


def test_the_first_commands_of_a_job_do_not_count() -> None:
    row = disk(128, "600 us")
    assert 100 < row["io_completed"] < 128 + 100
    assert row["io_latency_mean_ns"] is None


@pytest.mark.parametrize(("depth", "duration"), [(1, "100 us"), (128, "200 us"), (128, "600 us")])
def test_the_window_that_is_advised_tells_the_latency(depth: int, duration: str) -> None:
    short = results_of(depth, duration)
    row = short.summary["workloads"][0]
    (said,) = recommended_windows([row], short.summary["window_ns"], queues_of(short.plan))
    assert row["io_latency_mean_ns"] is None
    assert disk(depth, said.split('"')[1])["io_latency_mean_ns"] is not None
