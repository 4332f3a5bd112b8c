"""Latency and bandwidth between the nodes of a server, as Intel MLC measures them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hostnet._core import ConfigError
from hostnet.curves.matrix_page import matrix_page, rows_of, values_of
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


QUADRANTS = 4
"""Quadrants of the IO die, over which the CCDs of a socket are spread evenly in the order of their numbers."""


@dataclass(frozen=True)
class Readers:
    """Cores that read memory: all of a node, or those of a CCD of a server with chiplets."""

    node: int
    """Node that the cores belong to."""
    ccd: int | None
    """Number of the CCD, counted over all sockets; None without chiplets."""
    cores: range


@dataclass(frozen=True)
class Pair:
    """Latency and bandwidth between the cores of a node or CCD and the memory of one node."""

    node: int
    """Node of the cores."""
    memory: int
    """Node of the memory."""
    latency_ns: float
    """Mean latency of random reads of one core, one at a time, in ns."""
    latency_ci95: float
    """Half-width of its 95 % confidence interval, in ns."""
    bandwidth_gb_per_s: float
    """Read bandwidth of all cores of the node or CCD, in GB/s."""
    ccd: int | None = None
    """CCD of the cores; None without chiplets."""

    @property
    def row(self) -> int:
        """Row of the matrix: the CCD, or the node without chiplets."""
        return self.node if self.ccd is None else self.ccd

    def as_dict(self) -> dict[str, Any]:
        """Returns the pair, ready for JSON; `ccd` is there only with chiplets."""
        return {key: value for key, value in vars(self).items() if value is not None}


def measure_matrix(server: ServerFile, threads: int | None = None, progress: Progress | None = None) -> list[Pair]:
    """Measures latency and bandwidth of every node or CCD with cores to the memory of every node.

    Raises:
        ConfigError: The server cannot be simulated.
        KeyboardInterrupt: The progress callback stopped the runs.
    """
    pairs = [(readers, memory) for readers in readers_of(server) for memory in range(nodes_of(server))]
    requests = [{"stream": workload} for pair in pairs for workload in _workloads(server, *pair)]
    results = evaluate("run", [server.configuration(each, RUN, {}) for each in requests], threads, progress)
    if not all(result.complete for result in results):
        raise KeyboardInterrupt
    rows = [result.workloads["stream"] for result in results]
    return [
        Pair(
            readers.node,
            memory,
            float(one["latency_mean_ns"]),
            float(one["latency_ci95"] or 0.0),
            float(all_["throughput_gb_per_s"]),
            readers.ccd,
        )
        for (readers, memory), one, all_ in zip(pairs, rows[::2], rows[1::2], strict=True)
    ]


def readers_of(server: ServerFile) -> list[Readers]:
    """Returns the cores of each node, or of each CCD of a server with chiplets; nodes without cores are left out.

    Raises:
        ConfigError: No node has any cores.
    """
    found: list[Readers] = []
    first = 0
    ccds = int(_chiplets(server).get("ccds", 1))
    for socket in range(_sockets(server)):
        own = server.effective.get("socket", {}).get(str(socket), server.effective)
        each = int(own["core"]["count"]) // ccds
        for ccd in range(ccds if each else 0):
            quadrant = ccd * QUADRANTS // ccds
            node = socket * _nps(server) + quadrant * _nps(server) // QUADRANTS
            number = len(found) if _chiplets(server) else None
            found.append(Readers(node, number, range(first, first + each)))
            first += each
    if not found:
        raise ConfigError("wrong-count", f"{server.label}: has no cores")
    return found


def _workloads(server: ServerFile, readers: Readers, memory: int) -> list[dict[str, Any]]:
    """Returns the workload of one probe core, and that of all cores."""
    place = "local" if readers.node == memory else f"node:{memory}"
    buffer = f"{max(server.buffer_bytes // nodes_of(server) // LINE_BYTES, 1) * LINE_BYTES} B"
    stream = {"kind": "stream", "working_set": buffer, "memory": place}
    cores = list(readers.cores)
    return [
        {**stream, "cores": cores[:1], "pattern": "random", "gap": PROBE_GAP},
        {**stream, "cores": cores},
    ]


def nodes_of(server: ServerFile) -> int:
    """Returns the number of nodes with memory: sockets, or parts of them with `chiplets.nps`."""
    return _sockets(server) * _nps(server)


def _sockets(server: ServerFile) -> int:
    return int(server.effective["server"].get("sockets") or 1)


def _chiplets(server: ServerFile) -> Mapping[str, Any]:
    return server.effective.get("chiplets") or {}


def _nps(server: ServerFile) -> int:
    return int(_chiplets(server).get("nps", 1))


def matrix_of(server: ServerFile, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Returns the matrix, ready for JSON."""
    return {
        "format": 1,
        "server": server.name,
        "nodes": nodes_of(server),
        "unvalidated": server.unvalidated,
        "pairs": [pair.as_dict() for pair in pairs],
    }


def table_of(pairs: Sequence[Pair]) -> pa.Table:
    """Returns a table with a row per pair."""
    import pyarrow as pa

    return pa.Table.from_pylist([pair.as_dict() for pair in pairs])


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

    kind, rows = rows_of(content)
    figure = new_figure(7.2, 4.4 if kind == "node" else 1.6 + 0.35 * len(rows))
    latency, bandwidth = figure.subplots(1, 2)
    _tiles(latency, content, "latency_ns", "idle latency, ns")
    _tiles(bandwidth, content, "bandwidth_gb_per_s", "bandwidth of all cores, GB/s")
    figure.suptitle(plain(f"Between the nodes of {content['server']}"), x=0.01, ha="left")
    return figure


def _tiles(axes: Axes, content: Mapping[str, Any], key: str, title: str) -> None:
    """Draws a tile per pair; larger values are darker."""
    kind, names = rows_of(content)
    values = values_of(content, key)
    columns = range(content["nodes"])
    rows = [[values.get((row, memory), float("nan")) for memory in columns] for row in range(len(names))]
    least, most = min(values.values()), max(values.values())
    aspect: Literal["equal", "auto"] = "equal" if kind == "node" else "auto"
    axes.imshow(rows, cmap="Blues", vmin=least - (most - least) - 1, vmax=most + (most - least) + 1, aspect=aspect)
    size = "medium" if kind == "node" else "small"
    for (row, memory), value in values.items():
        axes.text(memory, row, f"{value:.1f}", ha="center", va="center", color="#14202b", fontsize=size)
    axes.set(xticks=columns, yticks=range(len(names)), xlabel="memory of node", ylabel=f"cores of {kind}")
    axes.grid(visible=False)
    axes.set_title(title, loc="left")
