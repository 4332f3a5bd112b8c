"""What differs between the configurations and between the results of two runs."""

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

HEADLINES = {
    "classes": {"goodput_gbps"},
    "latencies": {"p99_us"},
    "workloads": {"throughput_gb_per_s", "operations_per_s", "latency_mean_ns", "limited_by"},
    "jobs": {"iteration_us"},
    "services": {"answered_per_s", "p99_us"},
    "energy": {"power_w"},
}
"""Results that users notice; they come first, whatever the change."""

WITHOUT_INFLUENCE = {"run.name", "server.description"}
"""Keys that change no result."""

SWITCH = "cache.enabled"
"""The key without which those of caches change no result."""

CACHES = re.compile(r"(.*\.)?(cache|prefetch|ddio)\.")
"""The beginning of keys of caches, of a server or of a socket or a host."""

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
    differing = [key for key in keys if values[0].get(key) != values[1].get(key) and _matters(key, values)]
    differing.sort(key=_rank_of_key)
    return [KeyDifference(key, values[0].get(key), values[1].get(key)) for key in differing]


def _matters(key: str, values: tuple[Row, Row]) -> bool:
    """Returns False for keys of caches where both servers have none."""
    if not CACHES.match(key) or key.endswith(SWITCH):
        return True
    return any(value for side in values for key, value in side.items() if key.endswith(SWITCH))


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
    """Returns the results that differ between the tables of two runs, the most important first.

    What users notice comes first: throughput and latency of workloads and classes, times of jobs, power. Then what lies
    beyond the confidence intervals comes before what has none, and that before what may be noise; within each the
    tables keep their order, large changes come before small ones, and counts last.
    """
    found: list[ResultDifference] = []
    tables = result_tables()
    for table in tables:
        rows = rows_by_key(table, a.get(table, ())), rows_by_key(table, b.get(table, ()))
        for key in {**rows[0], **rows[1]}:
            own, other = rows[0].get(key, {}), rows[1].get(key, {})
            if own != other:
                subject = _subject(table, own or other, key)
                found += _row_differences(table, subject, own, other)
    return sorted(found, key=lambda difference: _rank_of_result(difference, tables))


def _subject(table: str, row: Row, key: tuple[str | int, ...]) -> str:
    """Names the subject of a row, in words."""
    columns = key_columns(table, row)
    names = dict(zip(columns, key, strict=False))
    host = f"{names.pop('host')}: " if columns != table_info()[table]["keys"] else ""
    number = f" ({key[-1]})" if len(key) > len(columns) else ""
    return f"{host}{_words(table, list(names), list(names.values()))}{number}"


def _words(table: str, columns: list[str], names: list[Any]) -> str:
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
    said = zip(columns, names, strict=True)
    return " ".join(f"{column} {name}" if isinstance(name, int) else name for column, name in said)


def _row_differences(table: str, subject: str, a: Row, b: Row) -> Iterator[ResultDifference]:
    keys = key_columns(table, a or b)
    for column in {**a, **b}:
        values = a.get(column), b.get(column)
        if values[0] == values[1] or column in keys or column in INTERVALS.values():
            continue
        interval = INTERVALS.get(column, "")
        halves = a.get(interval), b.get(interval)
        yield ResultDifference(table, subject, column, *values, *halves, _change(*values), _is_beyond(values, halves))


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


def _rank_of_result(difference: ResultDifference, tables: list[str]) -> tuple[int, int, int, float]:
    certain = {True: 1, None: 2, False: 3}[difference.beyond]
    if difference.column in HEADLINES.get(difference.table, ()) and " of " not in difference.subject:
        certain = 0
    change = float("inf") if difference.change is None else abs(difference.change)
    return certain, int(difference.column in COUNTS), tables.index(difference.table), -change
