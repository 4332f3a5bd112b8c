"""Reads curves of latency under load that Mess writes: a table, pairs by share of reads in JSON, or pairs in text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.calibration.curves import CurvePoint, curve_of_points
from hostnet.calibration.measurement import error_at, parse_positive
from hostnet.calibration.readers.curves import Cell, headings, is_modelled, load_of, rows_of
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.files import parse_json
from hostnet.units import unit_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostnet.calibration.readers.data_file import DataFile

OF_MESS = {
    "rd_percentage", "read_pct_rounded", "pause", "bandwidth_mean", "bandwidth_std", "rd_percentage_actual_mean",
    "latency_mean", "latency_std", "bandwidth_smooth", "latency_smooth", "bandwidth", "latency",
}  # fmt: skip
"""Columns of `memory_curves.csv`, which Mess writes: GB/s and ns."""

PAIRS = re.compile(r"bwlat_(\d{1,3})[^/]*\.txt")
"""Matches the name of a file of Mess with a bandwidth in MB/s and a latency in cycles on each line."""


def matches(content: DataFile) -> bool:
    """Returns True if a file is one that Mess writes."""
    return any(is_of(content) for is_of, _ in FORMATS)


def read(content: DataFile) -> ParsedData:
    """Parses the curves.

    Raises:
        DataError: A value is malformed, or a curve is incomplete; the message names the line.
    """
    return next(reader for is_of, reader in FORMATS if is_of(content))(content)


def read_mess_table(content: DataFile) -> ParsedData:
    """Parses `memory_curves.csv` of Mess. Where curves are by kernel, counters say their share of reads."""
    cells = rows_of(content, OF_MESS, ())
    head = cells[0].row
    bandwidth = column_of(content, cells[0], "bandwidth")
    latency = column_of(content, cells[0], "latency")
    by_kernel = "rd_percentage" in head and "rd_percentage_actual_mean" in head
    group = "rd_percentage" if "rd_percentage" in head else "read_pct_rounded"
    if group not in head:
        raise error_at(content.file, 1, 'column "read_pct_rounded" is missing')
    grouped: dict[str, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell.row[group], []).append(cell)
    found = ParsedData()
    for own in grouped.values():
        shares = [100 * cell.number(content.file, "rd_percentage_actual_mean") for cell in own] if by_kernel else [
            own[0].number(content.file, group)
        ]  # fmt: skip
        points = [
            CurvePoint(cell.number(content.file, bandwidth), cell.number(content.file, latency), str(cell.line))
            for cell in own
        ]
        add_points(content, found, round(sum(shares) / len(shares), 1), points)
    return found


def column_of(content: DataFile, cell: Cell, quantity: str) -> str:
    """Returns the column of a quantity: the measured mean before the smoothed value.

    Raises:
        DataError: There is none.
    """
    names = [f"{quantity}_mean", f"{quantity}_smooth", quantity]
    column = next((name for name in names if cell.row.get(name)), None)
    if column is None:
        raise error_at(content.file, 1, f'column "{names[0]}" is missing')
    return column


def read_mess_json(content: DataFile) -> ParsedData:
    """Parses `memory_curves.json` of Mess: by share of reads, pairs of a bandwidth in GB/s and a latency in ns."""
    found = ParsedData()
    for share, pairs in parse_json(content.text).items():
        points = [pair_point(content, f"{share}[{index}]", pair) for index, pair in enumerate(pairs)]
        add_points(content, found, float(share), points)
    return found


def pair_point(content: DataFile, place: str, pair: Sequence[Any], latency_ns: float = 1.0) -> CurvePoint:
    """Returns the point of a pair, whose latency has a unit of so many ns.

    Raises:
        DataError: It is no pair of numbers above 0.
    """
    if len(pair) != len(("bandwidth", "latency")):
        raise error_at(content.file, place, "is not a bandwidth and a latency; is the file truncated?")
    try:
        bandwidth, latency = (
            parse_positive(str(value), what) for value, what in zip(pair, ("bandwidth", "latency"), strict=True)
        )
    except ValueError as error:
        raise error_at(content.file, place, str(error)) from None
    return CurvePoint(bandwidth, latency * latency_ns, place)


def read_mess_pairs(content: DataFile) -> ParsedData:
    """Parses `bwlat_<share>.txt` of Mess: a bandwidth in MB/s and a latency in cycles on each line."""
    match = PAIRS.fullmatch(Path(content.file).name)
    frequency = content.server.effective["core"].get("frequency")
    if frequency is None:
        raise error_at(
            content.file, 1, f"latencies are in cycles, and {content.server.label} has no core.frequency", "missing-key"
        )
    number, unit = str(frequency).split()
    cycle_ns = 1e9 / (float(number) * unit_sizes("frequency")[unit])
    found = ParsedData(notes=[f"{content.file}: latencies are taken as cycles at {frequency} (core.frequency)"])
    points = []
    for line, text in enumerate(content.text.splitlines(), 1):
        if text.strip() and not text.lstrip().startswith("#"):
            point = pair_point(content, str(line), text.split(), cycle_ns)
            points.append(CurvePoint(point.bandwidth_gb_per_s / 1000, point.latency_ns, point.place))
    add_points(content, found, float(match[1]) if match else 100.0, points)
    return found


def add_points(content: DataFile, found: ParsedData, percent: float, points: Sequence[CurvePoint]) -> None:
    """Adds the curve through points of one share of reads.

    Raises:
        DataError: There are none, or the share is none.
    """
    if not points:
        raise error_at(content.file, 1, f"the curve at {percent:g} % reads has no points")
    place = points[0].place
    if is_modelled(content, percent, int(place) if place.isdigit() else 1, found):
        found.curves.append(curve_of_points(content.file, load_of(content, percent), points))


def is_mess_json(content: DataFile) -> bool:
    """Returns True for a JSON object whose keys are shares and whose values are lists of pairs."""
    if not content.text.lstrip().startswith("{"):
        return False
    try:
        found = parse_json(content.text)
    except ValueError:
        return False
    return bool(found) and all(key.isdecimal() and is_pairs(value) for key, value in found.items())


def is_pairs(value: Any) -> bool:
    """Returns True for a list of lists."""
    return isinstance(value, list) and all(isinstance(pair, list) for pair in value)


FORMATS: list[tuple[Callable[[DataFile], bool], Callable[[DataFile], ParsedData]]] = [
    (lambda content: bool({"read_pct_rounded", "rd_percentage"} & headings(content)), read_mess_table),
    (lambda content: PAIRS.fullmatch(Path(content.file).name) is not None, read_mess_pairs),
    (is_mess_json, read_mess_json),
]
"""Formats of Mess: what identifies a file, and its reader."""
