"""Lists the quantities that a file lacks, and what cannot be computed without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.counters.events import AT_LEAST
from hostnet.counters.quantities import CROSSING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostnet.counters.quantities import Formulas, Window

NEEDED_FOR = {
    "channels": "counts per channel",
    "lines_read": "the DRAM read bandwidth, the row miss ratio and the read formula",
    "lines_written": "the DRAM write bandwidth, write head-of-line blocking and the write formula",
    "read_activations": "the row miss ratio and the activations in the top-of-queue delay of reads",
    "write_activations": "the activations in the top-of-queue delay of writes",
    "read_conflicts": "the precharges in the top-of-queue delay of reads",
    "write_conflicts": "the precharges in the top-of-queue delay of writes",
    "mode_switches": "the switching delay",
    "rpq_occupancy": "the queueing delay of reads at the memory controller (O_RPQ)",
    "wpq_occupancy": "the queueing of writes at the memory controller",
    "rpq_full_share": "the share of time in which the RPQ holds reads back",
    "wpq_full_share": "the write admission delay (P_fill)",
    "lfb.occupancy": "the LFB credits in use and the C2M latency",
    "lfb.lines": "the C2M latency and throughput",
    "core_read.occupancy": "the CHA-to-DRAM latency of reads of cores and the CHA admission delay",
    "core_read.lines": "the CHA-to-DRAM latency of reads of cores and the CHA admission delay",
    "core_write.occupancy": "the writes of cores that wait for the WPQ (N_waiting)",
    "core_write.lines": "the CHA-to-MC latency of writes of cores",
    "io_read.occupancy": "the P2M reads in flight at the CHA",
    "io_read.lines": "the CHA-to-DRAM latency of P2M reads",
    "io_write.occupancy": "the P2M writes that wait for the WPQ (N_waiting)",
    "io_write.lines": "the CHA-to-MC latency of P2M writes",
    "iio_write.occupancy": "the P2M-Write credits in use and the P2M-Write latency",
    "iio_write.lines": "the P2M-Write latency and throughput",
    "iio_read.occupancy": "the P2M-Read credits in use and the P2M-Read latency",
    "iio_read.lines": "the P2M-Read latency and throughput",
}
"""Results that need each quantity."""


@dataclass(frozen=True)
class Missing:
    """A quantity that the file lacks: the events that would give it, why, and what cannot be computed without it."""

    quantity: str
    events: tuple[str, ...]
    reason: str
    needed_for: str

    def __str__(self) -> str:
        """Returns the message about it."""
        events = ", ".join(self.events)
        return f"{events} {self.reason}: {self.needed_for} cannot be computed"


def find_missing(
    formulas: Formulas, total: Mapping[str, Any], window: Window, unusable: Mapping[str, str]
) -> list[Missing]:
    """Returns the quantities that are None in `total`, with the reasons. `unusable` gives reasons by event."""
    found = []
    uarch = formulas.uarch
    for quantity in (quantity for quantity in uarch.ways if quantity not in CROSSING):
        flow, _, part = quantity.partition(".")
        value = total[flow][part] if part else total[quantity]
        if value is None:
            found.append(_missing(formulas, quantity, window, unusable))
    if total["channels"] is None:
        events = (uarch.pmus["imc"].clock,)
        found.append(
            Missing(
                "channels",
                events,
                "does not tell how many channels there are, and no server is given",
                NEEDED_FOR["channels"],
            )
        )
    return found


def _missing(formulas: Formulas, quantity: str, window: Window, unusable: Mapping[str, str]) -> Missing:
    needed = NEEDED_FOR[quantity]
    lacking = [event for event in formulas.uarch.ways[quantity][0] if not _is_counted(window, event)]
    if not lacking:
        return Missing(quantity, (formulas.uarch.pmus["imc"].clock,), "is missing", needed)
    reasons = {unusable[event] for event in lacking if event in unusable}
    verb = "is missing" if len(lacking) == 1 else "are missing"
    events = tuple(f"{one}{formulas.model_threshold(one)}" if one.endswith(AT_LEAST) else one for one in lacking)
    return Missing(quantity, events, reasons.pop() if len(reasons) == 1 else verb, needed)


def _is_counted(window: Window, event: str) -> bool:
    return any(
        count is not None
        for key, count in window.totals.items()
        if key == event or (event.endswith(AT_LEAST) and key.startswith(event))
    )
