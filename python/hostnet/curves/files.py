"""Writes the files of a curve: a table, a plot, and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.curves.page import curve_page
from hostnet.files import read_object, write_figure
from hostnet.report.style import COLOURS, DASHES, MARKS
from hostnet.rundir import write_text
from hostnet.tables import write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hostnet.curves.points import Point, Setting

PAGE = "report.html"
"""Name of the page in the folder."""

QUIET = "#5a636d"
"""Colour of reference lines."""


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
    write_text(folder / PAGE, curve_page(content))


def redraw(folder: Path) -> list[Path]:
    """Redraws the curves or the matrix of a folder, and its page, and returns the paths; empty if it has neither.

    Raises:
        ConfigError: The JSON in the folder is damaged.
        OSError: A file cannot be read or written.
    """
    from hostnet.curves import matrix
    from hostnet.curves.matrix_page import matrix_page

    for name, drawn, shown in (("curve", draw, curve_page), ("matrix", matrix.draw, matrix_page)):
        source, file = folder / f"{name}.json", folder / f"{name}.png"
        if source.is_file():
            try:
                content = read_object(source)
                page = shown(content)
                drawn(content, file)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise ConfigError(
                    "malformed-file", f"{source}: is damaged: it is not what hostnet curve writes"
                ) from None
            write_text(folder / PAGE, page)
            return [file, folder / PAGE]
    return []


def draw(content: Mapping[str, Any], file: Path) -> None:
    """Draws the curves of `curve.json` as a PNG."""
    import matplotlib as mpl

    from hostnet.report.style import STYLE

    with mpl.rc_context(STYLE):
        write_figure(file, curve_figure(content), dpi=160)


def curve_figure(content: Mapping[str, Any]) -> Figure:
    """Plots the curves of `curve.json`."""
    from hostnet.report.style import new_figure, plain

    figure = new_figure(7.2, 4.4)
    axes = figure.subplots()
    for index, curve in enumerate(content["curves"]):
        draw_line(axes, index, curve)
    draw_limits(axes, content)
    axes.set(xlabel="memory bandwidth, GB/s", ylabel="read latency, ns")
    axes.set_xlim(0, content["peak_gb_per_s"] * 1.03)
    axes.set_ylim(bottom=0)
    by = "predicted" if content["engine"] == "predict" else "simulated"
    axes.set_title(plain(f"Latency under load of {content['server']}, {by}"), loc="left")
    axes.legend(title="reads in the traffic", loc="upper left", alignment="left")
    return figure


def draw_limits(axes: Axes, content: Mapping[str, Any]) -> None:
    """Draws the peak bandwidth, which no curve reaches, and the latency without load, at which all begin."""
    peak, light = content["peak_gb_per_s"], min(curve["latency_light_ns"] for curve in content["curves"])
    dashed: dict[str, Any] = {"color": QUIET, "linestyle": (0, (4, 3)), "linewidth": 0.9}
    beside: dict[str, Any] = {
        "xytext": (-4, -4),
        "textcoords": "offset points",
        "ha": "right",
        "va": "top",
        "color": QUIET,
    }
    axes.axvline(peak, **dashed)
    axes.annotate(f"peak {peak:.1f} GB/s", (peak, 1), xycoords=("data", "axes fraction"), rotation=90, **beside)
    axes.axhline(light, **dashed)
    axes.annotate(f"unloaded {light:.1f} ns", (peak, light), **beside)


def draw_line(axes: Axes, index: int, curve: Mapping[str, Any]) -> None:
    """Draws one curve. Its error bars are the confidence intervals of the latency."""
    kind = tuple(COLOURS)[index % len(COLOURS)]
    axes.errorbar(
        [point["bandwidth_gb_per_s"] for point in curve["points"]],
        [point["latency_ns"] for point in curve["points"]],
        yerr=[point["latency_ci95"] for point in curve["points"]],
        color=COLOURS[kind],
        linestyle=DASHES[kind],
        marker=MARKS[kind],
        markersize=4,
        linewidth=1.4,
        elinewidth=0.8,
        label=f"{100 * curve['reads']:.3g} %",
    )
