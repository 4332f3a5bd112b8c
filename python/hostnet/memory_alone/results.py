"""What a run of the memory alone measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hostnet import _core
from hostnet.summarised import Summarised

NO_LATENCY: dict[str, Any] = {"count": 0, "mean_ns": None, "p50_ns": None, "p99_ns": None, "max_ns": None}


@dataclass(frozen=True)
class Latency:
    """A latency of the requests that were measured, in ns. Without requests there are no numbers."""

    count: int
    """Requests."""
    mean_ns: float | None
    """Exact mean."""
    p50_ns: float | None
    """Median; this and the next two to 1/64."""
    p99_ns: float | None
    """99th percentile."""
    max_ns: float | None
    """Largest."""


@dataclass(frozen=True)
class MemoryResult(Summarised):
    """What a run of the memory alone measured.

    Equal configurations give equal results, bit for bit, except `wall_s`, `cpu_s` and what follows from them.
    """

    native: _core.MemoryRunResult = field(repr=False)
    """The simulator's own results."""
    wall_s: float
    """Seconds that the run took."""
    cpu_s: float
    """Processor seconds of the whole process meanwhile."""

    @property
    def bandwidth_gb_per_s(self) -> float | None:
        """Requests accepted after the warm-up, times 64 B, over the time between the first and the last of them."""
        rate: float | None = self.summary["bandwidth"]["gb_per_s"]
        return rate

    @property
    def peak_gb_per_s(self) -> float:
        """What the data buses of all channels could carry."""
        return float(self.summary["memory"]["peak_gb_per_s"])

    @property
    def read_latency(self) -> Latency:
        """Of reads, from acceptance by the controller to the last data."""
        return self._latency("read_from_acceptance")

    @property
    def read_latency_from_arrival(self) -> Latency:
        """Of reads, from arrival at the source to the last data; nothing where requests have no time of arrival."""
        return self._latency("read_from_arrival")

    @property
    def write_residence(self) -> Latency:
        """Of writes, the time in the write queue."""
        return self._latency("write_residence")

    @property
    def rows(self) -> dict[str, Any]:
        """Row hits, misses and conflicts, their shares, and activations per request."""
        return dict(self.summary["rows"])

    @property
    def commands(self) -> dict[str, int]:
        """DRAM commands by name."""
        return dict(self.summary["commands"])

    @property
    def channels(self) -> list[dict[str, Any]]:
        """What each channel, or subchannel, did."""
        return list(self.summary["channels"])

    @property
    def requests_per_s(self) -> float:
        """Requests simulated per second of wall time."""
        return self.native.requests / max(self.wall_s, 1e-9)

    @property
    def requests_per_cpu_s(self) -> float:
        """Requests simulated per second of processor time."""
        return self.native.requests / max(self.cpu_s, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """The summary with the speed of the run, ready for JSON."""
        speed = {
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "requests_per_s": self.requests_per_s,
            "requests_per_cpu_s": self.requests_per_cpu_s,
        }
        return {**self.summary, "speed": speed}

    def __repr__(self) -> str:
        """The numbers that are asked for first."""
        shown = [f"{self.native.requests} requests"]
        if self.bandwidth_gb_per_s is not None:
            shown.append(f"{self.bandwidth_gb_per_s:.2f} GB/s")
        if self.read_latency.mean_ns is not None:
            shown.append(f"reads {self.read_latency.mean_ns:.1f} ns")
        if not self.complete:
            shown.append("stopped")
        return f"<MemoryResult {', '.join(shown)}>"

    def _latency(self, name: str) -> Latency:
        return Latency(**(self.summary["latency"][name] or NO_LATENCY))
