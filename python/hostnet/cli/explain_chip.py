"""`hostnet explain` for chips: raises each limit alone and prints the gain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from hostnet._core import ConfigError
from hostnet.chips import chip_plan
from hostnet.chips.explanation import ChipExplanation, try_changes
from hostnet.cli.show import buffered_console, change_text, new_table, print_tables
from hostnet.explanation.run_files import read_json
from hostnet.report.chip_descriptions import chip_headline, chip_workload
from hostnet.running.results import Source
from hostnet.terminal.progress import Watch
from hostnet.terminal.screen import echo_json

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.cli.explain_request import ExplainRequest


def explain_chip(request: ExplainRequest, source: Source) -> int:
    """Explains the chip of a request and returns the exit code."""
    reasons = {"--host": "a chip has no hosts", "--html": "the explanation of a chip has no page"}
    given = {"--host": request.host, "--brief": request.brief, "--confirm": request.confirm, "--html": request.html}
    for option, value in given.items():
        if value:
            why = reasons.get(option, "limits of a chip are always simulated")
            raise ConfigError("wrong-kind", f"{option}: {request.what} is of a chip; {why}")
    plan = chip_plan(source)
    with Watch(show=True, keeps=False) as watch:
        found = try_changes(plan, progress=watch)
    if request.json:
        echo_json(found.as_dict(), indent=1)
    else:
        print_explanation(found)
    return 0


def source_of_run(folder: Path) -> Source:
    """Returns the configuration of a run of a chip.

    Raises:
        ConfigError: The run directory is damaged.
    """
    file = folder / "manifest.json"
    config = read_json(folder, "manifest.json").get("config")
    if not isinstance(config, dict):
        raise ConfigError("other-version", f"{file}: has no config; it is not of a run of this version of hostnet")
    return Source(text=json.dumps(config), format="json", file=str(file), base_dir=".")


def print_explanation(found: ChipExplanation) -> None:
    """Prints the trials and their conclusion."""
    unit = found.unit
    with buffered_console() as console:
        console.print(Text(chip_headline(dict(found.summary)), style="bold"))
        console.print(Text(chip_workload(dict(found.summary))))
        console.print(Text(f"{found.now:.1f} {unit}"))
        print_tables(console, trials_table(found, True, unit), trials_table(found, False, unit))
        console.print()
        console.print(Text(found.conclusion))
        if found.untried:
            console.print(Text(f"Not tried, as no chip can have more: {', '.join(found.untried)}."))


def trials_table(found: ChipExplanation, limits: bool, unit: str) -> Table:
    """Creates the table of raised limits or of alternative choices."""
    head = "each limit alone" if limits else "other choices"
    table = new_table(head, "now", "tried", unit, "gain", left=(0, 1, 2))
    for trial in found.trials:
        if trial.is_limit == limits:
            table.add_row(trial.what, trial.before, trial.after, f"{trial.value:.1f}", change_text(trial.gain))
    return table
