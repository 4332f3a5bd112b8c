"""Reads a file of counters, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet.counters.books import Book, merged
from hostnet.counters.crossing import Link, Numa, links_of, numa_of, sentences
from hostnet.counters.events import AT_LEAST, Uarch, find_uarch, uarchs
from hostnet.counters.facts import Facts, facts_of
from hostnet.counters.missing import Missing, missing_of
from hostnet.counters.pcm import read_pcm, separator_of
from hostnet.counters.pcm_numa import is_numa, read_numa
from hostnet.counters.perf import has_commas_of_both_kinds, layout_of, read_perf
from hostnet.counters.quantities import Formulas, ImplausibleError, Window
from hostnet.counters.text import EXPECTED, fail, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

BUSY_SHARE = 0.5
"""Traffic of another socket, relative to the busiest, from which it is not clear which one is meant."""

BUSY_CORE = 0.1
"""LFB entries in use, relative to the busiest core, from which a core is busy."""


@dataclass(frozen=True)
class CounterFile:
    """What a file of counters tells.

    `windows` has the quantities of each interval and `total` those of all together, in the fields of `summary.json`
    under `counters`; what the file does not tell is None there and explained in `missing`. `ends_ns` is when each
    window ended. `thresholds` are the entries from which `rpq` and `wpq` count as full, where the file tells it.
    `busy_cores` are those with at least a tenth of the LFB entries of the busiest, if the file tells cores apart, and
    `lfb_full_cores` is the number of cores that found all their entries in use, mean over time.
    `links` has the UPI links of every socket, `numa` which DRAM served the cores of the socket, if the file tells, and
    `crossing` says what follows of lines that cross between sockets. `warnings` says what to keep in mind.
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


def read(
    path: str | PathLike[str],
    server: str | PathLike[str] | Mapping[str, Any] | Facts | None = None,
    *,
    socket: int | None = None,
    uarch: str | None = None,
    core_hz: float | None = None,
) -> CounterFile:
    """Reads a file that `perf stat -x,`, `pcm-raw -csv` or `pcm-numa -csv` wrote, or `hostnet run --counters`.

    Args:
        path: The file.
        server: The server it comes from: the name of a preset, the path of a configuration, or a complete
            configuration. Needed where the file gives sums over all channels or slices, and to tell what is full.
        socket: The socket to look at. If not given, the one with the most memory traffic.
        uarch: The list of events, as `hostnet counters events` names them. If not given, that of the server's preset,
            or the one that fits the file best.
        core_hz: Nominal frequency of the cores in Hz. If not given, that of the list of events.

    Raises:
        ConfigError: It is no such file, or something in it is wrong; the message says in which line.
        OSError: It cannot be read.
    """
    facts = facts_of(server)
    path = Path(path)
    with opened(path) as (file, head):
        events = _uarch_of(uarch, facts, head)
        book = Book(path, events)
        separator = separator_of(head)
        layout = None if separator else layout_of(head)
        of_numa = is_numa(head)
        if has_commas_of_both_kinds(head):
            message = "has commas both as separators and as decimal points; record with LC_ALL=C, or with -x';'"
            fail(path, _first_line(head), message)
        if of_numa:
            read_numa(book, file)
        elif separator:
            read_pcm(book, file, separator)
        elif layout:
            read_perf(book, file, layout)
        else:
            fail(path, _first_line(head), f"is no file of counters; {EXPECTED}")
    if not book.windows:
        fail(path, None, f"has no counter that tells about the host network; {EXPECTED}")
    chosen, windows, warnings = _socket_of(book, socket)
    facts = facts.of_socket(chosen) if facts is not None else None
    form = "pcm-numa" if of_numa else "pcm" if separator else "perf"
    return _evaluate(book, form, chosen, windows, warnings, Formulas(events, facts, core_hz, _used(book, chosen), {}))


def _evaluate(
    book: Book, form: str, socket: str, windows: Sequence[Window], warnings: list[str], formulas: Formulas
) -> CounterFile:
    results = [_computed(book, formulas, window) for window in windows]
    whole = merged(list(windows))
    total = _computed(book, formulas, whole)
    busy_cores = _busy_cores(book.cores.get(socket, {}))
    unusable = {
        (key if AT_LEAST not in key else key.partition(AT_LEAST)[0] + AT_LEAST): word
        for key, word in book.unusable.items()
    }
    warnings += [
        f"{key} was counted {share:.0f} % of the time at least once; perf scaled it up"
        for key, share in sorted(book.low_shares.items())
    ]
    warnings += [
        f"{name} is the same event as {first}, "
        + (f"and its counts are taken where {first} has none" if name in book.stand_ins else "whose counts are taken")
        for name, first in book.other_names.items()
    ]
    warnings += list(formulas.notes)
    try:
        links = links_of(book.uarch, book.links, whole.length_ns)
    except ImplausibleError as error:
        fail(book.path, windows[0].line, str(error), "implausible-data")
    numa = numa_of(book.uarch, whole.totals, socket, of_loads=form != "pcm-numa")
    return CounterFile(
        path=str(book.path),
        format=form,
        uarch=book.uarch.name,
        socket=socket,
        windows=results,
        total=total,
        ends_ns=book.ends_ns,
        missing=[] if form == "pcm-numa" else missing_of(formulas, total, whole, unusable),
        warnings=warnings,
        thresholds={("rpq" if "RPQ" in event else "wpq"): full for event, full in formulas.full.items()},
        busy_cores=busy_cores,
        lfb_full_cores=formulas.lfb_full_cores(whole),
        links=links,
        numa=numa,
        crossing=list(sentences(links, numa)),
    )


def _busy_cores(entries: Mapping[str, float]) -> int | None:
    most = max(entries.values(), default=0.0)
    return sum(count >= BUSY_CORE * most for count in entries.values()) if most else None


def _computed(book: Book, formulas: Formulas, window: Window) -> dict[str, Any]:
    try:
        return formulas.compute(window)
    except ImplausibleError as error:
        fail(book.path, window.line, str(error), "implausible-data")


def _used(book: Book, socket: str) -> frozenset[str]:
    """The channels of a socket that did anything. Where CPUs tell of sockets, there is only one."""
    return frozenset(
        book.used.get(socket) or next(iter(book.used.values()), ()) if not socket else book.used.get(socket, ())
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


def _socket_of(book: Book, wanted: int | None) -> tuple[str, list[Window], list[str]]:
    """The socket that is meant, its windows, and what to say about the choice."""
    sockets = dict(book.windows)
    shared = sockets.pop("", None)
    readers = [name for name in sockets if name.startswith("CPU")]
    if len(readers) > 1:
        fail(
            book.path,
            None,
            f"has the counters of {len(readers)} sockets and does not tell which core is where; record it with "
            "--per-socket, or with --cpu for the cores of one socket",
        )
    if shared is not None or readers:
        if wanted not in (None, 0):
            fail(
                book.path, None, f"--socket {wanted}: the file does not tell sockets apart; record it with --per-socket"
            )
        return "", _joined(shared, sockets[readers[0]] if readers else None), []
    if wanted is not None:
        if str(wanted) not in sockets:
            names = ", ".join(sorted(sockets, key=int))
            fail(book.path, None, f"--socket {wanted}: the file has {names}", "does-not-exist")
        return str(wanted), sockets[str(wanted)], []
    traffic = {name: _traffic(windows) for name, windows in sockets.items()}
    order = sorted(sockets, key=lambda name: (-traffic[name], int(name)))
    if len(order) == 1:
        return order[0], sockets[order[0]], []
    if traffic[order[1]] > BUSY_SHARE * traffic[order[0]] or not traffic[order[0]]:
        names = " and ".join(sorted(order[:2], key=int))
        fail(
            book.path, None, f"sockets {names} have about as much memory traffic; say which one is meant with --socket"
        )
    return (
        order[0],
        sockets[order[0]],
        [f"socket {order[0]} is shown, the busiest of {len(order)}; --socket chooses another"],
    )


def _traffic(windows: Sequence[Window]) -> float:
    return sum(window.totals.get(f"UNC_M_CAS_COUNT.{way}") or 0 for window in windows for way in ("RD", "WR"))


def _joined(cores: list[Window] | None, units: list[Window] | None) -> list[Window]:
    """Windows of cores and of other units that are of one socket."""
    if cores is None or units is None:
        return cores or units or []
    return [
        Window(a.line, a.length_ns, a.totals | b.totals, a.clocks | b.clocks) for a, b in zip(cores, units, strict=True)
    ]
