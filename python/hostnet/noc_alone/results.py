"""Results of a run of a network on a chip without a server."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.summary_results import SummaryResults

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path


@dataclass(frozen=True)
class NocLatency:
    """Statistics of a latency over the measured packets, in cycles and in ns; None where there are no packets."""

    count: int
    """Number of packets."""
    mean_cycles: float | None
    """Exact mean, in cycles."""
    mean_ns: float | None
    """Exact mean, in ns."""
    p50_cycles: float | None
    """Median, in cycles; percentiles are accurate to 1/64."""
    p50_ns: float | None
    """Median, in ns."""
    p90_cycles: float | None
    """90th percentile, in cycles."""
    p90_ns: float | None
    """90th percentile, in ns."""
    p99_cycles: float | None
    """99th percentile, in cycles."""
    p99_ns: float | None
    """99th percentile, in ns."""
    p999_cycles: float | None
    """99.9th percentile, in cycles."""
    p999_ns: float | None
    """99.9th percentile, in ns."""
    max_cycles: float | None
    """Maximum, in cycles."""
    max_ns: float | None
    """Maximum, in ns."""
    percentiles_cycles: list[float] | None
    """The percentiles from 0 to 100, in cycles."""


@dataclass(frozen=True)
class NocResult(SummaryResults):
    """Results of a run of a network on a chip without a server.

    Equal configurations give bit-identical results, except `wall_s`, `cpu_s` and values derived from them.
    """

    native: _core.NocRunResult = field(repr=False)
    """Results of the Rust core."""
    wall_s: float
    """Duration of the run, in s."""
    cpu_s: float
    """Processor time of the whole process during the run, in s."""

    @property
    def offered(self) -> float | None:
        """Offered load, in flits per node and cycle."""
        return self._rate("offered")

    @property
    def accepted(self) -> float | None:
        """Accepted load, in flits that arrived per node and cycle."""
        return self._rate("accepted")

    @property
    def accepted_least(self) -> float | None:
        """Accepted load of the node that received least, in flits per cycle."""
        return self._rate("accepted_least")

    @property
    def accepted_gb_per_s(self) -> float | None:
        """Accepted load of all nodes together, in GB/s."""
        return self._rate("accepted_gb_per_s")

    @property
    def bound(self) -> float | None:
        """Offered load at which the most loaded link saturates, from the routes alone; None for a trace."""
        bound = self.summary["bound"]
        return None if bound is None else float(bound["rate"])

    @property
    def saturated(self) -> bool | None:
        """True if queues grew without bound; None if that cannot be determined."""
        saturated: bool | None = self.summary["saturation"]["saturated"]
        return saturated

    @property
    def latency(self) -> NocLatency:
        """Latency of packets, from their offer to the arrival of their last flit."""
        return self._latency("packet")

    @property
    def network_latency(self) -> NocLatency:
        """Latency of packets without queueing at the source.

        It extends from the departure of the first flit from the queue of its node to the arrival of the last flit.
        """
        return self._latency("network")

    @property
    def zero_load_cycles(self) -> float | None:
        """Mean latency that the same packets would have alone in the network, in cycles."""
        mean: float | None = self.summary["latency"]["zero_load"]["mean_cycles"]
        return mean

    @property
    def links(self) -> list[dict[str, Any]]:
        """Traffic of each link between routers, and from a router to its node."""
        return list(self.summary["links"])

    @property
    def flit_hops(self) -> int:
        """Flits of the whole run, each counted at every router that it passes."""
        return int(self.summary["packets"]["flit_hops"])

    def to_dict(self) -> dict[str, Any]:
        """Returns the summary and the speed of the run, ready for JSON."""
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
        """Returns the most important results in one line."""
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

    def report(self, out: str | PathLike[str] = "noc.html") -> Path:
        """Writes the page of the network to the file `out` and returns its path; opens nothing.

        Raises:
            OSError: The page cannot be written.
        """
        from pathlib import Path

        from hostnet.report.noc_curves import NocRun
        from hostnet.report.noc_page import write_noc

        write_noc(Path(out), [NocRun("", "", self.summary)])
        return Path(out)

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: rates and latencies, and how busy the links are."""
        from hostnet.report.notebook.alone import noc_block

        return noc_block(self.summary)

    def _rate(self, name: str) -> float | None:
        """Returns a rate of the summary."""
        rate: float | None = self.summary["rate"][name]
        return rate

    def _latency(self, name: str) -> NocLatency:
        """Returns the statistics of a latency in the summary."""
        found = self.summary["latency"][name]
        return NocLatency(**{one.name: found[one.name] for one in fields(NocLatency)})
