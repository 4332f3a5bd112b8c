"""`hostnet predict`, and the comparison of predictions with runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hostnet import rundir
from hostnet.cli import show
from hostnet.notes import notes_of
from hostnet.running import simulate
from hostnet.terminal.screen import echo

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

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
        rundir.publish(out, lambda folder: rundir.write_run(results, folder))
    if as_json:
        echo(results.native.summary_json.rstrip("\n"))
    else:
        print_prediction(results.summary, regime_of(results), out)
    return 0


def regime_of(results: Results) -> Row:
    """Returns the predicted regime, which names only workloads that slow down another one."""
    from hostnet.explain.aggressors import name_aggressors, predicted_without

    rows = results.summary["workloads"]
    facts = [{**row, "gb_per_s": row["throughput_gb_per_s"], "alone": {"basis": "predicted"}} for row in rows]
    config = json.loads(results.plan.effective_json())
    return name_aggressors(
        results.summary["regime"], facts, {"predicted": predicted_without(config, results.source.base_dir)}
    )


def print_prediction(summary: Row, regime: Row, path: Path | None) -> None:
    """Prints a prediction; the last line is the path of its folder, if it has one."""
    with show.buffered_console() as console:
        console.print(Text(f"{summary['name']}, predicted from the configuration", style="bold"))
        show.print_tables(console, workload_table(summary["workloads"]))
        show.print_tables(console, domain_table(summary["domains"]), memory_table(summary["channels"]))
        show.print_items(console, "*", [*summary["limits"], regime_line(regime), error_line(summary)])
        show.print_notes(console, [*uncovered_text(summary), *notes_of(summary)])
        if path is not None:
            show.print_path(console, path)


def workload_table(rows: list[Row]) -> Table:
    """Creates the table of throughput and latency by workload."""
    table = show.new_table("workload", "GB/s", "DRAM read", "write", "latency ns", left=(0,))
    table.add_column("limited by")
    for row in rows:
        values = ("throughput_gb_per_s", "read_gb_per_s", "write_gb_per_s", "latency_mean_ns")
        table.add_row(row["workload"], *(show.rate(row, value) for value in values), row["limited_by"])
    return table


def domain_table(rows: list[Row]) -> Table:
    """Creates the table of credits, latency and throughput by domain."""
    table = show.new_table("domain", "credits in use", "latency ns", "GB/s", "full", left=(0,))
    table.add_column("shares credits with")
    for row in rows:
        if row["workload"] != "all":
            continue
        table.add_row(
            row["domain"],
            f"{show.number(row['in_use_mean'])} of {row['capacity']}",
            show.number(row["latency_mean_ns"]),
            show.rate(row, "throughput_gb_per_s"),
            show.percent(row["full_share"]),
            row["shares_capacity_with"] or "",
        )
    return table


def memory_table(rows: list[Row]) -> Table:
    """Creates the table of the totals of the memory channels."""
    table = show.new_table("channels", "read GB/s", "write", show.ACTIVATIONS, "RPQ", "WPQ", "write mode", left=(0,))
    for row in rows:
        if row["channel"] >= 0:
            continue
        table.add_row(
            "all",
            show.rate(row, "read_gb_per_s"),
            show.rate(row, "write_gb_per_s"),
            show.number(row["row_miss_ratio"]),
            show.number(row["rpq_mean"]),
            show.number(row["wpq_mean"]),
            show.percent(row["write_mode_share"]),
        )
    return table


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
