"""What the rows of a sweep are of, and what is shown of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

SUBJECTS = {
    "workload": {"GB/s": "throughput_gb_per_s", "latency ns": "latency_mean_ns", "P99": "latency_p99_ns"},
    "class": {"Gbps": "goodput_gbps", "NIC drops %": "nic_drop_percent", "mean us": "mean_us", "P99": "p99_us"},
    "op": {
        "GB/s": "application_gb_per_s",
        "NoC GB/s": "noc_gb_per_s",
        "cycles": "latency_mean_cycles",
        "P99": "latency_p99_cycles",
    },
}
"""The column that names what a row is of (a workload, a class, a chip), and the headings and columns that are shown."""


def subject_of(columns: Collection[str]) -> str:
    """The column that names what the rows of a table with these columns are of."""
    return next((subject for subject in SUBJECTS if subject in columns), "workload")
