"""Latency and bandwidth between the nodes of a server, as Intel MLC measures them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.curves.matrix_page import matrix_page
from hostnet.curves.points import RUN
from hostnet.files import write_figure
from hostnet.rundir import write_text
from hostnet.running.engines import evaluate
from hostnet.tables import write_csv, write_parquet
from hostnet.units import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.presets import ServerFile
    from hostnet.running.engines import Progress

PROBE_GAP = "400 ns"
"""Time between two accesses of the probe core. It exceeds any latency, so that one access is in flight."""


@dataclass(frozen=True)
class Pair:
    """Latency and bandwidth between the cores of one node and the memory of one node."""

    node: int
    """Node of the cores."""
    memory: int
    """Node of the memory."""
    latency_ns: float
    """Mean latency of random reads of one core, one at a time, in ns."""
    latency_ci95: float
    """Half-width of its 95 % confidence interval, in ns."""
    bandwidth_gb_per_s: float
    """Read bandwidth of all cores of the node, in GB/s."""


def measure_matrix(server: ServerFile, threads: int | None = None, progress: Progress | None = None) -> list[Pair]:
    """Measures latency and bandwidth of every node with cores to the memory of every node.

    Raises:
        ConfigError: The server cannot be simulated.
        KeyboardInterrupt: The progress callback stopped the runs.
    """
    cores = cores_of(server)
    pairs = [(node, memory) for node in range(len(cores)) if cores[node] for memory in range(len(cores))]
    requests = [
        {"stream": workload} for node, memory in pairs for workload in _workloads(server, cores[node], node, memory)
    ]
    results = evaluate("run", [server.configuration(each, RUN, {}) for each in requests], threads, progress)
    if not all(result.complete for result in results):
        raise KeyboardInterrupt
    rows = [result.workloads["stream"] for result in results]
    return [
        Pair(
            node,
            memory,
            float(one["latency_mean_ns"]),
            float(one["latency_ci95"] or 0.0),
            float(all_["throughput_gb_per_s"]),
        )
        for (node, memory), one, all_ in zip(pairs, rows[::2], rows[1::2], strict=True)
    ]


def cores_of(server: ServerFile) -> list[list[int]]:
    """Returns the numbers of the cores of each node.

    Raises:
        ConfigError: No node has any cores.
    """
    cores: list[list[int]] = []
    first = 0
    for socket in range(int(server.effective["server"].get("sockets") or 1)):
        own = server.effective.get("socket", {}).get(str(socket), server.effective)
        count = int(own["core"]["count"])
        cores.append(list(range(first, first + count)))
        first += count
    if not first:
        raise ConfigError("wrong-count", f"{server.label}: has no cores")
    return cores


def _workloads(server: ServerFile, cores: list[int], node: int, memory: int) -> list[dict[str, Any]]:
    """Returns the workload of one probe core, and that of all cores."""
    place = "local" if node == memory else f"node:{memory}"
    buffer = f"{max(server.buffer_bytes // _nodes(server) // LINE_BYTES, 1) * LINE_BYTES} B"
    stream = {"kind": "stream", "working_set": buffer, "memory": place}
    return [
        {**stream, "cores": cores[:1], "pattern": "random", "gap": PROBE_GAP},
        {**stream, "cores": cores},
    ]


def _nodes(server: ServerFile) -> int:
    """Returns the number of nodes."""
    return int(server.effective["server"].get("sockets") or 1)


def matrix_of(server: ServerFile, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Returns the matrix, ready for JSON."""
    return {
        "format": 1,
        "server": server.name,
        "nodes": _nodes(server),
        "unvalidated": server.unvalidated,
        "pairs": [vars(pair) for pair in pairs],
    }


def table_of(pairs: Sequence[Pair]) -> pa.Table:
    """Returns a table with a row per pair."""
    import pyarrow as pa

    return pa.Table.from_pylist([vars(pair) for pair in pairs])


def write_matrix(server: ServerFile, pairs: Sequence[Pair], folder: Path, *, csv: bool) -> None:
    """Writes the files of a matrix into an empty folder."""
    table = table_of(pairs)
    write_parquet(table, str(folder / "matrix.parquet"))
    if csv:
        write_csv(table, str(folder / "matrix.csv"))
    content = matrix_of(server, pairs)
    write_text(folder / "matrix.json", json.dumps(content, indent=2, ensure_ascii=False))
    draw(content, folder / "matrix.png")
    write_text(folder / "report.html", matrix_page(content))


def draw(content: Mapping[str, Any], file: Path) -> None:
    """Draws latency and bandwidth of `matrix.json` side by side as a PNG."""
    import matplotlib as mpl

    from hostnet.report.style import STYLE

    with mpl.rc_context(STYLE):
        write_figure(file, matrix_figure(content), dpi=160)


def matrix_figure(content: Mapping[str, Any]) -> Figure:
    """Plots latency and bandwidth of `matrix.json` side by side."""
    from hostnet.report.style import new_figure, plain

    figure = new_figure(7.2, 4.4)
    latency, bandwidth = figure.subplots(1, 2)
    _tiles(latency, content, "latency_ns", "idle latency, ns")
    _tiles(bandwidth, content, "bandwidth_gb_per_s", "bandwidth of all cores, GB/s")
    figure.suptitle(plain(f"Between the nodes of {content['server']}"), x=0.01, ha="left")
    return figure


def _tiles(axes: Axes, content: Mapping[str, Any], key: str, title: str) -> None:
    """Draws a tile per pair; larger values are darker."""
    values = {(pair["node"], pair["memory"]): float(pair[key]) for pair in content["pairs"]}
    nodes = content["nodes"]
    rows = [[values.get((node, memory), float("nan")) for memory in range(nodes)] for node in range(nodes)]
    least, most = min(values.values()), max(values.values())
    axes.imshow(rows, cmap="Blues", vmin=least - (most - least) - 1, vmax=most + (most - least) + 1)
    for (node, memory), value in values.items():
        axes.text(memory, node, f"{value:.1f}", ha="center", va="center", color="#14202b")
    axes.set(xticks=range(nodes), yticks=range(nodes), xlabel="memory of node", ylabel="cores of node")
    axes.grid(visible=False)
    axes.set_title(title, loc="left")
