"""Computes the quantities of a window from its counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hostnet.counters.events import AT_LEAST
from hostnet.counters.facts import LINES_PER_CLOCK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.counters.events import Uarch
    from hostnet.counters.facts import Facts

SCALARS = (
    "lines_read",
    "lines_written",
    "read_activations",
    "write_activations",
    "read_conflicts",
    "write_conflicts",
    "mode_switches",
    "rpq_occupancy",
    "wpq_occupancy",
    "rpq_full_share",
    "wpq_full_share",
)
"""Quantities that are a single number."""

FLOWS = ("lfb", "core_read", "core_write", "io_read", "io_write", "iio_write", "iio_read")
"""Quantities that are an occupancy and a number of lines."""

CROSSING = (
    *("upi_sent.lines", "upi_sent.others", "upi_received.lines", "upi_received.others"),
    *("dram_local", "dram_remote"),
)
"""Quantities of multi-socket servers, reported per link or socket; no other quantity depends on them."""

LFB_FULL = "L1D_PEND_MISS.FB_FULL"
"""Event that counts the clocks in which a core found all its LFB entries in use."""

CLOCK_HZ = {
    "core": (1e8, 1e10),
    "cha": (3e8, 6e9),
    "imc": (2e8, 5e9),
    "irp": (1e8, 6e9),
    "iio": (1e8, 6e9),
    "upi": (2e8, 6e9),
}
"""Plausible clock frequencies of the units in Hz; others point to wrong timestamps in the file."""

TOLERANCE = 1.03
"""Factor by which counts may exceed their limit, as counters are not read at exactly the same time."""

UNITS_MAX = 1024
"""Maximum number of units of a kind."""

GB_PER_S_MAX = 16 * 51.2
"""Bandwidth in GB/s above that of any socket: sixteen channels of DDR5-6400."""

ENTRIES_MAX = 512
"""Number of entries above that of any channel queue."""

DATA_RATES = (1600, 1866, 2133, 2400, 2666, 2933, 3200)
"""Standard DDR4 data rates in MT/s."""


class ImplausibleError(Exception):
    """Raised if no server of the kind can have such counts; the message names them."""


@dataclass
class Window:
    """Counts of one socket in one window, summed over units; None for an event that was not counted.

    `length_ns` is in ns. `clocks` holds the counts of clock events per unit, under "" if the file has only their sum.
    """

    line: int
    length_ns: float
    totals: dict[str, float | None] = field(default_factory=dict)
    clocks: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass
class Formulas:
    """Computes the quantities of the windows of a file. `used` names the channels with any activity."""

    uarch: Uarch
    facts: Facts | None
    core_hz: float | None
    used: frozenset[str]
    full: dict[str, int]
    notes: dict[str, None] = field(default_factory=dict)

    def compute(self, window: Window) -> dict[str, Any]:
        """Returns the quantities of a window; None where an event is missing.

        Raises:
            ImplausibleError: No server of this kind can have such counts.
        """
        ticks = self._channel_ticks(window)
        result: dict[str, Any] = {"window_ns": window.length_ns, "channels": self._channels(window)}
        for quantity in SCALARS:
            count = self._sum(window, quantity)
            if quantity.endswith(("_occupancy", "_full_share")):
                result[quantity] = None if count is None or not ticks else count / ticks
            else:
                result[quantity] = count
        for flow in FLOWS:
            occupancy, lines = self._sum(window, f"{flow}.occupancy"), self._sum(window, f"{flow}.lines")
            if occupancy is not None:
                pmu = self.uarch.event_of(self.uarch.ways[f"{flow}.occupancy"][0][0]).pmu
                occupancy /= self._hz(window, pmu) * window.length_ns / 1e9
            result[flow] = {"occupancy": occupancy, "lines": lines}
        self._check(result, ticks)
        return result

    def lfb_full_cores(self, window: Window) -> float | None:
        """Returns the number of cores with all LFB entries in use, averaged over time; None if unknown."""
        clocks = window.totals.get(LFB_FULL)
        return None if clocks is None else clocks / (self._hz(window, "core") * window.length_ns / 1e9)

    def _sum(self, window: Window, quantity: str) -> float | None:
        ways = self.uarch.ways[quantity]
        for way in ways:
            keys = [self._key(window, event) for event in way]
            counts = [window.totals.get(key) for key in keys]
            if None not in counts:
                self._note_way(quantity, way, ways[0])
                return sum(count for count in counts if count is not None)
        return None

    def _key(self, window: Window, event: str) -> str:
        """Returns the key of an event with the threshold that the file has."""
        if not event.endswith(AT_LEAST):
            return event
        if event not in self.full:
            found = sorted(int(key.removeprefix(event)) for key in window.totals if key.startswith(event))
            model = self.model_threshold(event)
            if not found:
                return f"{event}{model}"
            self.full[event] = model if model in found else found[-1]
            if model not in found:
                self._note(f"{event}{found[-1]} stands for a full queue; the model's threshold is {model}")
        return f"{event}{self.full[event]}"

    def model_threshold(self, event: str) -> int:
        """Returns the number of entries at or above which the model counts the queue of an event as full."""
        if self.facts is None:
            return 42 if "RPQ" in event else 34  # thresholds of the SIGCOMM'24 artifact
        return self.facts.rpq_full if "RPQ" in event else self.facts.wpq_full

    def _note_way(self, quantity: str, way: tuple[str, ...], best: tuple[str, ...]) -> None:
        lacking = [event for event in best if event not in way]
        extra = [event for event in way if event not in best]
        for event in (self.uarch.events[key.removesuffix(AT_LEAST)] for key in way):
            if event.unconfirmed:
                self._note(f"{event.name} is not documented for {self.uarch.title}")
        if extra:
            self._note(f"{quantity} comes from {', '.join(extra)}, as {', '.join(lacking)} is missing")
        elif lacking:
            self._note(f"{', '.join(lacking)} is missing and taken as 0 in {quantity}")

    def _note(self, text: str) -> None:
        self.notes[text] = None

    def _channels(self, window: Window) -> float | None:
        per_unit = window.clocks.get(self.uarch.pmus["imc"].clock, {})
        resolved = self.used or frozenset(unit for unit in per_unit if unit)
        if resolved:
            return float(len(resolved))
        if self.facts is not None:
            return float(self.facts.channels)
        ticks = per_unit.get("")
        return None if ticks is None else _guess_channels(ticks / window.length_ns)

    def _channel_ticks(self, window: Window) -> float | None:
        """Returns the clocks of all channels combined."""
        per_unit = window.clocks.get(self.uarch.pmus["imc"].clock, {})
        nominal = None
        if self.facts is not None:
            nominal = self.facts.channels * self.facts.channel_hz * window.length_ns / 1e9
        if "" in per_unit:
            ticks = per_unit[""]
            if nominal is not None and ticks > nominal * TOLERANCE:
                self._note(
                    f"{self.uarch.pmus['imc'].clock} has the clocks of {ticks / nominal:.3g} times the server's "
                    "channels, unused channels or other sockets among them; the server's channels are counted"
                )
                return nominal
            return ticks
        resolved = self.used & frozenset(per_unit) or frozenset(per_unit)
        return sum(per_unit[unit] for unit in resolved) if resolved else nominal

    def _hz(self, window: Window, pmu: str) -> float:
        """Returns the frequency in Hz of the clock that an occupancy was summed over."""
        about = self.uarch.pmus[pmu]
        if pmu == "core":
            return (self.core_hz or about.hz) * self._turbo(window)
        per_unit = window.clocks.get(about.clock, {})
        counts = [ticks for unit, ticks in per_unit.items() if unit and ticks > 0]
        if counts:
            return sum(counts) / len(counts) / window.length_ns * 1e9
        units = self.facts.slices if pmu == "cha" and self.facts is not None else about.units
        low, high = CLOCK_HZ[pmu]
        hz = per_unit.get("", 0.0) / max(units, 1) / window.length_ns * 1e9
        if units and low <= hz <= high:
            return hz
        self._note(f"the {pmu.upper()} clock is taken as {about.hz / 1e6:g} MHz")
        return about.hz

    def _turbo(self, window: Window) -> float:
        """Returns the ratio of core clocks to clocks at the nominal frequency."""
        about = self.uarch.pmus["core"]
        clocks = window.totals.get(about.clock)
        reference = window.totals.get(about.reference or "")
        return clocks / reference if clocks and reference else 1.0

    def _check(self, result: Mapping[str, Any], ticks: float | None) -> None:
        lines = (result["lines_read"] or 0) + (result["lines_written"] or 0)
        gb_per_s = lines * 64 / result["window_ns"]
        per_clock = self.facts.lines_per_clock if self.facts is not None else LINES_PER_CLOCK
        most = per_clock * 64 * ticks / result["window_ns"] if ticks else GB_PER_S_MAX
        if gb_per_s > most * TOLERANCE:
            raise ImplausibleError(
                f"{lines:.6g} lines read and written in {result['window_ns'] / 1e9:g} s are {gb_per_s:.4g} GB/s, more "
                f"than the {most:.4g} GB/s that the channels can carry; the CAS counts must be lines of 64 bytes"
            )
        for queue in ("rpq", "wpq"):
            share, entries = result[f"{queue}_full_share"], result[f"{queue}_occupancy"]
            if share is not None and share > TOLERANCE:
                raise ImplausibleError(
                    f"{queue}_full_share would be {share:.4g}: more clocks with a full queue than clocks in all"
                )
            if entries is not None and entries > ENTRIES_MAX:
                raise ImplausibleError(
                    f"{queue}_occupancy would be {entries:.4g} entries of a channel; no queue is as long"
                )


def check_clocks(uarch: Uarch, window: Window) -> None:
    """Checks that the clocks of single units run at a plausible frequency.

    Raises:
        ImplausibleError: A clock does not.
    """
    for name, per_unit in window.clocks.items():
        pmu = uarch.events[name].pmu
        low, high = CLOCK_HZ[pmu]
        for unit, ticks in per_unit.items():
            hz = ticks / window.length_ns * 1e9
            may_stand = ticks == 0 or pmu == "core"
            if hz > high * (1 if unit else UNITS_MAX) or (hz < low and not may_stand):
                raise ImplausibleError(
                    f"{name}{f' of {unit}' if unit else ''} counts {ticks:.6g} clocks in {window.length_ns / 1e9:g} s, "
                    f"that is {hz / 1e6:.4g} MHz; are the times in seconds?"
                )


def _guess_channels(ticks_per_ns: float) -> float | None:
    """Returns the number of channels that run at a standard data rate with these clocks, if it is unique."""
    fits = [
        count
        for count in range(1, 17)
        if any(abs(ticks_per_ns * 2000 / count / rate - 1) < 0.01 for rate in DATA_RATES)
    ]
    return float(fits[0]) if len(fits) == 1 else None
