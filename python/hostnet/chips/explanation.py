"""Finds the limits of a chip: each limit is raised alone, and the chip is run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.chips.parallel import run_chips
from hostnet.units import format_percent

Progress = Callable[[dict[str, Any]], bool | None]
Config = Mapping[str, Any]

GAIN_MIN = 0.03
"""Smallest gain that counts, because windows of one run may differ by a percent."""


@dataclass(frozen=True)
class Limit:
    """A limit of a chip: its name, its keys, and the factor by which it is raised."""

    what: str
    keys: tuple[str, ...]
    factor: float = 2.0
    most: int = 1 << 16


LIMITS = (
    Limit("the width of the links", ("noc.link",), most=128),
    Limit("virtual channels of the routers", ("noc.vcs",), most=8),
    Limit("buffers of the routers", ("noc.vc_flits",), most=255),
    Limit("the time an access occupies a bank of the LLC", ("coherence.bank_busy_cycles",), 0.5),
    Limit("lines of a slice that may wait", ("coherence.entries",), most=1024),
    Limit("the latency of memory", ("memory.latency",), 0.5),
    Limit("lines that request generation may have on their way", ("ni.in_flight",)),
    Limit("remote requests that an RRPP may have on their way", ("ni.rrpp_in_flight",)),
    Limit("entries of the work queues", ("ni.wq.entries",), most=2048),
    Limit("loads that a core may have on their way", ("software.mshrs",), most=1024),
    Limit(
        "cycles that software takes",
        ("software.wq_write_cycles", "software.cq_read_cycles", "software.load_cycles"),
        0.5,
    ),
    Limit(
        "cycles of the pipelines of the NIs",
        (
            "ni.rgp_frontend_cycles",
            "ni.rgp_backend_cycles",
            "ni.rcp_backend_cycles",
            "ni.rcp_frontend_cycles",
            "ni.rrpp_cycles",
        ),
        0.5,
    ),
    Limit("the time of a hop between chips", ("rack.hop",), 0.5),
)
"""All numeric limits of a chip."""

CHOICES = {
    "ni.placement": ("edge", "per-tile", "split", "numa"),
    "noc.routing": ("xy", "yx", "cdr", "cdr-directory"),
}
"""Settings of a chip that are choices, not numbers."""


@dataclass(frozen=True)
class Trial:
    """A chip with one change, and its measured value; `gain` is relative to the unchanged chip."""

    what: str
    before: str
    after: str
    is_limit: bool
    overrides: tuple[str, ...]
    value: float
    gain: float


@dataclass(frozen=True, repr=False)
class ChipExplanation:
    """Measured values of a chip unchanged and with each change, in descending order of gain.

    `measure` is "application_gb_per_s", or "latency_cycles" with mode "turns", where a gain is a shorter latency.
    """

    summary: Mapping[str, Any]
    measure: str
    now: float
    trials: tuple[Trial, ...]
    untried: tuple[str, ...]
    """Limits that cannot be raised because no chip allows it."""

    @property
    def limits(self) -> tuple[Trial, ...]:
        """Limits whose gain counts when they are raised alone."""
        return tuple(trial for trial in self.trials if trial.is_limit and trial.gain >= GAIN_MIN)

    @property
    def unit(self) -> str:
        """Unit of the measured values."""
        return "cycles" if self.measure == "latency_cycles" else "GB/s"

    @property
    def conclusion(self) -> str:
        """The limit that helps most, in a sentence."""
        shorter = self.measure == "latency_cycles"
        if not self.limits:
            helped = "shortens the latency" if shorter else "raises the bandwidth"
            return f"None of these alone {helped} by {format_percent(GAIN_MIN)}: what limits is not known."
        first, *others = self.limits
        what = f"{first.what} ({first.before} -> {first.after}: {format_percent(first.gain, 1, sign='+')})"
        also = f" Less so: {', '.join(trial.what for trial in others)}." if others else ""
        return f"What {'shortens the latency most' if shorter else 'limits'}: {what}.{also}"

    def __repr__(self) -> str:
        """Returns the conclusion in one line."""
        return f"<ChipExplanation {self.summary['name']}: {self.conclusion}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the conclusion, and the gain of each change."""
        from hostnet.report.notebook.alone import trials_block

        content = self.as_dict()
        now = f"{self.now:.1f} {self.unit}"
        return trials_block(content["name"], now, self.conclusion, content["trials"], self.untried)

    def as_dict(self) -> dict[str, Any]:
        """Returns everything except the summary, ready for JSON."""
        return {
            "kind": "chip",
            "name": self.summary["name"],
            "measure": self.measure,
            "now": self.now,
            "enough": GAIN_MIN,
            "limits": [trial.what for trial in self.limits],
            "trials": [asdict(trial) for trial in self.trials],
            "untried": list(self.untried),
        }


def explain_summary(summary: Mapping[str, Any], *, progress: Progress | None = None) -> ChipExplanation:
    """Explains a chip from the summary of its run, as `try_changes` does."""
    return try_changes(resolve_change(summary["config"], ()), progress=progress)


def try_changes(plan: _core.ChipPlan, *, progress: Progress | None = None) -> ChipExplanation:
    """Runs a chip unchanged and with each change.

    Raises:
        KeyboardInterrupt: The progress callback stopped the runs.
        ConfigError: No operation ends within a window, so there is nothing to compare.
    """
    config = json.loads(plan.effective_json())
    changes, plans, untried = [], [plan], []
    for change in (*raised_limits(config), *alternative_choices(config)):
        try:
            plans.append(resolve_change(config, change.overrides))
        except ConfigError:
            untried += [change.what] if change.is_limit else []
            continue
        changes.append(change)
    summaries = run_chips(plans, progress)
    measure = "latency_cycles" if config["workload"]["mode"] == "turns" else "application_gb_per_s"
    now, *others = (measured_value(summary, measure) for summary in summaries)
    if not now:
        raise ConfigError("nothing-to-do", "no operation ends in a window; run.window makes it longer")
    trials = (
        Trial(
            change.what,
            change.before,
            change.after,
            change.is_limit,
            change.overrides,
            value,
            relative_gain(measure, now, value),
        )
        for change, value in zip(changes, others, strict=True)
    )
    return ChipExplanation(
        summaries[0], measure, now, tuple(sorted(trials, key=lambda trial: -trial.gain)), tuple(untried)
    )


@dataclass(frozen=True)
class Change:
    """A change to try."""

    what: str
    before: str
    after: str
    is_limit: bool
    overrides: tuple[str, ...]


def raised_limits(config: Config) -> list[Change]:
    """Returns a change per limit: raised by its factor. Limits that the chip lacks or cannot raise are omitted."""
    changes = []
    for limit in LIMITS:
        pairs = [(key, value_at(config, key)) for key in limit.keys]
        values = [(key, value, scaled_value(value, limit)) for key, value in pairs if value is not None]
        values = [(key, old, new) for key, old, new in values if old != new]
        if values:
            overrides = tuple(f"{key}={new}" for key, _, new in values)
            before, after = (", ".join(str(value[place]) for value in values) for place in (1, 2))
            changes.append(Change(limit.what, before, after, True, overrides))
    return changes


def scaled_value(value: Any, limit: Limit) -> Any:
    """Returns a value times the factor of a limit: a number stays whole, a quantity keeps its unit."""
    if isinstance(value, str):
        number, unit = value.split(" ", 1)
        new = float(number) * limit.factor
        return f"{min(new, limit.most):g} {unit}"
    return (
        min(int(value * limit.factor), limit.most)
        if limit.factor > 1
        else max(int(value * limit.factor), min(value, 1))
    )


def alternative_choices(config: Config) -> list[Change]:
    """Returns a change for each alternative of each choice."""
    return [
        Change(key, now, other, False, (f"{key}={other}",))
        for key, others in CHOICES.items()
        if (now := value_at(config, key)) is not None
        for other in others
        if other != now
    ]


def value_at(config: Config, key: str) -> Any:
    """Returns the value of a key, or None."""
    found: Any = config
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def resolve_change(config: Config, overrides: tuple[str, ...]) -> _core.ChipPlan:
    """Resolves a chip with other values.

    Raises:
        ConfigError: There is no such chip.
    """
    return _core.chip_plan(json.dumps(config), format="json", file="chip.json", base_dir=".", overrides=list(overrides))


def measured_value(summary: Mapping[str, Any], measure: str) -> float:
    """Returns the value that is compared."""
    if measure == "latency_cycles":
        return float((summary["latency"] or {"mean_cycles": 0.0})["mean_cycles"])
    return float(summary["bandwidth"]["application_gb_per_s"])


def relative_gain(measure: str, now: float, other: float) -> float:
    """Returns the relative improvement of another value."""
    if measure == "latency_cycles":
        return now / other - 1 if other else 0.0
    return other / now - 1
