"""`hostnet list`: prints the names that the simulator knows."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.terminal.screen import echo, screen_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Schema = dict[str, Any]

TEXT_MIN = 20
"""Smallest width of a description, even on a narrower screen."""

EXPLANATION = """\
A workload is a table [workload.<name>] of the configuration; its key `kind` says what it does.
"""

JOB_FILES = """\
A job file of fio may stand in place of `jobs`: rw, bs, size, ioengine, iodepth, numjobs, rwmixread, filename,
directory, cpus_allowed and ramp_time have their meaning from fio. What has no effect in the model is reported after the
run, and what changes a job in a way that the model does not know is refused.
"""


def show_list(what: str | None, *, errors: bool = False) -> int:
    """Prints one of the lists, or the names of all lists; with `errors`, the error cards of presets."""
    if errors:
        return show_error_cards(what)
    if what is None:
        print_described((name, about) for name, (_, about) in LISTS.items())
        return 0
    if what not in LISTS:
        near = get_close_matches(what, LISTS, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"choose one of {', '.join(LISTS)}"
        raise _core.ConfigError("unknown-name", f'"{what}" cannot be listed; {hint}')
    LISTS[what][0]()
    return 0


def print_described(rows: Iterable[tuple[str, str]]) -> None:
    """Prints names with their descriptions beside them."""
    found = list(rows)
    width = max((len(name) for name, _ in found), default=0)
    for name, text in found:
        echo(wrap_description(text, f"{name:<{width}}  "))


def wrap_description(text: str, head: str = "") -> str:
    """Wraps a description to the screen, after `head` on the first line; names are not broken."""
    width, indent = max(screen_width(), len(head) + TEXT_MIN), " " * len(head)
    return textwrap.fill(text, width, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False)


def show_presets() -> None:
    """Prints the presets with their descriptions."""
    rows = [((name, text), ("", unvalidated or "")) for name, text, unvalidated in _core.presets()]
    print_described(row for pair in rows for row in pair if row[1])


def show_error_cards(what: str | None) -> int:
    """Prints the error card of every preset.

    Raises:
        ConfigError: Another list is asked for.
    """
    from hostnet.cli import show
    from hostnet.error_cards import HEADS, error_cards

    if what not in (None, "presets"):
        raise _core.ConfigError("conflicting-keys", f"--errors: {what} have no error cards; use it with presets")
    cards = error_cards()
    print_described((card.preset, card.headline) for card in cards)
    table = show.new_table("server", *HEADS, left=(0,))
    for card in cards:
        for cells in card.rows():
            table.add_row(card.preset, *cells)
    if table.row_count:
        with show.buffered_console() as console:
            show.print_tables(console, table)
    return 0


def show_apps() -> None:
    """Prints the applications with their descriptions."""
    print_described(_core.apps())


def show_counters() -> None:
    """Prints the lists of hardware counters by microarchitecture."""
    from hostnet.counters import uarchs

    print_described(
        (name, f"{uarch.title}: {len(uarch.events)} events, see hostnet counters events {name}")
        for name, uarch in uarchs().items()
    )


def show_names(names: list[str]) -> None:
    """Prints one name per line."""
    for name in names:
        echo(name)


def show_studies() -> None:
    """Prints the names and titles of the studies."""
    from hostnet.ledger import load_study, study_names

    print_described((name, load_study(name).title) for name in study_names())


def show_papers() -> None:
    """Prints the papers that studies reproduce."""
    from hostnet.ledger import papers

    print_described((name, f"{paper.source}: {', '.join(paper.studies)}") for name, paper in papers().items())


def show_errors() -> None:
    """Prints the codes of errors with their rules."""
    print_described((code, meaning) for code, meaning, _ in _core.error_table())


def show_workloads() -> None:
    """Prints the kinds of workloads and their keys from the schema."""
    schema = json.loads(_core.schema())
    echo(wrap_description(EXPLANATION) + "\n")
    for kind in schema["properties"]["workload"]["additionalProperties"]["oneOf"]:
        head = f'kind = "{kind["properties"]["kind"]["const"]}": {kind["description"]}'
        echo(wrap_description(head) + "\n")
        for line in key_lines(kind, indent=2):
            echo(line)
        echo()
    echo(wrap_description(JOB_FILES))


def key_lines(table: Schema, indent: int) -> Iterator[str]:
    """Yields the keys of a table with meaning and range, required ones first; nested tables follow their key."""
    required = table.get("required", [])
    names = sorted((name for name in table["properties"] if name != "kind"), key=lambda name: name not in required)
    column = indent + max(map(len, names)) + 2
    for name in names:
        key = table["properties"][name]
        head = f"{'':{indent}}{name:<{column - indent}}"
        yield wrap_description(key_description(key, name in required), head)
        for inner in (key, key.get("items", {})):
            if "properties" in inner:
                yield from key_lines(inner, column)


def key_description(key: Schema, required: bool) -> str:
    """Describes a key: its meaning, its range or values, and its default."""
    parts = [" ".join(key["description"].split())]
    words = [choice["const"] for choice in key.get("oneOf", []) if "const" in choice]
    if words:
        parts.append(f"One of {', '.join(words)}.")
    limits = (key.get("x-min", key.get("minimum")), key.get("x-max", key.get("maximum")))
    if None not in limits:
        parts.append(f"From {limits[0]} to {limits[1]}.")
    elif limits[1] is not None:
        parts.append(f"At most {limits[1]}.")
    if required:
        parts.append("Required.")
    elif "default" in key:
        parts.append(f"{key['default']} when absent.")
    return " ".join(parts)


LISTS: dict[str, tuple[Callable[[], None], str]] = {
    "presets": (show_presets, "servers"),
    "devices": (lambda: show_names(_core.devices()), "DRAM devices"),
    "profiles": (lambda: show_names(_core.profiles()), "memory controllers"),
    "energy": (lambda: show_names(_core.energy_profiles()), "what parts consume"),
    "power": (lambda: show_names(_core.power_profiles()), "frequencies and sleep states of cores"),
    "chips": (lambda: show_names(_core.chips()), "chips with network interfaces"),
    "dies": (lambda: show_names(_core.dies()), "where the parts of a socket lie on its mesh"),
    "workloads": (show_workloads, "kinds of workloads and their keys"),
    "apps": (show_apps, "applications"),
    "studies": (show_studies, "published results that `hostnet validate` recomputes"),
    "papers": (show_papers, "papers that `hostnet paper` reproduces"),
    "counters": (show_counters, "hardware counters"),
    "errors": (show_errors, "codes of errors, and the rule of each"),
}
"""Lists by name: the function that prints each, and its description."""
