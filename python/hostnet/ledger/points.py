"""Operating points: the workloads that run together, and their configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class OperatingPoint(Protocol):
    """A configuration that is run once."""

    @property
    def name(self) -> str:
        """Unique name: its family and, if that has several points, `:x`."""

    @property
    def x(self) -> str:
        """Text that identifies the point in its family, as in published values."""

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns its configuration, for a machine and with the seed, warm-up and duration of a selection."""


class PointFamily(Protocol):
    """Operating points that differ in one respect."""

    @property
    def title(self) -> str:
        """Description for readers."""

    def points(self) -> Sequence[OperatingPoint]:
        """Returns its operating points, in order."""


@dataclass(frozen=True)
class Family:
    """Operating points that differ only in the number of C2M cores; without `cores`, one point without C2M traffic.

    `reads` is the share of loads in the C2M workload (1.0 is C2M-Read, 0.0 is C2M-ReadWrite); `fio` is a job file in
    the repository's `examples`, which runs on `fio_cores`.
    """

    name: str
    title: str
    cores: int = 0
    reads: float | None = None
    fio: str | None = None
    fio_cores: str | None = None

    def points(self) -> list[Point]:
        """Returns its operating points, with the fewest cores first."""
        return [Point(self, cores) for cores in range(1, self.cores + 1)] or [Point(self, 0)]


@dataclass(frozen=True)
class Point:
    """An operating point: a family at a number of C2M cores (0 if it has no C2M traffic)."""

    family: Family
    cores: int

    @property
    def name(self) -> str:
        """Unique name, such as `q3:4` or `p2m-write`."""
        return f"{self.family.name}:{self.cores}" if self.cores else self.family.name

    @property
    def x(self) -> str:
        """Number of cores."""
        return str(self.cores)

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration of the server. Paths in it are relative to the repository's `examples`."""
        return {"server": {"preset": preset}, "workload": self.workloads(), "run": {"name": self.name, **run}}

    def workloads(self) -> dict[str, dict[str, Any]]:
        """Returns the workloads of the point by name, as in a configuration."""
        workloads: dict[str, dict[str, Any]] = {}
        if self.cores:
            workloads["stream"] = {"kind": "stream", "cores": f"0-{self.cores - 1}", "reads": self.family.reads}
        if self.family.fio:
            workloads["fio"] = {"kind": "fio", "job": self.family.fio, "cores": self.family.fio_cores}
        return workloads


@dataclass(frozen=True)
class Composition:
    """Operating points composed of fragments of the configuration, for several values of `x`, mostly core counts.

    Later fragments override earlier ones and the run of the selection. In their texts, `{x}` is the value and `{last}`
    one less, the number of the last core. `preset` is the machine, unless it is that of the study.
    """

    name: str
    title: str
    fragments: tuple[Mapping[str, Any], ...]
    x: tuple[int, ...] = ()
    preset: str | None = None

    def points(self) -> list[ComposedPoint]:
        """Returns the operating points in the order of `x`, or a single one without `x`."""
        return [ComposedPoint(self, x) for x in self.x] or [ComposedPoint(self, None)]


@dataclass(frozen=True)
class ComposedPoint:
    """An operating point of a composition."""

    family: Composition
    value: int | None

    @property
    def name(self) -> str:
        """Unique name, such as `redis:3` or `drives`."""
        return self.family.name if self.value is None else f"{self.family.name}:{self.value}"

    @property
    def x(self) -> str:
        """Value of x as text; "0" if there is none."""
        return str(self.value or 0)

    def config(self, preset: str, run: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the configuration of the server. Paths in it are relative to the repository's `examples`."""
        config: dict[str, Any] = {"server": {"preset": self.family.preset or preset}, "run": {"name": self.name, **run}}
        for fragment in self.family.fragments:
            config = merge_tables(config, fill_template(fragment, self.value or 0))
        return config


def merge_tables(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Merges two configurations; values of `more` override those of `base`."""
    together = dict(base)
    for key, value in more.items():
        own = together.get(key)
        together[key] = merge_tables(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return together


def fill_template(fragment: Any, x: int) -> Any:
    """Substitutes the value of x in the texts of a fragment."""
    if isinstance(fragment, Mapping):
        return {key: fill_template(value, x) for key, value in fragment.items()}
    if isinstance(fragment, list):
        return [fill_template(value, x) for value in fragment]
    return fragment.replace("{x}", str(x)).replace("{last}", str(x - 1)) if isinstance(fragment, str) else fragment


@dataclass(frozen=True)
class Selection:
    """Operating points that are run together, and their duration.

    Times of servers carry their unit (`1 ms`). The warm-up of the memory alone is a share of the requests.
    """

    name: str
    warmup: str | float
    duration: str
    points: tuple[OperatingPoint, ...]

    def config(self, point: OperatingPoint, preset: str, seed: int) -> dict[str, Any]:
        """Returns the configuration of a point."""
        return point.config(preset, {"seed": seed, "warmup": self.warmup, "duration": self.duration})
