"""Pictures for papers and slides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_equal_runs_give_equal_pictures(study_run: Path) -> None:
    first = [path.read_bytes() for path in plot(study_run)]
    assert [path.read_bytes() for path in plot(study_run)] == first


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a run directory"):
        plot(tmp_path)
    assert list(tmp_path.iterdir()) == []
