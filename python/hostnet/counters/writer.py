"""Writes the files that `perf stat` and `pcm-raw` would have written on a simulated server."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from hostnet._core import ConfigError
from hostnet.counters.events import AT_LEAST, Uarch, uarchs
from hostnet.counters.facts import Facts
from hostnet.counters.pcm_numa import HEADER
from hostnet.counters.quantities import LFB_FULL
from hostnet.counters.several import Links, dram_counts, sample_of
from hostnet.files import write_file
from hostnet.running.results import server_config
from hostnet.sockets import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from hostnet.running.results import Results

FORMATS = ("perf", "pcm", "pcm-numa")
"""What a file of counters may look like."""

DEFAULT_UARCH = "cascade-lake"
"""Whose events a server counts that no list of events belongs to."""

PS_PER_S = 10**12
EPOCH = datetime(1970, 1, 1)


class Unit(NamedTuple):
    """One of the units of a kind on a socket."""

    pmu: str
    number: int
    socket: int = 0


@dataclass(frozen=True)
class Machine:
    """A simulated socket as its counters see it, with the numbers of its first core and channel in the server.

    `links` are those to other sockets, if there are any; `tells_dram` says whether its cores count which DRAM serves
    them.
    """

    uarch: Uarch
    facts: Facts
    number: int = 0
    first_core: int = 0
    first_channel: int = 0
    links: Links | None = None
    tells_dram: bool = False

    def unit(self, pmu: str, number: int) -> Unit:
        """One of its units."""
        return Unit(pmu, number, self.number)

    def hz(self, pmu: str) -> int:
        """The frequency of the clock of a kind of unit."""
        if pmu == "upi" and self.links is not None:
            return self.links.hz
        return self.facts.channel_hz if pmu == "imc" else self.uarch.pmus[pmu].hz

    def ticks(self, pmu: str, time_ps: int) -> int:
        """Whole clocks of a kind of unit in a time."""
        return time_ps * self.hz(pmu) // PS_PER_S


def write(results: Results, path: Path | str, *, form: str = "perf", per_socket: bool = False) -> None:
    """Writes the counters of a run that were read at intervals (`hostnet.run(..., counters="100 us")`).

    Args:
        results: The run.
        path: The file.
        form: perf, pcm or pcm-numa.
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
        raise ConfigError(
            "nothing-to-do", "the run did not read its counters at intervals, or ended before it measured anything"
        )
    samples = json.loads(units)
    if not samples:
        raise ConfigError("nothing-to-do", "the run ended before it measured anything")
    config = server_config(json.loads(results.plan.effective_json()), results.looked_at)
    machines = machines_of(config, len(samples[0]["sockets"]), tells_dram=form == "pcm-numa")
    if form == "pcm-numa":
        return numa_lines(machines, samples)
    return _perf_lines(machines, samples, per_socket) if form == "perf" else _pcm_lines(machines, samples)


def machines_of(config: dict[str, Any], sockets: int, *, tells_dram: bool) -> tuple[Machine, ...]:
    """The sockets of a server, of which so many were counted one by one."""
    facts = Facts.of(config)
    places = places_of(config) if sockets else ()
    if not places:
        return (Machine(uarch_of(facts), facts, tells_dram=tells_dram),)
    return tuple(
        Machine(
            uarch_of(facts),
            Facts.of(place.config),
            place.number,
            place.parts["core"].start,
            place.parts["channel"].start,
            Links.of(config, place.number, len(places)),
            tells_dram=True,
        )
        for place in places
    )


def uarch_of(facts: Facts) -> Uarch:
    """Whose events a server counts."""
    known = uarchs()
    return next((uarch for uarch in known.values() if facts.preset in uarch.presets), known[DEFAULT_UARCH])


def intervals(
    machines: Sequence[Machine], samples: Sequence[Any]
) -> Iterator[tuple[int, int, dict[tuple[str, Unit], int]]]:
    """End and length of each interval in ps, and the counts in it. Rounding does not add up: totals are rounded."""
    before: dict[tuple[str, Unit], int] = {}
    begun = 0
    for sample in samples:
        totals = {at: max(total, before.get(at, 0)) for machine in machines for at, total in _totals(machine, sample)}
        yield sample["at_ps"], sample["at_ps"] - begun, {at: total - before.get(at, 0) for at, total in totals.items()}
        before, begun = totals, sample["at_ps"]


def _totals(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    """What every counter of a socket has counted since the start."""
    if machine.links is not None:
        sample = sample_of(machine, sample)
    yield from _of_cores(machine, sample)
    yield from _of_slices(machine, sample)
    for number, channel in enumerate(sample["channels"]):
        yield from _of_channel(machine, machine.unit("imc", number), channel, sample["at_ps"])
    for pmu, pool in (("irp", sample["iio_write"]), ("iio", sample["iio_read"])):
        yield from _of_stacks(machine, pmu, pool, sample["at_ps"])
    if machine.links is not None:
        for (event, number), total in machine.links.counts(machine.uarch, sample):
            yield (event, machine.unit("upi", number)), total
    if machine.tells_dram:
        for (event, core), total in dram_counts(machine, sample):
            yield (event, machine.unit("core", core)), total


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
        unit, pool = machine.unit("core", number), busy.get(number)
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
        unit = machine.unit("cha", number)
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
        unit, busy = machine.unit(pmu, number), number == about.busy
        yield (about.clock, unit), machine.ticks(pmu, at_ps)
        yield from _counted(machine, f"{flow}.occupancy", unit, machine.ticks(pmu, pool["area_ps"]) if busy else 0)
        yield from _counted(machine, f"{flow}.lines", unit, pool["lines"] if busy else 0)


def label_of(key: str) -> str:
    """How a file names an event: with its threshold, if it has one."""
    return key.replace(AT_LEAST, ".T")


def _perf_lines(machines: Sequence[Machine], samples: Sequence[Any], per_socket: bool) -> Iterator[str]:
    yield f"# started on {EPOCH:%a %b %d %H:%M:%S %Y}\n\n"
    for end_ps, length_ps, counts in intervals(machines, samples):
        end_ns, length_ns = round(end_ps / 1000), round(length_ps / 1000)
        stamp = f"{end_ns // 10**9}.{end_ns % 10**9:09d}"
        rows = _socket_rows(counts) if per_socket else _unit_rows(machines, counts)
        for group, event, count, units in rows:
            yield f"{stamp},{group},{count},,{event},{length_ns * units},100.00,,\n"


def _unit_rows(
    machines: Sequence[Machine], counts: Mapping[tuple[str, Unit], int]
) -> Iterator[tuple[str, str, int, int]]:
    """The counts of single units. Those of a socket are read by its first core: of one without cores there are none."""
    for (key, unit), count in counts.items():
        machine = machines[unit.socket]
        if unit.pmu == "core":
            yield f"CPU{machine.first_core + unit.number}", label_of(key), count, 1
        elif machine.facts.cores:
            where = f"{machine.uarch.pmus[unit.pmu].perf}_{unit.number}"
            yield f"CPU{machine.first_core}", f"{label_of(key)} [{where}]", count, 1


def _socket_rows(counts: Mapping[tuple[str, Unit], int]) -> Iterator[tuple[str, str, int, int]]:
    sums: dict[tuple[int, str], list[int]] = {}
    for (key, unit), count in counts.items():
        entry = sums.setdefault((unit.socket, key), [0, 0])
        entry[0] += count
        entry[1] += 1
    for (socket, key), (count, units) in sums.items():
        yield f"S{socket},{units}", label_of(key), count, units


def _pcm_lines(machines: Sequence[Machine], samples: Sequence[Any]) -> Iterator[str]:
    pmus = machines[0].uarch.pmus
    for index, (end_ps, length_ps, counts) in enumerate(intervals(machines, samples)):
        if index == 0:
            units = [f"SKT{unit.socket}{pmus[unit.pmu].pcm}{unit.number}" for _, unit in counts]
            yield ",".join(["", "", "", *units]) + ",\n"
            yield ",".join(["Date", "Time", "ms", *(_pcm_name(key) for key, _ in counts)]) + ",\n"
        end_ns = round(end_ps / 1000)
        moment = EPOCH + timedelta(seconds=end_ns // 10**9)
        stamp = f"{moment:%Y-%m-%d,%H:%M:%S}.{end_ns % 10**9:09d}"
        yield ",".join([stamp, _decimal_ms(length_ps), *map(str, counts.values())]) + ",\n"


def numa_lines(machines: Sequence[Machine], samples: Sequence[Any]) -> Iterator[str]:
    """As `pcm-numa -csv` prints them. There are no instructions: they are 0."""
    for _, length_ps, counts in intervals(machines, samples):
        rows = []
        for machine in machines:
            (local,), (remote,) = (machine.uarch.ways[f"dram_{which}"][0] for which in ("local", "remote"))
            clock = machine.uarch.pmus["core"].clock
            alone = {
                at: count for at, count in counts.items() if at[1].pmu == "core" and at[1].socket == machine.number
            }
            for core in range(machine.facts.cores):
                unit = machine.unit("core", core)
                rows.append((machine.first_core + core, *(alone.get((key, unit), 0) for key in (clock, local, remote))))
        yield f"Time elapsed: {_decimal_ms(length_ps)} ms\n{HEADER} \n"
        for number, clocks, near, far in [*rows, ("*", *(sum(row[at] for row in rows) for at in (1, 2, 3)))]:
            yield f"{number},0.00,0,{clocks},{near},{far},\n"
        yield "\n"


def _pcm_name(key: str) -> str:
    return key.replace(AT_LEAST, ":t=")


def _decimal_ms(time_ps: int) -> str:
    whole, fraction = divmod(time_ps, 10**9)
    return f"{whole}.{fraction:09d}".rstrip("0").rstrip(".")
