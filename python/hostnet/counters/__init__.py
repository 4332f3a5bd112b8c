"""The counters of real servers, in and out: files of `perf stat`, of `pcm-raw` and of `pcm-numa`.

    counters = hostnet.counters.read("counters.csv", server="cascade-lake-6234")
    print(counters.total["rpq_occupancy"], counters.missing)

`read` turns a file into what the counters tell about each window, in the fields that `summary.json` has under
`counters`. `write` makes such a file of a run. The events of a server are data: `uarchs` loads them.
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
