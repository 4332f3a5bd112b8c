"""Simulates each side of a server without the other: cores without devices, and devices without cores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError, SimulationError
from hostnet.explanation.reduced import SideNotSimulatedError, side_of
from hostnet.explanation.steps import resolve_complete, simulated
from hostnet.regimes import GAIN_MIN
from hostnet.running.results import server_config
from hostnet.units import format_wall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet._core import Plan
    from hostnet.explanation.raises import Config
    from hostnet.explanation.steps import Progress, Summary

    Row = Mapping[str, Any]
    Rates = dict[str, tuple[float, float | None]]

SIDES = ("stream", "fio")
"""Kinds of workloads that belong to one side each: the cores and the devices."""

WORK_MAX = 10_000_000
"""Maximum number of events of simulations without the other side: about a second on two cores."""

FILLED = 1
FILLED_BY_APP = 15
"""Cost in events of filling a cache line during the initial fill; lines of applications cost more."""

ALL_OF_IT = 0.96
"""Share of its offered load at or above which storage cannot gain 5 % any more."""

TURNOVERS = 3
"""Number of times that caches are filled before the simulation starts."""

WINDOW_MIN_NS = 50_000.0
"""Shortest window that yields useful results, in ns."""

LONGER_MIN, LONGER_MAX = 2.0, 32.0
"""Range of factors by which a run may be extended if its length is not conclusive. Below a factor of two, confidence
intervals hardly narrow."""

WORK_PER_S = WORK_MAX
"""Events per second of wall-clock time, for estimates."""

TOO_LONG = "each side was not simulated without the other"
"""Prefix of the note on simulations of sides that would take too long."""
NOT_PARTED = "each side without the other was not simulated: {error}"
OF_COUNTERS = (
    "counters of a single run do not show which side slows down the other: measure the cores without devices and the "
    "devices without cores, or run a configuration of these workloads with --compare alone"
)
"""Reasons why the throughput of a side without the other is unknown."""


@dataclass(frozen=True)
class JointRun:
    """Measurements and cost of a run of a server with both sides: the other half of every comparison."""

    rows: Sequence[Row]
    """Rows of its workloads."""
    events: int
    window_ns: float
    warm_up_ns: float
    complete: bool
    channels: Sequence[Row] = ()
    """Rows of its memory channels."""

    @classmethod
    def of(cls, summary: Mapping[str, Any], server: Mapping[str, Any]) -> JointRun:
        """Reads the measurements from the summaries of a run and of its server.

        The summaries are the same without a network.
        """
        rows, events = server.get("workloads", ()), summary.get("events") or 0
        window_ns, warm_up_ns = (float(summary.get(key) or 0) for key in ("window_ns", "warm_up_ns"))
        complete, channels = bool(summary.get("complete", True)), server.get("channels", ())
        return cls(rows, events, window_ns, warm_up_ns, complete, channels)


@dataclass(frozen=True)
class SeparatedSides:
    """Facts of all workloads with their gains without the other side, and `[run]` of the simulations."""

    rows: list[dict[str, Any]]
    run: Config | None = None
    """Replacement of `[run]`; None if the configuration's was used."""


_KEPT: dict[str, Summary] = {}
"""Summaries of earlier simulations of this process, by the hash of their plan."""


def simulate_sides(
    config: Config,
    host: str | None,
    facts: Sequence[Row],
    together: JointRun,
    *,
    base_dir: str = ".",
    limited: bool = True,
    progress: Progress | None = None,
) -> SeparatedSides:
    """Simulates each side without the other, and adds the gain of each workload to its facts.

    `limited` simulations take about a second at most.

    Raises:
        NotPartedError: The sides cannot be separated, the simulation would take longer, or it failed.
        KeyboardInterrupt: The progress callback stopped it.
    """
    wanted = [side for side in SIDES if any(row["kind"] == side for row in facts)]
    if len(wanted) < 2:
        return SeparatedSides([dict(row) for row in facts])
    if limited and all(_meets_offered_load(row) for row in facts if row["kind"] == "fio"):
        wanted.remove("fio")
    window_ns = _window_ns(config, host, together, len(wanted)) if limited else math.inf
    parting = _SideRuns(config, host, facts, wanted, base_dir, progress)
    if window_ns < together.window_ns:
        return parting.under(_run_of(config, together, window_ns / together.window_ns, warm_up=1.0))
    found = parting.compare(None, together.rows)
    longer = _extension_factor(config, host, together, len(wanted))
    if longer >= LONGER_MIN and any(_is_undecided(row) for row in found if row["kind"] in wanted):
        return parting.under(_run_of(config, together, longer, warm_up=longer))
    return SeparatedSides(found)


@dataclass(frozen=True)
class _SideRuns:
    """A server whose sides are simulated separately."""

    config: Config
    host: str | None
    facts: Sequence[Row]
    sides: Sequence[str]
    base_dir: str
    progress: Progress | None

    def under(self, run: Config) -> SeparatedSides:
        """Compares with another `[run]`."""
        return SeparatedSides(self.compare(run), run)

    def compare(self, run: Config | None, together: Sequence[Row] = ()) -> list[dict[str, Any]]:
        """Returns the facts of all workloads with their gains without the other side.

        `run` replaces `[run]`, and both sides together run under it as well; if it is None, `together` has the rows
        of the run to compare with.
        """
        parts = [side_of(self.config, self.host, side) for side in self.sides]
        if run is not None:
            parts = [{**part, "run": run} for part in (*parts, self.config)]
        plans = [resolve_reduced(part, self.base_dir) for part in parts]
        summaries = [rows_of(summary, self.host) for summary in simulate_cached(plans, self.progress)]
        beside = together if run is None else summaries.pop()
        alone = dict(zip(self.sides, summaries, strict=True))
        return [
            _with_gain(row, beside, alone[row["kind"]]) if row["kind"] in alone else dict(row) for row in self.facts
        ]


def _is_undecided(row: Row) -> bool:
    """Returns True if a longer run may decide whether the gain of a workload exceeds the least gain."""
    alone = row.get("alone")
    return alone is None or abs(alone["gain"] - GAIN_MIN) <= alone["noise"]


def _extension_factor(config: Config, host: str | None, together: JointRun, sides: int) -> float:
    """Returns the factor by which all runs may be extended within the rest of the second."""
    filling = cache_fill_events(server_config(config, host or ""))
    left = WORK_MAX - sides * (together.events + filling) - (sides + 1) * filling
    return min(LONGER_MAX, left / max(1, (sides + 1) * together.events))


def _meets_offered_load(row: Row) -> bool:
    """Returns True if a workload is storage that moves nearly its whole offered load, so nothing can help it."""
    offered, moved = row.get("offered_gb_per_s"), row.get("app_gb_per_s")
    return bool(offered and moved and moved >= ALL_OF_IT * offered)


def _window_ns(config: Config, host: str | None, together: JointRun, sides: int) -> float:
    """Returns the window for which all simulations take about a second."""
    if not together.complete or not together.window_ns:
        raise SideNotSimulatedError(NOT_PARTED.format(error="the run did not finish"))
    time_ns = together.window_ns + together.warm_up_ns
    filling = cache_fill_events(server_config(config, host or ""))
    if together.events + sides * filling <= WORK_MAX:
        return math.inf
    rate = together.events / time_ns
    window_ns = (WORK_MAX - (sides + 1) * filling) / 2 / rate - together.warm_up_ns if rate else 0.0
    if window_ns < WINDOW_MIN_NS:
        raise SideNotSimulatedError(_too_long(len(SIDES) * (together.events + filling)))
    return min(window_ns, together.window_ns)


def _too_long(events: float) -> str:
    """Describes how long simulations of so many events would take, and how to request them."""
    most, needed = (format_wall(work / WORK_PER_S) for work in (WORK_MAX, events))
    return f"{TOO_LONG}: it takes about {needed}, more than the limit of {most} without --confirm"


def cache_fill_events(server: Mapping[str, Any]) -> int:
    """Returns the cost of filling the caches of a server, in events."""
    cache = server.get("cache") or {}
    if not cache.get("enabled"):
        return 0
    llc, sockets = cache["llc"], (server.get("server") or {}).get("sockets") or 1
    lines = TURNOVERS * llc["sets"] * llc["ways"] * server["cha"]["slices"] * sockets
    by_app = any(workload.get("kind") == "app" for workload in server.get("workload", {}).values())
    return int(lines * (FILLED_BY_APP if by_app else FILLED))


def _run_of(config: Config, together: JointRun, times: float, *, warm_up: float) -> Config:
    """Returns a `[run]` with a window `times` as long, and a warm-up `warm_up` times as long if that is above 1."""
    run = {key: value for key, value in config["run"].items() if key in ("name", "seed", "warmup")}
    if warm_up > 1:
        run["warmup"] = f"{warm_up * together.warm_up_ns:.0f} ns"
    return {**run, "duration": f"{times * together.window_ns / 1000:.0f} us"}


def resolve_reduced(config: Config, base_dir: str) -> Plan:
    """Resolves the configuration of a server without some of its workloads.

    Raises:
        NotPartedError: The configuration requires the removed workloads.
    """
    try:
        return resolve_complete(config, base_dir)
    except ConfigError as error:
        raise SideNotSimulatedError(NOT_PARTED.format(error=str(error).partition("\n")[0])) from None


def is_kept(plan: Plan) -> bool:
    """Returns True if a plan was simulated before."""
    return plan.hash in _KEPT


def simulate_cached(plans: Sequence[Plan], progress: Progress | None) -> list[Summary]:
    """Simulates the plans that were not simulated before, and returns the summaries of all.

    Raises:
        NotPartedError: A simulation failed.
        KeyboardInterrupt: The progress callback stopped it.
    """
    new = [plan for plan in plans if not is_kept(plan)]
    try:
        summaries = simulated(new, progress) if new else []
    except SimulationError as error:
        raise SideNotSimulatedError(NOT_PARTED.format(error=str(error).partition("\n")[0])) from None
    _KEPT.update(zip((plan.hash for plan in new), summaries, strict=True))
    return [_KEPT[plan.hash] for plan in plans]


def rows_of(summary: Summary, host: str | None) -> Sequence[Row]:
    """Returns the workloads of a server."""
    rows: Sequence[Row] = summary["workloads"] if host is None else summary["servers"][host]["workloads"]
    return rows


def _with_gain(row: Row, together: Sequence[Row], alone: Sequence[Row]) -> dict[str, Any]:
    """Adds the gain and the latency without the other side to the facts of a workload, as far as they are known."""
    name = row["workload"]
    now, then = ({found["workload"]: found for found in rows}.get(name) for rows in (together, alone))
    facts = {**row, "alone": None}
    if now is None or then is None:
        return facts
    (rate, near), (other, far) = _rate(now), _rate(then)
    if rate and near is not None and far is not None:
        noise = math.hypot(far, near * other / rate) / rate
        facts["alone"] = {"gain": other / rate - 1, "noise": noise, "basis": "measured"}
    if row["kind"] == "stream" and then.get("latency_mean_ns") is not None:
        facts["isolated"] = {"ns": then["latency_mean_ns"], "basis": "measured"}
    return facts


def rates_of(rows: Sequence[Row]) -> Rates:
    """Returns the rate of every workload and its 95 % confidence half-width."""
    return {row["workload"]: _rate(row) for row in rows}


def _rate(row: Row) -> tuple[float, float | None]:
    """Returns a workload's rate and its 95 % confidence half-width: operations of an application, else data."""
    if row.get("operations_per_s") is not None:
        return row["operations_per_s"], row.get("operations_ci95")
    return row["app_gb_per_s"] or 0.0, row.get("throughput_ci95")
