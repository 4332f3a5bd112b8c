"""Reads a counter file of any supported format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.counters.collector import CounterCollector, merge_windows
from hostnet.counters.crossing import Link, Numa, crossing_sentences, make_links, make_numa
from hostnet.counters.events import AT_LEAST, Uarch, find_uarch, uarchs
from hostnet.counters.facts import Facts, facts_of
from hostnet.counters.missing import Missing, find_missing
from hostnet.counters.pcm import read_pcm, separator_of
from hostnet.counters.pcm_numa import is_numa, read_numa
from hostnet.counters.perf import has_commas_of_both_kinds, layout_of, read_perf
from hostnet.counters.quantities import Formulas, ImplausibleError, Window
from hostnet.counters.text import EXPECTED, fail, open_input

if TYPE_CHECKING:
    from collections.abc import Sequence

BUSY_SHARE = 0.5
"""Ratio of a socket's traffic to that of the busiest above which the choice of socket is ambiguous."""

BUSY_CORE = 0.1
"""Ratio of a core's LFB occupancy to that of the busiest core at or above which the core counts as busy."""


@dataclass(frozen=True, repr=False)
class CounterFile:
    """The contents of a counter file.

    Attributes:
        path: The file.
        format: The tool that wrote it: "perf", "pcm" or "pcm-numa".
        uarch: Name of the list of events used.
        socket: The socket that `windows` and `total` describe; "" if the file does not tell sockets apart.
        windows: Quantities of each interval, in the fields of `summary.json` under `counters`. None if the file lacks
            one.
        total: Quantities over all intervals, in the same fields.
        ends_ns: End of each window in ns.
        missing: The quantities that are None in `total`, with the reasons.
        warnings: Caveats.
        thresholds: Numbers of entries at or above which `rpq` and `wpq` count as full, if the file gives them.
        busy_cores: Number of cores with at least a tenth of the LFB occupancy of the busiest; None if the file does not
            tell cores apart.
        lfb_full_cores: Number of cores that found all LFB entries in use, averaged over time; None if unknown.
        links: The UPI links of every socket.
        numa: DRAM accesses of the socket's cores, split into local and remote; None if unknown.
        crossing: Sentences on the traffic between sockets.
    """

    path: str
    format: str
    uarch: str
    socket: str
    windows: list[dict[str, Any]]
    total: dict[str, Any]
    ends_ns: list[float]
    missing: list[Missing]
    warnings: list[str]
    thresholds: dict[str, int]
    busy_cores: int | None
    lfb_full_cores: float | None
    links: list[Link] = field(default_factory=list)
    numa: Numa | None = None
    crossing: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        """Returns the origin of the counters in one line."""
        return f"<CounterFile {self.path}: {self.format}, {self.uarch}, {len(self.windows)} windows>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the quantities over all windows, and what is missing."""
        from hostnet.report.notebook.counters import counters_block

        socket = f", socket {self.socket}" if self.socket else ""
        facts = f"{self.format}, {self.uarch}{socket}, {len(self.windows)} windows"
        notes = [*self.crossing, *(f"missing: {one}" for one in self.missing), *self.warnings]
        return counters_block(self.path, facts, self.total, notes)


def read(
    path: str | PathLike[str],
    server: str | PathLike[str] | Mapping[str, Any] | Facts | None = None,
    *,
    socket: int | None = None,
    uarch: str | None = None,
    core_hz: float | None = None,
) -> CounterFile:
    """Reads a file written by `perf stat -x,`, `pcm-raw -csv`, `pcm-numa -csv` or `hostnet run --counters`.

    Args:
        path: The file.
        server: The server it was recorded on: the name of a preset, the path of a configuration, or a complete
            configuration. Needed if the file has only sums over all channels or slices, and for the thresholds of full
            queues.
        socket: The socket to read; by default the one with the most memory traffic.
        uarch: The list of events, as named by `hostnet counters events`; by default that of the server's preset, or the
            one that matches the file best.
        core_hz: Nominal core frequency in Hz; by default that of the list of events.

    Raises:
        ConfigError: The file has another format or is malformed; the message names the line.
        OSError: The file cannot be read.
    """
    facts = facts_of(server)
    path = Path(path)
    with open_input(path) as (file, head):
        events = _uarch_of(uarch, facts, head)
        collector = CounterCollector(path, events)
        separator = separator_of(head)
        layout = None if separator else layout_of(head)
        of_numa = is_numa(head)
        if has_commas_of_both_kinds(head):
            message = "has commas both as separators and as decimal points; record with LC_ALL=C, or with -x';'"
            fail(path, _first_line(head), message)
        if of_numa:
            read_numa(collector, file)
        elif separator:
            read_pcm(collector, file, separator)
        elif layout:
            read_perf(collector, file, layout)
        else:
            fail(path, _first_line(head), f"is no file of counters; {EXPECTED}")
    if not collector.windows:
        fail(path, None, f"has no counter that tells about the host network; {EXPECTED}")
    chosen, windows, warnings = _socket_of(collector, socket)
    facts = facts.of_socket(chosen) if facts is not None else None
    form = "pcm-numa" if of_numa else "pcm" if separator else "perf"
    return _evaluate(
        collector,
        form,
        chosen,
        windows,
        warnings,
        Formulas(events, facts, core_hz, _used_channels(collector, chosen), {}),
    )


def _evaluate(
    collector: CounterCollector,
    form: str,
    socket: str,
    windows: Sequence[Window],
    warnings: list[str],
    formulas: Formulas,
) -> CounterFile:
    results = [_compute(collector, formulas, window) for window in windows]
    whole = merge_windows(list(windows))
    total = _compute(collector, formulas, whole)
    busy_cores = _busy_cores(collector.cores.get(socket, {}))
    unusable = {
        (key if AT_LEAST not in key else key.partition(AT_LEAST)[0] + AT_LEAST): word
        for key, word in collector.unusable.items()
    }
    warnings += [
        f"{key} was counted {share:.0f} % of the time at least once; perf scaled it up"
        for key, share in sorted(collector.low_shares.items())
    ]
    warnings += [
        f"{name} is the same event as {first}, "
        + (
            f"and its counts are taken where {first} has none"
            if name in collector.stand_ins
            else "whose counts are taken"
        )
        for name, first in collector.other_names.items()
    ]
    warnings += list(formulas.notes)
    try:
        links = make_links(collector.uarch, collector.links, whole.length_ns)
    except ImplausibleError as error:
        fail(collector.path, windows[0].line, str(error), "implausible-data")
    numa = make_numa(collector.uarch, whole.totals, socket, of_loads=form != "pcm-numa")
    return CounterFile(
        path=str(collector.path),
        format=form,
        uarch=collector.uarch.name,
        socket=socket,
        windows=results,
        total=total,
        ends_ns=collector.ends_ns,
        missing=[] if form == "pcm-numa" else find_missing(formulas, total, whole, unusable),
        warnings=warnings,
        thresholds={("rpq" if "RPQ" in event else "wpq"): full for event, full in formulas.full.items()},
        busy_cores=busy_cores,
        lfb_full_cores=formulas.lfb_full_cores(whole),
        links=links,
        numa=numa,
        crossing=list(crossing_sentences(links, numa)),
    )


def _busy_cores(entries: Mapping[str, float]) -> int | None:
    most = max(entries.values(), default=0.0)
    return sum(count >= BUSY_CORE * most for count in entries.values()) if most else None


def _compute(collector: CounterCollector, formulas: Formulas, window: Window) -> dict[str, Any]:
    try:
        return formulas.compute(window)
    except ImplausibleError as error:
        fail(collector.path, window.line, str(error), "implausible-data")


def _used_channels(collector: CounterCollector, socket: str) -> frozenset[str]:
    """Returns the active channels of a socket. A file grouped by CPU has counts of only one socket."""
    return frozenset(
        collector.used.get(socket) or next(iter(collector.used.values()), ())
        if not socket
        else collector.used.get(socket, ())
    )


def _uarch_of(name: str | None, facts: Facts | None, head: str) -> Uarch:
    if name is not None:
        return find_uarch(name)
    known = uarchs()
    if facts is not None and facts.preset is not None:
        for uarch in known.values():
            if facts.preset in uarch.presets:
                return uarch
    text = head.upper()
    return max(known.values(), key=lambda uarch: sum(event.upper() in text for event in uarch.events))


def _first_line(head: str) -> int:
    lines = head.splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")), 1)


def _socket_of(collector: CounterCollector, wanted: int | None) -> tuple[str, list[Window], list[str]]:
    """Returns the selected socket, its windows and warnings about the selection."""
    sockets = dict(collector.windows)
    shared = sockets.pop("", None)
    readers = [name for name in sockets if name.startswith("CPU")]
    if len(readers) > 1:
        fail(
            collector.path,
            None,
            f"has the counters of {len(readers)} sockets and does not tell which core is where; record it with "
            "--per-socket, or with --cpu for the cores of one socket",
        )
    if shared is not None or readers:
        if wanted not in (None, 0):
            fail(
                collector.path,
                None,
                f"--socket {wanted}: the file does not tell sockets apart; record it with --per-socket",
            )
        return "", _merge_by_time(shared, sockets[readers[0]] if readers else None), []
    if wanted is not None:
        if str(wanted) not in sockets:
            names = ", ".join(sorted(sockets, key=int))
            fail(collector.path, None, f"--socket {wanted}: the file has {names}", "does-not-exist")
        return str(wanted), sockets[str(wanted)], []
    traffic = {name: _traffic(windows) for name, windows in sockets.items()}
    order = sorted(sockets, key=lambda name: (-traffic[name], int(name)))
    if len(order) == 1:
        return order[0], sockets[order[0]], []
    if traffic[order[1]] > BUSY_SHARE * traffic[order[0]] or not traffic[order[0]]:
        names = " and ".join(sorted(order[:2], key=int))
        fail(
            collector.path,
            None,
            f"sockets {names} have about as much memory traffic; say which one is meant with --socket",
        )
    return (
        order[0],
        sockets[order[0]],
        [f"socket {order[0]} is shown, the busiest of {len(order)}; --socket chooses another"],
    )


def _traffic(windows: Sequence[Window]) -> float:
    return sum(window.totals.get(f"UNC_M_CAS_COUNT.{way}") or 0 for window in windows for way in ("RD", "WR"))


def _merge_by_time(cores: list[Window] | None, units: list[Window] | None) -> list[Window]:
    """Merges windows of cores and of uncore units that belong to the same socket."""
    if cores is None or units is None:
        return cores or units or []
    return [
        Window(a.line, a.length_ns, a.totals | b.totals, a.clocks | b.clocks) for a, b in zip(cores, units, strict=True)
    ]
