"""Reads and writes hardware counter files of `perf stat`, `pcm-raw` and `pcm-numa`.

    counters = hostnet.counters.read("counters.csv", server="cascade-lake-6234")
    print(counters.total["rpq_occupancy"], counters.missing)

`read` derives the quantities of each window from the counts, under the field names that `summary.json` uses in
`counters`. `write` produces such a file from a simulated run. The events of each microarchitecture are data: `uarchs`
loads them.
"""

from hostnet.counters.crossing import Direction, Link, Numa
from hostnet.counters.events import Event, Pmu, Uarch, find_uarch, uarchs
from hostnet.counters.facts import Facts
from hostnet.counters.missing import Missing
from hostnet.counters.quantities import FLOWS, SCALARS
from hostnet.counters.reader import CounterFile, read
from hostnet.counters.record import perf_command
from hostnet.counters.writer import FORMATS, write

__all__ = [
    "FLOWS",
    "FORMATS",
    "SCALARS",
    "CounterFile",
    "Direction",
    "Event",
    "Facts",
    "Link",
    "Missing",
    "Numa",
    "Pmu",
    "Uarch",
    "find_uarch",
    "perf_command",
    "read",
    "uarchs",
    "write",
]
