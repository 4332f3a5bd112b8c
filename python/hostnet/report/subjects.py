"""Subjects of the rows of a sweep, and their shown columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

SUBJECTS = {
    "workload": {"GB/s": "throughput_gb_per_s", "latency ns": "latency_mean_ns", "P99": "latency_p99_ns"},
    "class": {"Gbps": "goodput_gbps", "NIC drops %": "nic_drop_percent", "mean µs": "mean_us", "P99": "p99_us"},
    "op": {
        "GB/s": "application_gb_per_s",
        "NoC GB/s": "noc_gb_per_s",
        "cycles": "latency_mean_cycles",
        "P99": "latency_p99_cycles",
    },
}
"""Column that names the subject of a row (a workload, a class, a chip), and the headings and columns to show."""


def subject_of(columns: Collection[str]) -> str:
    """Returns the column that names the subject of the rows of a table."""
    return next((subject for subject in SUBJECTS if subject in columns), "workload")
