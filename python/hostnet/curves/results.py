"""Results of measurements of latency under load, and between nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from hostnet.curves import files, matrix
from hostnet.saved_results import SavedResults
from hostnet.tables import TableMethods

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    import pyarrow as pa

    from hostnet.curves.matrix import Pair
    from hostnet.curves.points import Point, Setting
    from hostnet.presets import ServerFile
    from hostnet.report.notebook.plots import Plots


@dataclass(frozen=True, repr=False)
class CurveResults(TableMethods, SavedResults):
    """Latency under load: a curve for each share of reads."""

    setting: Setting
    """Server and settings of the measurement."""
    points: tuple[Point, ...]
    """Points of all curves, each from the heaviest load to the lightest."""
    saved: list[Path] = field(default_factory=list, compare=False)
    """Folders that `save` has written."""

    @property
    def content(self) -> dict[str, Any]:
        """Content of curve.json."""
        return files.content_of(self.setting, self.points)

    @property
    def table(self) -> pa.Table:
        """A row for each point."""
        return files.table_of(self.setting, self.points)

    def __repr__(self) -> str:
        """Returns the number of points in one line."""
        most = max(point.bandwidth_gb_per_s for point in self.points)
        return f"<CurveResults {self.setting.server.name}: {len(self.points)} points, {most:.1f} GB/s at most>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the curves, and where each of them bends."""
        from hostnet.curves.page import charts_section, tiles_section
        from hostnet.report.notebook.block import block, headline, notes_list

        content = self.content
        by = "predicted" if content["engine"] == "predict" else "simulated"
        title = headline(content["server"], f"latency under load of {content['cores']} cores, {by}")
        notes = notes_list([content["unvalidated"]] if content["unvalidated"] else [])
        return block(title, charts_section(content), tiles_section(content), notes, page=self.page)

    def plot(self) -> Plots:
        """Returns the plot of the curves; a notebook shows it."""
        from hostnet.report.notebook.plots import drawn

        return drawn({"curve": partial(files.curve_figure, self.content)}, ())

    def save(self, directory: str | PathLike[str] | None = None) -> Path:
        """Writes the files of `hostnet curve` and returns their folder, by default `runs/<server>-curve-<n>`.

        Raises:
            OSError: The folder cannot be written.
        """
        from hostnet.rundir import publish_to

        name = f"{self.setting.server.name}-curve"
        write = partial(files.write_curve, self.setting, self.points, csv=False)
        self.saved.append(publish_to(directory, name, lambda folder: write(folder=folder)))
        return self.saved[-1]


@dataclass(frozen=True, repr=False)
class MatrixResults(TableMethods, SavedResults):
    """Latency and bandwidth between the nodes of a server."""

    server: ServerFile
    pairs: tuple[Pair, ...]
    """A pair for each node with cores and each node with memory."""
    saved: list[Path] = field(default_factory=list, compare=False)
    """Folders that `save` has written."""

    @property
    def content(self) -> dict[str, Any]:
        """Content of matrix.json."""
        return matrix.matrix_of(self.server, self.pairs)

    @property
    def table(self) -> pa.Table:
        """A row for each pair."""
        return matrix.table_of(self.pairs)

    def __repr__(self) -> str:
        """Returns the range of latencies in one line."""
        latencies = [pair.latency_ns for pair in self.pairs]
        return f"<MatrixResults {self.server.name}: {min(latencies):.1f} to {max(latencies):.1f} ns>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: what remote memory costs, the matrices, and a row for each pair."""
        from hostnet.curves.matrix_page import maps_section, pairs_section, remote_text
        from hostnet.report.html import element
        from hostnet.report.notebook.block import block, headline, notes_list

        content = self.content
        verdict = element("p", remote_text(content["pairs"]), class_="verdict")
        notes = notes_list([content["unvalidated"]] if content["unvalidated"] else [])
        sections = (maps_section(content), pairs_section(content["pairs"]))
        return block(headline(content["server"], "between its nodes"), verdict, *sections, notes, page=self.page)

    def plot(self) -> Plots:
        """Returns the plot of the matrices; a notebook shows it."""
        from hostnet.report.notebook.plots import drawn

        return drawn({"matrix": partial(matrix.matrix_figure, self.content)}, ())

    def save(self, directory: str | PathLike[str] | None = None) -> Path:
        """Writes the files of `hostnet curve --matrix` and returns their folder, by default `runs/<server>-matrix-<n>`.

        Raises:
            OSError: The folder cannot be written.
        """
        from hostnet.rundir import publish_to

        name = f"{self.server.name}-matrix"
        write = partial(matrix.write_matrix, self.server, self.pairs, csv=False)
        self.saved.append(publish_to(directory, name, lambda folder: write(folder=folder)))
        return self.saved[-1]
