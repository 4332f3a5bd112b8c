"""Reports: a page and plots of the results of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostnet.report.load import KnownResults, RunFiles, load_run

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KnownResults", "write_report"]


def write_report(directory: Path, known: KnownResults | None = None) -> Path:
    """Writes `report.html` into a run directory and returns its path. The page needs no network access.

    Values that are already `known` are not read from the files.

    Raises:
        FileNotFoundError: The directory has no summary.json.
        ConfigError: One of its files is damaged.
        OSError: The report cannot be written.
    """
    run = load_run(directory, known)
    file = directory / "report.html"
    file.write_text(_page(run), encoding="utf-8")
    return file


def _page(run: RunFiles) -> str:
    """Returns the page of a study, a cluster or a server."""
    if run.is_study:
        from hostnet.report.study_page import study_page

        return study_page(run)
    if run.is_cluster:
        from hostnet.report.cluster_page import cluster_page

        return cluster_page(run)
    from hostnet.report.run_page import run_page

    return run_page(run)
