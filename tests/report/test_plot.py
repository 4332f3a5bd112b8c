"""Pictures for papers and slides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hostnet.report.cluster_plot import draw_latencies
from hostnet.report.load import RunFiles
from hostnet.report.looks import COLOURS
from hostnet.report.plot import plot

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


def test_without_series_there_is_no_such_plot(make_run: Callable[..., Path]) -> None:
    assert [path.name for path in plot(make_run(series=False))] == ["domains.png", "domains.svg"]


def test_a_study_has_its_quadrants_and_panels(study_run: Path) -> None:
    names = [path.name for path in plot(study_run)]
    assert names == ["quadrants.png", "quadrants.svg", "panels.png", "panels.svg"]


def latency_run(tmp_path: Path, classes: int) -> RunFiles:
    """A run of a cluster with the latencies of so many classes, where the last has the most requests."""
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


def test_equal_runs_give_equal_pictures(study_run: Path) -> None:
    first = [path.read_bytes() for path in plot(study_run)]
    assert [path.read_bytes() for path in plot(study_run)] == first


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a run directory"):
        plot(tmp_path)
    assert list(tmp_path.iterdir()) == []
