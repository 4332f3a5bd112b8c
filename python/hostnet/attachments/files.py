"""Folder of a comparison of places: a run for each place, `whatif.json`, and the page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import rundir
from hostnet.attachments.losses import loss_notes
from hostnet.attachments.page import whatif_page
from hostnet.attachments.rows import host_rows, stage_rows, traffic_rows
from hostnet.running.run_dir import write_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hostnet.attachments.place import PlacedRun


def content_of(placed: Sequence[PlacedRun], refused: Mapping[str, str]) -> dict[str, Any]:
    """Returns the comparison, ready for JSON; `refused` has the errors of places that are not possible."""
    return {
        "format": 1,
        "name": placed[0].results.summary["name"],
        "stages": stage_rows(placed),
        "traffic": traffic_rows(placed),
        "hosts": host_rows(placed),
        "losses": loss_notes(placed),
        "refused": dict(refused),
        "unvalidated": unvalidated_notes(placed),
    }


def write_places(placed: Sequence[PlacedRun], content: Mapping[str, Any], folder: Path) -> None:
    """Writes a run directory per place, the comparison and its page into an empty folder."""
    for one in placed:
        (folder / one.place).mkdir()
        write_run(one.results, folder / one.place)
    rundir.write_text(folder / "whatif.json", json.dumps(content, indent=1))
    rundir.write_text(folder / "report.html", whatif_page(content, placed[0].results.summary))


def unvalidated_notes(placed: Sequence[PlacedRun]) -> list[str]:
    """Returns the notes on missing validation, each with all hosts that it applies to."""
    hosts: dict[str, dict[str, None]] = {}
    for one in placed:
        for note in filter(None, (one.results.summary["unvalidated"] or "").split("; ")):
            host, _, what = note.partition(": ")
            hosts.setdefault(what, {})[host] = None
    return [f"{', '.join(own)}: {what}" for what, own in hosts.items()]
