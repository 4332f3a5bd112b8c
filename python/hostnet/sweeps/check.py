"""Checks all points of a sweep before its first run."""

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
"""Prefixes of keys that only storage uses."""

CHECKED_AT_ONCE = 64
"""Points between two calls of the progress callback."""


@dataclass(frozen=True)
class Checked:
    """Result of checking the configurations of all points."""

    name: str
    """Name of the first run."""
    hashes: list[str]
    """Hash of the configuration of every point."""
    notes: tuple[str, ...] = ()
    """Notes on the validity of the results."""

    @property
    def digest(self) -> str:
        """One hash of all configurations."""
        return hashlib.sha256("".join(self.hashes).encode()).hexdigest()


def check(grid: Grid, progress: Progress | None = None, engine: str = "run") -> Checked:
    """Resolves the configuration of every point.

    Raises:
        ConfigError: A point is invalid or not covered by the engine, or a parameter changes nothing.
        KeyboardInterrupt: The progress callback stopped the check.
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
    """Resolves the configuration of a point.

    Raises:
        ConfigError: It is invalid or cannot be predicted; the message names the settings of the point.
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
        raise error.reworded(_reword_error(grid, point, str(error))) from None


def _validity(unvalidated: list[str], points: int) -> list[str]:
    """Returns the notes on points that are not validated, as at most one line."""
    if len(unvalidated) == points and len(set(unvalidated)) == 1:
        return unvalidated[:1]
    # The reason of a preset holds for all of its points, whatever else differs.
    if len(unvalidated) == points and len(shared := {text.split("; ")[0] for text in unvalidated}) == 1:
        return list(shared)
    if not unvalidated:
        return []
    return [f"unvalidated: {len(unvalidated)} of {points} points differ from what was compared with measurements"]


def _reword_error(grid: Grid, point: int, message: str) -> str:
    """Rewrites an error about a setting of a point in terms of `--over`."""
    settings = grid.settings(point)
    together = ", ".join(map(shown, settings))
    for setting in settings:
        head = f"--set {setting}:"
        if message.startswith(head):
            where = f" (in point {point}: {together})" if len(settings) > 1 else ""
            return f"--over {setting}:{message.removeprefix(head)}{where}"
    return message if message == _base_error(grid) else f"--over, point {point} ({together}): {message}"


def _base_error(grid: Grid) -> str | None:
    """Returns the error of the configuration without the sweep, or None."""
    try:
        chip_plan(grid.source) if is_chip(grid.source) else simulate.resolve(grid.source)
    except ConfigError as error:
        return str(error)
    return None


def _check_workloads(grid: Grid) -> None:
    """Rejects parameters of unknown workloads, which would otherwise be reported as workloads without a kind."""
    names = _workloads(grid)
    for axis in grid.axes:
        table, name, *keys = axis.path.split(".")
        if names and table == "workload" and name not in names and keys != ["kind"]:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known are: {', '.join(names)}"
            raise ConfigError("does-not-exist", f'--over {axis.path}: there is no workload "{shown(name)}"; {hint}')


def _workloads(grid: Grid) -> list[str]:
    """Returns the workloads without the sweep; empty if the configuration is incomplete, or one of a chip."""
    if is_chip(grid.source):
        return []
    try:
        return list(json.loads(simulate.resolve(grid.source).effective_json()).get("workload", {}))
    except ConfigError:
        return []


class _Influence:
    """Detects values of an axis that result in equal configurations."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.digests = [[hashlib.sha256() for _ in axis.values] for axis in grid.axes]
        self.storage = not any(axis.path.startswith(STORAGE) for axis in grid.axes)

    def see(self, point: int, plan: AnyPlan) -> None:
        """Adds a point. Points come in order, so equal digests mean equal configurations for all other values."""
        for digests, index in zip(self.digests, self.grid.choice(point), strict=False):
            digests[index].update(plan.hash.encode())
        if not self.storage and not isinstance(plan, ChipPlan):
            workloads = json.loads(plan.effective_json()).get("workload", {}).values()
            self.storage = plan.is_cluster or any(workload["kind"] == "fio" for workload in workloads)

    def judge(self) -> None:
        """Raises ConfigError if an axis changes nothing, or two of its values are equivalent."""
        for axis, digests in zip(self.grid.axes, self.digests, strict=True):
            if axis.path.startswith(STORAGE) and not self.storage:
                raise ConfigError(
                    "no-effect", f"--over {axis.path}: changes nothing, for there is no workload of kind fio"
                )
            _judge(axis, [digest.hexdigest() for digest in digests])


def _judge(axis: Axis, digests: list[str]) -> None:
    """Raises ConfigError if values of an axis have equal digests."""
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
