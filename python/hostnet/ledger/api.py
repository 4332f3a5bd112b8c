"""The function `hostnet.validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hostnet.ledger.validate import check_folder
from hostnet.ledger.validate import validate as reproduce
from hostnet.rundir import check_run_dir
from hostnet.terminal.progress import follow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from hostnet.ledger.validate import Ledger
    from hostnet.terminal.progress import ProgressArgument


def validate(
    study: str,
    *,
    figure: str | Sequence[str] = (),
    quick: bool = False,
    engine: str = "run",
    threads: int | None = None,
    out: str | PathLike[str] | None = None,
    plots: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: ProgressArgument = None,
) -> Ledger:
    """Reproduces published results and compares them row by row.

    Args:
        study: The study; `hostnet list studies` names all.
        figure: Figures (`3`) or panels (`7b`) to reproduce; all by default.
        quick: True for fewer operating points and shorter runs.
        engine: "run" simulates, "predict" compares predictions.
        threads: Runs at a time; by default the number of cores. The results do not depend on it.
        out: Run directory to write, with a report; it must be new or empty.
        plots: Folder for a plot of every figure, as PNG and SVG.
        fresh: True to run operating points again that an earlier validation has kept and that have not changed.
        progress: As for `hostnet.run_many`.

    Raises:
        LedgerError: There is no such study or figure, or a run lacks a value that a row requires.
        KeyboardInterrupt: `progress` stopped the runs.
        OSError: A file cannot be written.
    """
    if out is not None:
        check_run_dir(Path(out))
    if plots is not None:
        check_folder(Path(plots))
    figures = [figure] if isinstance(figure, str) else list(figure)
    selection = "quick" if quick else "full"
    with follow(progress) as callback:
        found = reproduce(
            study,
            figures=figures,
            selection=selection,
            threads=threads or 0,
            progress=callback,
            engine=engine,
            keep=True,
            fresh=fresh,
        )
    if out is not None:
        found.save(out)
    if plots is not None:
        from hostnet.ledger.plots import write_plots

        write_plots(Path(plots), found)
    return found
