"""Makes the runs and records their results."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostnet
from tests.golden.chips import chips, on_chips
from tests.golden.clusters import congested, networks, random_clusters
from tests.golden.memories import memories
from tests.golden.servers import applications, mixes, quadrants, random_servers

HERE = Path(__file__).parent
TRACES = HERE.parents[1] / "examples" / "traces"

COVERED: dict[str, Any] = json.loads((HERE / "covered.json").read_text())
"""Columns that the digests cover, by table, so that a new column changes no digest."""

SERIES = {"q3-4-cores": "25 us", "host-series": "50 us", "redis-beside-disk": "20 us"}
"""Step of the time series of those runs that record one."""

QUICK = (
    "q1-4-cores",
    "q3-4-cores",
    "few-credits",
    "storage-small",
    "memory-random-67",
    "memory-hbm",
    "noc-o1turn",
    "chip-noc-out",
    "chip-rack",
    "host-3x-line",
    "host-3x-burst",
    "faults",
    "rdma-write",
    "random-server-3",
    "random-cluster-1",
)
"""Runs that the default tests check."""

SUMMARIES: dict[str, Any] = {"memory": hostnet.memory, "noc": hostnet.noc, "chip": hostnet.chip}
"""Function that makes a run of each kind with a summary and no tables."""

LEAVES = {
    "memory": {"bandwidth": "bandwidth.gb_per_s", "reads": "latency.read_from_acceptance.mean_ns"},
    "noc": {"accepted": "rate.accepted", "latency": "latency.packet.mean_cycles"},
    "chip": {"payload": "bandwidth.application_gb_per_s", "latency": "latency.mean_cycles"},
}
"""Values of a summary that a line of the golden table shows, by kind."""

SHOWN = {
    "workloads": ("throughput_gb_per_s", "latency_mean_ns", "latency_p99_ns", "lines", "operations"),
    "classes": ("goodput_gbps", "sent_packets", "retransmitted_packets", "nic_drop_percent", "marked_segments"),
    "latencies": ("count", "mean_us", "p99_us"),
    "jobs": ("done_us", "communication_share", "messages", "bytes"),
    "hosts": ("iio_write_occupancy", "iio_write_gbps", "nic_buffer_max_bytes", "core_copy_share"),
}
"""Columns that a line of the golden table shows, by table of the run."""


def runs() -> dict[str, tuple[str, dict[str, Any]]]:
    """Returns every run by its name: its kind, and its description."""
    servers = {**quadrants(), **mixes(), **applications(str(TRACES)), **random_servers(8)}
    clusters = {**congested(), **networks(), **random_clusters(6)}
    found = {name: ("server", document) for name, document in servers.items()}
    found |= {name: ("cluster", document) for name, document in clusters.items()}
    summaries = {"memory": memories(), "noc": on_chips(), "chip": chips()}
    return found | {
        name: (kind, keywords) for kind, runs_of_kind in summaries.items() for name, keywords in runs_of_kind.items()
    }


def measure(name: str) -> list[str]:
    """Yields the lines of the golden table for one run."""
    kind, document = runs()[name]
    if kind in SUMMARIES:
        summary = SUMMARIES[kind](**document).summary
        leaves = dict(_leaves(summary))
        values = [[f"{path} {_text(value)}" for path, value in leaves.items() if path in COVERED[kind]]]
        shown = [f"  {word} {_text(leaves.get(path))}" for word, path in LEAVES[kind].items()]
        return [f"[{name}] {_digest(values)}", *shown]
    results = _run(kind, document, SERIES.get(name))
    tables = {table: results.tables[table].to_pylist() for table in COVERED[kind] if table in results.tables}
    digests = {table: _digest(_covered(kind, table, rows)) for table, rows in tables.items() if rows}
    lines = [f"[{name}] {_digest([[digests[table] for table in sorted(digests)]])}"]
    lines += [f"  {table}: {digest}" for table, digest in sorted(digests.items())]
    return lines + [line for table in SHOWN for line in _shown(table, tables.get(table, []))]


def _run(kind: str, document: dict[str, Any], series: str | None) -> Any:
    if kind == "cluster":
        return hostnet.run_cluster(document, series=series)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.json"
        path.write_text(json.dumps(document))
        return hostnet.run(path, series=series)


def _covered(kind: str, table: str, rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    for row in rows:
        yield [f"{column} {_text(row[column])}" for column in COVERED[kind][table]]


def _shown(table: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        label = next(iter(row.values()))
        values = [f"{column} {_text(row[column])}" for column in SHOWN[table] if row.get(column) is not None]
        yield f"  {label}: {', '.join(values)}"


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every value of a summary with the path of its keys; a list counts as one value."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves(value, f"{path}.{key}".removeprefix("."))
    else:
        yield path, tree


def _text(value: Any) -> str:
    """Returns a value with all its digits."""
    return json.dumps(value, sort_keys=True)


def _digest(rows: Any) -> str:
    """Returns a hash of rows of texts, short enough to read."""
    text = "\n".join(" ".join(row) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
