"""Results of a run of a memory system without a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hostnet import _core
from hostnet.summary_results import SummaryResults

NO_LATENCY: dict[str, Any] = {"count": 0, "mean_ns": None, "p50_ns": None, "p99_ns": None, "max_ns": None}


@dataclass(frozen=True)
class Latency:
    """Statistics of a latency over the measured requests, in ns; None where there are no requests."""

    count: int
    """Number of requests."""
    mean_ns: float | None
    """Exact mean, in ns."""
    p50_ns: float | None
    """Median, in ns; percentiles and maximum are accurate to 1/64."""
    p99_ns: float | None
    """99th percentile, in ns."""
    max_ns: float | None
    """Maximum, in ns."""


@dataclass(frozen=True)
class MemoryResult(SummaryResults):
    """Results of a run of a memory system without a server.

    Equal configurations give bit-identical results, except `wall_s`, `cpu_s` and values derived from them.
    """

    native: _core.MemoryRunResult = field(repr=False)
    """Results of the Rust core."""
    wall_s: float
    """Duration of the run, in s."""
    cpu_s: float
    """Processor time of the whole process during the run, in s."""

    @property
    def bandwidth_gb_per_s(self) -> float | None:
        """Bandwidth of the measured requests, in GB/s; None if undefined.

        It is 64 B per request accepted after the warm-up, over the time between the first and the last of them.
        """
        rate: float | None = self.summary["bandwidth"]["gb_per_s"]
        return rate

    @property
    def peak_gb_per_s(self) -> float:
        """Peak bandwidth of the data buses of all channels, in GB/s."""
        return float(self.summary["memory"]["peak_gb_per_s"])

    @property
    def read_latency(self) -> Latency:
        """Latency of reads, from acceptance by the controller to the last data."""
        return self._latency("read_from_acceptance")

    @property
    def read_latency_from_arrival(self) -> Latency:
        """Latency of reads, from arrival at the source to the last data.

        Its values are None if requests have no time of arrival.
        """
        return self._latency("read_from_arrival")

    @property
    def write_residence(self) -> Latency:
        """Time of writes in the write queue."""
        return self._latency("write_residence")

    @property
    def rows(self) -> dict[str, Any]:
        """Row hits, misses and conflicts, their shares, and activations per request."""
        return dict(self.summary["rows"])

    @property
    def commands(self) -> dict[str, int]:
        """Number of DRAM commands, by name."""
        return dict(self.summary["commands"])

    @property
    def channels(self) -> list[dict[str, Any]]:
        """Statistics of each channel or subchannel."""
        return list(self.summary["channels"])

    @property
    def requests_per_s(self) -> float:
        """Requests simulated per second of wall-clock time."""
        return self.native.requests / max(self.wall_s, 1e-9)

    @property
    def requests_per_cpu_s(self) -> float:
        """Requests simulated per second of processor time."""
        return self.native.requests / max(self.cpu_s, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Returns the summary and the speed of the run, ready for JSON."""
        speed = {
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "requests_per_s": self.requests_per_s,
            "requests_per_cpu_s": self.requests_per_cpu_s,
        }
        return {**self.summary, "speed": speed}

    def __repr__(self) -> str:
        """Returns the most important results in one line."""
        shown = [f"{self.native.requests} requests"]
        if self.bandwidth_gb_per_s is not None:
            shown.append(f"{self.bandwidth_gb_per_s:.2f} GB/s")
        if self.read_latency.mean_ns is not None:
            shown.append(f"reads {self.read_latency.mean_ns:.1f} ns")
        if not self.complete:
            shown.append("stopped")
        return f"<MemoryResult {', '.join(shown)}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: bandwidth, latencies, and outcomes of accesses to rows."""
        from hostnet.report.notebook.alone import memory_block

        return memory_block(self.summary)

    def _latency(self, name: str) -> Latency:
        """Returns the statistics of a latency in the summary."""
        return Latency(**(self.summary["latency"][name] or NO_LATENCY))
