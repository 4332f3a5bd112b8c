"""Finds everything that is wrong with a sweep before its first run."""

from __future__ import annotations

import difflib
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet._core import ChipPlan, ConfigError
from hostnet.chips import chip_plan
from hostnet.running import simulate
from hostnet.sweeps.axis import shown
from hostnet.sweeps.chips import is_chip

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.chips import AnyPlan
    from hostnet.sweeps.grid import Grid

    Progress = Callable[[dict[str, Any]], bool | None]

STORAGE = ("ssd.", "pcie.", "iio.", "fio.", "ddio.")
"""Tables that only storage reads."""

CHECKED_AT_ONCE = 64
"""Points between two calls of the progress callback."""


@dataclass(frozen=True)
class Checked:
    """What the configurations of all points came to."""

    name: str
    """Name of the first run."""
    hashes: list[str]
    """Hash of the configuration of every point."""
    notes: tuple[str, ...] = ()
    """What the user should know before trusting the numbers."""

    @property
    def digest(self) -> str:
        """One hash over all configurations."""
        return hashlib.sha256("".join(self.hashes).encode()).hexdigest()


def check(grid: Grid, progress: Progress | None = None, engine: str = "run") -> Checked:
    """Resolves the configuration of every point.

    Raises:
        ConfigError: One is wrong or not covered by the engine, or a parameter changes nothing.
        KeyboardInterrupt: The progress callback said so.
    """
    _check_workloads(grid)
    first = resolve(grid, 0, engine)
    watched = _Influence(grid)
    hashes: list[str] = []
    notes: dict[str, None] = {}
    unvalidated: list[str] = []
    for point in range(len(grid)):
        plan = resolve(grid, point, engine) if point else first
        hashes.append(plan.hash)
        watched.see(point, plan)
        if not isinstance(plan, ChipPlan):
            notes.update(dict.fromkeys(plan.ignored))
            unvalidated += [plan.unvalidated] if plan.unvalidated else []
        if progress is not None and point % CHECKED_AT_ONCE == 0:
            status = {"done": point, "total": len(grid), "points": point, "progress": point / len(grid)}
            if progress({**status, "what": "points checked"}) is False:
                raise KeyboardInterrupt
    watched.judge()
    return Checked(first.name, hashes, (*_validity(unvalidated, len(grid)), *notes))


def resolve(grid: Grid, point: int, engine: str = "run") -> AnyPlan:
    """The plan of a point.

    Raises:
        ConfigError: It is wrong, or predictions are asked for and do not cover it; the message names what the sweep has
            set.
    """
    try:
        source = grid.source_of(point)
        if is_chip(source):
            return chip_plan(source)
        plan = simulate.resolve(source)
        if engine == "predict":
            plan.check_predictable()
        return plan
    except ConfigError as error:
        raise error.reworded(_blame(grid, point, str(error))) from None


def _validity(unvalidated: list[str], points: int) -> list[str]:
    """What is said of points that were not checked against measurements, in one line."""
    if len(unvalidated) == points and len(set(unvalidated)) == 1:
        return unvalidated[:1]
    if not unvalidated:
        return []
    return [f"unvalidated: {len(unvalidated)} of {points} points are not what was checked against measurements"]


def _blame(grid: Grid, point: int, message: str) -> str:
    """An error in the words of a sweep: the assignments of a point were not written with --set."""
    settings = grid.settings(point)
    together = ", ".join(map(shown, settings))
    for setting in settings:
        head = f"--set {setting}:"
        if message.startswith(head):
            where = f" (in point {point}: {together})" if len(settings) > 1 else ""
            return f"--over {setting}:{message.removeprefix(head)}{where}"
    return message if message == _alone(grid) else f"--over, point {point} ({together}): {message}"


def _alone(grid: Grid) -> str | None:
    """What is wrong with the configuration without the sweep."""
    try:
        chip_plan(grid.source) if is_chip(grid.source) else simulate.resolve(grid.source)
    except ConfigError as error:
        return str(error)
    return None


def _check_workloads(grid: Grid) -> None:
    """A parameter of a workload that does not exist is told as such, not as a workload that lacks its kind."""
    names = _workloads(grid)
    for axis in grid.axes:
        table, name, *keys = axis.path.split(".")
        if names and table == "workload" and name not in names and keys != ["kind"]:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(names)}"
            raise ConfigError("does-not-exist", f'--over {axis.path}: there is no workload "{shown(name)}"; {hint}')


def _workloads(grid: Grid) -> list[str]:
    """The workloads without the sweep; none where it is no configuration without the sweep, or one of a chip."""
    if is_chip(grid.source):
        return []
    try:
        return list(json.loads(simulate.resolve(grid.source).effective_json()).get("workload", {}))
    except ConfigError:
        return []


class _Influence:
    """Which values of an axis make another configuration than the others."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.digests = [[hashlib.sha256() for _ in axis.values] for axis in grid.axes]
        self.storage = not any(axis.path.startswith(STORAGE) for axis in grid.axes)

    def see(self, point: int, plan: AnyPlan) -> None:
        """Points come in their order, so equal digests mean equal configurations whatever the others are."""
        for digests, index in zip(self.digests, self.grid.choice(point), strict=False):
            digests[index].update(plan.hash.encode())
        if not self.storage and not isinstance(plan, ChipPlan):
            workloads = json.loads(plan.effective_json()).get("workload", {}).values()
            self.storage = plan.is_cluster or any(workload["kind"] == "fio" for workload in workloads)

    def judge(self) -> None:
        for axis, digests in zip(self.grid.axes, self.digests, strict=True):
            if axis.path.startswith(STORAGE) and not self.storage:
                raise ConfigError(
                    "no-effect", f"--over {axis.path}: changes nothing, for there is no workload of kind fio"
                )
            _judge(axis, [digest.hexdigest() for digest in digests])


def _judge(axis: Axis, digests: list[str]) -> None:
    if len(digests) > 1 and len(set(digests)) == 1:
        raise ConfigError("no-effect", f"--over {axis.path}: changes nothing: every value makes the same configuration")
    first: dict[str, str] = {}
    for value, digest in zip(axis.values, digests, strict=True):
        if digest in first:
            both = f"{shown(first[digest])} and {shown(value.text)}"
            raise ConfigError(
                "duplicate", f"--over {axis.path}: {both} make the same configuration; leave one of them out"
            )
        first[digest] = value.text
