"""Writes the files that `perf stat` and `pcm-raw` would have written on a simulated server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from hostnet._core import ConfigError
from hostnet.counters.events import AT_LEAST, Uarch, uarchs
from hostnet.counters.facts import Facts
from hostnet.counters.quantities import LFB_FULL
from hostnet.files import write_file
from hostnet.running.results import server_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from hostnet.running.results import Results

FORMATS = ("perf", "pcm")
"""What a file of counters may look like."""

DEFAULT_UARCH = "cascade-lake"
"""Whose events a server counts that no list of events belongs to."""

PS_PER_S = 10**12
EPOCH = datetime(1970, 1, 1)


class Unit(NamedTuple):
    """One of the units of a kind."""

    pmu: str
    number: int


@dataclass(frozen=True)
class Machine:
    """A simulated server as its counters see it."""

    uarch: Uarch
    facts: Facts

    def hz(self, pmu: str) -> int:
        """The frequency of the clock of a kind of unit."""
        return self.facts.channel_hz if pmu == "imc" else self.uarch.pmus[pmu].hz

    def ticks(self, pmu: str, time_ps: int) -> int:
        """Whole clocks of a kind of unit in a time."""
        return time_ps * self.hz(pmu) // PS_PER_S


def write(results: Results, path: Path | str, *, form: str = "perf", per_socket: bool = False) -> None:
    """Writes the counters of a run that were read at intervals (`hostnet.run(..., counters="100 us")`).

    Args:
        results: The run.
        path: The file.
        form: perf or pcm.
        per_socket: With the sums over all units of a kind, as `perf stat --per-socket` writes them.

    Raises:
        ConfigError: The run has no such counters.
        OSError: The file cannot be written.
    """
    from pathlib import Path

    write_file(Path(path), "".join(_lines(results, form, per_socket=per_socket)).encode())


def _lines(results: Results, form: str, *, per_socket: bool) -> Iterator[str]:
    units = results.native.units_json
    if units is None:
        raise ConfigError("the run did not read its counters at intervals, or ended before it measured anything")
    samples = json.loads(units)
    if not samples:
        raise ConfigError("the run ended before it measured anything")
    facts = Facts.of(server_config(json.loads(results.plan.effective_json()), results.looked_at))
    machine = Machine(uarch_of(facts), facts)
    return _perf_lines(machine, samples, per_socket) if form == "perf" else _pcm_lines(machine, samples)


def uarch_of(facts: Facts) -> Uarch:
    """Whose events a server counts."""
    known = uarchs()
    return next((uarch for uarch in known.values() if facts.preset in uarch.presets), known[DEFAULT_UARCH])


def _intervals(machine: Machine, samples: Sequence[Any]) -> Iterator[tuple[int, int, dict[tuple[str, Unit], int]]]:
    """End and length of each interval in ps, and the counts in it. Rounding does not add up: totals are rounded."""
    before: dict[tuple[str, Unit], int] = {}
    begun = 0
    for sample in samples:
        totals = dict(_totals(machine, sample))
        yield sample["at_ps"], sample["at_ps"] - begun, {at: total - before.get(at, 0) for at, total in totals.items()}
        before, begun = totals, sample["at_ps"]


def _totals(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    """What every counter of the server has counted since the start."""
    yield from _of_cores(machine, sample)
    yield from _of_slices(machine, sample)
    for number, channel in enumerate(sample["channels"]):
        yield from _of_channel(machine, Unit("imc", number), channel, sample["at_ps"])
    for pmu, pool in (("irp", sample["iio_write"]), ("iio", sample["iio_read"])):
        yield from _of_stacks(machine, pmu, pool, sample["at_ps"])


def _counted(machine: Machine, quantity: str, unit: Unit, total: int) -> Iterator[tuple[tuple[str, Unit], int]]:
    """A quantity as the best way to compute it takes it: all in its first event, nothing in the others."""
    for index, event in enumerate(machine.uarch.ways[quantity][0]):
        if event.endswith(AT_LEAST):
            event += str(machine.facts.rpq_full if quantity.startswith("rpq") else machine.facts.wpq_full)
        yield (event, unit), 0 if index else total


def _of_cores(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    busy = {core["core"]: core["lfb"] for core in sample["cores"]}
    about = machine.uarch.pmus["core"]
    for number in range(machine.facts.cores):
        unit, pool = Unit("core", number), busy.get(number)
        clocks = machine.ticks("core", sample["at_ps"]) if pool else 0
        yield (about.clock, unit), clocks
        if about.reference:
            yield (about.reference, unit), clocks
        yield from _counted(machine, "lfb.occupancy", unit, machine.ticks("core", pool["area_ps"]) if pool else 0)
        yield from _counted(machine, "lfb.lines", unit, pool["lines"] if pool else 0)
        yield (LFB_FULL, unit), machine.ticks("core", pool["full_ps"]) if pool else 0


def _of_slices(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    """The model keeps one book for all slices, as addresses are spread evenly over them."""
    slices = machine.facts.slices
    for number in range(slices):
        unit = Unit("cha", number)
        yield (machine.uarch.pmus["cha"].clock, unit), machine.ticks("cha", sample["at_ps"])
        for flow in ("core_read", "core_write", "io_read", "io_write"):
            pool = sample[flow]
            area = machine.ticks("cha", pool["area_ps"])
            yield from _counted(machine, f"{flow}.occupancy", unit, (area + number) // slices)
            yield from _counted(machine, f"{flow}.lines", unit, (pool["lines"] + number) // slices)


def _of_channel(
    machine: Machine, unit: Unit, channel: Mapping[str, Any], at_ps: int
) -> Iterator[tuple[tuple[str, Unit], int]]:
    counts = {
        "lines_read": channel["reads"],
        "lines_written": channel["writes"],
        "mode_switches": channel["write_modes"],
        **{
            name: channel[name]
            for name in ("read_activations", "write_activations", "read_conflicts", "write_conflicts")
        },
    }
    for queue in ("rpq", "wpq"):
        counts[f"{queue}_occupancy"] = machine.ticks("imc", channel[queue]["area_ps"])
        counts[f"{queue}_full_share"] = machine.ticks("imc", channel[queue]["full_ps"])
    yield (machine.uarch.pmus["imc"].clock, unit), machine.ticks("imc", at_ps)
    for quantity, count in counts.items():
        yield from _counted(machine, quantity, unit, count)


def _of_stacks(
    machine: Machine, pmu: str, pool: Mapping[str, int], at_ps: int
) -> Iterator[tuple[tuple[str, Unit], int]]:
    about = machine.uarch.pmus[pmu]
    flow = "iio_write" if pmu == "irp" else "iio_read"
    for number in range(about.units):
        unit, busy = Unit(pmu, number), number == about.busy
        yield (about.clock, unit), machine.ticks(pmu, at_ps)
        yield from _counted(machine, f"{flow}.occupancy", unit, machine.ticks(pmu, pool["area_ps"]) if busy else 0)
        yield from _counted(machine, f"{flow}.lines", unit, pool["lines"] if busy else 0)


def label_of(key: str) -> str:
    """How a file names an event: with its threshold, if it has one."""
    return key.replace(AT_LEAST, ".T")


def _perf_lines(machine: Machine, samples: Sequence[Any], per_socket: bool) -> Iterator[str]:
    yield f"# started on {EPOCH:%a %b %d %H:%M:%S %Y}\n\n"
    for end_ps, length_ps, counts in _intervals(machine, samples):
        end_ns, length_ns = round(end_ps / 1000), round(length_ps / 1000)
        stamp = f"{end_ns // 10**9}.{end_ns % 10**9:09d}"
        rows = _socket_rows(counts) if per_socket else _unit_rows(machine, counts)
        for group, event, count, units in rows:
            yield f"{stamp},{group},{count},,{event},{length_ns * units},100.00,,\n"


def _unit_rows(machine: Machine, counts: Mapping[tuple[str, Unit], int]) -> Iterator[tuple[str, str, int, int]]:
    for (key, unit), count in counts.items():
        if unit.pmu == "core":
            yield f"CPU{unit.number}", label_of(key), count, 1
        else:
            yield "CPU0", f"{label_of(key)} [{machine.uarch.pmus[unit.pmu].perf}_{unit.number}]", count, 1


def _socket_rows(counts: Mapping[tuple[str, Unit], int]) -> Iterator[tuple[str, str, int, int]]:
    sums: dict[str, list[int]] = {}
    for (key, _), count in counts.items():
        entry = sums.setdefault(key, [0, 0])
        entry[0] += count
        entry[1] += 1
    for key, (count, units) in sums.items():
        yield f"S0,{units}", label_of(key), count, units


def _pcm_lines(machine: Machine, samples: Sequence[Any]) -> Iterator[str]:
    for index, (end_ps, length_ps, counts) in enumerate(_intervals(machine, samples)):
        if index == 0:
            units = [f"SKT0{machine.uarch.pmus[unit.pmu].pcm}{unit.number}" for _, unit in counts]
            yield ",".join(["", "", "", *units]) + ",\n"
            yield ",".join(["Date", "Time", "ms", *(_pcm_name(key) for key, _ in counts)]) + ",\n"
        end_ns = round(end_ps / 1000)
        moment = EPOCH + timedelta(seconds=end_ns // 10**9)
        stamp = f"{moment:%Y-%m-%d,%H:%M:%S}.{end_ns % 10**9:09d}"
        yield ",".join([stamp, _decimal_ms(length_ps), *map(str, counts.values())]) + ",\n"


def _pcm_name(key: str) -> str:
    return key.replace(AT_LEAST, ":t=")


def _decimal_ms(time_ps: int) -> str:
    whole, fraction = divmod(time_ps, 10**9)
    return f"{whole}.{fraction:09d}".rstrip("0").rstrip(".")
