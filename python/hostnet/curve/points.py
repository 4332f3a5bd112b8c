"""Latency under load: one core measures, the others load the memory at a chosen rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.running.engines import evaluate
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from hostnet.presets import ServerFile
    from hostnet.running.engines import Progress
    from hostnet.running.results import Results

PROBE_GAP_NS = 100
"""Time between two accesses of the core that measures: about what a chain of dependent loads makes without load."""

RUN = {"seed": 1, "warmup": "20 us", "duration": "100 us"}
"""How long a point is simulated."""

POINTS = 14
"""Points of a curve."""

POINTS_MAX = 1000
"""The most points of a curve."""

LIGHTEST = 0.02
"""The smallest offered load, as a share of the peak."""

STEEP = 1.4
"""How much closer to each other the points are near the peak, where the curve bends; 1 is evenly."""

PATTERNS = ("sequential", "random")
"""The order of the accesses of the core that measures."""


@dataclass(frozen=True)
class Setting:
    """What is asked of a server."""

    server: ServerFile
    reads: tuple[float, ...] = (1.0, 0.67, 0.5)
    """Shares of reads in the memory traffic, 0.5 to 1."""
    points: int = POINTS
    cores: int | None = None
    """Cores that load the memory; all but one when None."""
    probe: str = "sequential"
    """The order of the accesses of the core that measures."""
    engine: str = "run"
    threads: int | None = None

    def check(self) -> None:
        """Refuses what cannot be.

        Raises:
            ConfigError: Says what and why.
        """
        if not 2 <= self.points <= POINTS_MAX:
            raise ConfigError("out-of-range", f"--points {self.points}: must be between 2 and {POINTS_MAX}")
        if self.probe not in PATTERNS:
            raise ConfigError("unknown-name", f'--probe "{self.probe}": must be one of {", ".join(PATTERNS)}')
        if self.server.cores < 2:
            raise ConfigError(
                "wrong-count",
                f"{self.server.label}: has one core; one to measure and one to load the memory are needed",
            )
        most = self.server.cores - 1
        if self.cores is not None and not 1 <= self.cores <= most:
            raise ConfigError(
                "out-of-range",
                f"--cores {self.cores}: must be between 1 and {most}, all cores but the one that measures",
            )

    @property
    def load_cores(self) -> int:
        """Cores that load the memory."""
        return self.server.cores - 1 if self.cores is None else self.cores


@dataclass(frozen=True)
class Point:
    """One point of a curve."""

    reads: float
    """Share of reads in the memory traffic of the load."""
    gap_ns: float
    """Time between two accesses of a core that loads the memory: the inject delay."""
    latency_ns: float
    """Mean read latency of the core that measures."""
    latency_ci95: float
    """Half the width of its 95 % confidence interval; 0 for a prediction."""
    bandwidth_gb_per_s: float
    """Everything that the memory moves."""


def parse_reads(text: str) -> tuple[float, ...]:
    """Reads a list of shares in percent such as "100,67,50".

    Raises:
        ConfigError: It is none, or a share cannot be made.
    """
    shares = []
    for part in text.split(","):
        try:
            percent = float(part.strip().removesuffix("%"))
        except ValueError:
            raise ConfigError(
                "malformed-value", f'--reads {text}: "{part}" is not a number; write percent, such as 100,67,50'
            ) from None
        if not 50 <= percent <= 100:
            raise ConfigError(
                "out-of-range",
                f"--reads {text}: {part.strip()} must be between 50 and 100 percent of the memory traffic; "
                "a store reads its line before it writes it",
            )
        shares.append(percent / 100)
    if len(set(shares)) < len(shares):
        raise ConfigError("duplicate", f"--reads {text}: a share is named twice")
    return tuple(shares)


def writes_per_read(reads: float) -> float:
    """Lines written per line read when `reads` of the memory traffic are reads: also the share of stores."""
    return 1 / reads - 1


def gap_of(bandwidth_gb_per_s: float, cores: int, reads: float) -> float:
    """The time between two accesses of a core (ns) with which `cores` cores offer a bandwidth."""
    return cores * LINE_BYTES * (1 + writes_per_read(reads)) / bandwidth_gb_per_s


def load_workload(
    server: ServerFile, first: int, cores: int, reads: float, gap_ns: float, pattern: str = "sequential"
) -> dict[str, Any]:
    """The workload of the cores that load the memory, as in a configuration file."""
    return {
        "kind": "stream",
        "working_set": f"{server.buffer_bytes} B",
        "cores": list(range(first, first + cores)),
        "reads": 1 - writes_per_read(reads),
        "gap": f"{round(gap_ns * 1000)} ps",
        "pattern": pattern,
    }


def probe_workload(server: ServerFile, pattern: str) -> dict[str, Any]:
    """The workload of the core that measures, core 0."""
    buffer = f"{server.buffer_bytes} B"
    return {"kind": "stream", "cores": "0", "pattern": pattern, "gap": f"{PROBE_GAP_NS} ns", "working_set": buffer}


def gaps_of(setting: Setting, reads: float) -> list[float]:
    """The inject delays of a curve (ns), from none at all to the lightest load."""
    server, cores = setting.server, setting.load_cores
    peak = min(server.memory_peak_gb_per_s, server.core_peak_gb_per_s(cores) * (1 + writes_per_read(reads)))
    steps = setting.points - 1
    shares = [LIGHTEST + (1 - LIGHTEST) * (1 - (step / steps) ** STEEP) for step in range(1, steps + 1)]
    return [0.0, *(round(gap_of(share * peak, cores, reads), 3) for share in shares)]


def measure(setting: Setting, progress: Progress | None = None) -> list[Point]:
    """The points of all curves, read share by read share, from the heaviest load to the lightest.

    Raises:
        ConfigError: The setting cannot be.
        KeyboardInterrupt: The progress callback stopped it.
    """
    setting.check()
    asked = [(reads, gap_ns) for reads in setting.reads for gap_ns in gaps_of(setting, reads)]
    server, cores = setting.server, setting.load_cores
    probe = probe_workload(server, setting.probe)
    plans = [
        server.configuration({"load": load_workload(server, 1, cores, reads, gap_ns), "probe": probe}, RUN, {})
        for reads, gap_ns in asked
    ]
    results = evaluate(setting.engine, plans, setting.threads, progress)
    return [point_of(reads, gap_ns, result) for (reads, gap_ns), result in zip(asked, results, strict=True)]


def point_of(reads: float, gap_ns: float, results: Results) -> Point:
    """What a run says about one point.

    Raises:
        KeyboardInterrupt: The run was stopped.
    """
    if not results.complete:
        raise KeyboardInterrupt
    probe, memory = results.workloads["probe"], results.channels[-1]
    return Point(
        reads,
        gap_ns,
        float(probe["latency_mean_ns"]),
        float(probe["latency_ci95"] or 0.0),
        float(memory["read_gb_per_s"] + memory["write_gb_per_s"]),
    )
