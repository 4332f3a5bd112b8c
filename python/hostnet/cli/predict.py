"""`hostnet predict`, and the comparison of predictions with runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet import rundir, server_view
from hostnet.cli import show
from hostnet.cli.show_server import screen_table
from hostnet.notes import notes_of
from hostnet.running import simulate
from hostnet.running.run_dir import write_run
from hostnet.terminal.screen import echo

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from hostnet.running.results import Results

    Row = dict[str, Any]


def predict_command(file: Path, overrides: tuple[str, ...], out: Path | None, *, as_json: bool) -> int:
    """Predicts a configuration and returns the exit code."""
    source = simulate.source_of(file, overrides)
    plan = simulate.resolve(source)
    if out is not None:
        rundir.check_run_dir(out)
    results = simulate.predict_plan(plan, source)
    if out is not None:
        rundir.publish(out, lambda folder: write_run(results, folder))
    if as_json:
        echo(results.native.summary_json.rstrip("\n"))
    else:
        print_prediction(results.summary, regime_of(results), out)
    return 0


def regime_of(results: Results) -> Row:
    """Returns the predicted regime, which names only workloads that slow down another one."""
    regime = results.summary["regime"]
    if all(len(slowed["because_of"]) < 2 for slowed in regime["slowed"]):
        # Without a side of several workloads nobody has to be named, and the modules that do so need not be loaded.
        return dict(regime)
    from hostnet.explanation.aggressors import name_aggressors, predicted_without

    rows = results.summary["workloads"]
    facts = [{**row, "gb_per_s": row["throughput_gb_per_s"], "alone": {"basis": "predicted"}} for row in rows]
    config = json.loads(results.plan.effective_json())
    return name_aggressors(regime, facts, {"predicted": predicted_without(config, results.source.base_dir)})


def print_prediction(summary: Row, regime: Row, path: Path | None) -> None:
    """Prints a prediction; the last line is the path of its folder, if it has one."""
    with show.buffered_console() as console:
        console.print(Text(f"{summary['name']}, predicted from the configuration", style="bold"))
        workloads, *_ = server_view.workload_tables(summary)
        tables = (workloads, server_view.domain_table(summary), server_view.total_table(summary))
        show.print_tables(console, *map(screen_table, tables))
        show.print_items(console, "*", [*summary["limits"], regime_line(regime), error_line(summary)])
        show.print_notes(console, [*uncovered_text(summary), *notes_of(summary)])
        if path is not None:
            show.print_path(console, path)


def regime_line(regime: Row) -> str:
    """Describes the regime and its evidence."""
    from hostnet.regimes import regime_headline

    return f"{regime_headline(regime)} {'; '.join(regime['evidence'])}"


def error_line(summary: Row) -> str:
    """Describes the error of predictions."""
    error = summary["uncertainty"]
    mean, most = (show.percent(error[key]) for key in ("throughput_mean", "throughput_95"))
    return f"predicted throughput is off by {mean} on average, and by less than {most} in 95 of 100 servers"


def uncovered_text(summary: Row) -> list[str]:
    """Describes the parts of the configuration for which predictions are not validated."""
    clauses = summary["uncertainty"]["outside"]
    if not clauses:
        return []
    return [f"outside of what predictions were checked against, so the error may be larger: {', '.join(clauses)}"]


def print_disagreement(console: Console, run: Row, predicted: Row) -> None:
    """Prints a run and its prediction side by side."""
    table = show.new_table(
        "run against prediction", "run GB/s", "predicted", "off", "run ns", "predicted", "off", left=(0,)
    )
    table.add_column("run limited by")
    table.add_column("predicted")
    for simulation, prediction in zip(run["workloads"], predicted["workloads"], strict=True):
        cells = []
        for column in ("throughput_gb_per_s", "latency_mean_ns"):
            cells += [
                show.rate(simulation, column),
                show.rate(prediction, column),
                error_text(simulation[column], prediction[column]),
            ]
        table.add_row(simulation["workload"], *cells, simulation["limited_by"], prediction["limited_by"])
    show.print_tables(console, table)
    show.print_notes(console, uncovered_text(predicted))


def error_text(simulated: float | None, predicted: float | None) -> str:
    """Formats the relative error of a prediction."""
    return show.NOTHING if not simulated or predicted is None else show.change_text(predicted / simulated - 1)
