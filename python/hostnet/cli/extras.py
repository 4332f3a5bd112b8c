"""The commands `hostnet schema`, `plot`, `demo` and `completion`."""

from __future__ import annotations

from pathlib import Path

from hostnet import _core
from hostnet.cli.options import name_hint
from hostnet.terminal.screen import echo, echo_error


def show_schema(*, cluster: bool, chip: bool) -> int:
    """Prints the JSON Schema of servers, clusters or chips."""
    if cluster and chip:
        raise _core.ConfigError(
            "conflicting-keys", "--cluster and --chip: both echo what is described; give one of them"
        )
    echo(_core.chip_schema() if chip else _core.cluster_schema() if cluster else _core.schema())
    return 0


def plot_run(run_dir: Path) -> int:
    """Draws the plots of a run, a sweep or curves and prints their paths."""
    from hostnet.sweeps.sweep_dir import JOURNAL, MANIFEST

    if any((run_dir / name).is_file() for name in (MANIFEST, JOURNAL)):
        from hostnet.sweeps.plots import draw_directory

        paths, note = draw_directory(run_dir)
        for path in paths:
            echo(str(path))
        if note is not None:
            echo_error(f"note: {note}")
        return 0
    if not (run_dir / "summary.json").is_file():
        for path in _plot_curves(run_dir):
            echo(str(path))
        return 0
    from hostnet.report.plot import plot

    for path in plot(run_dir):
        echo(str(path))
    return 0


def _plot_curves(folder: Path) -> list[Path]:
    """Draws the curves of a folder that is not a run directory, and returns the paths.

    Raises:
        ConfigError: The folder holds several runs, or is damaged.
        FileNotFoundError: The folder holds nothing that can be plotted.
    """
    from hostnet.curves.files import redraw
    from hostnet.multi_run import reject_multi_run

    reject_multi_run(folder)
    paths = redraw(folder)
    if not paths:
        raise FileNotFoundError(f"{folder}: is no directory of a run, of a sweep or of curves (it has no summary.json)")
    return paths


def run_demo(*, quick: bool) -> int:
    """Runs the demonstration; the last line of the output is the path of its report."""
    from hostnet.ledger import demo

    demo(Path("runs"), quick=quick)
    return 0


SHELLS = {"bash": "hostnet.bash", "zsh": "hostnet.zsh", "fish": "hostnet.fish"}
"""Completion scripts by shell."""


def show_completion(shell: str) -> int:
    """Prints the completion script of a shell."""
    if shell not in SHELLS:
        raise _core.ConfigError("unknown-name", f"{shell}: is no shell with a script; {name_hint(shell, list(SHELLS))}")
    script = Path(__file__).parent / "completions" / SHELLS[shell]
    echo(script.read_text(encoding="utf-8").rstrip("\n"))
    return 0
