"""Reproduces published results and compares them row by row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.ledger.dependencies import points_needed
from hostnet.ledger.errors import LedgerError
from hostnet.ledger.panels import Panel, figure_matches, figure_name
from hostnet.ledger.rows import Row, Score, ledger_rows, rows_left_out, scores
from hostnet.ledger.runner import Batch, Progress, Simulate, run_points
from hostnet.ledger.study import Study, load_study
from hostnet.saved_results import SavedResults
from hostnet.tables import TableMethods

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

    from hostnet.report.notebook.plots import Plots


@dataclass(frozen=True, repr=False)
class Ledger(TableMethods, SavedResults):
    """A reproduced study: its rows, the scores of its groups, and the runs."""

    study: Study
    rows: list[Row]
    scores: list[Score]
    batch: Batch
    selection: str = "full"
    """Selection of operating points that was run."""
    left_out: Counter[str] = field(default_factory=Counter, compare=False)
    """Rows that the selection leaves out, by figure."""
    saved: list[Path] = field(default_factory=list, compare=False)
    """Run directories that `save` has written."""

    @property
    def failing(self) -> list[Row]:
        """Rows beyond their tolerance."""
        return [row for row in self.rows if row.verdict == "fail"]

    @property
    def table(self) -> pa.Table:
        """All rows as a table, with the columns of the `--json` file."""
        from hostnet.tables import table_of_rows

        return table_of_rows([row.as_dict() for row in self.rows])

    def __repr__(self) -> str:
        """Returns the counts in one line."""
        from hostnet.ledger.show import summary_line

        return f"<Ledger {summary_line(self)}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the counts, the error of each group, the failing rows, a link to the page."""
        from hostnet.ledger.archive import summary
        from hostnet.ledger.show import summary_line
        from hostnet.report.notebook.study import study_block

        return study_block(summary(self), summary_line(self), self.page)

    def plot(self, *names: str) -> Plots:
        """Returns a plot of every figure, or those with these names; a notebook shows them.

        Raises:
            ConfigError: There is no such plot.
        """
        from hostnet.ledger.plots import plots_of

        return plots_of(self, names)

    def save(self, directory: str | PathLike[str] | None = None) -> Path:
        """Writes a run directory with its page atomically and returns its path, by default `runs/<selection>-<n>`.

        Raises:
            OSError: The directory cannot be written.
        """
        from hostnet.ledger.archive import write_files
        from hostnet.rundir import publish_to

        self.saved.append(
            publish_to(directory, self.selection, lambda folder: write_files(folder, self.selection, self))
        )
        return self.saved[-1]


def validate(
    name: str,
    *,
    figures: Sequence[str] = (),
    selection: str = "full",
    threads: int = 0,
    progress: Progress | None = None,
    simulate: Simulate | None = None,
    engine: str = "run",
    keep: bool = False,
    fresh: bool = False,
) -> Ledger:
    """Reproduces a study.

    Args:
        name: The study.
        figures: Figures (`3`) or panels (`7b`) to reproduce; all if empty.
        selection: Selection of operating points and durations: `full`, `quick` or `demo`. Rows that require other
            points
            are omitted.
        threads: Runs at a time; 0 for all cores. The results do not depend on it.
        progress: As for `hostnet.run_many`; if it returns False, `KeyboardInterrupt` is raised.
        simulate: Function that runs the configurations; by default the engine of the study.
        engine: `run`, or `predict` to compare predictions. Rows that a prediction does not cover are omitted.
        keep: True to take operating points that have not changed from the user's cache, and to keep the others there.
        fresh: True to run the kept ones again as well.

    Raises:
        LedgerError: There is no such study or figure, or a run lacks a value that a row requires.
    """
    study = study_of(name, engine)
    panels = study.panels_of(figures)
    chosen = study.selections[selection]
    names = points_needed(study, panels) | points_drawn(study, panels)
    batch = run_points(
        study, chosen, names, threads=threads, progress=progress, simulate=simulate, keep=keep, fresh=fresh
    )
    rows = ledger_rows(study, panels, batch.outcomes)
    if engine == "predict":
        rows = [row for row in rows if row.simulated is not None]
    left_out = rows_left_out(study, panels, batch.outcomes)
    return Ledger(study, rows, scores(study, rows), batch, selection, left_out)


def points_drawn(study: Study, panels: Sequence[Panel]) -> set[str]:
    """Returns the names of the points whose time series belong to the figures of the panels."""
    return {
        timeline.point
        for timeline in study.timelines
        if any(figure_matches(panel.figure, figure_name(timeline.name.split("_")[0])) for panel in panels)
    }


def study_of(name: str, engine: str) -> Study:
    """Loads a study and sets the engine that computes its rows.

    Raises:
        LedgerError: There is no such study or engine, or the study cannot be predicted.
    """
    if engine not in ("run", "predict"):
        raise LedgerError("unknown-name", f'--engine {engine}: must be "run" or "predict"')
    study = load_study(name)
    if engine == "run":
        return study
    if study.engine != "simulation":
        what = {"chip": "chips", "cluster": "clusters", "curves": "latency under load", "noc": "the network alone"}.get(
            study.engine, "the memory alone"
        )
        raise LedgerError("not-supported", f"--engine predict: {name} is about {what}, which is not predicted")
    return replace(study, engine="predict")


def cli_validate(
    name: str,
    figures: Sequence[str],
    json_file: Path | None,
    strict: bool,
    quick: bool,
    threads: int,
    out: Path | None = None,
    engine: str = "run",
    plots: Path | None = None,
    fresh: bool = False,
) -> int:
    """Prints the ledger, and writes rows to `json_file`, a run directory to `out` and plots to `plots`.

    `fresh` runs operating points again that an earlier validation has kept.

    Returns:
        The exit code: 0 if the rows were computed, 1 with `strict` and a failing row.

    Raises:
        LedgerError: As for `validate`.
        OSError: `json_file`, `out` or `plots` cannot be written.
    """
    from hostnet.ledger.archive import write_study_to
    from hostnet.ledger.show import show_ledger, stdout_console
    from hostnet.rundir import check_file, check_run_dir
    from hostnet.terminal.progress import Watch

    if json_file is not None:
        check_file(json_file)
    if out is not None:
        check_run_dir(out)
    if plots is not None:
        check_folder(plots)
    selection = "quick" if quick else "full"
    with Watch(show=True, keeps=False) as watch:
        ledger = validate(
            name,
            figures=figures,
            selection=selection,
            threads=threads,
            progress=watch,
            engine=engine,
            keep=True,
            fresh=fresh,
        )
    show_ledger(stdout_console(), ledger)
    if json_file is not None:
        write_json(json_file, ledger.rows)
    if out is not None:
        write_study_to(out, selection, ledger)
    if plots is not None:
        from hostnet.ledger.plots import write_plots

        write_plots(plots, ledger)
    return int(strict and bool(ledger.failing))


def check_folder(folder: Path) -> None:
    """Checks, before anything is simulated, that a folder can be written to.

    Raises:
        OSError: It cannot.
    """
    from hostnet.rundir import check_parent

    if not folder.exists():
        check_parent(folder)
    elif not folder.is_dir():
        raise NotADirectoryError(f"{folder}: is not a folder")


def write_json(file: Path, rows: Sequence[Row]) -> None:
    """Writes the rows as an array of objects. A regular file is written atomically; a pipe is written to directly.

    Raises:
        OSError: The file cannot be written.
    """
    from hostnet.files import write_file

    text = json.dumps([row.as_dict() for row in rows], indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, text.encode())
