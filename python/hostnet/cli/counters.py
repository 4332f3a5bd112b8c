"""`hostnet run --counters` and `hostnet counters`: writes and shows files of counters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.terminal.screen import echo, echo_error, echo_json, screen_width
from hostnet.units import format_percent, format_time, parse_time_ps

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet._core import Plan
    from hostnet.cli.record_options import CounterOptions
    from hostnet.counters import CounterFile, Uarch
    from hostnet.counters.crossing import Direction
    from hostnet.running.results import Results

INTERVALS_MAX = 20_000
"""Maximum number of intervals of one file."""

MEANING_MIN = 50
"""Smallest width of the description of an event beside its name; if it is narrower, it is printed below."""

INDENT = 6
"""Indentation of text below a name."""

FILE_NAME = "counters.csv"
"""Name of the counter file in a run directory."""


def check_length(plan: Plan, options: CounterOptions) -> None:
    """Checks that a file of counters has at most `INTERVALS_MAX` intervals.

    Raises:
        ConfigError: The file would be longer.
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


def write_to_run_dir(results: Results, options: CounterOptions, folder: Path) -> None:
    """Writes the counters of a run into its run directory, unless `--counters-out` is given."""
    if options.form is not None and options.out is None and _has_counters(results):
        from hostnet import counters

        counters.write(results, folder / FILE_NAME, form=options.form, per_socket=options.per_socket)


def write_to_path(results: Results, options: CounterOptions) -> None:
    """Writes the counters of a run to the path of `--counters-out`."""
    if options.form is None or options.out is None or not _has_counters(results):
        return
    from hostnet.counters import write

    write(results, options.out, form=options.form, per_socket=options.per_socket)


def _has_counters(results: Results) -> bool:
    """Returns False for a run that was stopped before it measured anything."""
    return results.native.units_json not in (None, "[]")


def show_events(name: str | None, *, command: bool, interval_ms: int | None) -> int:
    """Prints the events of one microarchitecture, or of all."""
    from hostnet.counters import find_uarch, perf_command, uarchs

    chosen = [find_uarch(name)] if name is not None else list(uarchs().values())
    if command:
        if len(chosen) != 1:
            raise ConfigError("missing-key", f"--command: name one of {', '.join(uarchs())}")
        if interval_ms is not None and not 1 <= interval_ms <= 10**6:
            raise ConfigError("out-of-range", f"--interval-ms {interval_ms}: must be between 1 and 1000000")
        echo(perf_command(chosen[0], interval_ms or 1000))
        return 0
    if interval_ms is not None:
        raise ConfigError("requires-key", f"--interval-ms {interval_ms}: is about the perf command; give --command too")
    for index, uarch in enumerate(chosen):
        if index:
            echo()
        _print_events(uarch)
    return 0


def _print_events(uarch: Uarch) -> None:
    """Prints the events of a microarchitecture by unit."""
    from hostnet.cli.listing import wrap_description

    echo(f"{uarch.name}: {uarch.title}")
    uses = _quantities_by_event(uarch)
    column = 2 + max(map(len, uarch.events)) + 2
    if screen_width() - column < MEANING_MIN:
        column = INDENT
    for pmu in uarch.pmus.values():
        echo(f"\n{pmu.perf}, {pmu.hz / 1e6:g} MHz unless {pmu.clock} is counted")
        for event in uarch.events.values():
            if event.pmu != pmu.name:
                continue
            head = f"  {event.name}"
            if column == INDENT:
                echo(head)
                head = ""
            uncertain = "; not documented for this server" if event.unconfirmed else ""
            echo(wrap_description(f"{event.meaning}{uncertain}", f"{head:<{column}}"))
            echo(
                wrap_description(
                    f"{event.encoding}; for {', '.join(uses.get(event.name, ['information']))}", " " * column
                )
            )


def _quantities_by_event(uarch: Uarch) -> dict[str, list[str]]:
    """Returns the quantities that each event is used for."""
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
    """Prints the content of a file of counters."""
    for warning in file.warnings:
        echo_error(f"warning: {warning}")
    if as_json:
        echo_json(_document(file))
        return 0
    socket = f", socket {file.socket}" if file.socket else ""
    echo(f"{file.path}: {file.format}, {file.uarch}{socket}, {len(file.windows)} windows")
    quantities = {"window_ns": file.total["window_ns"]} if file.format == "pcm-numa" else file.total
    for quantity, value in quantities.items():
        if isinstance(value, dict):
            for part, number in value.items():
                _print_quantity(f"{quantity}.{part}", number)
        else:
            _print_quantity(quantity, value)
    for link in file.links:
        ways = (f"{verb} {_link_text(getattr(link, way))}" for verb, way in (("sends", "sent"), ("gets", "received")))
        echo(f"  {link.words:<22} {', '.join(ways)}")
    for sentence in file.crossing:
        echo(f"* {sentence}")
    for missing in file.missing:
        echo(f"missing: {missing}")
    return 0


def _link_text(direction: Direction) -> str:
    """Describes one direction of a UPI link."""
    lines = "-" if direction.line_gb_per_s is None else f"{direction.line_gb_per_s:.4g}"
    busy = "-" if direction.busy_share is None else format_percent(direction.busy_share, 1)
    return f"{lines} GB/s of lines ({busy} of its slots)"


def _print_quantity(name: str, value: float | None) -> None:
    """Prints a quantity on one line."""
    echo(f"  {name:<22} {'-' if value is None else f'{value:.6g}'}")


def _document(file: CounterFile) -> dict[str, Any]:
    """Returns the content of a file of counters, ready for JSON."""
    from hostnet.counters.crossing import to_dict

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
        "upi": to_dict(file.links, file.numa),
        "crossing": file.crossing,
        "warnings": file.warnings,
    }
