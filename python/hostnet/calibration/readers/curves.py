"""Reads curves of latency under load from tables by fraction of the maximum bandwidth."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostnet.calibration.curves import PROBE, MeasuredCurve, Spot
from hostnet.calibration.measurement import Conditions, DataError, error_at, name_hint, parse_positive
from hostnet.calibration.readers.data_file import ParsedData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostnet.calibration.readers.data_file import DataFile

BY_FRACTION = {"server", "read_share_percent", "quantity", "fraction_of_most", "value"}
"""Columns of a table by fraction of the maximum bandwidth."""

QUANTITIES = ("idle_ns", "most_gb_per_s", "latency_ns")
"""Quantities of such a table."""

GIVEN = ("cores", "probe", "server")
"""Conditions that can be given for a whole file."""

LEAST_READS = 49.5
"""Share of reads in percent below which traffic has nontemporal stores, which are not modelled."""


@dataclass(frozen=True)
class Cell:
    """A row of a table with its line."""

    line: int
    row: dict[str, str]

    def number(self, file: str, column: str) -> float:
        """Returns the number in a column.

        Raises:
            DataError: It is none, or not above 0.
        """
        try:
            return parse_positive(self.row[column].strip(), column)
        except ValueError as error:
            raise error_at(file, self.line, str(error)) from None


def matches(content: DataFile) -> bool:
    """Returns True if the first line is the heading of such a table."""
    return "read_share_percent" in headings(content)


def headings(content: DataFile) -> set[str]:
    """Returns the headings of the first line that is no comment."""
    line = next((line for line in content.text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return {cell.strip().lower() for cell in line.split(",")}


def rows_of(content: DataFile, known: set[str], needed: Sequence[str]) -> list[Cell]:
    """Returns the rows of a table.

    Raises:
        DataError: A column is unknown or missing, a row is incomplete, or there are no rows.
    """
    cells: list[Cell] = []
    head: list[str] = []
    for line, text in enumerate(content.text.splitlines(), 1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        try:
            found = [cell.strip() for cell in next(csv.reader([text]))]
        except csv.Error as error:
            raise error_at(content.file, line, f"is no row of a table ({error})") from None
        if not head:
            head = [cell.lower() for cell in found]
            check_head(content, line, head, known, needed)
        elif len(found) != len(head):
            message = f"has {len(found)} cells, the heading {len(head)}; is the file truncated?"
            raise error_at(content.file, line, message)
        else:
            cells.append(Cell(line, dict(zip(head, found, strict=True))))
    if not cells:
        raise error_at(content.file, 1, "the table has a heading and no rows; is the file truncated?")
    return cells


def check_head(content: DataFile, line: int, head: Sequence[str], known: set[str], needed: Sequence[str]) -> None:
    """Rejects headings that are unknown, missing or duplicate."""
    for name in head:
        if name not in known:
            raise error_at(content.file, line, f'column "{name}" is not known; {name_hint(name, sorted(known))}')
        if head.count(name) > 1:
            raise error_at(content.file, line, f'column "{name}" comes twice')
    for name in needed:
        if name not in head:
            raise error_at(content.file, line, f'column "{name}" is missing')


def load_of(content: DataFile, percent: float) -> Conditions:
    """Returns the load of a curve: all cores but the one that measures, unless told otherwise.

    Raises:
        DataError: Another condition is given than those of a curve.
    """
    for name, value in content.given.items():
        if name not in GIVEN:
            told = f"--data {content.file}@{name}={value}"
            raise DataError("not-supported", f"{told}: the file says its own; a curve takes {', '.join(GIVEN)} alone")
    start = Conditions(cores=max(content.server.cores - 1, 1), reads=max(percent / 100, 0.5), probe=PROBE)
    return content.conditions(start, but=("server",))


def is_modelled(content: DataFile, percent: float, line: int, found: ParsedData) -> bool:
    """Returns True if traffic with this share of reads is modelled; notes it if not.

    Raises:
        DataError: It is no share.
    """
    if not 0 < percent <= 100:
        raise error_at(content.file, line, f"reads: {percent:g} % must be above 0 and at most 100")
    if percent < LEAST_READS:
        found.notes.append(f"{content.file}:{line}: {percent:g} % reads need nontemporal stores; left out")
        return False
    return True


def read(content: DataFile) -> ParsedData:
    """Parses a table by fraction of the maximum bandwidth.

    Raises:
        DataError: A value is malformed, or a curve is incomplete; the message names the line.
    """
    cells = of_one_server(content, rows_of(content, BY_FRACTION, ("read_share_percent", "quantity", "value")))
    found, grouped = ParsedData(), dict[float, list[Cell]]()
    if "server" in cells[0].row and cells[0].row["server"] != content.server.name and "server" not in content.given:
        found.notes.append(f"{content.file}: its rows are of {cells[0].row['server']}; taken as if of the server here")
    for cell in cells:
        grouped.setdefault(cell.number(content.file, "read_share_percent"), []).append(cell)
    for percent, own in grouped.items():
        if is_modelled(content, percent, own[0].line, found):
            found.curves.append(curve_of_rows(content, percent, own))
    return found


def of_one_server(content: DataFile, cells: Sequence[Cell]) -> Sequence[Cell]:
    """Returns the rows of the server that is calibrated, or that `@server=` names.

    Raises:
        DataError: The table has several servers, and none is told, or not the one that is.
    """
    names = list(dict.fromkeys(cell.row["server"] for cell in cells if "server" in cell.row))
    wanted = content.given.get("server")
    if wanted is None:
        wanted = content.server.name if content.server.name in names else names[0] if len(names) == 1 else None
    if not names and wanted is None:
        return cells
    if wanted not in names:
        known = ", ".join(names) or "none"
        raise error_at(content.file, cells[0].line, f"the rows are of {known}; say which: {content.file}@server=NAME")
    return [cell for cell in cells if cell.row["server"] == wanted]


def curve_of_rows(content: DataFile, percent: float, cells: Sequence[Cell]) -> MeasuredCurve:
    """Returns the curve of one share of reads.

    Raises:
        DataError: A value is malformed, comes twice, or the maximum bandwidth is missing.
    """
    file, spots = content.file, dict[tuple[str, float], Spot]()
    for cell in cells:
        quantity = cell.row["quantity"]
        if quantity not in QUANTITIES:
            raise error_at(file, cell.line, f'quantity: "{quantity}" is not known; {name_hint(quantity, QUANTITIES)}')
        fraction = fraction_of(content, cell) if quantity == "latency_ns" else 0.0
        if (quantity, fraction) in spots:
            raise error_at(file, cell.line, f"{quantity} at {percent:g} % reads comes twice", "duplicate")
        spots[quantity, fraction] = Spot(cell.number(file, "value"), str(cell.line))
    most = spots.get(("most_gb_per_s", 0.0))
    if most is None:
        raise error_at(file, cells[0].line, f"most_gb_per_s at {percent:g} % reads is missing")
    latencies = sorted((fraction, spot) for (name, fraction), spot in spots.items() if name == "latency_ns")
    return MeasuredCurve(file, load_of(content, percent), most, spots.get(("idle_ns", 0.0)), tuple(latencies))


def fraction_of(content: DataFile, cell: Cell) -> float:
    """Returns the fraction of the maximum bandwidth of a latency.

    Raises:
        DataError: It is missing or not a fraction.
    """
    if "fraction_of_most" not in cell.row:
        raise error_at(content.file, cell.line, 'column "fraction_of_most" is missing')
    fraction = cell.number(content.file, "fraction_of_most")
    if fraction > 1:
        raise error_at(content.file, cell.line, f"fraction_of_most: {fraction:g} must be at most 1")
    return fraction
