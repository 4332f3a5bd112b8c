"""Measures latency under load: a probe core measures while the other cores load the memory at a chosen rate."""

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
"""Time between two accesses of the probe core, in ns: about that of a chain of dependent loads on an idle memory."""

RUN: dict[str, str | int] = {"seed": 1, "warmup": "20 us", "duration": "100 us"}
"""Simulated time of a point."""

POINTS = 14
"""Default number of points of a curve."""

POINTS_MAX = 1000
"""Maximum number of points of a curve."""

LIGHTEST = 0.02
"""Smallest offered load, as a share of the peak."""

STEEP = 1.4
"""Exponent that concentrates points near the peak, where the curve bends; 1 spaces them evenly."""

PATTERNS = ("sequential", "random")
"""Access patterns of the probe core."""


@dataclass(frozen=True)
class Setting:
    """Settings of a measurement."""

    server: ServerFile
    reads: tuple[float, ...] = (1.0, 0.67, 0.5)
    """Shares of reads in the memory traffic, 0.5 to 1; one curve for each."""
    points: int = POINTS
    cores: int | None = None
    """Number of cores that load the memory; None for all but one."""
    probe: str = "sequential"
    """Access pattern of the probe core."""
    engine: str = "run"
    threads: int | None = None

    def check(self) -> None:
        """Checks the settings.

        Raises:
            ConfigError: A setting is out of range.
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
        """Number of cores that load the memory."""
        return self.server.cores - 1 if self.cores is None else self.cores


@dataclass(frozen=True)
class Point:
    """A point of a curve."""

    reads: float
    """Share of reads in the memory traffic of the load."""
    gap_ns: float
    """Inject delay: time between two accesses of a core that loads the memory, in ns."""
    latency_ns: float
    """Mean read latency of the probe core, in ns."""
    latency_ci95: float
    """Half-width of its 95 % confidence interval, in ns; 0 for a prediction."""
    bandwidth_gb_per_s: float
    """Total memory traffic, in GB/s."""


def parse_reads(text: str) -> tuple[float, ...]:
    """Parses a list of shares in percent, such as "100,67,50".

    Raises:
        ConfigError: The text is not such a list, or a share is impossible.
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
    """Returns the lines written per line read for a share of reads. This is also the share of stores."""
    return 1 / reads - 1


def gap_of(bandwidth_gb_per_s: float, cores: int, reads: float) -> float:
    """Returns the time between two accesses of a core at which `cores` cores offer a bandwidth, in ns."""
    return cores * LINE_BYTES * (1 + writes_per_read(reads)) / bandwidth_gb_per_s


def load_workload(
    server: ServerFile, first: int, cores: int, reads: float, gap_ns: float, pattern: str = "sequential"
) -> dict[str, Any]:
    """Returns the workload of the cores that load the memory, as in a configuration file."""
    return {
        "kind": "stream",
        "working_set": f"{server.buffer_bytes} B",
        "cores": list(range(first, first + cores)),
        "reads": 1 - writes_per_read(reads),
        "gap": f"{round(gap_ns * 1000)} ps",
        "pattern": pattern,
    }


def probe_workload(server: ServerFile, pattern: str) -> dict[str, Any]:
    """Returns the workload of the probe core, core 0."""
    buffer = f"{server.buffer_bytes} B"
    return {"kind": "stream", "cores": "0", "pattern": pattern, "gap": f"{PROBE_GAP_NS} ns", "working_set": buffer}


def gaps_of(setting: Setting, reads: float) -> list[float]:
    """Returns the inject delays of a curve in ns, from 0 up to that of the lightest load."""
    server, cores = setting.server, setting.load_cores
    peak = min(server.memory_peak_gb_per_s, server.core_peak_gb_per_s(cores) * (1 + writes_per_read(reads)))
    steps = setting.points - 1
    shares = [LIGHTEST + (1 - LIGHTEST) * (1 - (step / steps) ** STEEP) for step in range(1, steps + 1)]
    return [0.0, *(round(gap_of(share * peak, cores, reads), 3) for share in shares)]


def measure(setting: Setting, progress: Progress | None = None) -> list[Point]:
    """Measures the points of all curves, one share of reads after another, from the heaviest load to the lightest.

    Raises:
        ConfigError: A setting is out of range.
        KeyboardInterrupt: The progress callback stopped the runs.
    """
    setting.check()
    loads = [(reads, gap_ns) for reads in setting.reads for gap_ns in gaps_of(setting, reads)]
    server, cores = setting.server, setting.load_cores
    probe = probe_workload(server, setting.probe)
    plans = [
        server.configuration({"load": load_workload(server, 1, cores, reads, gap_ns), "probe": probe}, RUN, {})
        for reads, gap_ns in loads
    ]
    results = evaluate(setting.engine, plans, setting.threads, progress)
    return [point_of(reads, gap_ns, result) for (reads, gap_ns), result in zip(loads, results, strict=True)]


def point_of(reads: float, gap_ns: float, results: Results) -> Point:
    """Returns the point that a run measured.

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
