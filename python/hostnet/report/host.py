"""What the picture of a host shows: its parts, how full their buffers are, and the paths of the four domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hostnet.report.load import Row, RunFiles

ALL = "all"
"""The part or workload of a row that is about all of them."""


@dataclass(frozen=True)
class Way:
    """One of the four domains. `kind` chooses its colour and mark; `pool` is where its credits live."""

    domain: str
    kind: str
    pool: str
    hops: tuple[str, ...]
    """The pools that its lines pass; `DRAM` stands for the banks."""
    words: str


WAYS = (
    Way(
        "C2M-Read",
        "a",
        "LFB",
        ("LFB", "CHA TOR", "RPQ", "DRAM"),
        "Cores read lines: from the line fill buffer through CHA and read queue to DRAM, and back with the data.",
    ),
    Way(
        "C2M-Write",
        "b",
        "LFB",
        ("LFB", "CHA TOR"),
        "Cores write lines back: from the line fill buffer until the CHA has admitted the line.",
    ),
    Way(
        "P2M-Write",
        "c",
        "P2M-Write",
        ("P2M-Write", "CHA TOR", "WPQ"),
        "Drives write memory (storage reads): from the IIO through the CHA until the write queue has taken the line.",
    ),
    Way(
        "P2M-Read",
        "d",
        "P2M-Read",
        ("P2M-Read", "CHA TOR", "RPQ", "DRAM"),
        "Drives read memory (storage writes): from the IIO through CHA and read queue to DRAM, and back with the data.",
    ),
)

CROSSING = "CHA->UPI"
"""The pool of lines that wait for another socket."""

KIND_OF_POOL = {**{way.domain: way.kind for way in WAYS}, "LFB": "a", "PCIe posted": "c", "PCIe non-posted": "d"}
"""Colours of pools that belong to cores or devices; what all share has a colour of its own, `n`."""


@dataclass(frozen=True)
class Pool:
    """A buffer of the host: its row for the whole server, and a row for each of its parts."""

    name: str
    row: Row
    parts: tuple[Row, ...] = ()

    @property
    def in_use(self) -> float:
        """Entries in use, mean over time."""
        return float(self.row["in_use_mean"] or 0.0)

    @property
    def capacity(self) -> int | None:
        """Entries that there are."""
        capacity: int | None = self.row["capacity"]
        return capacity

    @property
    def share(self) -> float | None:
        """The share of the entries that is in use."""
        return share_of(self.row)


def share_of(row: Row) -> float | None:
    """Mean share of the credits in use, 0 to 1; None without a capacity."""
    capacity, in_use = row["capacity"], row["in_use_mean"]
    return min(in_use / capacity, 1.0) if capacity and in_use is not None else None


@dataclass(frozen=True)
class Host:
    """A run's server as far as its files know it."""

    config: Row
    pools: dict[str, Pool]
    channels: tuple[Row, ...]
    """A row per channel; empty when there are none."""
    channels_all: Row | None
    binding: dict[str, tuple[str, ...]]
    """The workloads that each limit has."""
    socket: int | None = None
    """The number of a socket that is looked at alone; None for all of a server."""
    first: Mapping[str, int] = field(default_factory=dict)
    """The numbers of the first core, channel and drive of a socket."""
    paths: tuple[Way, ...] = ()
    """The domains that a socket used, with the hops that lines pass there."""
    links: tuple[Row, ...] = ()
    """The directions of UPI to and from other sockets."""
    llc: Row | None = None
    """What the LLC of a socket holds, where it is simulated."""

    def get(self, path: str) -> Any:
        """The value of a configuration key, or None."""
        return config_value(self.config, path)

    @property
    def ways(self) -> tuple[Way, ...]:
        """The domains that the run used."""
        if self.socket is not None:
            return self.paths
        return tuple(way for way in WAYS if way.domain in self.pools)

    def binds(self, name: str) -> tuple[str, ...]:
        """The workloads that a pool limits: it, or a domain that draws on it."""
        domains = {name, *(way.domain for way in WAYS if way.pool == name)}
        return tuple(workload for domain in sorted(domains) for workload in self.binding.get(domain, ()))


def config_value(config: Any, path: str) -> Any:
    """The value at a path such as `core.count`, or None where there is none."""
    for key in path.split("."):
        config = config.get(key) if isinstance(config, dict) else None
    return config


def host_of(run: RunFiles) -> Host:
    """What the run's files say about its server."""
    summary = run.summary
    channels = summary.get("channels", [])
    binding: dict[str, tuple[str, ...]] = {}
    for row in summary.get("workloads", []):
        for limit in str(row.get("limited_by")).split(" / "):
            binding[limit] = (*binding.get(limit, ()), str(row["workload"]))
    return Host(
        config=run.manifest.get("config") or {},
        pools=pools_of(summary.get("domains", []), run.domains),
        channels=tuple(sorted((row for row in channels if row["channel"] >= 0), key=lambda row: int(row["channel"]))),
        channels_all=next((row for row in channels if row["channel"] < 0), None),
        binding=binding,
    )


def pools_of(totals: Sequence[Row], rows: Sequence[Row]) -> dict[str, Pool]:
    """The pools by name, each with its parts in the order of their numbers."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if row["part"] != ALL and row["workload"] == ALL:
            parts.setdefault(row["domain"], []).append(row)
    return {
        row["domain"]: Pool(row["domain"], row, tuple(sorted(parts.get(row["domain"], ()), key=part_number)))
        for row in totals
        if row["part"] == ALL and row["workload"] == ALL
    }


def part_number(row: Row) -> int:
    """The number in the name of a part: 3 of `core 3`; 0 where there is none."""
    number = str(row["part"]).rpartition(" ")[2]
    return int(number) if number.isdecimal() else 0
