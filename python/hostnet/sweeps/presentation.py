"""Results of a sweep for readers: as the output of a notebook's cell, and as plots."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from hostnet.report.notebook.plots import Plots
    from hostnet.sweeps.api import SweepResults
    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.page import SweepPage


def notebook_output(results: SweepResults) -> str:
    """Returns the output of a notebook's cell: the charts of the page, and the first rows of the table."""
    from hostnet.report.notebook.sweep import sweep_block
    from hostnet.sweeps.outcome import headline
    from hostnet.sweeps.page import PAGE, chart_sections

    seed = ["seed"] if results.manifest["seeds"] else []
    paths = [*(axis["path"] for axis in results.manifest["over"]), *seed]
    page = None if results.directory is None else results.directory / PAGE
    charts = chart_sections(page_content(results))
    return sweep_block(headline(results.manifest), paths, results.table, charts, results.notes, page)


def page_content(results: SweepResults) -> SweepPage:
    """Returns what the page of the sweep shows."""
    from hostnet.sweeps.page import SweepPage

    return SweepPage(results.manifest, axes_of_manifest(results), results.table)


def write_page(results: SweepResults, out: str | PathLike[str] | None) -> Path:
    """Returns the page of the sweep's directory, or writes one alone into the folder `out` or a new one.

    Raises:
        OSError: The folder cannot be written.
    """
    from hostnet.rundir import publish_to
    from hostnet.sweeps.page import PAGE, write_sweep_page

    if out is None and results.directory is not None:
        return results.directory / PAGE
    content = page_content(results)

    def fill(folder: Path) -> None:
        write_sweep_page(folder, content)

    return publish_to(out, results.manifest["name"], fill) / PAGE


def draw_plots(results: SweepResults, names: Sequence[str]) -> Plots:
    """Draws the plots with these names, or all of them.

    Raises:
        ConfigError: There is no such plot.
    """
    import matplotlib as mpl

    from hostnet.report.notebook.plots import drawn
    from hostnet.report.style import STYLE
    from hostnet.sweeps.plots import sweep_figures

    with _table_file(results) as table, mpl.rc_context(STYLE):
        figures = dict(sweep_figures(table, axes_of_manifest(results)))
    return drawn({name: partial(figures.__getitem__, name) for name in figures}, names)


def axes_of_manifest(results: SweepResults) -> tuple[Axis, ...]:
    """Returns the swept parameters."""
    from hostnet.sweeps.axis import axes_of

    return axes_of([f"{axis['path']}={','.join(axis['values'])}" for axis in results.manifest["over"]])


@contextmanager
def _table_file(results: SweepResults) -> Iterator[Path]:
    """Yields the file of the table, which is temporary for a sweep without a directory."""
    from tempfile import TemporaryDirectory

    from hostnet.tables import write_parquet

    if results.directory is not None and (results.directory / "sweep.parquet").is_file():
        yield results.directory / "sweep.parquet"
        return
    with TemporaryDirectory(prefix="hostnet-") as folder:
        file = Path(folder) / "sweep.parquet"
        write_parquet(results.table, str(file))
        yield file
