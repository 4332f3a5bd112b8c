"""Validates several studies, and prints a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hostnet.ledger.pages import HEADS, cells_of, checkout, counted, write_ledger
from hostnet.ledger.study import load_study
from hostnet.ledger.validate import Ledger, validate

if TYPE_CHECKING:
    from rich.console import Console


def cli_validate_every(
    names: Sequence[str], *, quick: bool, threads: int, strict: bool, fresh: bool, write: bool
) -> int:
    """Validates studies, prints the summary of each as it ends, and then a table of all.

    `write` also writes their counts into the checkout, after each of them.

    Returns:
        The exit code: 0 if all rows were computed, 1 with `strict` and a failing row.

    Raises:
        LedgerError: As for `validate`, or there is no checkout to write to.
        OSError: A file cannot be written.
    """
    from hostnet.ledger.show import left_out_lines, run_line, stdout_console, summary_line
    from hostnet.terminal.progress import Watch

    for name in names:
        load_study(name)
    if write:
        checkout()
    console, ledgers = stdout_console(), []
    for name in names:
        with Watch(show=True, keeps=False) as watch:
            ledger = validate(
                name, selection="quick" if quick else "full", threads=threads, progress=watch, keep=True, fresh=fresh
            )
        for line in (summary_line(ledger), run_line(ledger), *left_out_lines(ledger), ""):
            console.print(line, markup=False, soft_wrap=True)
        if write:
            write_ledger(ledger)
        ledgers.append(ledger)
    show_every(console, ledgers)
    return int(strict and any(ledger.failing for ledger in ledgers))


def show_every(console: Console, ledgers: Sequence[Ledger]) -> None:
    """Prints a row for each study."""
    from hostnet.ledger.show import new_table, print_table

    table = new_table(console, "", "study", *(head.replace(" ", "\n", 1) for head in HEADS), "calibrated", "context")
    for ledger in ledgers:
        own = {**counted(ledger, None), "seconds": round(ledger.batch.wall_time_s)}
        table.add_row(ledger.study.name, *cells_of(own), str(own["calibrated"]), str(own["context"]))
    print_table(console, table)
