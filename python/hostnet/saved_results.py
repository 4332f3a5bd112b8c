"""Results that are written to a folder with a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

PAGE = "report.html"
"""Name of the page in the folder."""


class SavedResults(ABC):
    """Base of results that remember the folders to which they were written."""

    saved: list[Path]
    """Folders that `save` has written."""

    @abstractmethod
    def save(self, directory: str | PathLike[str] | None = None) -> Path:
        """Writes a folder atomically and returns its path.

        Raises:
            FileExistsError: `directory` exists and is not empty.
            OSError: The folder cannot be written.
        """

    @property
    def directory(self) -> Path | None:
        """The folder that was written last; None if there is none."""
        return next((path for path in reversed(self.saved) if path.is_dir()), None)

    @property
    def page(self) -> Path | None:
        """The page in that folder; None if there is none."""
        return None if self.directory is None else self.directory / PAGE

    def report(self, out: str | PathLike[str] | None = None) -> Path:
        """Returns the path of the page of the results, and opens nothing.

        The page is in the folder of the last `save`, else in a new one as of `save`; `out` names another one.

        Raises:
            FileExistsError: `out` exists and is not empty.
            OSError: The folder cannot be written.
        """
        page = self.page if out is None else None
        return self.save(out) / PAGE if page is None else page
