"""Results of a comparison of places of the NIC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hostnet.attachments.files import content_of, write_places
from hostnet.saved_results import SavedResults

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from hostnet.attachments.place import PlacedRun
    from hostnet.running.results import Results

    Row = dict[str, Any]


@dataclass(frozen=True, repr=False)
class WhatIfResults(Mapping[str, "Results"], SavedResults):
    """Results of a cluster with its NICs at several places, by place."""

    placed: tuple[PlacedRun, ...]
    """The runs, in the order of the places."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Places that are not possible, and the errors that say why."""
    saved: list[Path] = field(default_factory=list, compare=False)
    """Folders that `save` has written."""

    def __getitem__(self, place: str) -> Results:
        """Returns the results with the NICs at a place."""
        found = {one.place: one.results for one in self.placed}
        return found[place]

    def __iter__(self) -> Iterator[str]:
        """Yields the places."""
        return iter([one.place for one in self.placed])

    def __len__(self) -> int:
        """Returns the number of places."""
        return len(self.placed)

    @property
    def content(self) -> dict[str, Any]:
        """Content of whatif.json."""
        return content_of(self.placed, self.refused)

    @property
    def stages(self) -> list[Row]:
        """A row for each class, direction and place: the mean time of every stage, in us."""
        rows: list[Row] = self.content["stages"]
        return rows

    @property
    def traffic(self) -> list[Row]:
        """A row for each class and place: goodput, latency, memory traffic per packet, energy, and limit."""
        rows: list[Row] = self.content["traffic"]
        return rows

    @property
    def hosts(self) -> list[Row]:
        """A row for each server and place: IIO traffic, memory bandwidth, busy cores, power, and other workloads."""
        rows: list[Row] = self.content["hosts"]
        return rows

    def __repr__(self) -> str:
        """Returns the places in one line."""
        return f"<WhatIfResults {self.content['name']}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the answer, the stages at every place, traffic and hosts, and notes."""
        from hostnet.attachments.page import answers, result_sections
        from hostnet.report.html import element
        from hostnet.report.notebook.block import block, headline

        content = self.content
        verdicts = (element("p", text, class_="verdict") for text in answers(content["traffic"]))
        title = headline(str(content["name"]), f"NIC at {', '.join(self)}")
        return block(title, *verdicts, *result_sections(content), page=self.page)

    def save(self, directory: str | PathLike[str] | None = None) -> Path:
        """Writes the files of `hostnet whatif` and returns their folder, by default `runs/<name>-whatif-<n>`.

        Raises:
            OSError: The folder cannot be written.
        """
        from hostnet.rundir import publish_to

        content = self.content
        name = f"{content['name']}-whatif"
        self.saved.append(publish_to(directory, name, lambda folder: write_places(self.placed, content, folder)))
        return self.saved[-1]
