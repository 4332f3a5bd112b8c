"""Chart series of cache contents and hit ratios over time."""

from __future__ import annotations

from collections.abc import Sequence

from hostnet.report.load import Row
from hostnet.report.series import KINDS, ChartSeries, SeriesPoint

HELD = {"llc_mib_core": "", "llc_mib_io": ", written by devices"}
"""Quantities of LLC contents, and the suffix of their owner's name."""

DDIO = {"ddio_hit_ratio": "hits", "ddio_leak_ratio": "leaks"}
"""Shares of the lines that devices write to the LLC, and their names."""

MISSES = {"llc_miss_ratio": ""}
"""Share of reads of cores that miss the LLC."""

QUANTITIES = (*HELD, *DDIO, *MISSES)
"""Quantities of a time series that concern caches."""

OTHERS = "others"
"""Name of all owners without a colour of their own."""


def owners(rows: Sequence[Row]) -> list[ChartSeries]:
    """Returns the LLC contents in MiB over time in us, in descending order of owners.

    With more than four owners, the smallest ones share a series.
    """
    held = {f"{subject}{HELD[quantity]}": values for (subject, quantity), values in _values(rows, HELD, 1.0).items()}
    total = {name: sum(value.simulated or 0.0 for value in values) for name, values in held.items()}
    names = sorted((name for name in held if total[name] > 0), key=lambda name: -total[name])
    if len(names) > len(KINDS):
        kept, rest = names[: len(KINDS) - 1], names[len(KINDS) - 1 :]
        together = zip(*(held[name] for name in rest), strict=True)
        held[OTHERS] = [SeriesPoint(same[0].x, sum(value.simulated or 0.0 for value in same)) for same in together]
        names = [*kept, OTHERS]
    return [ChartSeries(name, kind, tuple(held[name])) for kind, name in zip(KINDS, names, strict=False)]


def shares(rows: Sequence[Row], quantities: dict[str, str]) -> list[list[ChartSeries]]:
    """Returns shares in percent over time in us, in groups that fit into one chart, without empty series."""
    found = {key: values for key, values in _values(rows, quantities, 100.0).items() if _known(values)}
    several = len({subject for subject, _ in found}) > 1
    named = [(_name(key, quantities, several=several), tuple(values)) for key, values in found.items()]
    parts = [named[start : start + len(KINDS)] for start in range(0, len(named), len(KINDS))]
    return [
        [ChartSeries(name, kind, values) for kind, (name, values) in zip(KINDS, part, strict=False)] for part in parts
    ]


def _name(key: tuple[str, str], quantities: dict[str, str], *, several: bool) -> str:
    """Returns the name of a series."""
    subject, what = key[0], quantities[key[1]]
    if not what:
        return subject
    return f"{what} of {subject}" if several else what


def _known(values: Sequence[SeriesPoint]) -> bool:
    """Returns True if a series has a value."""
    return any(value.simulated is not None for value in values)


def _values(rows: Sequence[Row], quantities: dict[str, str], scale: float) -> dict[tuple[str, str], list[SeriesPoint]]:
    """Returns the values of some quantities, by subject and quantity."""
    found: dict[tuple[str, str], list[SeriesPoint]] = {}
    for row in rows:
        if row["quantity"] in quantities:
            value = None if row["value"] is None else scale * row["value"]
            found.setdefault((row["subject"], row["quantity"]), []).append(SeriesPoint(row["time_ns"] / 1000, value))
    return found
