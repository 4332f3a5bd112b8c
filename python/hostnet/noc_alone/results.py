"""What a run of the network alone measured."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from hostnet import _core
from hostnet.summarised import Summarised


@dataclass(frozen=True)
class NocLatency:
    """A latency of the packets that were measured, in cycles and in ns. Without packets there are no numbers."""

    count: int
    """Packets."""
    mean_cycles: float | None
    """Exact mean."""
    mean_ns: float | None
    """The same in ns."""
    p50_cycles: float | None
    """Median; this and the next percentiles to 1/64."""
    p50_ns: float | None
    """The same in ns."""
    p90_cycles: float | None
    """90th percentile."""
    p90_ns: float | None
    """The same in ns."""
    p99_cycles: float | None
    """99th percentile."""
    p99_ns: float | None
    """The same in ns."""
    p999_cycles: float | None
    """99.9th percentile."""
    p999_ns: float | None
    """The same in ns."""
    max_cycles: float | None
    """Largest."""
    max_ns: float | None
    """The same in ns."""
    percentiles_cycles: list[float] | None
    """What so many percent of the packets do not exceed, from 0 to 100."""


@dataclass(frozen=True)
class NocResult(Summarised):
    """What a run of the network alone measured.

    Equal configurations give equal results, bit for bit, except `wall_s`, `cpu_s` and what follows from them.
    """

    native: _core.NocRunResult = field(repr=False)
    """The simulator's own results."""
    wall_s: float
    """Seconds that the run took."""
    cpu_s: float
    """Processor seconds of the whole process meanwhile."""

    @property
    def offered(self) -> float | None:
        """Flits that were offered per node and cycle."""
        return self._rate("offered")

    @property
    def accepted(self) -> float | None:
        """Flits that arrived per node and cycle."""
        return self._rate("accepted")

    @property
    def accepted_least(self) -> float | None:
        """The same of the node that got least."""
        return self._rate("accepted_least")

    @property
    def accepted_gb_per_s(self) -> float | None:
        """What all nodes together got, in GB/s."""
        return self._rate("accepted_gb_per_s")

    @property
    def bound(self) -> float | None:
        """The offered load at which the fullest link is full, by the routes alone; None for a trace."""
        bound = self.summary["bound"]
        return None if bound is None else float(bound["rate"])

    @property
    def saturated(self) -> bool | None:
        """Whether queues grew without end; None if that cannot be told."""
        saturated: bool | None = self.summary["saturation"]["saturated"]
        return saturated

    @property
    def latency(self) -> NocLatency:
        """Of packets, from their offer to the arrival of their last flit."""
        return self._latency("packet")

    @property
    def network_latency(self) -> NocLatency:
        """The same from when the first flit left the queue of its node."""
        return self._latency("network")

    @property
    def zero_load_cycles(self) -> float | None:
        """Mean of what the same packets would have taken alone."""
        mean: float | None = self.summary["latency"]["zero_load"]["mean_cycles"]
        return mean

    @property
    def links(self) -> list[dict[str, Any]]:
        """What each link between routers, and from a router to its node, carried."""
        return list(self.summary["links"])

    @property
    def flit_hops(self) -> int:
        """Flits of the whole run, each counted at every router."""
        return int(self.summary["packets"]["flit_hops"])

    def to_dict(self) -> dict[str, Any]:
        """The summary with the speed of the run, ready for JSON."""
        wall_s, cpu_s = (max(seconds, 1e-9) for seconds in (self.wall_s, self.cpu_s))
        speed = {
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
            "cycles_per_s": self.summary["cycles"]["all"] / wall_s,
            "flit_hops_per_s": self.flit_hops / wall_s,
            "flit_hops_per_cpu_s": self.flit_hops / cpu_s,
        }
        return {**self.summary, "speed": speed}

    def __repr__(self) -> str:
        """The numbers that are asked for first."""
        shown = []
        if self.accepted is not None:
            shown.append(f"{self.accepted:.4f} of {self.offered:.4f} flits/node/cycle")
        if self.latency.mean_cycles is not None:
            shown.append(f"latency {self.latency.mean_cycles:.1f} cycles")
        if self.saturated:
            shown.append("saturated")
        if not self.complete:
            shown.append("stopped")
        return f"<NocResult {', '.join(shown)}>"

    def _rate(self, name: str) -> float | None:
        rate: float | None = self.summary["rate"][name]
        return rate

    def _latency(self, name: str) -> NocLatency:
        found = self.summary["latency"][name]
        return NocLatency(**{one.name: found[one.name] for one in fields(NocLatency)})
