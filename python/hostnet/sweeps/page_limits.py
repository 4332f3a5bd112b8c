"""Section on the page of a sweep: what limits each workload at each point."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hostnet.glossary import heading_definition
from hostnet.limit_names import NOT_KNOWN
from hostnet.report.html import Cell, Html, element, section
from hostnet.report.html import table as html_table
from hostnet.report.numbers import MISSING
from hostnet.report.series import MANY_KINDS
from hostnet.report.subjects import subject_of
from hostnet.sweeps.page_charts import GROUPS_MAX, LINES_MAX, value_name
from hostnet.sweeps.scale import evenly_spaced
from hostnet.terminal.layout import short_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from hostnet.sweeps.axis import Axis
    from hostnet.sweeps.series import Choice, Sweep

    Limits = dict[Choice, Counter[str]]
    """Number of points by limit, for each combination of the first two parameters."""

NAMED_MAX = 2
"""Maximum number of limits in a cell."""


def limits_section(table: pa.Table, sweeps: Sequence[Sweep]) -> Html | None:
    """Creates a sentence for each workload with one limit, and a table for each that has several; None without any."""
    if not sweeps or "limited_by" not in table.column_names:
        return None
    axes = sweeps[0].axes[:2]
    found = limits_of(table, axes)
    same, tables = [], []
    for name, limits in found.items():
        every = sum(limits.values(), Counter())
        if len(every) == 1:
            same.append(f"{name} is limited by {next(iter(every))} at every point.")
        elif every:
            tables.append(limit_card(name, axes, limits, every))
    if not same and not tables:
        return None
    cards = element("div", *tables, class_="pair") if tables else None
    return section("What limits each point", cards, note=" ".join(same) or None)


def limits_of(table: pa.Table, axes: Sequence[Axis]) -> dict[str, Limits]:
    """Returns the limits of every workload by the values of the first two parameters."""
    subject = subject_of(table.column_names)
    at = [column for column in ("limited_at",) if column in table.column_names]
    columns = [subject, "limited_by", *at, *(axis.path for axis in axes)]
    content: dict[str, list[Any]] = table.select(columns).to_pydict()
    places = [{value: index for index, value in enumerate(axis.columns)} for axis in axes]
    found: dict[str, Limits] = {}
    for row, name in enumerate(content[subject]):
        choice = tuple(place[content[axis.path][row]] for axis, place in zip(axes, places, strict=True))
        limit = ", ".join(filter(None, (content[column][row] for column in ("limited_by", *at))))
        if limit:
            found.setdefault(name, {}).setdefault(choice, Counter())[limit] += 1
    return found


def limit_card(name: str, axes: Sequence[Axis], limits: Limits, every: Counter[str]) -> Html:
    """Creates the table of the limits of a workload: a row for each value of the first parameter."""
    kinds = kinds_of(every)
    names = short_paths([axis.path for axis in axes])
    title = f"{name}: {names[1]} over {names[0]}" if len(axes) > 1 else name
    rows = evenly_spaced(len(axes[0].values), GROUPS_MAX)
    lines = evenly_spaced(len(axes[1].values), LINES_MAX) if len(axes) > 1 else []
    values = [value_name(axes[1], line) for line in lines]
    heads = [Cell(value, about=f"points with {axes[1].path} = {value}") for value in values] or [Cell("limited by")]
    first = Cell(names[0], about=heading_definition(axes[0].path))
    cells = [
        [
            value_name(axes[0], row),
            *(cell(limits.get((row, line)), kinds) for line in lines),
            *([] if lines else [cell(limits.get((row,)), kinds)]),
        ]
        for row in rows
    ]
    shown = html_table([first, *heads], cells, text_columns=len(heads) + 1, label=f"What limits {name}")
    return element("div", element("h3", title), shown)


def kinds_of(every: Counter[str]) -> dict[str, str]:
    """Returns the colour of each limit, wherever it is; unknown ones have none."""
    counts: Counter[str] = Counter()
    for limit, count in every.items():
        counts[limit.partition(", ")[0]] += count
    known = [limit for limit, _ in counts.most_common() if not limit.startswith(NOT_KNOWN)]
    return dict(zip(known, MANY_KINDS, strict=False))


def cell(found: Counter[str] | None, kinds: dict[str, str]) -> Html:
    """Creates the cell of a combination: its limits with the colour of each."""
    if not found:
        return element("span", MISSING)
    named = [limit for limit, _ in found.most_common(NAMED_MAX)]
    more = f" or {len(found) - NAMED_MAX} others" if len(found) > NAMED_MAX else ""
    return element("span", *(mark(limit, kinds) for limit in named), more or None, class_="wrap")


def mark(limit: str, kinds: dict[str, str]) -> Html:
    """Shows a limit in its colour, and its place."""
    name, _, place = limit.partition(", ")
    where = element("span", f", {place}", class_="quiet") if place else None
    return element("span", name, where, class_=f"limit edge-{kinds.get(name, 'n')}")
