"""Recomputes published results and says row by row how close they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hostnet.ledger.errors import LedgerError
from hostnet.ledger.needs import points_needed
from hostnet.ledger.panels import Panel, figure_matches, figure_name
from hostnet.ledger.rows import Row, Score, ledger_rows, scores
from hostnet.ledger.runner import Batch, Progress, Simulate, run_points
from hostnet.ledger.study import Study, load_study


@dataclass(frozen=True)
class Ledger:
    """A recomputed study: its rows, how its groups of rows did, and the runs they come from."""

    study: Study
    rows: list[Row]
    scores: list[Score]
    batch: Batch

    @property
    def failing(self) -> list[Row]:
        """The rows beyond their tolerance."""
        return [row for row in self.rows if row.verdict == "fail"]


def validate(
    name: str,
    *,
    figures: Sequence[str] = (),
    selection: str = "full",
    threads: int = 0,
    progress: Progress | None = None,
    simulate: Simulate | None = None,
    engine: str = "run",
) -> Ledger:
    """Recomputes a study.

    Args:
        name: The study.
        figures: Limits it to figures (`3`) or panels (`7b`); all if empty.
        selection: Which operating points, and for how long: `full`, `quick` or `demo`. Rows that need others are
            left out.
        threads: Runs at a time; 0 is all cores. The results do not depend on it.
        progress: As for `hostnet.run_many`; when it returns False, `KeyboardInterrupt` is raised.
        simulate: What runs the configurations; the engine of the study if not given.
        engine: `run`, or `predict` to compare what is predicted. Rows of what a prediction does not tell are left out.

    Raises:
        LedgerError: There is no such study or figure, or a run does not have what a row needs.
    """
    study = study_of(name, engine)
    panels = study.panels_of(figures)
    chosen = study.selections[selection]
    names = points_needed(study, panels) | points_drawn(study, panels)
    batch = run_points(study, chosen, names, threads=threads, progress=progress, simulate=simulate)
    rows = ledger_rows(study, panels, batch.outcomes)
    if engine == "predict":
        rows = [row for row in rows if row.simulated is not None]
    return Ledger(study, rows, scores(study, rows), batch)


def points_drawn(study: Study, panels: Sequence[Panel]) -> set[str]:
    """Names of the points whose time series belong to the figures of these panels."""
    return {
        timeline.point
        for timeline in study.timelines
        if any(figure_matches(panel.figure, figure_name(timeline.name.split("_")[0])) for panel in panels)
    }


def study_of(name: str, engine: str) -> Study:
    """The study with the engine that shall compute its rows.

    Raises:
        LedgerError: There is no such study or engine, or the study is about something that is not predicted.
    """
    if engine not in ("run", "predict"):
        raise LedgerError("unknown-name", f'--engine {engine}: must be "run" or "predict"')
    study = load_study(name)
    if engine == "run":
        return study
    if study.engine != "simulation":
        what = {"chip": "chips", "cluster": "clusters", "noc": "the network alone"}.get(
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
) -> int:
    """The command: prints the ledger, writes its rows to `json_file`, a run directory to `out`, pictures to `plots`.

    Returns the exit code.

    That is 0 when the rows were computed, or 1 with `strict` and a failing row.

    Raises:
        LedgerError: As for `validate`, or `threads` is negative.
        OSError: `json_file`, `out` or `plots` cannot be written.
    """
    from hostnet.ledger.archive import write_study_to
    from hostnet.ledger.show import show_ledger, stdout_console
    from hostnet.rundir import check_file, check_place
    from hostnet.terminal.progress import Watch

    if json_file is not None:
        check_file(json_file)
    if out is not None:
        check_place(out)
    if plots is not None:
        check_folder(plots)
    selection = "quick" if quick else "full"
    with Watch(show=True) as watch:
        ledger = validate(name, figures=figures, selection=selection, threads=threads, progress=watch, engine=engine)
    show_ledger(stdout_console(), ledger)
    if json_file is not None:
        write_json(json_file, ledger.rows)
    if out is not None:
        write_study_to(out, selection, ledger)
    if plots is not None:
        from hostnet.ledger.pictures import write_plots

        write_plots(plots, ledger)
    return int(strict and bool(ledger.failing))


def check_folder(folder: Path) -> None:
    """Makes sure, before anything is simulated, that a folder can be written to.

    Raises:
        OSError: It cannot.
    """
    from hostnet.rundir import check_parent

    if not folder.exists():
        check_parent(folder)
    elif not folder.is_dir():
        raise NotADirectoryError(f"{folder}: is not a folder")


def write_json(file: Path, rows: Sequence[Row]) -> None:
    """Writes the rows as an array of objects. A regular file appears whole or not at all; a pipe is written to.

    Raises:
        OSError: The file cannot be written.
    """
    from hostnet.files import write_file

    text = json.dumps([row.as_dict() for row in rows], indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, text.encode())
