"""Operating points: which workloads run together on how many cores, and the configuration that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class OperatingPoint(Protocol):
    """What is run once."""

    @property
    def name(self) -> str:
        """Unique name: its family and, if that has several points, `:x`."""

    @property
    def x(self) -> str:
        """What tells it from the other points of its family, as published values have it."""

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Its configuration, for a machine and with the seed, warm-up and duration of a selection."""


class PointFamily(Protocol):
    """Operating points that differ in one thing only."""

    @property
    def title(self) -> str:
        """What it is, for a reader."""

    def points(self) -> Sequence[OperatingPoint]:
        """Its operating points, in order."""


@dataclass(frozen=True)
class Family:
    """Operating points that differ in the number of C2M cores only; without `cores`, one point without C2M traffic.

    `reads` is the share of loads in the C2M workload (1.0 is C2M-Read, 0.0 is C2M-ReadWrite); `fio` names a job file
    in the repository's `examples`, which runs on `fio_cores`.
    """

    name: str
    title: str
    cores: int = 0
    reads: float | None = None
    fio: str | None = None
    fio_cores: str | None = None

    def points(self) -> list[Point]:
        """Its operating points, with the fewest cores first."""
        return [Point(self, cores) for cores in range(1, self.cores + 1)] or [Point(self, 0)]


@dataclass(frozen=True)
class Point:
    """One operating point: a family at a number of C2M cores (0 when it has no C2M traffic)."""

    family: Family
    cores: int

    @property
    def name(self) -> str:
        """Unique name, such as `q3:4` or `p2m-write`."""
        return f"{self.family.name}:{self.cores}" if self.cores else self.family.name

    @property
    def x(self) -> str:
        """Its number of cores."""
        return str(self.cores)

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration of the server. Paths in it start from the repository's `examples`."""
        return {"server": {"preset": preset}, "workload": self.workloads(), "run": {"name": self.name, **run}}

    def workloads(self) -> dict[str, dict[str, Any]]:
        """The workloads of the point by name, in the configuration's terms."""
        workloads: dict[str, dict[str, Any]] = {}
        if self.cores:
            workloads["stream"] = {"kind": "stream", "cores": f"0-{self.cores - 1}", "reads": self.family.reads}
        if self.family.fio:
            workloads["fio"] = {"kind": "fio", "job": self.family.fio, "cores": self.family.fio_cores}
        return workloads


@dataclass(frozen=True)
class Composition:
    """Operating points composed of fragments of the configuration, at several values of `x`: numbers of cores, mostly.

    Later fragments win over earlier ones and over the run of the selection. In their texts, `{x}` is the value and
    `{last}` one less: the last of so many cores. `preset` is the machine, where it is not that of the study.
    """

    name: str
    title: str
    fragments: tuple[Mapping[str, Any], ...]
    x: tuple[int, ...] = ()
    preset: str | None = None

    def points(self) -> list[ComposedPoint]:
        """Its operating points, in the order of `x`; one without `x`."""
        return [ComposedPoint(self, x) for x in self.x] or [ComposedPoint(self, None)]


@dataclass(frozen=True)
class ComposedPoint:
    """One operating point of a composition."""

    family: Composition
    value: int | None

    @property
    def name(self) -> str:
        """Unique name, such as `redis:3` or `drives`."""
        return self.family.name if self.value is None else f"{self.family.name}:{self.value}"

    @property
    def x(self) -> str:
        """Its value of x; 0 when there is none."""
        return str(self.value or 0)

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration of the server. Paths in it start from the repository's `examples`."""
        config: dict[str, Any] = {"server": {"preset": self.family.preset or preset}, "run": {"name": self.name, **run}}
        for fragment in self.family.fragments:
            config = merged(config, filled(fragment, self.value or 0))
        return config


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Two configurations as one; where both have a value, `more` wins."""
    together = dict(base)
    for key, value in more.items():
        own = together.get(key)
        together[key] = merged(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return together


def filled(fragment: Any, x: int) -> Any:
    """The fragment with the value of x in its texts."""
    if isinstance(fragment, Mapping):
        return {key: filled(value, x) for key, value in fragment.items()}
    if isinstance(fragment, list):
        return [filled(value, x) for value in fragment]
    return fragment.replace("{x}", str(x)).replace("{last}", str(x - 1)) if isinstance(fragment, str) else fragment


@dataclass(frozen=True)
class Selection:
    """Operating points that are run together, and for how long.

    Times of servers carry their unit (`1 ms`). The warm-up of the memory alone is a share of the requests.
    """

    name: str
    warmup: str | float
    duration: str
    points: tuple[OperatingPoint, ...]

    def config(self, point: OperatingPoint, preset: str, seed: int) -> dict[str, Any]:
        """The configuration of one of the points."""
        return point.config(preset, {"seed": seed, "warmup": self.warmup, "duration": self.duration})
