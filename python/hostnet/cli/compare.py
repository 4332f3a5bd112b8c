"""`hostnet compare`: reads or executes two runs and prints their differences."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING

from hostnet.cli.main import EXIT_INTERRUPTED
from hostnet.cli.page_file import check_page
from hostnet.comparison.compare_runs import compare_sides
from hostnet.comparison.sides import read_side, side_of
from hostnet.running import simulate
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet._core import Plan
    from hostnet.comparison import Side
    from hostnet.running.results import Source


def compare_command(a: Path, b: Path, *, as_json: bool, rerun: bool, html: Path | None = None) -> int:
    """Compares the runs at two paths, writes the page if one is requested, and returns the exit code."""
    if html is not None:
        check_page(html)
    sides = _sides((a, b))
    if sides is None:
        return EXIT_INTERRUPTED
    with Watch(show=True) as watch:
        found = compare_sides(*sides, rerun=rerun, progress=watch)
        watch.finish()
    if html is not None:
        from hostnet.comparison.page import write_comparison

        write_comparison(html, found)
    if as_json:
        echo_json(found.to_dict())
    else:
        from hostnet.cli.show_compare import print_comparison

        print_comparison(found, html)
    return EXIT_INTERRUPTED if watch.stopped else 0


def _sides(paths: tuple[Path, Path]) -> tuple[Side, Side] | None:
    """Returns both runs; None if one of them was stopped.

    Errors in either path are found before anything is run.
    """
    ready: list[Side | tuple[Plan, Source, str]] = []
    for path in paths:
        if path.is_file():
            source = simulate.source_of(path)
            ready.append((simulate.resolve(source), source, fspath(path)))
        else:
            ready.append(read_side(path))
    sides: list[Side] = []
    for side in ready:
        made = _run(*side) if isinstance(side, tuple) else side
        if made is None:
            return None
        sides.append(made)
    return sides[0], sides[1]


def _run(plan: Plan, source: Source, label: str) -> Side | None:
    """Runs a configuration; None if it was stopped."""
    with Watch(show=True) as watch:
        results = simulate.run_plan(plan, source, progress=watch)
        watch.finish()
    return side_of(results, label) if results.complete else None
