"""Demonstration: the four quadrants of the host network, published and simulated, as tables and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.ledger.archive import write_study_run
from hostnet.ledger.runner import Simulate
from hostnet.ledger.validate import Ledger, validate

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

QUADRANTS = ("q1", "q2", "q3", "q4")

COLUMNS = (
    ("degradation", "C2M traffic", "C2M slower"),
    ("degradation", "P2M traffic", "P2M slower"),
    ("membw", "C2M traffic", "C2M GB/s"),
    ("membw", "P2M traffic", "P2M GB/s"),
)
"""Panel, series and heading of the columns of a quadrant's table."""


def demo(
    runs: Path,
    *,
    quick: bool = False,
    threads: int = 0,
    simulate: Simulate | None = None,
    console: Console | None = None,
) -> Path:
    """Simulates the four quadrants, prints them and writes `runs/demo-<n>`; `quick` simulates less of each.

    The last line of the output is the path of the report, which is also returned.

    Raises:
        LedgerError: The data of the study cannot be found.
        OSError: The folder cannot be written.
    """
    from hostnet.ledger.show import stdout_console
    from hostnet.rundir import check_run_dir, fresh_path
    from hostnet.terminal.progress import Watch

    selection = "demo-quick" if quick else "demo"
    check_run_dir(fresh_path(runs, selection))
    with Watch(show=True) as watch:
        ledger = validate("host_network", selection=selection, threads=threads, progress=watch, simulate=simulate)
    console = console or stdout_console()
    show_quadrants(console, ledger, selection)
    report = write_study_run(runs, selection, ledger) / "report.html"
    console.print(str(report), markup=False, soft_wrap=True)
    return report


def show_quadrants(console: Console, ledger: Ledger, selection: str) -> None:
    """Prints a table per quadrant, the score, and the duration."""
    from hostnet.ledger.show import summary_line

    for quadrant in QUADRANTS:
        console.print(quadrant_table(console, ledger, quadrant))
        console.print()
    batch, duration = ledger.batch, ledger.study.selections[selection].duration
    console.print(summary_line(ledger), markup=False, soft_wrap=True)
    console.print(
        f"{len(batch.outcomes)} operating points of {duration}: {batch.wall_time_s:.1f} s, {batch.speed}",
        markup=False,
    )


def quadrant_table(console: Console, ledger: Ledger, quadrant: str) -> Table:
    """Creates the table of published and simulated degradation and bandwidth of a quadrant, by C2M cores."""
    from hostnet.ledger.show import new_table, number_text

    values = {(row.panel, row.series, row.x): row for row in ledger.rows}
    family = ledger.study.families[quadrant]
    headings = [f"{title}\n paper    sim." for _, _, title in COLUMNS]
    table = new_table(console, family.title, "C2M\ncores", *headings, left=0)
    for point in family.points():
        found = [values[f"fig03_{quadrant}_{panel}", series, point.x] for panel, series, _ in COLUMNS]
        cells = [f"{number_text(row.published)}  {number_text(row.simulated):>6}" for row in found]
        table.add_row(point.x, *cells)
    return table
