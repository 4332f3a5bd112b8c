"""Reads tables of measurements: the general one, STREAM over cores, fio over its options, loaded latencies."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import (
    QUANTITIES,
    RATE,
    Conditions,
    Measurement,
    convert,
    error_at,
    name_hint,
    parse_kernel,
    parse_positive,
    rate_unit,
    set_condition,
)
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.calibration.readers.loaded import LoadedRow, add_rows

if TYPE_CHECKING:
    from hostnet.calibration.readers.data_file import DataFile

ROWS_MAX = 10_000
"""Maximum number of rows."""

CONDITIONS = {"gap", "kernel", *(field.name for field in fields(Conditions))}
"""Columns that give the conditions of a row."""

IGNORED = {"delay", "inject delay", "latency_ci95", "comment", "note"}
"""Columns that are allowed but not used."""

UNIT = r"(?:[kmgt]i?b(?:/|_?per_?|p)s(?:ec)?|ns|us|µs)"


@dataclass(frozen=True)
class Column:
    """A column of the table."""

    name: str
    """Name in lower case, without the unit."""
    unit: str
    """Unit in the heading; "" without one."""


def matches(content: DataFile) -> bool:
    """Returns True if the first line is a heading with a measured quantity."""
    lines = _lines(content)
    columns = [parse_heading(cell) for cell in lines[0][1]] if lines else []
    names = {column.name for column in columns}
    measured = any(rate_unit(column.unit) for column in columns) or bool({"quantity", "value", "latency"} & names)
    return measured or "bandwidth" in names or ({"cores"} < names and len(names) > 1)


def read(content: DataFile) -> ParsedData:
    """Parses a table.

    Raises:
        DataError: The table is malformed; the message names the line.
    """
    (first, headings), *rows = _lines(content)
    columns = [parse_heading(cell) for cell in headings]
    _check_columns(content, first, columns)
    if not rows:
        raise error_at(content.file, first, "the table has a heading and no rows; is the file truncated?")
    if len(rows) > ROWS_MAX:
        raise error_at(content.file, rows[ROWS_MAX][0], f"more than {ROWS_MAX} rows")
    found, loaded = ParsedData(), []
    names = [column.name for column in columns]
    for line, cells in rows:
        if len(cells) != len(columns):
            message = f"has {len(cells)} cells, the heading {len(columns)}; is the file truncated?"
            raise error_at(content.file, line, message)
        try:
            if "quantity" in names:
                found.measurements.append(_parse_general(content, line, columns, cells))
            elif "latency" in names:
                loaded.append(_parse_loaded(content, line, columns, cells))
            else:
                found.measurements.append(_parse_rate(content, line, columns, cells))
        except ValueError as error:
            raise error_at(content.file, line, str(error)) from None
    add_rows(found, content.file, loaded)
    if "cores" in names and "latency" not in names and not {"quantity", "reads", "kernel"} & {*names, *content.given}:
        found.notes.append(f"{content.file}: taken as loads only (100 % reads); say {content.file}@kernel=triad if not")
    return found


def parse_heading(heading: str) -> Column:
    """Parses a heading such as "GB/s", "Bandwidth (MB/sec)", "latency_ns" or "cores"."""
    text = heading.strip().lower()
    match = re.fullmatch(rf"(.*?)[\s_(\[]*({UNIT})[)\]]?", text)
    if match is None or text in CONDITIONS - {"gap_ns"}:
        return Column(text, "")
    stem, unit = match[1].strip(), match[2]
    if stem.startswith("inject"):
        return Column("delay", unit)
    if rate_unit(unit):
        return Column("bandwidth", unit)
    return Column("gap" if stem == "gap" else "latency" if stem in ("latency", "") else stem, unit)


def _lines(content: DataFile) -> list[tuple[int, list[str]]]:
    """Returns the rows with their line numbers, without empty lines and comments."""
    lines = content.text.splitlines()
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    delimiter = next((mark for mark in ",;\t" if mark in first), ",")
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
            except csv.Error as error:
                raise error_at(content.file, number, f"is no row of a table ({error})") from None
            found.append((number, [cell.strip() for cell in cells]))
    return found


def _check_columns(content: DataFile, line: int, columns: list[Column]) -> None:
    """Rejects headings that are unknown, duplicate or without a unit."""
    names = [column.name for column in columns]
    general = "quantity" in names
    known = {*CONDITIONS, *IGNORED, "sigma", *(("quantity", "value", "unit") if general else ("bandwidth", "latency"))}
    for name in names:
        if name not in known:
            raise error_at(content.file, line, f'column "{name}" is not known; {name_hint(name, sorted(known))}')
        if names.count(name) > 1:
            raise error_at(content.file, line, f'column "{name}" comes twice')
    if general:
        for name in ("value", "unit"):
            if name not in names:
                raise error_at(content.file, line, f'column "{name}" is missing')
        return
    for column in columns:
        if column.name in ("bandwidth", "latency") and not column.unit:
            example = "GB/s" if column.name == "bandwidth" else "ns"
            raise error_at(content.file, line, f'column "{column.name}" names no unit; write "{column.name} {example}"')
    if "bandwidth" not in names:
        raise error_at(content.file, line, 'no column says what was measured; write one such as "GB/s"')


def _cells(content: DataFile, columns: list[Column], cells: list[str]) -> dict[str, str]:
    """Returns the non-empty cells of a row by column, on top of the conditions of the whole file."""
    filled = {}
    for column, cell in zip(columns, cells, strict=True):
        if cell:
            bare = column.name in ("gap", "delay") and re.fullmatch(r"[\d.e+-]+", cell)
            filled[column.name] = f"{cell} {column.unit}" if bare and column.unit else cell
    return {**content.given, **filled}


def _parse_general(content: DataFile, line: int, columns: list[Column], cells: list[str]) -> Measurement:
    row = _cells(content, columns, cells)
    quantity = row.get("quantity", "")
    if quantity not in QUANTITIES:
        raise ValueError(f'quantity: "{quantity}" is not known; {name_hint(quantity, QUANTITIES)}')
    value = convert(parse_positive(row.get("value", ""), "value"), row.get("unit", ""), quantity)
    start = Conditions(probe="sequential") if quantity == "latency" else Conditions()
    conditions, factor = _conditions(row, start)
    if QUANTITIES[quantity] is RATE and not quantity.startswith("io"):
        value *= factor
    _check_conditions(quantity, conditions)
    return Measurement(quantity, value, conditions, content.file, str(line), _sigma(row, value, row["unit"], quantity))


def _parse_rate(content: DataFile, line: int, columns: list[Column], cells: list[str]) -> Measurement:
    """Parses a row of STREAM or fio; the columns tell which."""
    row = _cells(content, columns, cells)
    quantity = "io_bandwidth" if "rw" in row else "bandwidth"
    unit = next(column.unit for column in columns if column.name == "bandwidth")
    value = convert(parse_positive(row.get("bandwidth", ""), "bandwidth"), unit, quantity)
    conditions, factor = _conditions(row, Conditions())
    if quantity == "bandwidth":
        value *= factor
    _check_conditions(quantity, conditions)
    return Measurement(quantity, value, conditions, content.file, str(line), _sigma(row, value, unit, quantity))


def _parse_loaded(content: DataFile, line: int, columns: list[Column], cells: list[str]) -> LoadedRow:
    row = _cells(content, columns, cells)
    units = {column.name: column.unit for column in columns}
    latency_ns = convert(parse_positive(row.get("latency", ""), "latency"), units["latency"], "latency")
    bandwidth = convert(parse_positive(row.get("bandwidth", ""), "bandwidth"), units["bandwidth"], "bandwidth")
    delay = row.pop("delay", None)
    start = Conditions(cores=max(content.server.cores - 1, 1), probe="sequential")
    conditions, _ = _conditions(row, start)
    count = None if delay is None else float(re.sub(r"[^\d.]", "", delay) or "nan")
    return LoadedRow(str(line), latency_ns, bandwidth, conditions, count, gap_known="gap" in row)


def _conditions(row: dict[str, str], start: Conditions) -> tuple[Conditions, float]:
    """Returns the conditions of a row, and the memory traffic per byte that its tool counts."""
    factor = 1.0
    for name, text in row.items():
        if name == "kernel":
            reads, factor = parse_kernel(text)
            start = set_condition(start, "reads", repr(reads))
        elif name in CONDITIONS:
            start = set_condition(start, name, text)
    return start, factor


def _check_conditions(quantity: str, conditions: Conditions) -> None:
    """Rejects a measurement whose conditions do not say what ran."""
    if quantity in ("bandwidth", "lfb_latency") and not conditions.cores:
        raise ValueError(f"cores: missing; {quantity} needs the number of cores")
    if conditions.fraction:
        _check_fraction(quantity, conditions)
    if quantity in ("io_bandwidth", "iio_latency"):
        for name in ("rw", "bs", "iodepth"):
            if not getattr(conditions, name):
                raise ValueError(f"{name}: missing; {quantity} needs rw, bs and iodepth")


def _check_fraction(quantity: str, conditions: Conditions) -> None:
    """Rejects a fraction of the maximum bandwidth where it is no load of a curve."""
    if not conditions.cores or quantity not in ("bandwidth", "latency"):
        raise ValueError(f"fraction: is of cores that load the memory, and of bandwidth or latency, not of {quantity}")
    if quantity == "bandwidth" and conditions.fraction < 1:
        raise ValueError(
            "fraction: the bandwidth at a fraction of the maximum is that fraction; give the maximum, at 1"
        )
    if conditions.gap_ns or conditions.rw or conditions.node or conditions.pattern != "sequential":
        raise ValueError("fraction: goes with sequential load of the own memory, without gap and rw")


def _sigma(row: dict[str, str], value: float, unit: str, quantity: str) -> float | None:
    """Parses a standard deviation, a percentage such as "2%" or a value in `unit`."""
    text = row.get("sigma")
    if text is None:
        return None
    if text.endswith("%"):
        return parse_positive(text[:-1], "sigma") / 100 * value
    return convert(parse_positive(text, "sigma"), unit, quantity)
