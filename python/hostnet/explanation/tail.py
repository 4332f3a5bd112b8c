"""Explains why services meet or miss latency objectives, by runs without each cause and without all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError
from hostnet.explanation.causes import CAUSES, Cause, without
from hostnet.explanation.run_files import read_json
from hostnet.explanation.slo import Promise, Slo, promises, services
from hostnet.explanation.steps import simulated
from hostnet.multi_run import reject_multi_run
from hostnet.notes import STOPPED, forward_notes
from hostnet.running.seeds import mean_of

if TYPE_CHECKING:
    from os import PathLike

    from hostnet._core import Plan
    from hostnet.explanation.steps import Progress, Summary
    from hostnet.running.simulate import AnyConfig

SEEDS = 3
"""Number of seeds per configuration."""

RESOLUTION = 0.02
"""Gains below this fraction count as none, because percentiles are accurate to 1 %."""

TOGETHER = "all of these"
"""Name of all causes together."""


@dataclass(frozen=True)
class Removed:
    """Effect of removing a cause on a value, as a mean over the seeds.

    `gain` is the mean fraction of the value that the cause accounts for, and `noise` the half-width of its 95 %
    interval: seeds with very different values often have about the same gain.
    """

    cause: str
    done: str
    value_us: float | None
    gain: float | None
    noise: float | None
    helps: bool

    def as_dict(self) -> dict[str, Any]:
        """Returns the effect, ready for JSON."""
        return {**self.__dict__}


@dataclass(frozen=True)
class Tail:
    """An objective, its value with several seeds, and without each cause.

    `named` are the causes with the largest gain, several if they cannot be distinguished; empty if the cause is
    unknown.
    """

    promise: Promise
    values_us: tuple[float | None, ...] = ()
    removed: tuple[Removed, ...] = ()
    together: Removed | None = None
    named: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Removed, ...]:
        """Effects of removing each cause, and all of them."""
        return self.removed if self.together is None else (*self.removed, self.together)

    def as_dict(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        promise = self.promise
        return {
            "service": promise.service,
            "host": promise.host,
            "slo": promise.slo.text,
            "quantity": promise.slo.quantity,
            "limit_us": promise.slo.limit_us,
            "value_us": promise.value_us,
            "margin_us": promise.margin_us,
            "met": promise.met,
            "seeds_us": list(self.values_us),
            "removed": [removed.as_dict() for removed in self.removed],
            "all_removed": None if self.together is None else self.together.as_dict(),
            "named": list(self.named),
        }


@dataclass(frozen=True, repr=False)
class Tails:
    """All objectives for a run. `absent` are causes that are not present, `untried` those that could not be removed."""

    name: str
    tails: tuple[Tail, ...]
    seeds: tuple[int, ...] = ()
    absent: tuple[str, ...] = ()
    untried: Mapping[str, str] | None = None
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """True if all objectives are met."""
        return all(tail.promise.met for tail in self.tails)

    def __str__(self) -> str:
        """Returns the results as text, as `hostnet explain --slo` prints them."""
        from hostnet.explanation.tail_text import tails_text

        return tails_text(self)

    def __repr__(self) -> str:
        """Returns the number of objectives that are met in one line."""
        met = sum(tail.promise.met for tail in self.tails)
        return f"<Tails {self.name}: {met} of {len(self.tails)} objectives met>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: each objective, and its value without each cause."""
        from hostnet.explanation.tail_text import NOT_A_SUM, cause_cells, conclusion, notes_of, verdict
        from hostnet.report.notebook.objectives import objectives_block

        parts = [
            (verdict(tail), [cause_cells(row) for row in tail.rows], conclusion(tail) if tail.removed else None)
            for tail in self.tails
        ]
        return objectives_block(self.name, parts, [*([NOT_A_SUM] if self.seeds else []), *notes_of(self)])

    def as_dict(self) -> dict[str, Any]:
        """Returns the results, ready for JSON."""
        return {
            "name": self.name,
            "met": self.met,
            "seeds": list(self.seeds),
            "slos": [tail.as_dict() for tail in self.tails],
            "absent": list(self.absent),
            "untried": dict(self.untried or {}),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ExaminedRun:
    """A run to check objectives against: its plan, the folder of its files, and its summary."""

    plan: Plan
    base_dir: str
    summary: Summary

    @property
    def config(self) -> dict[str, Any]:
        """The complete configuration."""
        config: dict[str, Any] = json.loads(self.plan.effective_json())
        return config


def asked_of_run(folder: str | PathLike[str]) -> ExaminedRun:
    """Returns the run of a run directory.

    Raises:
        ConfigError: The folder is no run directory, or its files are damaged.
        OSError: A file cannot be read.
    """
    place = Path(folder)
    reject_multi_run(place)
    summary, manifest = read_json(place, "summary.json"), read_json(place, "manifest.json")
    config = manifest.get("config")
    if not isinstance(config, dict):
        raise ConfigError(
            "other-version", f"{place / 'manifest.json'}: has no config; it is not of a run of this version of hostnet"
        )
    plan = _core.resolve(json.dumps(config), format="json", file=str(place / "manifest.json"))
    return ExaminedRun(plan, ".", summary)


def asked_of_file(file: AnyConfig, overrides: tuple[str, ...] = (), progress: Progress | None = None) -> ExaminedRun:
    """Runs a configuration.

    Raises:
        ConfigError: The configuration is invalid.
        SimulationError: The run failed.
        KeyboardInterrupt: The progress callback stopped it.
        OSError: The file cannot be read.
    """
    from hostnet.running import simulate

    source = simulate.source_of(file, overrides)
    plan = simulate.resolve(source)
    return ExaminedRun(plan, source.base_dir, simulated([plan], progress)[0])


def explain_slos(
    examined: ExaminedRun,
    slos: Sequence[Slo],
    *,
    host: str | None = None,
    brief: bool = False,
    progress: Progress | None = None,
) -> Tails:
    """Checks objectives and, unless `brief`, determines the contribution of each cause.

    Raises:
        ConfigError: An objective applies to no service, or the configuration cannot be run again.
        SimulationError: A run failed.
        KeyboardInterrupt: The progress callback stopped it.
    """
    summary = examined.summary
    asked_for = promises(slos, summary, examined.plan.servers, host)
    notes = tuple(_notes(summary, asked_for))
    name = str(summary["name"])
    if brief:
        return Tails(name, tuple(map(Tail, asked_for)), notes=notes)
    config = examined.config
    hosts = list(dict.fromkeys(promise.host for promise in asked_for))
    tried, absent, untried = _plans(config, hosts, examined.base_dir)
    first = int(summary["seed"])
    seeds = tuple((first + step) % 2**64 for step in range(SEEDS))
    plans = [plan.with_seed(seed) for plan in (examined.plan, *tried.values()) for seed in seeds]
    found = simulated(plans, progress)
    runs = [found[at : at + SEEDS] for at in range(0, len(found), SEEDS)]
    again = [promise.value_in(runs[0][0]) for promise in asked_for]
    if any(promise.value_us != value for promise, value in zip(asked_for, again, strict=True)):
        notes += ("the run was stopped, or is of another version of hostnet: it gives other values when run again",)
    tails = tuple(_tail(promise, tuple(tried), runs) for promise in asked_for)
    return Tails(name, tails, seeds, absent, untried, notes)


def _plans(
    config: dict[str, Any], hosts: Sequence[str], base_dir: str
) -> tuple[dict[Cause, Plan], tuple[str, ...], dict[str, str]]:
    """Returns the plans without each cause and without all, the absent causes, and the errors of the other causes."""
    tried: dict[Cause, Plan] = {}
    absent, untried = [], {}
    for cause in CAUSES:
        changed = without(config, hosts, [cause])
        if changed is None:
            absent.append(cause.name)
            continue
        try:
            tried[cause] = _core.resolve(json.dumps(changed), format="json", file="<without>", base_dir=base_dir)
        except ConfigError as error:
            untried[cause.name] = str(error)
    changed = without(config, hosts, list(tried))
    if changed is not None and len(tried) > 1:
        every = Cause(TOGETHER, "", lambda *_: True)
        try:
            tried[every] = _core.resolve(json.dumps(changed), format="json", file="<without>", base_dir=base_dir)
        except ConfigError as error:
            untried[TOGETHER] = str(error)
    return tried, tuple(absent), untried


def _tail(promise: Promise, causes: Sequence[Cause], runs: Sequence[Sequence[Summary]]) -> Tail:
    """Returns the result of one objective; `runs` starts with the unchanged runs, then those without each cause."""
    before, *after = [tuple(promise.value_in(summary) for summary in same) for same in runs]
    every = [_removed(cause, before, values) for cause, values in zip(causes, after, strict=True)]
    gains = {cause.name: _gains(before, values) for cause, values in zip(causes, after, strict=True)}
    alone = [removed for removed in every if removed.cause != TOGETHER]
    together = next((removed for removed in every if removed.cause == TOGETHER), None)
    alone.sort(key=lambda removed: -(removed.gain if removed.gain is not None else float("-inf")))
    return Tail(promise, before, tuple(alone), together, _named(alone, gains))


def _gains(before: Sequence[float | None], after: Sequence[float | None]) -> list[float]:
    """Returns the relative reduction of a value for each seed."""
    return [1 - now / was for was, now in zip(before, after, strict=True) if was and now is not None]


def _removed(cause: Cause, before: Sequence[float | None], after: Sequence[float | None]) -> Removed:
    """Returns the effect of removing a cause."""
    gains = _gains(before, after)
    mean = mean_of(gains)
    gain, noise = mean["mean"], mean["ci95"]
    helps = len(gains) == len(before) and gain is not None and noise is not None and gain > max(noise, RESOLUTION)
    return Removed(cause.name, cause.done, mean_of(after)["mean"], gain, noise, helps)


def _named(removed: Sequence[Removed], gains: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """Returns the cause with the largest gain, and those with an indistinguishable gain."""
    helping = [one for one in removed if one.helps]
    if not helping:
        return ()
    best = gains[helping[0].cause]
    named = [helping[0].cause]
    for other in helping[1:]:
        less = mean_of([most - own for most, own in zip(best, gains[other.cause], strict=True)])
        if (less["mean"] or 0) <= (less["ci95"] or 0):
            named.append(other.cause)
    return tuple(named)


def _notes(summary: Summary, asked_for: Sequence[Promise]) -> list[str]:
    """Returns notes on the validity of the values."""
    notes = [] if summary.get("complete", True) else [STOPPED]
    names = {promise.name for promise in asked_for}
    for row in services(summary):
        if (row["class"], row["host"]) in names and row.get("given_up"):
            notes.append(
                f"{row['given_up']} requests of {row['class']} were not sent, because too many others had no answer: "
                "they are in no percentile"
            )
    if summary.get("unvalidated"):
        notes.append(str(summary["unvalidated"]))
    notes += forward_notes(summary)
    return notes
