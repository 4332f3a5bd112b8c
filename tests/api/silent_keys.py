"""Every key of a configuration, set to other legal values, and what becomes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from hostnet import _core

Schema = dict[str, Any]
Fate = Literal["changes", "told", "silent", "wrong", "refused", "untried"]

ABOUT = ("config_hash", "ignored", "unvalidated", "no_effect", "never_met", "events", "name")
"""What a summary says that is no result."""

UNITS = {"time": "ns", "size": "KiB", "frequency": "GHz", "bandwidth": "GB/s"}
LISTS = {"cores": ["0", "0-1"], "ways": ["0-1", "0-3"], "drives": ["0"], "channels": ["0"]}


class Result(NamedTuple):
    """What a run found, and what it says of keys."""

    found: str
    no_effect: list[str]
    told: list[str]
    config: dict[str, Any]


Engine = Callable[..., Result]


def run(text: str, *settings: str) -> Result:
    """Runs a configuration.

    Raises:
        ConfigError: A setting is refused.
    """
    plan = _core.resolve(text, overrides=list(settings))
    result = _core.run(plan)
    summary = json.loads(result.summary_json)
    tables = {name: result.table(name) for name in result.table_names}
    found = json.dumps([without(summary, ABOUT), tables], sort_keys=True)
    told = [*summary["ignored"], *summary["never_met"]]
    return Result(found, summary["no_effect"], told, json.loads(plan.effective_json()))


def predict(text: str, *settings: str) -> Result:
    """Predicts a configuration, as `run` runs it."""
    plan = _core.resolve(text, overrides=list(settings))
    result = _core.predict(plan)
    summary = json.loads(result.summary_json)
    told = [*summary["ignored"], *summary["uncertainty"]["outside"]]
    # What limits a workload is told of servers that predictions were checked on alone.
    rows = without([summary[table] for table in ("workloads", "domains", "channels")], ("limited_by",))
    found = json.dumps(rows, sort_keys=True)
    return Result(found, summary["no_effect"], told, json.loads(plan.effective_json()))


def without(value: Any, names: tuple[str, ...]) -> Any:
    """A piece of JSON without the entries of some names, however deep."""
    if isinstance(value, dict):
        return {name: without(below, names) for name, below in value.items() if name not in names}
    return [without(below, names) for below in value] if isinstance(value, list) else value


def keys_of(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """The dotted paths of all keys with values, and the schema of each; not those of tables that users name."""
    tables = [kind for kind in (schema, *schema.get("anyOf", ())) if "properties" in kind]
    for table in tables:
        for name, below in table["properties"].items():
            yield from keys_of(below, f"{path}.{name}" if path else name)
    if not tables and not isinstance(schema.get("additionalProperties"), dict):
        yield path, schema


def value_at(tree: Any, path: str) -> Any:
    """The value of a dotted path; nothing if there is none."""
    for name in path.split("."):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def others(schema: Schema, now: Any) -> list[Any]:
    """Values of a key that may be legal, other than the one it has; the likeliest first."""
    values: list[Any] = []
    for kind in (schema, *schema.get("anyOf", ())):
        values += numbers(kind, now) + quantities(kind, now)
        values += [True, False] if kind.get("type") == "boolean" else []
        values += [*kind.get("enum", ()), *kind.get("x-words", ())]
        values += [choice["const"] for choice in kind.get("oneOf", ()) if "const" in choice]
        values += LISTS.get(kind.get("x-form", ""), []) + lists(kind)
    return [value for at, value in enumerate(values) if value != now and value not in values[:at]]


def lists(kind: Schema) -> list[Any]:
    """Lists of numbers, spans of time, and lists of those: one early in a run, one long after it."""
    items = kind.get("items", {})
    if items.get("type") == "integer":
        return [[items.get("minimum", 0)], [items.get("maximum", 7)]]
    if items.get("x-quantity") == "time" and kind.get("maxItems") == 2:
        return [["20 us", "30 us"], ["500 s", "600 s"]]
    return [[item] for item in lists(items)] if items.get("type") == "array" else []


def numbers(kind: Schema, now: Any) -> list[Any]:
    """Numbers around the one that there is, then the ends of the range."""
    if kind.get("type") not in ("integer", "number"):
        return []
    least, most = kind.get("minimum", 0), kind.get("maximum", 100)
    near = [] if isinstance(now, bool) or not isinstance(now, int | float) else [now * 2, now // 2, now + 1]
    return [*near, min(most, max(least, 2)), least, most]


def quantities(kind: Schema, now: Any) -> list[Any]:
    """Values with a unit around the one that there is, then the ends of the range."""
    shown = re.fullmatch(r"([0-9.]+) (\S+)", now) if isinstance(now, str) else None
    near = [f"{float(shown[1]) * by:g} {shown[2]}" for by in (2, 0.5, 10)] if shown else []
    unit = UNITS.get(kind.get("x-quantity", ""))
    any_at_all = [f"{size} {unit}" for size in (10, 64)] if unit else []
    return [*near, *(kind[end] for end in ("x-min", "x-max") if isinstance(kind.get(end), str)), *any_at_all]


def fate(text: str, before: Result, key: str, schema: Schema, engine: Engine, tries: int) -> Fate:
    """What becomes of a key that is set to other values, up to `tries` that are accepted and change nothing.

    It is silent if nothing says so of the last of them, and wrong if one that changes the result is said to do nothing.
    """
    fate: Fate = "untried"
    for value in others(schema, value_at(before.config, key)):
        try:
            after = engine(text, f"{key}={json.dumps(value)}")
        except _core.ConfigError:
            fate = "refused" if fate == "untried" else fate
            continue
        except _core.SimulationError:
            return "changes"
        if after.found != before.found:
            return "wrong" if key in after.no_effect else "changes"
        # What lies outside of predictions is told in words.
        outside = engine is predict and after.told != before.told
        told = outside or any(key in note for note in (*after.no_effect, *after.told))
        fate = "told" if told else "silent"
        tries -= 1
        if not tries:
            break
    return fate
