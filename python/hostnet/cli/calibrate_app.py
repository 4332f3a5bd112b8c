"""The command `hostnet calibrate`: fits parameters to measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hostnet.cli.declare import Engine, json_option

if TYPE_CHECKING:
    from rich.table import Table

    from hostnet.calibration import Calibration


def register(app: typer.Typer) -> None:
    """Registers the command."""
    app.command()(calibrate)


def calibrate(
    server: Annotated[
        str, typer.Argument(metavar="SERVER", help="Server to start from: a preset or a configuration file.")
    ],
    data: Annotated[
        list[str],
        typer.Option(
            metavar="FILE[@NAME=VALUE,...]",
            help="Measurements: a table, or output of MLC, STREAM, fio, perf or PCM. Repeatable.",
        ),
    ],
    fit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARAM[=LO..HI]",
            help='Parameter to fit, e.g. "core.lfb.refill=5 ns..40 ns". Repeatable.',
            show_default="those that suit the measurements",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Server file to write.", show_default="<server>-calibrated.toml"),
    ] = None,
    reads: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help='Share of reads of the measured curve to fit, or "all"; the other curves judge the result.',
            show_default="the curve with most reads",
        ),
    ] = None,
    tolerance: Annotated[float, typer.Option(metavar="SHARE", help="Largest error of a fit that is accepted.")] = 0.12,
    engine: Engine = "run",
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads", "-j", help="Number of parallel runs; does not affect the result.", show_default="all"
        ),
    ] = None,
    json: Annotated[bool, json_option()] = False,
) -> int:
    """Fit parameters of a server to measurements, and write a server file.

    Parameters that the measurements do not determine are reported and left unchanged.

    Exit codes: 2 invalid input, contradictory measurements, or a fit that misses a measurement by more than
    --tolerance; 130 interrupted by Ctrl-C.
    """
    from hostnet import rundir
    from hostnet.calibration import calibrate as do
    from hostnet.presets import load_server
    from hostnet.terminal.progress import Watch

    start = load_server(server)
    place = out or Path(f"{start.name}-calibrated.toml")
    rundir.check_new_file(place)
    with Watch(show=True, keeps=False) as watch:
        result = do(
            start, data, fit or (), reads=reads, engine=engine, threads=threads, tolerance=tolerance, progress=watch
        )
        watch.finish()
        result.save(place)
    _print(result, place, json)
    return 0


def _print(result: Calibration, path: Path, json: bool) -> None:
    """Prints the fit as tables or JSON."""
    if json:
        from hostnet.terminal.screen import echo_json

        echo_json({**result.content(), "out": str(path)})
        return
    from rich.text import Text

    from hostnet.cli import show

    with show.buffered_console() as console:
        console.print(Text(f"{result.server.name}: {result.title}", style="bold"))
        tables = [_parameter_table(result), _residual_table(result)]
        show.print_tables(console, *tables, *([_curve_table(result)] if result.curves else []))
        show.print_items(console, "undetermined:", _undetermined_lines(result), "yellow")
        show.print_notes(console, [*_bound_lines(result), *result.notes])
        show.print_path(console, path)


def _parameter_table(result: Calibration) -> Table:
    """Creates the table of the parameters: start value, fitted value, uncertainty and bounds."""
    from hostnet.cli import show

    table = show.new_table("parameter", "start", "value", "±", "bounds", left=(0,))
    for parameter, one in zip(result.parameters, result.fit.parameters, strict=True):
        table.add_row(
            parameter.path,
            parameter.text(parameter.start),
            parameter.text(one.value) if one.is_fitted else "as before",
            show.NOTHING if one.sigma is None else parameter.text(one.sigma, like=one.value),
            f"{parameter.text(parameter.low)} to {parameter.text(parameter.high)}",
        )
    return table


def _residual_table(result: Calibration) -> Table:
    """Creates the table of measurements and model values; files are named only if there are several."""
    from hostnet.cli import show

    table = show.new_table("measured", "conditions", "from", "value", "model", "off by", left=(0, 1, 2))
    several = len(result.files) > 1
    for row in result.residuals():
        table.add_row(
            f"{row['quantity']} {row['unit']}",
            row["conditions"],
            f"{Path(row['file']).name}:{row['place']}" if several else row["place"],
            show.with_interval(row["measured"], row["sigma"]),
            show.number(row["model"]),
            show.change_text(row["residual_percent"] / 100),
        )
    return table


def _curve_table(result: Calibration) -> Table:
    """Creates the table of the errors by measured curve, before and after the fit."""
    from hostnet.cli import show
    from hostnet.error_cards import COLUMNS, HEADS, cell_text

    table = show.new_table("reads", "curve", "server", *HEADS[1:], left=(0, 1, 2))
    for curve in result.curves:
        for name, errors in (("before", curve.before.as_dict()), ("after", curve.after.as_dict())):
            cells = [cell_text(column, errors[column]) for column in COLUMNS]
            table.add_row(f"{100 * curve.reads:.3g} %", curve.role, name, *cells)
    return table


def _undetermined_lines(result: Calibration) -> list[str]:
    """Describes the parameters that the measurements do not determine."""
    return [f"{one.path}: {one.undetermined}" for one in result.fit.parameters if one.undetermined is not None]


def _bound_lines(result: Calibration) -> list[str]:
    """Describes the parameters that are at a bound."""
    lines = []
    for parameter, one in zip(result.parameters, result.fit.parameters, strict=True):
        if one.at_bound is not None:
            bound = parameter.text(parameter.low if one.at_bound == "low" else parameter.high)
            lines.append(f"{one.path} is at its bound, {bound}; wider ones: --fit {one.path}=LO..HI")
    return lines
