"""Derives power values from watts measured by turbostat, and writes the other measurements as comments."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from hostnet.sysfs.values import frequency_range, ghz, toml, volts_at, volts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.sysfs.tree import CoreProperties
    from hostnet.sysfs.turbostat import TurbostatMeans
    from hostnet.sysfs.values import Profile

BUSY_PERCENT = 90.0
"""Smallest busy percentage at which the watts are taken as those of busy cores."""

UNITS = {"uW": 1e-6, "mW": 1e-3, "W": 1.0, "kW": 1e3}

SHOWN = ("Avg_MHz", "Busy%", "Bzy_MHz", "PkgWatt", "CorWatt", "RAMWatt")
"""Columns that the comment shows beside the states."""


def measured_lines(measured: TurbostatMeans, cores: CoreProperties, known: Profile) -> Iterator[str]:
    """Yields the lines of a measurement: a comment, and a power value if one can be derived."""
    columns = [f"{name} {measured.values[name]:.6g}" for name in SHOWN if name in measured.values]
    stays = [f"{name} {percent:.1f} %" for name, percent in measured.residencies.items()]
    of = f", {measured.cores} cores" if measured.cores else ""
    yield f"# turbostat, mean of {measured.samples} samples{of}: {', '.join([*columns, *stays])}."
    watts = measured.values.get("CorWatt")
    if watts is None or not measured.cores:
        yield "# No power derived: it lacks the watts of the cores (CorWatt) or a row for each core."
        return
    yield from _at_work(watts / measured.cores, measured, cores, known)


def _at_work(watts: float, measured: TurbostatMeans, cores: CoreProperties, known: Profile) -> Iterator[str]:
    """Yields the power of a busy core, if the cores were busy throughout."""
    busy, mhz, ends = measured.values.get("Busy%", 0.0), measured.values.get("Bzy_MHz", 0.0), frequency_range(cores)
    if busy < BUSY_PERCENT or ends is None or not 10 <= mhz <= 10_000:
        worked = f"cores worked {busy:.1f} % of the time at {mhz:.0f} MHz"
        yield f"# No power derived: {worked}; {BUSY_PERCENT:.0f} % are needed."
        return
    khz = round(mhz * 1000)
    volts = volts_at(khz, ends, known)
    static = static_watts(float(volts_of(volts)), known.power["static"])
    dynamic = watts - static
    if not 0 < dynamic <= 1000:
        yield f"# No power derived: {watts:.3f} W per core are not more than {static:.3f} W of static power."
        return
    table: dict[str, Any] = {"power": f"{dynamic:.3f} W", "at": f"{ghz(khz)} @ {volts}"}
    yield f"# turbostat: CorWatt of a core, {watts:.3f} W, less {static:.3f} W of static power as in {known.name}."
    yield f"dynamic = {toml(table)}"


def static_watts(volts: float, static: dict[str, str]) -> float:
    """Returns the static power of a core at a voltage, in W, by the power law through two points."""
    (low, at_low), (high, at_high) = (_point(static[key]) for key in ("low", "high"))
    if low == high or volts == at_low:
        return low
    return float(low * (volts / at_low) ** (log(high / low) / log(at_high / at_low)))


def _point(text: str) -> tuple[float, float]:
    """Parses a power at a voltage."""
    power, _, voltage = text.partition("@")
    number, unit = power.split()
    return float(number) * UNITS[unit], float(volts_of(voltage))
