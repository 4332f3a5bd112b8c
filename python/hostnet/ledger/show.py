"""Prints the ledger: as tables on a terminal, else as plain columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console

from hostnet.ledger.panels import Group
from hostnet.ledger.rows import Row
from hostnet.ledger.tally import tally
from hostnet.ledger.validate import Ledger
from hostnet.report.numbers import absolute_text, row_error_text, row_tolerance_text
from hostnet.terminal.console import Screen
from hostnet.terminal.layout import WideTable
from hostnet.units import format_percent

PLAIN_WIDTH = 140
"""Width of the output without a terminal, in columns."""


def stdout_console() -> Console:
    """Creates a console on stdout: coloured on a terminal, else plain text of a fixed width."""
    console = Screen()
    return console if console.is_terminal else Screen(no_color=True, width=PLAIN_WIDTH)


def new_table(console: Console, title: str, *columns: str, left: int = 1) -> WideTable:
    """Creates a table whose first `left` columns are text, which may wrap, and the others numbers."""
    table = WideTable(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD if console.is_terminal else None,
        pad_edge=False,
        padding=(0, 1) if console.is_terminal else (0, 2, 0, 0),
        show_edge=False,
    )
    for index, column in enumerate(columns):
        text = index < left
        table.add_column(column, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return table


def print_table(console: Console, table: WideTable) -> None:
    """Prints a table; on a narrow terminal its names wrap between words, and further columns continue below."""
    for part in table.fitted(console.width):
        console.print(part)


def show_ledger(console: Console, ledger: Ledger) -> None:
    """Prints the groups against their targets, failing rows, exclusions and a summary line."""
    print_table(console, score_table(console, ledger))
    if ledger.study.engine == "curves":
        console.print()
        print_table(console, card_table(console, ledger))
    for line in floor_lines(ledger):
        console.print(line, markup=False, soft_wrap=True)
    if ledger.failing:
        console.print()
        print_table(console, failing_table(console, ledger.failing))
    notes = (*exclusion_lines(ledger), *skipped_lines(ledger), *left_out_lines(ledger))
    for line in ("", *notes, "", run_line(ledger), summary_line(ledger)):
        console.print(line, markup=False, soft_wrap=True)


def score_table(console: Console, ledger: Ledger) -> WideTable:
    """Creates the table of the largest and mean error of every group, with tolerance and target."""
    columns = ("quantity", "rows\npass", "max\nerror", "\ntolerance", "mean\nerror", "\ntarget", "mean on\ntarget")
    table = new_table(console, f"{ledger.study.name}: {ledger.study.title}", *columns)
    for score in ledger.scores:
        group = score.group
        cells = [error_text(value, group) for value in (score.max, group.max, score.mean, group.mean)]
        verdict = "yes" if score.on_target else "no"
        table.add_row(group.title, f"{score.passed}/{score.rows}", *cells, verdict)
    return table


def card_table(console: Console, ledger: Ledger) -> WideTable:
    """Creates the table of the errors of every server by share of reads."""
    from hostnet.error_cards import HEADS, cells_of
    from hostnet.ledger.cards import cards_of

    table = new_table(console, "", "server", *HEADS)
    for server, shares in cards_of([row.as_dict() for row in ledger.rows]).items():
        for share, errors in shares.items():
            table.add_row(server, *cells_of(share, errors.as_dict()))
    return table


def floor_lines(ledger: Ledger) -> list[str]:
    """Lists the groups with rows whose errors are shares of a floor, by floor."""
    floors: dict[str, list[str]] = {}
    for score in ledger.scores:
        for text in {f"{row.floor:g} {row.unit}" for row in ledger.rows if row.group == score.group.name and row.floor}:
            floors.setdefault(text, []).append(score.group.title)
    return [f"errors of values below {floor} are shares of it in {', '.join(names)}" for floor, names in floors.items()]


def failing_table(console: Console, rows: Sequence[Row]) -> WideTable:
    """Creates the table of the rows beyond their tolerance."""
    table = new_table(console, "", "failing row", "published", "simulated", "error", "tolerance")
    for row in rows:
        values = [published_text(row), number_text(row.simulated)]
        facts = row.as_dict()
        errors = [
            "-" if row.error is None else row_error_text(row.error, facts, "+"),
            "-" if row.tolerance is None else row_tolerance_text(row.tolerance, facts),
        ]
        table.add_row(f"{row.panel}, {row.series}, {row.x}", *values, *errors)
    return table


def exclusion_lines(ledger: Ledger) -> list[str]:
    """Lists the excluded points and the reasons."""
    lines = []
    for rule in ledger.study.exclusions:
        covered = [row.x for row in ledger.rows if rule.covers(row.panel, row.series, row.x)]
        if covered:
            where = f"{rule.panel}, {rule.series}, x = {', '.join(covered)}"
            lines.append(f"excluded: {where}: {rule.reason}")
    return lines


def skipped_lines(ledger: Ledger) -> list[str]:
    """Lists the points that were not run and the reasons."""
    points: dict[str, list[str]] = {}
    for name, outcome in ledger.batch.outcomes.items():
        if outcome.skipped:
            points.setdefault(outcome.skipped, []).append(name)
    return [f"skipped: {', '.join(names)}: {reason}" for reason, names in points.items()]


def left_out_lines(ledger: Ledger) -> list[str]:
    """Describes the rows that the selection leaves out."""
    if not ledger.left_out:
        return []
    whole = {row.figure for row in ledger.rows}
    figures = [
        f"{figure}{'' if figure in whole else ' (all)'} {count}" for figure, count in sorted(ledger.left_out.items())
    ]
    total = sum(ledger.left_out.values())
    return [f"--{ledger.selection} leaves out {total} rows, by figure or table: {', '.join(figures)}"]


def run_line(ledger: Ledger) -> str:
    """Describes how much was simulated, and how fast."""
    batch = ledger.batch
    told = f"{len(batch.outcomes)} operating points of {batch.machines}: {batch.wall_time_s:.1f} s"
    if batch.work:
        told += f", {batch.speed}"
    if batch.kept:
        told += (
            f"; {batch.kept} have not changed since an earlier validation and were not run again (--fresh runs them)"
        )
    return told


def summary_line(ledger: Ledger) -> str:
    """Summarizes the ledger in one line."""
    count = Counter(row.verdict for row in ledger.rows)
    found = tally([row.as_dict() for row in ledger.rows])
    on_target = sum(score.on_target for score in ledger.scores)
    skipped = f"{count['skipped']} skipped, " if count["skipped"] else ""
    return (
        f"{ledger.study.name}: {count['pass']} of {count['pass'] + count['fail']} rows pass, {count['fail']} fail, "
        f"{skipped}{count['excluded']} excluded; {found.holding} of {found.targets} targets hold, "
        f"{found.calibrated} calibrated, {found.context} context; "
        f"mean error on target in {on_target} of {len(ledger.scores)} groups"
    )


def error_text(value: float | None, group: Group) -> str:
    """Formats an error of a group: in percent, or in its unit if it is absolute."""
    if value is None:
        return "-"
    return absolute_text(value, group.unit) if group.kind == "absolute" else format_percent(value, 1)


def number_text(value: float | None) -> str:
    """Formats a value with four significant digits."""
    return "-" if value is None else f"{value:#.4g}".rstrip(".")


def published_text(row: Row) -> str:
    """Formats the published value, both ends of a range, or a bound."""
    text = (
        number_text(row.published) if row.other is None else f"{number_text(row.published)} to {number_text(row.other)}"
    )
    return f"{row.relation} {text}" if row.relation else text
