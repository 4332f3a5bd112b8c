"""The small commands: new, plot, demo."""

from __future__ import annotations

from pathlib import Path

from hostnet import _core
from hostnet.files import write_file
from hostnet.terminal.screen import complain, say


def show_schema(*, cluster: bool, chip: bool) -> int:
    """Prints the JSON Schema of servers, clusters or chips."""
    if cluster and chip:
        raise _core.ConfigError(
            "conflicting-keys", "--cluster and --chip: both say what is described; give one of them"
        )
    say(_core.chip_schema() if chip else _core.cluster_schema() if cluster else _core.schema())
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
    """Writes the commented template, or that of something else, to a file that does not exist yet."""
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
    say(f"{file}: run it with: hostnet run {file}")
    return 0


def _chip_template(preset: str | None) -> str:
    try:
        return _core.chip_template(preset)
    except _core.ConfigError as error:
        raise error.reworded(f"--preset: {error}") from None


def _cluster_template(name: str) -> str:
    try:
        return _core.cluster_template(name)
    except _core.ConfigError as error:
        raise error.reworded(f"--cluster: {error}") from None


def _app_template(app: str, *, alone: bool) -> str:
    try:
        return _core.app_template(app, alone=alone)
    except _core.ConfigError as error:
        raise error.reworded(f"--app: {error}") from None


def plot_run(run_dir: Path) -> int:
    """Draws the plots of the directory of a run, of a sweep or of curves and prints their paths."""
    from hostnet.sweeps.place import JOURNAL, MANIFEST

    if any((run_dir / name).is_file() for name in (MANIFEST, JOURNAL)):
        from hostnet.sweeps.plots import draw_directory

        paths, note = draw_directory(run_dir)
        for path in paths:
            say(str(path))
        if note is not None:
            complain(f"note: {note}")
        return 0
    if not (run_dir / "summary.json").is_file():
        say(str(_plot_curves(run_dir)))
        return 0
    from hostnet.report.plot import plot

    for path in plot(run_dir):
        say(str(path))
    return 0


def _plot_curves(place: Path) -> Path:
    """Draws the curves of a folder that is not of a run.

    Raises:
        ConfigError: It holds several runs, or is damaged.
        FileNotFoundError: It is a folder of nothing that can be drawn.
    """
    from hostnet.curve.files import draw_again
    from hostnet.several import refuse_several

    refuse_several(place)
    file = draw_again(place)
    if file is None:
        raise FileNotFoundError(f"{place}: is no directory of a run, of a sweep or of curves (it has no summary.json)")
    return file


def run_demo() -> int:
    """Runs the demonstration; the last line of output is the path of its report."""
    from hostnet.ledger import demo

    demo(Path("runs"))
    return 0
