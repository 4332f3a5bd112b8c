"""Writes the files that `perf stat`, `pcm-raw` and `pcm-numa` would have written on a simulated server."""

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
from hostnet.counters.socket_counts import SocketLinks, dram_counts, socket_sample
from hostnet.files import write_file
from hostnet.running.results import server_config
from hostnet.sockets import server_sockets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from hostnet.running.results import Results

FORMATS = ("perf", "pcm", "pcm-numa")
"""Supported formats of counter files."""

DEFAULT_UARCH = "cascade-lake"
"""Microarchitecture whose events are used for servers without a list of events of their own."""

PS_PER_S = 10**12
EPOCH = datetime(1970, 1, 1)


class Unit(NamedTuple):
    """A counting unit of a kind on a socket."""

    pmu: str
    number: int
    socket: int = 0


@dataclass(frozen=True)
class Machine:
    """A simulated socket as its counters see it, with the numbers of its first core and channel in the server.

    `links` are the links to other sockets, if any; `tells_dram` is True if its cores count local and remote DRAM
    accesses.
    """

    uarch: Uarch
    facts: Facts
    number: int = 0
    first_core: int = 0
    first_channel: int = 0
    links: SocketLinks | None = None
    tells_dram: bool = False

    def unit(self, pmu: str, number: int) -> Unit:
        """Returns a unit of the socket."""
        return Unit(pmu, number, self.number)

    def hz(self, pmu: str) -> int:
        """Returns the clock frequency of a kind of unit in Hz."""
        if pmu == "upi" and self.links is not None:
            return self.links.hz
        return self.facts.channel_hz if pmu == "imc" else self.uarch.pmus[pmu].hz

    def ticks(self, pmu: str, time_ps: int) -> int:
        """Returns the whole clocks of a kind of unit in `time_ps`."""
        return time_ps * self.hz(pmu) // PS_PER_S


def write(results: Results, path: Path | str, *, form: str = "perf", per_socket: bool = False) -> None:
    """Writes the counters that a run sampled at intervals (`hostnet.run(..., counters="100 us")`).

    Args:
        results: The run.
        path: The file to write.
        form: "perf", "pcm" or "pcm-numa".
        per_socket: True to write sums over all units of a kind, like `perf stat --per-socket`.

    Raises:
        ConfigError: The run did not sample its counters.
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
    """Returns the sockets of a server, of which `sockets` were sampled separately."""
    facts = Facts.of(config)
    places = server_sockets(config) if sockets else ()
    if not places:
        return (Machine(uarch_of(facts), facts, tells_dram=tells_dram),)
    return tuple(
        Machine(
            uarch_of(facts),
            Facts.of(place.config),
            place.number,
            place.parts["core"].start,
            place.parts["channel"].start,
            SocketLinks.of(config, place.number, len(places)),
            tells_dram=True,
        )
        for place in places
    )


def uarch_of(facts: Facts) -> Uarch:
    """Returns the microarchitecture whose events a server counts."""
    known = uarchs()
    return next((uarch for uarch in known.values() if facts.preset in uarch.presets), known[DEFAULT_UARCH])


def intervals(
    machines: Sequence[Machine], samples: Sequence[Any]
) -> Iterator[tuple[int, int, dict[tuple[str, Unit], int]]]:
    """Yields end and length of each interval in ps, and its counts.

    Totals are rounded and then subtracted, so that rounding errors do not accumulate.
    """
    before: dict[tuple[str, Unit], int] = {}
    begun = 0
    for sample in samples:
        totals = {at: max(total, before.get(at, 0)) for machine in machines for at, total in _totals(machine, sample)}
        yield sample["at_ps"], sample["at_ps"] - begun, {at: total - before.get(at, 0) for at, total in totals.items()}
        before, begun = totals, sample["at_ps"]


def _totals(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    """Yields the counts of every counter of a socket since the start."""
    if machine.links is not None:
        sample = socket_sample(machine, sample)
    yield from _core_counts(machine, sample)
    yield from _slice_counts(machine, sample)
    for number, channel in enumerate(sample["channels"]):
        yield from _channel_counts(machine, machine.unit("imc", number), channel, sample["at_ps"])
    for pmu, pool in (("irp", sample["iio_write"]), ("iio", sample["iio_read"])):
        yield from _stack_counts(machine, pmu, pool, sample["at_ps"])
    if machine.links is not None:
        for (event, number), total in machine.links.counts(machine.uarch, sample):
            yield (event, machine.unit("upi", number)), total
    if machine.tells_dram:
        for (event, core), total in dram_counts(machine, sample):
            yield (event, machine.unit("core", core)), total


def _counts_of_quantity(
    machine: Machine, quantity: str, unit: Unit, total: int
) -> Iterator[tuple[tuple[str, Unit], int]]:
    """Yields a quantity as its best sum of events: all of it in the first event, 0 in the others."""
    for index, event in enumerate(machine.uarch.ways[quantity][0]):
        if event.endswith(AT_LEAST):
            event += str(machine.facts.rpq_full if quantity.startswith("rpq") else machine.facts.wpq_full)
        yield (event, unit), 0 if index else total


def _core_counts(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    busy = {core["core"]: core["lfb"] for core in sample["cores"]}
    about = machine.uarch.pmus["core"]
    for number in range(machine.facts.cores):
        unit, pool = machine.unit("core", number), busy.get(number)
        clocks = machine.ticks("core", sample["at_ps"]) if pool else 0
        yield (about.clock, unit), clocks
        if about.reference:
            yield (about.reference, unit), clocks
        yield from _counts_of_quantity(
            machine, "lfb.occupancy", unit, machine.ticks("core", pool["area_ps"]) if pool else 0
        )
        yield from _counts_of_quantity(machine, "lfb.lines", unit, pool["lines"] if pool else 0)
        yield (LFB_FULL, unit), machine.ticks("core", pool["full_ps"]) if pool else 0


def _slice_counts(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Unit], int]]:
    """Yields the counts of the CHA slices.

    The model has one set of counters for all slices: addresses are spread evenly over them.
    """
    slices = machine.facts.slices
    for number in range(slices):
        unit = machine.unit("cha", number)
        yield (machine.uarch.pmus["cha"].clock, unit), machine.ticks("cha", sample["at_ps"])
        for flow in ("core_read", "core_write", "io_read", "io_write"):
            pool = sample[flow]
            area = machine.ticks("cha", pool["area_ps"])
            yield from _counts_of_quantity(machine, f"{flow}.occupancy", unit, (area + number) // slices)
            yield from _counts_of_quantity(machine, f"{flow}.lines", unit, (pool["lines"] + number) // slices)


def _channel_counts(
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
        yield from _counts_of_quantity(machine, quantity, unit, count)


def _stack_counts(
    machine: Machine, pmu: str, pool: Mapping[str, int], at_ps: int
) -> Iterator[tuple[tuple[str, Unit], int]]:
    about = machine.uarch.pmus[pmu]
    flow = "iio_write" if pmu == "irp" else "iio_read"
    for number in range(about.units):
        unit, busy = machine.unit(pmu, number), number == about.busy
        yield (about.clock, unit), machine.ticks(pmu, at_ps)
        yield from _counts_of_quantity(
            machine, f"{flow}.occupancy", unit, machine.ticks(pmu, pool["area_ps"]) if busy else 0
        )
        yield from _counts_of_quantity(machine, f"{flow}.lines", unit, pool["lines"] if busy else 0)


def label_of(key: str) -> str:
    """Returns the name of an event as files spell it, with its threshold if it has one."""
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
    """Yields the counts of single units, read by the first core of their socket; sockets without cores have none."""
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
    """Yields lines as `pcm-numa -csv` prints them. Instructions are not modeled and printed as 0."""
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
