"""Runs the operating points of a study, each once, on all cores."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hostnet.ledger.errors import LedgerError
from hostnet.ledger.kept import KeptPoints
from hostnet.ledger.points import Selection
from hostnet.ledger.quantities import Outcome
from hostnet.ledger.study import Engine, Study

Summary = dict[str, Any]
Progress = Callable[[dict[str, Any]], bool | None]
Simulate = Callable[[Sequence[dict[str, Any]], Path, int, Progress | None], list[Summary]]
"""Runs configurations, given the folder for relative paths, the number of threads (0: all cores) and a progress
callback. Returns the summary of each in the same order."""


@dataclass(frozen=True)
class Batch:
    """Operating points that were run together, with time and speed."""

    outcomes: dict[str, Outcome]
    started: str
    wall_time_s: float
    work: int
    unit: str
    """Unit of `work`: events of servers, requests of the memory, packets of a network, cycles, or predictions."""
    machines: str
    """Presets of the servers, the device of the memory, or the topology of the network."""
    kept: int = 0
    """Points whose summaries were kept by an earlier validation; they are no work."""

    @property
    def work_per_s(self) -> float:
        """Work of all runs per second of wall-clock time."""
        return self.work / max(self.wall_time_s, 1e-9)

    @property
    def speed(self) -> str:
        """The rate of work as text."""
        if self.unit == "predictions":
            return f"{self.work_per_s:.0f} {self.unit}/s"
        return f"{self.work_per_s / 1e6:.1f} M {self.unit}/s"


def simulate(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations in the simulator; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid, or a file that it names is missing.
        SimulationError: One of the runs failed.
    """
    from hostnet.running.results import Source
    from hostnet.running.simulate import resolve, run_plans

    sources = [Source(json.dumps(config), "json", config["run"]["name"], str(base_dir)) for config in configs]
    plans = [(resolve(source), source) for source in sources]
    stopped = False

    def watched(status: dict[str, Any]) -> bool:
        nonlocal stopped
        stopped = stopped or (progress is not None and progress(status) is False)
        return not stopped

    results = run_plans(plans, threads=threads or None, progress=watched)
    if stopped or not all(result.complete for result in results):
        raise KeyboardInterrupt
    return [result.summary for result in results]


def predict(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Predicts configurations instead of running them; a `Simulate` that ignores threads and progress.

    Raises:
        ConfigError: One of the configurations is invalid, or a file that it names is missing.
    """
    from hostnet.running.results import Source
    from hostnet.running.simulate import predict_plan, resolve

    del threads, progress
    sources = [Source(json.dumps(config), "json", config["run"]["name"], str(base_dir)) for config in configs]
    return [predict_plan(resolve(source), source).summary for source in sources]


def simulate_memory(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations of the memory alone; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
    """
    from hostnet import _core
    from hostnet.ledger.parallel import run_pool

    plans = [
        _core.memory_plan(json.dumps(config), format="json", file="<study>", base_dir=str(base_dir))
        for config in configs
    ]
    results = run_pool(plans, [int(config["traffic"]["requests"]) for config in configs], threads, progress)
    return [json.loads(result.summary_json) for result in results]


def simulate_noc(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations of the network on a chip alone; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
    """
    from hostnet import _core
    from hostnet.ledger.parallel import run_nocs

    plans = [
        _core.noc_plan(json.dumps(config), format="json", file="<study>", base_dir=str(base_dir)) for config in configs
    ]
    return [json.loads(result.summary_json) for result in run_nocs(plans, threads, progress)]


def simulate_clusters(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations of clusters; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
        SimulationError: One of the runs failed.
    """
    from hostnet.ledger.cluster_runs import run_clusters

    return run_clusters(configs, base_dir, threads, progress)


def simulate_chips(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Runs configurations of chips; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the configurations is invalid.
    """
    from hostnet.ledger.chip_runs import run_chips

    return run_chips(configs, base_dir, threads, progress)


def trace_curves(
    configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
) -> list[Summary]:
    """Traces the curves of latency under load that the points lie on; a `Simulate`.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: One of the servers is invalid.
    """
    from hostnet.ledger.curve_runs import run_curves

    return run_curves(configs, base_dir, threads, progress)


ENGINES: dict[Engine, tuple[Simulate, str]] = {
    "simulation": (simulate, "events"),
    "memory": (simulate_memory, "requests"),
    "noc": (simulate_noc, "packets"),
    "chip": (simulate_chips, "cycles"),
    "cluster": (simulate_clusters, "events"),
    "curves": (trace_curves, "events"),
    "predict": (predict, "predictions"),
}
"""Function that runs the points of a study, and the unit of its work, by engine."""


def run_points(
    study: Study,
    selection: Selection,
    names: Iterable[str],
    *,
    threads: int = 0,
    progress: Progress | None = None,
    simulate: Simulate | None = None,
    keep: bool = False,
    fresh: bool = False,
) -> Batch:
    """Runs the named points of the selection, by default with the engine of the study.

    `keep` takes from the user's cache what is there, and keeps the rest in it. `fresh` runs what is there again.

    Raises:
        LedgerError: The selection has none of these points.
    """
    wanted = set(names)
    points = [point for point in selection.points if point.name in wanted]
    if not points:
        raise LedgerError(
            "nothing-to-do",
            f"{study.name}: nothing to run: no operating point of selection {selection.name!r} is needed",
        )
    started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    configs = [selection.config(point, study.preset, study.seed) for point in points]
    engine, unit = ENGINES[study.engine]
    kept = KeptPoints(engine, study.engine, fresh=fresh) if keep and simulate is None else None
    summaries = (simulate or kept or engine)(configs, study.root.parents[1] / "examples", threads, progress)
    known = kept.known if kept else [False] * len(points)
    return Batch(
        outcomes={point.name: Outcome(point.name, summary) for point, summary in zip(points, summaries, strict=True)},
        started=started,
        wall_time_s=time.perf_counter() - began_s,
        work=sum(work_of(summary) for summary, is_known in zip(summaries, known, strict=True) if not is_known),
        unit=unit,
        machines=", ".join(dict.fromkeys(machine_of(config, study.preset) for config in configs)),
        kept=sum(known),
    )


def machine_of(config: dict[str, Any], preset: str) -> str:
    """Returns the preset of a point's server or chip, or that of the study."""
    return str({**config.get("server", {}), **config.get("chip", {})}.get("preset", preset))


def work_of(summary: Summary) -> int:
    """Returns the work of a run: events, requests, packets or cycles, or 1 for a prediction."""
    if summary.get("engine") == "predict":
        return 1
    if "skipped" in summary:
        return 0
    if summary.get("kind") == "chip":
        return round(float(summary["simulated_ns"]) * float(summary["clock_ghz"]))
    if "packets" in summary:
        return int(summary["packets"]["arrived"])
    return int(summary["events"] if "events" in summary else summary["requests"]["accepted"])
