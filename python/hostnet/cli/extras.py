"""The small commands: new, plot, demo."""

from __future__ import annotations

from pathlib import Path

import typer

from hostnet import _core


def write_template(file: Path) -> int:
    """Writes the commented template to a file that does not exist yet."""
    try:
        with file.open("x", encoding="utf-8", newline="\n") as output:
            output.write(_core.template())
    except FileExistsError:
        raise FileExistsError(f"{file}: exists; hostnet new does not overwrite") from None
    typer.echo(f"{file}: run it with: hostnet run {file}")
    return 0


def plot_run(run_dir: Path) -> int:
    """Draws the plots of a run directory and prints their paths."""
    if not (run_dir / "summary.json").is_file():
        raise FileNotFoundError(f"{run_dir}: is not a run directory (it has no summary.json)")
    from hostnet.report import plot

    for path in plot(run_dir):
        typer.echo(str(path))
    return 0


def run_demo() -> int:
    """Runs the demonstration; the last line of output is the path of its report."""
    from hostnet.ledger import demo

    demo(Path("runs"))
    return 0
