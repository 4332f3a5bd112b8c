"""Shell completion of options and arguments: names, keys and folders."""

from __future__ import annotations

import json
import os
import re
import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import CONFIGURATIONS
from hostnet.glossary.keys import inner_schema, keys_of
from hostnet.rundir import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Schema = dict[str, Any]
    Complete = Callable[[Any, str], Iterable[str]]

NAMED_VALUES: dict[str, Callable[[], list[str]]] = {
    "preset": lambda: presets(),
    "device": lambda: list(_core.devices()),
    "profile": lambda: [*_core.profiles(), *_core.energy_profiles(), *_core.power_profiles()],
    "app": lambda: [name for name, _ in _core.apps()],
    "die": lambda: list(_core.dies()),
}
"""Values of keys by the last word of their path, for keys whose values the schema does not list."""


LISTED_WORDS = re.compile(r": ([^:.]+)\.")
"""Choices that a help text lists after a colon: "Routing: xy, yx or o1turn."."""

CHOICE = re.compile(r"[a-z][a-z0-9-]*|[A-Z]")
"""Choice that can be typed as it stands, unlike `strN` or `an order such as RoBaRaCoCh`."""


def attach(command: str, parameters: Iterable[Any]) -> None:
    """Attaches completion to the parameters of a command."""
    for parameter in parameters:
        complete = COMPLETERS.get(f"{command} {parameter.name}") or COMPLETERS.get(parameter.name)
        if complete is None and (choices := listed_choices(parameter)):
            complete = partial(_last_of_list, choices)
        if complete is not None:
            parameter._custom_shell_complete = _as_typer_wants(complete)


def listed_choices(parameter: Any) -> list[str]:
    """Returns the choices that the metavar (`run|predict`) or the help text of a parameter lists."""
    if getattr(parameter, "is_flag", False):
        return []
    found = LISTED_WORDS.search(parameter.help or "")
    words = (parameter.metavar or "").split("|")
    if len(words) < 2:
        words = re.split(", | or ", found[1]) if found else []
    return [word for word in words if CHOICE.fullmatch(word)]


def _last_of_list(choices: list[str], _context: Any, start: str) -> list[str]:
    """Returns the choices for the last entry of a list such as `pcie,onchip`."""
    head = start[: start.rfind(",") + 1]
    return [f"{head}{choice}" for choice in choices]


def _as_typer_wants(complete: Complete) -> Callable[[Any, Any, str], list[Any]]:
    """Wraps a completer in the signature that Typer expects."""
    from typer._click.shell_completion import CompletionItem

    def found(context: Any, _parameter: Any, start: str) -> list[Any]:
        return [CompletionItem(name) for name in complete(context, start) if name.startswith(start)]

    return found


def presets() -> list[str]:
    """Returns the names of the presets."""
    return [name for name, _, _ in _core.presets()]


def lists(_context: Any = None, _start: str = "") -> list[str]:
    """Returns the arguments of `hostnet list`."""
    from hostnet.cli.listing import LISTS

    return list(LISTS)


def studies(_context: Any, _start: str) -> list[str]:
    """Returns the names of the studies."""
    from hostnet.ledger import study_names

    return list(study_names())


def papers(_context: Any, _start: str) -> list[str]:
    """Returns the papers that studies reproduce."""
    from hostnet.ledger.papers import papers as all_papers

    return list(all_papers())


def clusters(_context: Any, _start: str) -> list[str]:
    """Returns the names of the cluster templates."""
    return list(_core.cluster_templates())


def term_names(_context: Any, _start: str) -> list[str]:
    """Returns the names that `hostnet explain-term` defines."""
    from hostnet.headings import all_definitions

    return list(dict.fromkeys(one.name for one in all_definitions() if " " not in one.name))


def hosts(context: Any, _start: str) -> list[str]:
    """Returns the hosts of the configuration, or of a run directory."""
    file = next((value for value in map(context.params.get, ("file", "what")) if value), _file_on_the_line())
    if file is not None and Path(file).is_dir():
        file = Path(file) / "config.toml"
    return list(_content(file).get("host", ()))


def files(_context: Any, start: str, endings: tuple[str, ...] = CONFIGURATIONS) -> Iterator[str]:
    """Yields files with one of the suffixes, and folders."""
    head = start[: start.rfind("/") + 1]
    folder = Path(head or ".")
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and not path.name.startswith("."):
            yield f"{head}{path.name}/"
        elif path.suffix in endings:
            yield f"{head}{path.name}"


def runs(context: Any, start: str) -> Iterator[str]:
    """Yields run directories in `runs`, and files."""
    if RUNS.is_dir():
        for path in sorted(RUNS.iterdir()):
            if any((path / name).is_file() for name in ("summary.json", "sweep.json", "seeds.json")):
                yield str(path)
    if not start.startswith(f"{RUNS}/"):
        yield from files(context, start)


def servers(context: Any, start: str) -> Iterator[str]:
    """Yields presets and files."""
    yield from presets()
    yield from files(context, start)


def devices(context: Any, start: str) -> Iterator[str]:
    """Yields DRAM devices and files."""
    yield from _core.devices()
    yield from files(context, start)


def fitted(_context: Any, _start: str) -> list[str]:
    """Returns the parameters that can be fitted to measurements."""
    from hostnet.calibration.parameters import fittable

    return [path for path, _ in fittable()]


def counted(_context: Any, _start: str) -> Iterator[str]:
    """Yields microarchitectures with a list of events, and their presets."""
    from hostnet.counters import uarchs

    for uarch in uarchs().values():
        yield uarch.name
        yield from uarch.presets


def assignments(context: Any, start: str, schema_of_part: Callable[[], str] | None = None) -> Iterator[str]:
    """Yields keys of the configuration for `--set` and `--over`, one table at a time, and named values."""
    content = _content(context.params.get("file") or _file_on_the_line())
    kinds = {"host": _core.cluster_schema, "chip": _core.chip_schema}
    kind = schema_of_part or next((text for key, text in kinds.items() if key in content), _core.schema)
    schema: Schema = json.loads(kind())
    path, equals, _ = start.partition("=")
    *tables, key = path.split(".")
    for table in tables:
        schema = inner_schema(schema, table)
        below = content.get(table)
        content = below if isinstance(below, dict) else {}
    head = "".join(f"{table}." for table in tables)
    if equals:
        yield from (f"{path}={value}" for value in _values(key, inner_schema(schema, key)))
        return
    for name in {**keys_of(schema), **(content if "additionalProperties" in schema else {})}:
        inner = inner_schema(schema, name)
        yield f"{head}{name}{'.' if _is_table(inner) else '='}"


def _file_on_the_line() -> str | None:
    """Finds the configuration on the line to complete. The line cannot be parsed while an option lacks its value."""
    words = " ".join(os.environ.get(name, "") for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")).split()
    return next((word for word in words if word.endswith(CONFIGURATIONS) and Path(word).is_file()), None)


def _content(file: Any) -> dict[str, Any]:
    """Reads a configuration; empty if it cannot be read."""
    try:
        path = Path(file)
        text = path.read_text()
        found: dict[str, Any] = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, TypeError, ValueError):
        return {}
    return found


def _is_table(schema: Schema) -> bool:
    """Returns True if a key is always a table."""
    kinds = (*schema.get("oneOf", ()), *schema.get("anyOf", ())) or (schema,)
    return all("properties" in kind or kind.get("additionalProperties") for kind in kinds)


def _values(key: str, schema: Schema) -> list[str]:
    """Returns the named values of a key."""
    if schema.get("type") == "boolean":
        return ["true", "false"]
    words = [str(choice["const"]) for choice in schema.get("oneOf", ()) if "const" in choice]
    return words or list(map(str, schema.get("enum", ()))) or NAMED_VALUES.get(key, list)()


COMPLETERS: dict[str, Complete] = {
    "overrides": assignments,
    "over": assignments,
    **dict.fromkeys(("memory overrides", "memory over"), partial(assignments, schema_of_part=_core.memory_schema)),
    **dict.fromkeys(("noc overrides", "noc over"), partial(assignments, schema_of_part=_core.noc_schema)),
    "host": hosts,
    "pcap_host": hosts,
    "file": files,
    "server": servers,
    "base": lambda _context, _start: presets(),
    "calibrate fit": fitted,
    "counters uarch": counted,
    "memory config": files,
    "memory device": devices,
    "memory profile": lambda _context, _start: list(_core.profiles()),
    "filter preset": lambda _context, _start: presets(),
    "new preset": lambda _context, _start: _core.chips(),
    "new app": lambda _context, _start: NAMED_VALUES["app"](),
    "new cluster": clusters,
    "paper paper": papers,
    "list what": lists,
    "validate studies": studies,
    "plot run_dir": runs,
    "explain what": runs,
    "explain-term term": term_names,
    "compare a": runs,
    "compare b": runs,
    "run counters_form": lambda _context, _start: ["perf", "pcm", "pcm-numa"],
    "run compare": lambda _context, _start: ["predict", "alone"],
}
"""Completers of the parameters, by parameter name or by command and parameter name."""
