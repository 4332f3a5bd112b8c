"""Writes the files of a curve: a table, a plot, and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_object, write_figure
from hostnet.rundir import write_text
from hostnet.tables import write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.axes import Axes

    from hostnet.curves.points import Point, Setting

STYLES = (("#0069ad", "-", "o"), ("#c2500a", "--", "s"), ("#0c7f63", ":", "D"), ("#8a4f9e", "-.", "^"))
"""Colour, line style and marker of each curve."""


def content_of(setting: Setting, points: Sequence[Point]) -> dict[str, Any]:
    """Returns the curves, ready for JSON."""
    return {
        "format": 1,
        "server": setting.server.name,
        "engine": setting.engine,
        "cores": setting.load_cores,
        "probe": setting.probe,
        "peak_gb_per_s": setting.server.memory_peak_gb_per_s,
        "unvalidated": setting.server.unvalidated,
        "curves": [curve_of(reads, [point for point in points if point.reads == reads]) for reads in setting.reads],
    }


def curve_of(reads: float, points: Sequence[Point]) -> dict[str, Any]:
    """Returns one curve, from the heaviest load to the lightest."""
    return {
        "reads": reads,
        "latency_light_ns": points[-1].latency_ns,
        "bandwidth_max_gb_per_s": max(point.bandwidth_gb_per_s for point in points),
        "points": [
            {
                "gap_ns": point.gap_ns,
                "latency_ns": point.latency_ns,
                "latency_ci95": point.latency_ci95,
                "bandwidth_gb_per_s": point.bandwidth_gb_per_s,
            }
            for point in points
        ],
    }


def table_of(setting: Setting, points: Sequence[Point]) -> pa.Table:
    """Returns a table with a row per point."""
    import pyarrow as pa

    columns = {
        "reads": [point.reads for point in points],
        "gap_ns": [point.gap_ns for point in points],
        "latency_ns": [point.latency_ns for point in points],
        "latency_ci95": [point.latency_ci95 for point in points],
        "bandwidth_gb_per_s": [point.bandwidth_gb_per_s for point in points],
        "cores": [setting.load_cores] * len(points),
    }
    return pa.table(columns)


def write_curve(setting: Setting, points: Sequence[Point], folder: Path, *, csv: bool) -> None:
    """Writes the files of a curve into an empty folder."""
    table = table_of(setting, points)
    write_parquet(table, str(folder / "curve.parquet"))
    if csv:
        write_csv(table, str(folder / "curve.csv"))
    content = content_of(setting, points)
    write_text(folder / "curve.json", json.dumps(content, indent=2, ensure_ascii=False))
    draw(content, folder / "curve.png")


def redraw(folder: Path) -> Path | None:
    """Redraws the curves or the matrix of a folder and returns the path; None if the folder has neither.

    Raises:
        ConfigError: The JSON in the folder is damaged.
        OSError: A file cannot be read or written.
    """
    from hostnet.curves import matrix

    for name, drawn in (("curve", draw), ("matrix", matrix.draw)):
        source, file = folder / f"{name}.json", folder / f"{name}.png"
        if source.is_file():
            try:
                drawn(read_object(source), file)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise ConfigError(
                    "malformed-file", f"{source}: is damaged: it is not what hostnet curve writes"
                ) from None
            return file
    return None


def draw(content: Mapping[str, Any], file: Path) -> None:
    """Draws the curves of `curve.json` as a PNG."""
    import matplotlib as mpl

    from hostnet.report.style import STYLE, new_figure, plain

    with mpl.rc_context(STYLE):
        figure = new_figure(7.2, 4.4)
        axes = figure.subplots()
        for index, curve in enumerate(content["curves"]):
            draw_line(axes, index, curve)
        peak = content["peak_gb_per_s"]
        axes.axvline(peak, color="#5a636d", linestyle=(0, (4, 3)), linewidth=0.9)
        axes.annotate(
            f"peak {peak:.1f} GB/s",
            (peak, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-4, -4),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="top",
            color="#5a636d",
        )
        axes.set(xlabel="memory bandwidth, GB/s", ylabel="read latency, ns")
        axes.set_xlim(0, peak * 1.03)
        axes.set_ylim(bottom=0)
        by = "predicted" if content["engine"] == "predict" else "simulated"
        axes.set_title(plain(f"Latency under load of {content['server']}, {by}"), loc="left")
        axes.legend(title="reads in the traffic", loc="upper left", alignment="left")
        write_figure(file, figure, dpi=160)


def draw_line(axes: Axes, index: int, curve: Mapping[str, Any]) -> None:
    """Draws one curve. Its error bars are the confidence intervals of the latency."""
    colour, line, mark = STYLES[index % len(STYLES)]
    axes.errorbar(
        [point["bandwidth_gb_per_s"] for point in curve["points"]],
        [point["latency_ns"] for point in curve["points"]],
        yerr=[point["latency_ci95"] for point in curve["points"]],
        color=colour,
        linestyle=line,
        marker=mark,
        markersize=4,
        linewidth=1.4,
        elinewidth=0.8,
        label=f"{100 * curve['reads']:.3g} %",
    )
