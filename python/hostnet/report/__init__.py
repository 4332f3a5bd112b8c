"""Reports: a page and a picture of what a run measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.report.load import Known, RunFiles, load_run

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Known", "write_report"]


def write_report(directory: Path, known: Known | None = None) -> Path:
    """Writes `report.html` into a run directory and returns its path. The page needs no network.

    What is `known` of the directory need not be read from its files.

    Raises:
        FileNotFoundError: The directory holds no summary.json.
        ConfigError: One of its files is not what it should be.
        OSError: The report cannot be written.
    """
    run = load_run(directory, known)
    file = directory / "report.html"
    file.write_text(_page(run), encoding="utf-8")
    return file


def _page(run: RunFiles) -> str:
    if run.is_study:
        from hostnet.report.study_page import study_page

        return study_page(run)
    if run.is_cluster:
        from hostnet.report.cluster_page import cluster_page

        return cluster_page(run)
    from hostnet.report.run_page import run_page

    return run_page(run)
