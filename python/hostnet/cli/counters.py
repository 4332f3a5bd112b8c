"""Files of counters on the command line: what `hostnet run --counters` writes and `hostnet counters` shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.terminal.screen import complain, say, say_json, screen_width
from hostnet.units import format_percent, format_time, parse_time_ps

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet._core import Plan
    from hostnet.cli.request import CounterOptions
    from hostnet.counters import CounterFile, Uarch
    from hostnet.counters.crossing import Direction
    from hostnet.running.results import Results

INTERVALS_MAX = 20_000
"""The most intervals of one file."""

MEANING_MIN = 50
"""Columns for the meaning of an event beside its name; with fewer it stands below."""

INDENT = 6
"""Blanks before what stands below a name."""

FILE_NAME = "counters.csv"
"""The file of counters in a run directory."""


def check_length(plan: Plan, options: CounterOptions) -> None:
    """Refuses an interval that makes a file of an unreasonable length.

    Raises:
        ConfigError: It does.
    """
    if not options.interval_ps:
        return
    run = json.loads(plan.effective_json())["run"]
    length_ps = parse_time_ps(run.get("duration") or run["duration_max"], "run.duration")
    if length_ps > INTERVALS_MAX * options.interval_ps:
        raise ConfigError(
            "too-many",
            f"--counters-interval: {format_time(length_ps)} have {length_ps // options.interval_ps} intervals of "
            f"{format_time(options.interval_ps)}; at most {INTERVALS_MAX} are written",
        )


def write_inside(results: Results, options: CounterOptions, place: Path) -> None:
    """Writes the counters of a run into its run directory, unless they go elsewhere."""
    if options.form is not None and options.out is None and _has_counters(results):
        from hostnet import counters

        counters.write(results, place / FILE_NAME, form=options.form, per_socket=options.per_socket)


def write_aside(results: Results, options: CounterOptions) -> None:
    """Writes the counters of a run where `--counters-out` says."""
    if options.form is None or options.out is None or not _has_counters(results):
        return
    from hostnet.counters import write

    write(results, options.out, form=options.form, per_socket=options.per_socket)


def _has_counters(results: Results) -> bool:
    """A run that was stopped before it measured anything has none."""
    return results.native.units_json not in (None, "[]")


def show_events(name: str | None, *, command: bool, interval_ms: int | None) -> int:
    """Prints the events of a microarchitecture, or of all."""
    from hostnet.counters import find_uarch, perf_command, uarchs

    chosen = [find_uarch(name)] if name is not None else list(uarchs().values())
    if command:
        if len(chosen) != 1:
            raise ConfigError("missing-key", f"--command: name one of {', '.join(uarchs())}")
        if interval_ms is not None and not 1 <= interval_ms <= 10**6:
            raise ConfigError("out-of-range", f"--interval-ms {interval_ms}: must be between 1 and 1000000")
        say(perf_command(chosen[0], interval_ms or 1000))
        return 0
    if interval_ms is not None:
        raise ConfigError("requires-key", f"--interval-ms {interval_ms}: is about the perf command; give --command too")
    for index, uarch in enumerate(chosen):
        if index:
            say()
        _print_events(uarch)
    return 0


def _print_events(uarch: Uarch) -> None:
    from hostnet.cli.listing import described

    say(f"{uarch.name}: {uarch.title}")
    uses = _uses(uarch)
    column = 2 + max(map(len, uarch.events)) + 2
    if screen_width() - column < MEANING_MIN:
        column = INDENT
    for pmu in uarch.pmus.values():
        say(f"\n{pmu.perf}, {pmu.hz / 1e6:g} MHz unless {pmu.clock} tells")
        for event in uarch.events.values():
            if event.pmu != pmu.name:
                continue
            head = f"  {event.name}"
            if column == INDENT:
                say(head)
                head = ""
            uncertain = "; not documented for this server" if event.unconfirmed else ""
            say(described(f"{event.meaning}{uncertain}", f"{head:<{column}}"))
            say(described(f"{event.encoding}; for {', '.join(uses.get(event.name, ['information']))}", " " * column))


def _uses(uarch: Uarch) -> dict[str, list[str]]:
    """What each event serves for."""
    uses: dict[str, list[str]] = {}
    for quantity, ways in uarch.ways.items():
        for key in dict.fromkeys(key for way in ways for key in way):
            uses.setdefault(key.partition(" >=")[0], []).append(quantity)
    for pmu in uarch.pmus.values():
        uses.setdefault(pmu.clock, []).append(f"the clock of {pmu.perf}")
        if pmu.reference:
            uses.setdefault(pmu.reference, []).append(f"the frequency of {pmu.perf}")
    return uses


def show_file(file: CounterFile, *, as_json: bool) -> int:
    """Prints what a file of counters tells."""
    for warning in file.warnings:
        complain(f"warning: {warning}")
    if as_json:
        say_json(_document(file))
        return 0
    socket = f", socket {file.socket}" if file.socket else ""
    say(f"{file.path}: {file.format}, {file.uarch}{socket}, {len(file.windows)} windows")
    told = {"window_ns": file.total["window_ns"]} if file.format == "pcm-numa" else file.total
    for quantity, value in told.items():
        if isinstance(value, dict):
            for part, number in value.items():
                _print_quantity(f"{quantity}.{part}", number)
        else:
            _print_quantity(quantity, value)
    for link in file.links:
        ways = (f"{verb} {_link_words(getattr(link, way))}" for verb, way in (("sends", "sent"), ("gets", "received")))
        say(f"  {link.words:<22} {', '.join(ways)}")
    for sentence in file.crossing:
        say(f"* {sentence}")
    for missing in file.missing:
        say(f"missing: {missing}")
    return 0


def _link_words(direction: Direction) -> str:
    lines = "-" if direction.line_gb_per_s is None else f"{direction.line_gb_per_s:.4g}"
    busy = "-" if direction.busy_share is None else format_percent(direction.busy_share, 1)
    return f"{lines} GB/s of lines ({busy} of its slots)"


def _print_quantity(name: str, value: float | None) -> None:
    say(f"  {name:<22} {'-' if value is None else f'{value:.6g}'}")


def _document(file: CounterFile) -> dict[str, Any]:
    from hostnet.counters.crossing import document_of

    return {
        "path": file.path,
        "format": file.format,
        "uarch": file.uarch,
        "socket": file.socket,
        "thresholds": file.thresholds,
        "busy_cores": file.busy_cores,
        "lfb_full_cores": file.lfb_full_cores,
        "total": file.total,
        "windows": file.windows,
        "ends_ns": file.ends_ns,
        "missing": [
            {"quantity": one.quantity, "events": list(one.events), "message": str(one)} for one in file.missing
        ],
        "upi": document_of(file.links, file.numa),
        "crossing": file.crossing,
        "warnings": file.warnings,
    }
