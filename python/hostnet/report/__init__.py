"""Reports: a page and a picture of what a run measured."""

from pathlib import Path

from hostnet.report.cluster_page import cluster_page
from hostnet.report.load import RunFiles, load_run
from hostnet.report.plot import plot
from hostnet.report.run_page import run_page
from hostnet.report.study_page import study_page

__all__ = ["plot", "write_report"]


def write_report(directory: Path) -> Path:
    """Writes `report.html` into a run directory and returns its path. The page needs no network.

    Raises:
        FileNotFoundError: The directory holds no summary.json.
        ConfigError: One of its files is not what it should be.
        OSError: The report cannot be written.
    """
    run = load_run(directory)
    file = directory / "report.html"
    file.write_text(_page(run), encoding="utf-8")
    return file


def _page(run: RunFiles) -> str:
    if run.is_study:
        return study_page(run)
    return cluster_page(run) if run.is_cluster else run_page(run)
