"""Reproduces a paper: runs its studies, prints their tables, and writes one page with all figures."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.ledger.papers import Paper
from hostnet.ledger.validate import Ledger, validate

if TYPE_CHECKING:
    from rich.console import Console

    from hostnet.ledger.runner import Simulate

PLOTS = "plots"
"""Folder of the plots in the run directory of a study."""

PAGE = "report.html"
"""Page with all figures in the folder of a paper."""


def reproduce(
    paper: Paper,
    *,
    quick: bool = False,
    threads: int = 0,
    out: Path | None = None,
    simulate: Simulate | None = None,
    console: Console | None = None,
) -> Path:
    """Runs the studies of a paper, prints their tables and the plots' paths, and returns the path of its page.

    Each study has its run directory in the folder `out`, by default `runs/paper-<name>-<n>`, as soon as it is complete.

    Raises:
        LedgerError: A run lacks a value that a row requires.
        OSError: The folder exists and is not empty, or cannot be written.
    """
    from hostnet.ledger.show import show_ledger, stdout_console
    from hostnet.rundir import check_run_dir, fresh_path, write_text
    from hostnet.terminal.progress import Watch

    folder = out or fresh_path(Path("runs"), f"paper-{paper.name}")
    check_run_dir(folder)
    console = console or stdout_console()
    selection = "quick" if quick else "full"
    ledgers, plots = [], []
    for study in paper.studies:
        with Watch(show=True, keeps=False) as watch:
            ledger = validate(study, selection=selection, threads=threads, progress=watch, simulate=simulate, keep=True)
        show_ledger(console, ledger)
        console.print()
        plots += write_study(folder / study, selection, ledger)
        ledgers.append(ledger)
    write_text(folder / PAGE, page_of(paper, ledgers))
    show_paper(console, paper, ledgers, plots)
    console.print(str(folder / PAGE), markup=False, soft_wrap=True)
    return folder / PAGE


def write_study(folder: Path, selection: str, ledger: Ledger) -> list[Path]:
    """Writes the run directory of a study with its plots, and returns the plots."""
    from hostnet.ledger.archive import write_files
    from hostnet.ledger.plots import write_plots
    from hostnet.rundir import publish

    def fill(scratch: Path) -> None:
        write_files(scratch, selection, ledger)
        write_plots(scratch / PLOTS, ledger)

    publish(folder, fill)
    return sorted((folder / PLOTS).glob("*.png"))


def page_of(paper: Paper, ledgers: list[Ledger]) -> str:
    """Returns the page with the figures of all studies."""
    from hostnet.ledger.archive import summary
    from hostnet.report.paper_page import paper_page

    return paper_page(
        paper.title,
        f"{', '.join(paper.authors)}. {paper.venue}, {paper.year}",
        [summary(ledger) for ledger in ledgers],
    )


def show_paper(console: Console, paper: Paper, ledgers: list[Ledger], plots: list[Path]) -> None:
    """Prints how many values of each study are within their tolerance, and the paths of the plots."""
    from hostnet.ledger.show import new_table, print_table

    console.print(paper.source, style="bold", markup=False, soft_wrap=True)
    table = new_table(console, "", "study", "rows\npass", "rows\nfail", "mean on\ntarget", "wall\ntime")
    for ledger in ledgers:
        count = Counter(row.verdict for row in ledger.rows)
        on_target = f"{sum(score.on_target for score in ledger.scores)}/{len(ledger.scores)}"
        cells = (f"{count['pass']}", f"{count['fail']}", on_target, f"{ledger.batch.wall_time_s:.0f} s")
        table.add_row(ledger.study.name, *cells)
    print_table(console, table)
    console.print()
    for plot in plots:
        console.print(str(plot), markup=False, soft_wrap=True)


def open_page(page: Path) -> bool:
    """Opens a page in the browser of a terminal with a display; returns False without one."""
    shown = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return os.isatty(1) and shown and webbrowser.open(page.resolve().as_uri())
