"""Derives the hardware counters of one socket of a simulated multi-socket server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.counters.crossing import SLOTS_PER_LINE
from hostnet.units import size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hostnet.counters.events import Uarch
    from hostnet.counters.writer import Machine

SLOT_BYTES = 8
"""Bytes per slot: a flit of 192 bits has three."""

BYTES_PER_CLOCK = 16
"""Bytes of the modeled link bandwidth per clock: 16 of 20 lanes carry data, 8 transfers per clock."""


@dataclass(frozen=True)
class SocketLinks:
    """UPI links of a socket, `each` to every other socket. Traffic is spread evenly over the links to a socket."""

    socket: int
    sockets: int
    each: int
    hz: int
    slots_of_others: int
    """Slots of a message without a line."""

    @classmethod
    def of(cls, config: Mapping[str, Any], socket: int, sockets: int) -> SocketLinks:
        """Returns the links that a complete configuration describes."""
        upi, link = config["upi"], config["upi"]["link"]
        rate = size_bytes(link["bandwidth"].removesuffix("/s"))
        slots = -(-size_bytes(link["request"]) // SLOT_BYTES)
        return cls(socket, sockets, upi["links"], rate // BYTES_PER_CLOCK, slots)

    def counts(self, uarch: Uarch, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], int]]:
        """Yields the counts of every link since the start, with the event and the number of the link."""
        ways = {(way["from"], way["to"]): way for way in sample["crossed"]}
        others = [socket for socket in range(self.sockets) if socket != self.socket]
        ticks = sample["at_ps"] * self.hz // 10**12
        for index, other in enumerate(others):
            for number in range(self.each):
                link = index * self.each + number
                yield (uarch.pmus["upi"].clock, link), ticks
                for name, way in (("sent", (self.socket, other)), ("received", (other, self.socket))):
                    (lines,), (rest,) = (uarch.ways[f"upi_{name}.{part}"][0] for part in ("lines", "others"))
                    yield (lines, link), (ways[way]["lines"] + number) // self.each * SLOTS_PER_LINE
                    yield (rest, link), (ways[way]["others"] + number) // self.each * self.slots_of_others


def socket_sample(machine: Machine, sample: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the counts of one socket out of those of a server; its cores and channels are renumbered from 0."""
    channels = sample["channels"][machine.first_channel : machine.first_channel + machine.facts.channels]
    first, last = machine.first_core, machine.first_core + machine.facts.cores
    cores = [{**core, "core": core["core"] - first} for core in sample["cores"] if first <= core["core"] < last]
    of_socket = sample["sockets"][machine.number]
    return {"at_ps": sample["at_ps"], "channels": channels, "cores": cores, "crossed": sample["crossed"], **of_socket}


def dram_counts(machine: Machine, sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], int]]:
    """Yields the lines served by local and remote DRAM since the start, by event and core.

    The model counts them per socket; they are attributed to cores in proportion to their lines.
    """
    busy = {core["core"]: core["lfb"]["lines"] for core in sample["cores"]}
    whole = sum(busy.values())
    of_one = {"local_reads": sample["core_read"]["lines"], "remote_reads": 0}
    for which in ("local", "remote"):
        event = machine.uarch.ways[f"dram_{which}"][0][0]
        given = 0
        passed = 0
        for core in range(machine.facts.cores):
            passed += busy.get(core, 0)
            upto = {**of_one, **sample}[f"{which}_reads"] * passed // whole if whole else 0
            yield (event, core), upto - given
            given = upto
