"""Tables of a comparison of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.cluster_view import percentiles
from hostnet.stages import stage_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.attachments.place import PlacedRun

Row = dict[str, Any]

BUSY = ("core_softirq_share", "core_call_share", "core_copy_share", "core_stalled_share", "core_send_share")
"""Columns of a host whose sum is the busy share of its network cores."""


def stage_rows(placed: Sequence[PlacedRun]) -> list[Row]:
    """Returns a row per class, direction and place with the mean time of every stage, in us."""
    rows = [{"place": one.place, **way} for one in placed for way in stage_means(one.results.summary.get("stages", ()))]
    order = list(dict.fromkeys((row["class"], row["way"]) for row in rows))
    return sorted(rows, key=lambda row: order.index((row["class"], row["way"])))


def traffic_rows(placed: Sequence[PlacedRun]) -> list[Row]:
    """Returns a row per class and place: goodput, latency, memory traffic per packet, and limit."""
    rows = []
    for one in placed:
        summary = one.results.summary
        latencies = {row["class"]: row for row in summary["latencies"]}
        limits = {row["class"]: row for row in summary["limits"]}
        energies = {row["name"]: row for row in summary.get("efficiency", ())}
        for row in summary["classes"]:
            name = row["class"]
            latency = latencies.get(name, {})
            rows.append(
                {
                    "class": name,
                    "place": one.place,
                    "goodput_gbps": row["goodput_gbps"],
                    "mean_us": latency.get("mean_us"),
                    "p99_us": percentiles(latency).get("p99_us") if latency else None,
                    "requests": latency.get("count"),
                    "pj_per_byte": energies.get(name, {}).get("pj_per_byte"),
                    "nj_per_operation": energies.get(name, {}).get("nj_per_operation"),
                    "memory_bytes_per_packet": _memory_bytes(summary, name, row["sent_packets"]),
                    "limit": limits.get(name, {}).get("limit"),
                    "why": limits.get(name, {}).get("why"),
                }
            )
    order = list(dict.fromkeys(row["class"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row["class"]))


def host_rows(placed: Sequence[PlacedRun]) -> list[Row]:
    """Returns a row per server and place: traffic of PCIe or its replacement, memory, cores, power, other workloads."""
    rows = []
    for one in placed:
        summary = one.results.summary
        networks = {row["class"] for row in summary["classes"]}
        for row in summary["hosts"]:
            host = row["host"]
            workloads = summary["servers"].get(host, {}).get("workloads", ())
            others = [
                other for other in workloads if other["workload"] not in networks and other["throughput_gb_per_s"]
            ]
            bandwidth = sum(other["throughput_gb_per_s"] for other in others)
            rows.append(
                {
                    "host": host,
                    "place": one.place,
                    "in_gbps": row["iio_write_gbps"],
                    "out_gbps": row["iio_read_gbps"],
                    "memory_gb_per_s": sum(own["gb_per_s"] for own in summary["memory"] if own["host"] == host),
                    "busy_percent": 100 * sum(row[key] or 0.0 for key in BUSY),
                    "power_w": _power(summary, host),
                    "others_gb_per_s": bandwidth or None,
                    "others_latency_ns": _weighted(others, bandwidth),
                }
            )
    order = list(dict.fromkeys(row["host"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row["host"]))


def _power(summary: Row, host: str) -> float | None:
    """Returns the power of a server, in W; None without a meter."""
    rows = (row for row in summary.get("energy", ()) if row["host"] == host and row["part"] == "all")
    return next((row["power_w"] for row in rows), None)


def _weighted(others: Sequence[Row], bandwidth: float) -> float | None:
    """Returns the mean latency of the lines of several workloads; None without any."""
    measured = [row for row in others if row["latency_mean_ns"] is not None]
    return (
        sum(row["latency_mean_ns"] * row["throughput_gb_per_s"] for row in measured) / bandwidth if measured else None
    )


def _memory_bytes(summary: Row, name: str, packets: int) -> float | None:
    """Returns the bytes that a class moves to and from memory of all servers, per packet."""
    moved = sum(row["gb_per_s"] for row in summary["memory"] if row["workload"] == name)
    return moved * summary["window_ns"] / packets if packets else None
