"""Run directory of a reproduced study: manifest, rows, operating points, and a report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hostnet.ledger.chip_quantities import CHIP_MEASURES
from hostnet.ledger.curve_quantities import CURVE_MEASURES
from hostnet.ledger.memory_quantities import MEASURES, Read
from hostnet.ledger.noc_quantities import NOC_MEASURES
from hostnet.ledger.panels import Panel
from hostnet.ledger.quantities import Outcome
from hostnet.ledger.rows import Score
from hostnet.ledger.study import Engine, Study
from hostnet.ledger.validate import Ledger

CURVE_POINTS_MAX = 120
"""Maximum number of points of a published curve in the report."""

PEERS: dict[Engine, dict[str, Read]] = {"memory": MEASURES, "noc": NOC_MEASURES}
"""Measures of parts that are simulated alone, which are compared with other simulators of such parts."""

MEASURED: dict[Engine, dict[str, Read]] = {**PEERS, "chip": CHIP_MEASURES, "curves": CURVE_MEASURES}
"""Columns of the table of operating points for such parts, for chips and for latency under load."""

POINT_COLUMNS = {
    "point": "string",
    "workload": "string",
    "kind": "string",
    "throughput_gb_per_s": "float64",
    "throughput_ci95": "float64",
    "read_gb_per_s": "float64",
    "write_gb_per_s": "float64",
    "app_gb_per_s": "float64",
    "latency_mean_ns": "float64",
    "latency_ci95": "float64",
    "latency_p50_ns": "float64",
    "latency_p99_ns": "float64",
    "limited_by": "string",
    "row_miss_ratio": "float64",
    "rpq_mean": "float64",
    "wpq_mean": "float64",
    "wpq_full_share": "float64",
    "bus_busy_share": "float64",
    "config_hash": "string",
}
"""Columns of the table of operating points and their Arrow types: those of the workload, then of all channels."""

APP_COLUMNS = {
    "operations_per_s": "float64",
    "operations_ci95": "float64",
    "execution_time_s": "float64",
    "write_row_miss_ratio": "float64",
    "l2_miss_ratio": "float64",
    "llc_miss_ratio": "float64",
    "llc_mib_core": "float64",
    "llc_mib_io": "float64",
    "ddio_hit_ratio": "float64",
    "ddio_leak_ratio": "float64",
}
"""Further columns: of the application, of writes of all channels, and of the workload in the caches; may be null."""


CLUSTER_COLUMNS = {
    "point": "string",
    "class": "string",
    "goodput_gbps": "float64",
    "goodput_ci95": "float64",
    "sent_packets": "int64",
    "nic_drop_percent": "float64",
    "fabric_dropped": "int64",
    "marked_segments": "int64",
    "timeouts": "int64",
    "iio_write_occupancy": "float64",
    "iio_write_latency_ns": "float64",
    "iio_write_gbps": "float64",
    "config_hash": "string",
}
"""Columns of the table of cluster points: those of the traffic class, then of the server."""


def write_study_run(runs: Path, selection: str, ledger: Ledger) -> Path:
    """Writes the run directory `runs/<selection>-<n>` atomically and returns its path.

    Raises:
        OSError: The directory cannot be written.
    """
    from hostnet.rundir import publish_fresh

    return publish_fresh(runs, selection, lambda folder: write_files(folder, selection, ledger))


def write_study_to(path: Path, selection: str, ledger: Ledger) -> Path:
    """Writes the run directory `path` atomically and returns its path.

    Raises:
        OSError: `path` exists and is not empty, or cannot be written.
    """
    from hostnet.rundir import publish

    return publish(path, lambda folder: write_files(folder, selection, ledger))


def write_files(folder: Path, selection: str, ledger: Ledger) -> None:
    """Writes the files of the run directory."""
    from hostnet.report import write_report
    from hostnet.rundir import write_text

    write_text(folder / "manifest.json", json.dumps(manifest(selection, ledger), indent=2, ensure_ascii=False))
    write_text(folder / "summary.json", json.dumps(summary(ledger), indent=1, ensure_ascii=False))
    write_points(folder / "points.parquet", ledger)
    write_report(folder)


def manifest(selection: str, ledger: Ledger) -> dict[str, Any]:
    """Returns the provenance of the ledger: study, version, machine and speed."""
    from hostnet import _core
    from hostnet.rundir import machine

    study, batch, chosen = ledger.study, ledger.batch, ledger.study.selections[selection]
    return {
        "format": 1,
        "name": f"{study.name} {selection}",
        "version": _core.version(),
        "study": study.name,
        "selection": selection,
        "preset": ledger.batch.machines,
        "seed": study.seed,
        "warmup": chosen.warmup,
        "duration": chosen.duration,
        "points": len(batch.outcomes),
        "started": batch.started,
        "wall_time_s": round(batch.wall_time_s, 3),
        batch.unit: batch.work,
        f"{batch.unit}_per_s": round(batch.work_per_s),
        "machine": machine(),
    }


def summary(ledger: Ledger) -> dict[str, Any]:
    """Returns all rows, the scores of the groups, and the data that the report needs for its panels."""
    study = ledger.study
    drawn = {(panel.name, series.name) for panel in study.panels for series in panel.series if series.drawn}
    covered = {row.panel for row in ledger.rows if (row.panel, row.series) in drawn}
    panels = [panel for panel in study.panels if panel.name in covered]
    rules = [rule for rule in study.exclusions if any(rule.covers(row.panel, row.series, row.x) for row in ledger.rows)]
    return {
        "format": 1,
        "kind": "study",
        "name": f"{study.title}: published and simulated",
        "study": {
            "name": study.name,
            "title": study.title,
            "source": study.source,
            "origin": study.origin,
            "engine": study.engine,
            "preset": ledger.batch.machines,
        },
        "groups": [group_summary(score) for score in ledger.scores],
        "excluded": [
            {"panel": rule.panel, "series": rule.series, "x": list(rule.x), "reason": rule.reason} for rule in rules
        ],
        "panels": [panel_summary(study, panel) for panel in panels],
        "curves": {panel.name: curves(panel) for panel in panels if panel.rows_at},
        "rows": [row.as_dict() for row in ledger.rows],
    }


def group_summary(score: Score) -> dict[str, Any]:
    """Returns the score of a group, ready for JSON."""
    group = score.group
    return {
        "name": group.name,
        "title": group.title,
        "kind": group.kind,
        "rows": score.rows,
        "passed": score.passed,
        "mean_error": score.mean,
        "mean_target": group.mean,
        "max_error": score.max,
        "unit": group.unit,
        "tolerance": group.max,
        "on_target": score.on_target,
    }


def panel_summary(study: Study, panel: Panel) -> dict[str, Any]:
    """Returns the title and the axes of a panel, ready for JSON."""
    drawn = {series.name for series in panel.series if series.drawn}
    first = next((value for value in panel.published if value.series in drawn), panel.published[0])
    return {
        "name": panel.name,
        "title": panel.title,
        "figure": panel.figure,
        "x_label": panel.x_label or first.x_label,
        "y_label": panel.y_label or first.y_label,
        "unit": first.unit,
        "chart": "parity" if study.engine in PEERS else panel.chart,
        **({} if panel.section is None else {"section": panel.section}),
        "series": [series.name for series in panel.series if series.drawn],
    }


def curves(panel: Panel) -> dict[str, list[tuple[float, float]]]:
    """Returns the published curves of a panel of which only some points are rows, thinned for plotting."""
    drawn: dict[str, list[tuple[float, float]]] = {}
    for series in panel.series:
        own = [value for value in panel.published if value.series == series.name]
        points = [(float(value.x), value.y) for value in own if value.y is not None]
        drawn[series.name] = points[:: -(-len(points) // CURVE_POINTS_MAX)]
    return drawn


def write_points(file: Path, ledger: Ledger) -> None:
    """Writes the table of operating points.

    Raises:
        OSError: The table cannot be written.
    """
    import pyarrow as pa

    from hostnet.tables import write_parquet

    columns, rows = POINT_TABLES[ledger.study.engine]
    schema = pa.schema([(column, pa.type_for_alias(alias)) for column, alias in columns.items()])
    write_parquet(pa.Table.from_pylist(rows(ledger.batch.outcomes), schema=schema), str(file))


def point_rows(outcomes: Mapping[str, Outcome]) -> list[dict[str, Any]]:
    """Returns a row per point and workload, with the state of the channels."""
    rows = []
    for name, outcome in outcomes.items():
        point = {**outcome.row("channels", channel=-1), "point": name, "config_hash": outcome.summary["config_hash"]}
        cached = {row["workload"]: row for row in outcome.summary.get("caches", ())}
        workloads = outcome.summary["workloads"]
        rows += [{**point, **cached.get(workload["workload"], {}), **workload} for workload in workloads]
    return [
        {**{column: row[column] for column in POINT_COLUMNS}, **{column: row.get(column) for column in APP_COLUMNS}}
        for row in rows
    ]


def measured_rows(measures: Mapping[str, Read]) -> Callable[[Mapping[str, Outcome]], list[dict[str, Any]]]:
    """Returns a function that makes a row per point of a chip, or of a part that was run alone."""

    def rows(outcomes: Mapping[str, Outcome]) -> list[dict[str, Any]]:
        return [
            {
                "point": name,
                **{measure: read(outcome.summary) for measure, read in measures.items()},
                "config_hash": outcome.summary["config_hash"],
            }
            for name, outcome in outcomes.items()
            if not outcome.skipped
        ]

    return rows


def cluster_point_rows(outcomes: Mapping[str, Outcome]) -> list[dict[str, Any]]:
    """Returns a row per cluster point and traffic class, with the state of the server, if any.

    A point of a server without a network has one row, in which only its name and its configuration hash are set.
    """
    rows = []
    for name, outcome in outcomes.items():
        if outcome.skipped:
            continue
        host: Mapping[str, Any] = next(iter(outcome.summary.get("hosts", ())), {})
        point = {"point": name, "config_hash": outcome.summary["config_hash"]}
        rows += [{**host, **point, **flows} for flows in outcome.summary.get("classes", ({},))]
    return [{column: row.get(column) for column in CLUSTER_COLUMNS} for row in rows]


POINT_TABLES: dict[Engine, tuple[dict[str, str], Callable[[Mapping[str, Outcome]], list[dict[str, Any]]]]] = {
    "simulation": ({**POINT_COLUMNS, **APP_COLUMNS}, point_rows),
    "cluster": (CLUSTER_COLUMNS, cluster_point_rows),
    "predict": ({**POINT_COLUMNS, **APP_COLUMNS}, point_rows),
    **{
        engine: (
            {"point": "string", **dict.fromkeys(measures, "float64"), "config_hash": "string"},
            measured_rows(measures),
        )
        for engine, measures in MEASURED.items()
    },
}
"""Columns and rows of the table of operating points, by engine."""
