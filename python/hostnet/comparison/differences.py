"""Differences between the configurations and between the results of two runs."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hostnet.tables import key_columns, result_tables, rows_by_key, table_info

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
"""Columns with a confidence interval, and the column with its half-width."""

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

HEADLINES = {
    "classes": {"goodput_gbps"},
    "latencies": {"p99_us"},
    "workloads": {"throughput_gb_per_s", "operations_per_s", "latency_mean_ns", "limited_by"},
    "jobs": {"iteration_us"},
    "services": {"answered_per_s", "p99_us"},
    "energy": {"power_w"},
}
"""Most important results, which are listed first, whatever their change."""

IRRELEVANT_KEYS = {"run.name", "server.description"}
"""Keys that affect no result."""

SWITCH = "cache.enabled"
"""Key that enables the caches; without it, their keys affect no result."""

CACHES = re.compile(r"(.*\.)?(cache|prefetch|ddio)\.")
"""Prefix of the keys of caches, of a server, a socket or a host."""

FIRST_SECTIONS = ("workload", "run", "server")
"""Sections of the configuration that are listed first."""

_PLAIN = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class KeyDifference:
    """A configuration value that differs; None where a run lacks the key."""

    key: str
    """Dotted path of the key."""
    a: Any
    b: Any


@dataclass(frozen=True)
class ResultDifference:
    """A result that differs; None where a run lacks the value."""

    table: str
    """Table of the result."""
    subject: str
    """Workload, domain, channel or other subject of the row."""
    column: str
    """Column of the result."""
    a: Any
    b: Any
    ci95_a: float | None
    """Half-width of the 95 % confidence interval, if any."""
    ci95_b: float | None
    change: float | None
    """Relative change (b - a) / |a|; None if undefined."""
    beyond: bool | None
    """True if the confidence intervals do not overlap; None without intervals."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the difference in the format of `hostnet compare --json`."""
        return asdict(self)


def config_differences(a: Row, b: Row) -> list[KeyDifference]:
    """Returns the keys whose values differ; those of workloads and of the run come first."""
    values = dict(_flat("", a)), dict(_flat("", b))
    keys = [key for key in {**values[0], **values[1]} if key not in IRRELEVANT_KEYS]
    differing = [key for key in keys if values[0].get(key) != values[1].get(key) and _matters(key, values)]
    differing.sort(key=_rank_of_key)
    return [KeyDifference(key, values[0].get(key), values[1].get(key)) for key in differing]


def _matters(key: str, values: tuple[Row, Row]) -> bool:
    """Returns False for keys of caches if both servers have none."""
    if not CACHES.match(key) or key.endswith(SWITCH):
        return True
    return any(value for side in values for key, value in side.items() if key.endswith(SWITCH))


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields every value with its dotted path."""
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
    """Returns the sort key of a configuration key."""
    section = key.partition(".")[0]
    return FIRST_SECTIONS.index(section) if section in FIRST_SECTIONS else len(FIRST_SECTIONS)


def result_differences(a: Row, b: Row) -> list[ResultDifference]:
    """Returns the results that differ between the tables of two runs, in descending order of importance.

    Headline results come first: throughput and latency of workloads and classes, times of jobs, power. Next come
    changes beyond the confidence intervals, then results without intervals, then changes that may be noise. Within each
    group, the tables keep their order, large changes come before small ones, and counts come last.
    """
    found: list[ResultDifference] = []
    tables = result_tables()
    for table in tables:
        rows = rows_by_key(table, a.get(table, ())), rows_by_key(table, b.get(table, ()))
        for key in {**rows[0], **rows[1]}:
            own, other = rows[0].get(key, {}), rows[1].get(key, {})
            if own != other:
                subject = subject_text(table, own or other, key)
                found += _row_differences(table, subject, own, other)
    return sorted(found, key=lambda difference: _rank_of_result(difference, tables))


def subject_text(table: str, row: Row, key: tuple[str | int, ...]) -> str:
    """Describes the subject of a row."""
    columns = key_columns(table, row)
    names = dict(zip(columns, key, strict=False))
    host = f"{names.pop('host')}: " if columns != table_info()[table]["keys"] else ""
    number = f" ({key[-1]})" if len(key) > len(columns) else ""
    return f"{host}{_key_text(table, list(names), list(names.values()))}{number}"


def _key_text(table: str, columns: list[str], names: list[Any]) -> str:
    """Describes the key of a row."""
    if table == "channels":
        return "all channels" if names[0] == -1 else f"channel {names[0]}"
    if table == "upi":
        return f"UPI {names[0]} to {names[1]}"
    if table == "mesh":
        return "mesh of socket {} at {},{} {}".format(*names)
    if table == "domains":
        domain, part, workload = names
        return " of ".join([str(domain), *(name for name in (part, workload) if name != "all")])
    if table in ("caches", "energy"):
        return f"all {table}" if names[0] == "all" else f"{table} of {names[0]}"
    pairs = zip(columns, names, strict=True)
    return " ".join(f"{column} {name}" if isinstance(name, int) else name for column, name in pairs)


def _row_differences(table: str, subject: str, a: Row, b: Row) -> Iterator[ResultDifference]:
    """Yields the columns that differ between two rows."""
    keys = key_columns(table, a or b)
    for column in {**a, **b}:
        values = a.get(column), b.get(column)
        if values[0] == values[1] or column in keys or column in INTERVALS.values():
            continue
        interval = INTERVALS.get(column, "")
        halves = a.get(interval), b.get(interval)
        yield ResultDifference(table, subject, column, *values, *halves, _change(*values), _is_beyond(values, halves))


def _is_number(value: Any) -> bool:
    """Returns True for numbers other than booleans."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _change(a: Any, b: Any) -> float | None:
    """Returns the relative change, or None if it is undefined."""
    if not (_is_number(a) and _is_number(b)) or a == 0:
        return None
    return float((b - a) / abs(a))


def _is_beyond(values: tuple[Any, Any], halves: tuple[float | None, float | None]) -> bool | None:
    """Returns True if two confidence intervals do not overlap, or None without intervals."""
    if None in halves or not all(map(_is_number, values)):
        return None
    return bool(abs(values[1] - values[0]) > sum(half for half in halves if half is not None))


def _rank_of_result(difference: ResultDifference, tables: list[str]) -> tuple[int, int, int, float]:
    """Returns the sort key of a difference."""
    certain = {True: 1, None: 2, False: 3}[difference.beyond]
    if difference.column in HEADLINES.get(difference.table, ()) and " of " not in difference.subject:
        certain = 0
    change = float("inf") if difference.change is None else abs(difference.change)
    return certain, int(difference.column in COUNTS), tables.index(difference.table), -change
