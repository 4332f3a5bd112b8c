"""Pictures for papers and slides."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest
from matplotlib import rc_context
from matplotlib.patches import Rectangle

import hostnet
from hostnet.files import write_figure
from hostnet.report.cluster_plot import draw_latencies
from hostnet.report.load import RunFiles, load_run
from hostnet.report.plot import draw_domains, figure_title, plot, tick_labels
from hostnet.report.study_plots import draw_figure
from hostnet.report.style import COLOURS, STYLE
from hostnet.server_view import domain_table
from tests.support import QUADRANT

PNG = b"\x89PNG\r\n"


def test_a_run_has_its_domains_and_series(make_run: Callable[..., Path], hostile: str) -> None:
    directory = make_run()
    paths = plot(directory)
    assert [path.name for path in paths] == ["domains.png", "domains.svg", "series.png", "series.svg"]
    assert all(path.parent == directory / "plots" for path in paths)
    assert paths[0].read_bytes().startswith(PNG)
    svg = paths[3].read_text(encoding="utf-8")
    assert "\\frac{1}{2}" in svg
    assert "<script" not in svg
    assert hostile not in svg


def test_pools_of_which_a_workload_uses_a_part_are_among_the_domains(tmp_path: Path) -> None:
    file = tmp_path / "quadrant.toml"
    file.write_text(QUADRANT)
    run = load_run(hostnet.run(file).save(tmp_path / "run"))
    pools = [row for row in domain_table(run.summary).rows if row["part"] == "own"]
    with rc_context(STYLE):
        (axes,) = draw_domains(run).axes
    named = dict(zip([text.get_text() for text in axes.get_yticklabels()], axes.patches, strict=True))
    assert "LFB of stream" in [own["domain"] for own in pools]
    for own in pools:
        bar = named[own["domain"]]
        assert isinstance(bar, Rectangle)
        assert bar.get_width() == pytest.approx(100 * own["in_use_mean"] / own["capacity"])


def test_without_series_there_is_no_such_plot(make_run: Callable[..., Path]) -> None:
    assert [path.name for path in plot(make_run(series=False))] == ["domains.png", "domains.svg"]


def test_a_study_has_its_quadrants_and_panels(study_run: Path) -> None:
    names = [path.name for path in plot(study_run)]
    assert names == ["quadrants.png", "quadrants.svg", "panels.png", "panels.svg"]


def latency_run(tmp_path: Path, classes: int) -> RunFiles:
    """Returns a run of a cluster with latencies of a number of classes, of which the last has the most requests."""
    names = ("p50", "p90", "p99", "p99_9", "p99_99")
    rows = [{"class": f"class {n}", "count": 100, **{f"{name}_us": 50.0 for name in names}} for n in range(classes)]
    rows[-1]["count"] = 100_000
    summary = {"engine": "cluster", "latencies": rows}
    return RunFiles(tmp_path, summary, {}, [], [], [], None, None, None, {})


def test_classes_beyond_the_colours_are_counted(tmp_path: Path) -> None:
    (axes,) = draw_latencies(latency_run(tmp_path, len(COLOURS) + 2)).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"class {n}" for n in range(len(COLOURS))]
    assert legend.get_title().get_text() == "2 more are not drawn"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["P50", "P90", "P99"], "of what is drawn"


def test_classes_that_are_all_drawn_need_no_words(tmp_path: Path) -> None:
    (axes,) = draw_latencies(latency_run(tmp_path, len(COLOURS))).axes
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == ""
    assert axes.get_xticklabels()[-1].get_text() == "P99.99"


CORES = (4, 8, 12, 16)
"""Values of x of fabricated panels."""


def panels_of_one_figure(*more: dict[str, Any]) -> tuple[RunFiles, list[dict[str, Any]]]:
    """Returns a study with the given number of panels, each a line of one series whose values are `y`."""
    row = {"series": "ep", "engine": "cluster", "kind": "relative", "published": 4.0, "ci95": 0.1, "verdict": "pass"}
    made = [
        {"name": f"fig413_{at}", "figure": "4.13", "x_label": "Cores", "unit": "x", "series": ["ep"], **panel}
        for at, panel in enumerate(more)
    ]
    rows = [
        {**row, "panel": panel["name"], "x": str(x), "simulated": y}
        for panel in made
        for x, y in zip(CORES, panel["y"], strict=True)
    ]
    return RunFiles(Path(), {"rows": rows}, {}, [], [], [], None, None, None, {}), made


def test_nothing_is_beyond_the_edge_of_a_picture(tmp_path: Path) -> None:
    steep = {"title": "Speedup of larger chips over four cores", "y_label": "Speedup", "y": (1.0, 1.7, 2.1, 2.7)}
    long = "Share of the way at 10 Gbps, and of whatever else is on it"
    run, panels = panels_of_one_figure(
        steep, {**steep, "y": (0.9, 1.4, 1.2, 0.5)}, {**steep, "y_label": long, "y": (-112.0, -13.0, -41.0, -145.0)}
    )
    with rc_context(STYLE):
        figure = draw_figure(run, panels)
        write_figure(tmp_path / "a.png", figure, dpi=150)
    assert figure.axes[0].get_title(loc="left").startswith("Fig. 4.13  Speedup of larger chips")
    for axes in figure.axes:
        box = axes.yaxis.label.get_window_extent()
        assert min(box.x0, box.y0) > 0, axes.get_ylabel()
        assert box.y1 < figure.bbox.y1, axes.get_ylabel()


def test_a_panel_says_which_figure_or_table_it_is_of() -> None:
    names = {"7b": "Fig. 7b", "4.13a": "Fig. 4.13a", "table4.3": "Table 4.3", "latency": "latency", "tables": "tables"}
    assert {figure: figure_title({"figure": figure}) for figure in names} == names


def test_ticks_that_are_near_share_a_label() -> None:
    assert tick_labels([1, 2, 3, 3.1, 6]) == ["1", "2", "3", "", "6"]
    assert tick_labels([16, 64, 256, 1024, 1472], log2) == ["16", "64", "256", "1024", ""]


def test_equal_runs_give_equal_pictures(study_run: Path) -> None:
    first = [path.read_bytes() for path in plot(study_run)]
    assert [path.read_bytes() for path in plot(study_run)] == first


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a run directory"):
        plot(tmp_path)
    assert list(tmp_path.iterdir()) == []
