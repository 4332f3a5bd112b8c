"""The commands `hostnet schema`, `new`, `plot` and `demo`."""

from __future__ import annotations

from pathlib import Path

from hostnet import _core
from hostnet.files import write_file
from hostnet.terminal.screen import echo, echo_error


def show_schema(*, cluster: bool, chip: bool) -> int:
    """Prints the JSON Schema of servers, clusters or chips."""
    if cluster and chip:
        raise _core.ConfigError(
            "conflicting-keys", "--cluster and --chip: both echo what is described; give one of them"
        )
    echo(_core.chip_schema() if chip else _core.cluster_schema() if cluster else _core.schema())
    return 0


def write_template(
    file: Path,
    app: str | None = None,
    *,
    alone: bool = False,
    cluster: str | None = None,
    chip: bool = False,
    preset: str | None = None,
) -> int:
    """Writes a commented template to a file that does not exist yet."""
    if chip and (app or cluster):
        raise _core.ConfigError(
            "conflicting-keys", "--chip: says what the file describes; leave --app and --cluster out"
        )
    if preset is not None and not chip:
        raise _core.ConfigError("requires-key", "--preset: says which chip; give --chip too")
    if app is None and alone:
        raise _core.ConfigError(
            "requires-key", "--alone: leaves out the storage reads beside an application; give --app too"
        )
    if app is not None and cluster is not None:
        raise _core.ConfigError(
            "conflicting-keys", "--app and --cluster: both say what the file describes; give one of them"
        )
    if chip:
        text = _chip_template(preset)
    elif cluster is not None:
        text = _cluster_template(cluster)
    else:
        text = _core.template() if app is None else _app_template(app, alone=alone)
    if file.exists() or file.is_symlink():
        raise FileExistsError(f"{file}: exists; hostnet new does not overwrite")
    write_file(file, text.encode())
    echo(f"{file}: run it with: hostnet run {file}")
    return 0


def _chip_template(preset: str | None) -> str:
    """Returns the template of a chip."""
    try:
        return _core.chip_template(preset)
    except _core.ConfigError as error:
        raise error.reworded(f"--preset: {error}") from None


def _cluster_template(name: str) -> str:
    """Returns the template of a cluster."""
    try:
        return _core.cluster_template(name)
    except _core.ConfigError as error:
        raise error.reworded(f"--cluster: {error}") from None


def _app_template(app: str, *, alone: bool) -> str:
    """Returns the template of an application."""
    try:
        return _core.app_template(app, alone=alone)
    except _core.ConfigError as error:
        raise error.reworded(f"--app: {error}") from None


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
        echo(str(_plot_curves(run_dir)))
        return 0
    from hostnet.report.plot import plot

    for path in plot(run_dir):
        echo(str(path))
    return 0


def _plot_curves(folder: Path) -> Path:
    """Draws the curves of a folder that is not a run directory.

    Raises:
        ConfigError: The folder holds several runs, or is damaged.
        FileNotFoundError: The folder holds nothing that can be plotted.
    """
    from hostnet.curves.files import redraw
    from hostnet.multi_run import reject_multi_run

    reject_multi_run(folder)
    file = redraw(folder)
    if file is None:
        raise FileNotFoundError(f"{folder}: is no directory of a run, of a sweep or of curves (it has no summary.json)")
    return file


def run_demo() -> int:
    """Runs the demonstration; the last line of the output is the path of its report."""
    from hostnet.ledger import demo

    demo(Path("runs"))
    return 0
