"""Data of the picture of a host: its parts, the occupancy of their buffers, and the paths of the four domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hostnet.report.load import Row, RunFiles

ALL = "all"
"""Part or workload of a row that is a total."""


@dataclass(frozen=True)
class DomainPath:
    """Path of one of the four domains. `kind` selects its colour and mark; `pool` is the pool of its credits."""

    domain: str
    kind: str
    pool: str
    hops: tuple[str, ...]
    """Pools that its lines pass; `DRAM` stands for the banks."""
    words: str


DOMAIN_PATHS = (
    DomainPath(
        "C2M-Read",
        "a",
        "LFB",
        ("LFB", "CHA TOR", "RPQ", "DRAM"),
        "Cores read lines: from the line fill buffer through CHA and read queue to DRAM, and back with the data.",
    ),
    DomainPath(
        "C2M-Write",
        "b",
        "LFB",
        ("LFB", "CHA TOR"),
        "Cores write lines back: from the line fill buffer until the CHA has admitted the line.",
    ),
    DomainPath(
        "P2M-Write",
        "c",
        "P2M-Write",
        ("P2M-Write", "CHA TOR", "WPQ"),
        "Drives write memory (storage reads): from the IIO through the CHA until the write queue has taken the line.",
    ),
    DomainPath(
        "P2M-Read",
        "d",
        "P2M-Read",
        ("P2M-Read", "CHA TOR", "RPQ", "DRAM"),
        "Drives read memory (storage writes): from the IIO through CHA and read queue to DRAM, and back with the data.",
    ),
)

CROSSING = "CHA->UPI"
"""Pool of lines that wait for another socket."""

KIND_OF_POOL = {
    **{way.domain: way.kind for way in DOMAIN_PATHS},
    "LFB": "a",
    "PCIe posted": "c",
    "PCIe non-posted": "d",
}
"""Colours of pools that belong to cores or devices; shared pools have the colour `n`."""


@dataclass(frozen=True)
class CreditPool:
    """A buffer of the host: its row for the whole server, and a row for each of its parts."""

    name: str
    row: Row
    parts: tuple[Row, ...] = ()

    @property
    def in_use(self) -> float:
        """Mean number of entries in use."""
        return float(self.row["in_use_mean"] or 0.0)

    @property
    def capacity(self) -> int | None:
        """Number of entries."""
        capacity: int | None = self.row["capacity"]
        return capacity

    @property
    def share(self) -> float | None:
        """Mean share of entries in use, 0 to 1."""
        return share_of(self.row)


def share_of(row: Row) -> float | None:
    """Returns the mean share of the credits in use, 0 to 1; None without a capacity."""
    capacity, in_use = row["capacity"], row["in_use_mean"]
    return min(in_use / capacity, 1.0) if capacity and in_use is not None else None


@dataclass(frozen=True)
class HostView:
    """The server of a run, as far as its files describe it."""

    config: Row
    pools: dict[str, CreditPool]
    channels: tuple[Row, ...]
    """Rows of the channels; empty if there are none."""
    channels_all: Row | None
    binding: dict[str, tuple[str, ...]]
    """Workloads by the limit that binds them."""
    socket: int | None = None
    """Number of the socket that is shown alone; None for the whole server."""
    first: Mapping[str, int] = field(default_factory=dict)
    """Numbers of the first core, channel and drive of a socket."""
    paths: tuple[DomainPath, ...] = ()
    """Domains that a socket uses, with the hops that lines pass there."""
    links: tuple[Row, ...] = ()
    """UPI links to and from other sockets."""
    llc: Row | None = None
    """Contents of the LLC of a socket, if it is simulated."""

    def get(self, path: str) -> Any:
        """Returns the value of a configuration key, or None."""
        return config_value(self.config, path)

    @property
    def ways(self) -> tuple[DomainPath, ...]:
        """Domains that the run used."""
        if self.socket is not None:
            return self.paths
        return tuple(way for way in DOMAIN_PATHS if way.domain in self.pools)

    def binds(self, name: str) -> tuple[str, ...]:
        """Returns the workloads that a pool limits, by itself or through a domain that uses it."""
        domains = {name, *(way.domain for way in DOMAIN_PATHS if way.pool == name)}
        return tuple(workload for domain in sorted(domains) for workload in self.binding.get(domain, ()))


def config_value(config: Any, path: str) -> Any:
    """Returns the value at a path such as `core.count`, or None."""
    for key in path.split("."):
        config = config.get(key) if isinstance(config, dict) else None
    return config


def host_of(run: RunFiles) -> HostView:
    """Builds the server of a run from its files."""
    summary = run.summary
    channels = summary.get("channels", [])
    binding: dict[str, tuple[str, ...]] = {}
    for row in summary.get("workloads", []):
        for limit in str(row.get("limited_by")).split(" / "):
            binding[limit] = (*binding.get(limit, ()), str(row["workload"]))
    return HostView(
        config=run.manifest.get("config") or {},
        pools=pools_of(summary.get("domains", []), run.domains),
        channels=tuple(sorted((row for row in channels if row["channel"] >= 0), key=lambda row: int(row["channel"]))),
        channels_all=next((row for row in channels if row["channel"] < 0), None),
        binding=binding,
    )


def pools_of(totals: Sequence[Row], rows: Sequence[Row]) -> dict[str, CreditPool]:
    """Returns the pools by name, each with its parts in numerical order."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if row["part"] != ALL and row["workload"] == ALL:
            parts.setdefault(row["domain"], []).append(row)
    return {
        row["domain"]: CreditPool(row["domain"], row, tuple(sorted(parts.get(row["domain"], ()), key=part_number)))
        for row in totals
        if row["part"] == ALL and row["workload"] == ALL
    }


def part_number(row: Row) -> int:
    """Returns the number in the name of a part: 3 for `core 3`; 0 without a number."""
    number = str(row["part"]).rpartition(" ")[2]
    return int(number) if number.isdecimal() else 0
