"""What differs between the configurations and between the results of two runs."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hostnet.comparison.sides import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = dict[str, Any]

INTERVALS = {
    "throughput_gb_per_s": "throughput_ci95",
    "operations_per_s": "operations_ci95",
    "latency_mean_ns": "latency_ci95",
    "in_use_mean": "in_use_ci95",
    "over_threshold_share": "over_threshold_ci95",
    "row_miss_ratio": "row_miss_ci95",
    "goodput_gbps": "goodput_ci95",
}
"""The columns that have a confidence interval, and the column that holds it."""

COUNTS = {
    *("lines", "io_completed", "operations", "activations", "precharges", "refreshes", "mode_switches"),
    *("l2_lookups", "l2_misses", "prefetch_filled", "prefetch_used", "llc_lookups", "llc_misses"),
    *("core_evictions", "back_invalidations", "ddio_updates", "ddio_allocations", "ddio_leaks", "ddio_evictions"),
    *("io_reads", "io_read_hits", "messages"),
    *("sent_packets", "retransmitted_packets", "nic_received", "host_sent", "host_received", "marked_segments"),
    *("marked_by_host", "nic_dropped_full", "nic_dropped_ring", "fabric_dropped", "timeouts", "probes", "count"),
    *("marked_packets", "pauses_asked", "register_writes", "occupancy_samples", "bandwidth_samples"),
}
"""Columns that grow with the length of the measurement."""

HEADLINES = {"throughput_gb_per_s", "operations_per_s", "latency_mean_ns", "limited_by", "goodput_gbps", "p99_us"}
"""Columns of workloads and classes of traffic that come first, whatever they say."""

FIRST_TABLES = ("classes", "latencies", "workloads")
"""Tables of what users feel."""

TEXTS = ("limited_by",)
"""Columns of text that are results."""

WITHOUT_INFLUENCE = {"run.name", "server.description"}
"""Keys that change no result."""

FIRST_SECTIONS = ("workload", "run", "server")
"""Sections that a user looks for first."""

_PLAIN = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class KeyDifference:
    """A value of the configuration that differs; None where a run has no such key."""

    key: str
    """The dotted path of the key."""
    a: Any
    b: Any


@dataclass(frozen=True)
class ResultDifference:
    """A result that differs; None where a run has no such value."""

    table: str
    """Its table."""
    subject: str
    """The workload, domain or channel that it is about."""
    column: str
    """Its column."""
    a: Any
    b: Any
    ci95_a: float | None
    """Half the width of the confidence interval, where there is one."""
    ci95_b: float | None
    change: float | None
    """(b - a) / a, where that can be said."""
    beyond: bool | None
    """Whether the two confidence intervals do not touch; None where there is none."""

    def to_dict(self) -> dict[str, Any]:
        """The difference as `hostnet compare --json` has it."""
        return asdict(self)


def config_differences(a: Row, b: Row) -> list[KeyDifference]:
    """The keys whose values differ, those of workloads and of the run first."""
    values = dict(_flat("", a)), dict(_flat("", b))
    keys = [key for key in {**values[0], **values[1]} if key not in WITHOUT_INFLUENCE]
    differing = [key for key in keys if values[0].get(key) != values[1].get(key)]
    differing.sort(key=_rank_of_key)
    return [KeyDifference(key, values[0].get(key), values[1].get(key)) for key in differing]


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every value by its dotted path."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            word = name if _PLAIN.fullmatch(name) else f'"{name}"'
            yield from _flat(f"{path}.{word}" if path else word, inner)
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for index, inner in enumerate(value):
            yield from _flat(f"{path}[{index}]", inner)
    else:
        yield path, value


def _rank_of_key(key: str) -> int:
    section = key.partition(".")[0]
    return FIRST_SECTIONS.index(section) if section in FIRST_SECTIONS else len(FIRST_SECTIONS)


def result_differences(a: Row, b: Row) -> list[ResultDifference]:
    """The results that differ between two summaries, the most important first.

    Throughput and latency of the workloads and what limits them come first. Then what lies beyond the confidence
    intervals comes before what has none, and that before what may be noise; within each the workloads come before the
    domains and those before the channels, large changes before small ones, and counts last.
    """
    found: list[ResultDifference] = []
    for table in KEYS:
        rows = _rows(a, table), _rows(b, table)
        for subject in {**rows[0], **rows[1]}:
            found += _row_differences(table, subject, rows[0].get(subject, {}), rows[1].get(subject, {}))
    return sorted(found, key=_rank_of_result)


def _rows(summary: Row, table: str) -> dict[str, Row]:
    found = {_subject(table, row): row for row in summary.get(table, [])}
    for host, server in summary.get("servers", {}).items():
        found |= {f"{host}: {_subject(table, row)}": row for row in server.get(table, [])}
    return found


def _subject(table: str, row: Row) -> str:
    """What a row is about, in words."""
    names = [row[key] for key in KEYS[table]]
    if table == "channels":
        return "all channels" if names[0] < 0 else f"channel {names[0]}"
    if table == "upi":
        return f"UPI {names[0]} to {names[1]}"
    if table == "mesh":
        return "mesh of socket {} at {},{} {}".format(*names)
    if table in ("memory", "queues", "mesh_ways"):
        return " ".join(map(str, names))
    if table == "caches":
        return "all caches" if names[0] == "all" else f"caches of {names[0]}"
    return str(names[0]) if names[-1] in ("all", names[0]) else f"{names[0]} of {names[-1]}"


def _row_differences(table: str, subject: str, a: Row, b: Row) -> Iterator[ResultDifference]:
    for column in {**a, **b}:
        values = a.get(column), b.get(column)
        if values[0] == values[1] or column in INTERVALS.values():
            continue
        if column in TEXTS or all(_is_number(value) or value is None for value in values):
            interval = INTERVALS.get(column, "")
            halves = a.get(interval), b.get(interval)
            yield ResultDifference(
                table, subject, column, *values, *halves, _change(*values), _is_beyond(values, halves)
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _change(a: Any, b: Any) -> float | None:
    if not (_is_number(a) and _is_number(b)) or a == 0:
        return None
    return float((b - a) / abs(a))


def _is_beyond(values: tuple[Any, Any], halves: tuple[float | None, float | None]) -> bool | None:
    if None in halves or not all(map(_is_number, values)):
        return None
    return bool(abs(values[1] - values[0]) > sum(half for half in halves if half is not None))


def _rank_of_result(difference: ResultDifference) -> tuple[int, int, int, float]:
    certain = {True: 1, None: 2, False: 3}[difference.beyond]
    if difference.table in FIRST_TABLES and difference.column in HEADLINES:
        certain = 0
    table = tuple(KEYS).index(difference.table)
    change = float("inf") if difference.change is None else abs(difference.change)
    return certain, int(difference.column in COUNTS), table, -change
