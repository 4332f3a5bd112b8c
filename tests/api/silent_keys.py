"""Sets every key of a configuration to other legal values, and classifies the effect."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from hostnet import _core

Schema = dict[str, Any]
Fate = Literal["changes", "told", "silent", "wrong", "refused", "untried"]

ABOUT = ("config_hash", "ignored", "unvalidated", "no_effect", "never_met", "events", "name")
"""Entries of a summary that are not results."""

UNITS = {"time": "ns", "size": "KiB", "frequency": "GHz", "bandwidth": "GB/s"}
LISTS = {"cores": ["0", "0-1"], "ways": ["0-1", "0-3"], "drives": ["0"], "channels": ["0"]}


class Result(NamedTuple):
    """Results of a run, and its notes on keys."""

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
    """Predicts a configuration, with the arguments of `run`."""
    plan = _core.resolve(text, overrides=list(settings))
    result = _core.predict(plan)
    summary = json.loads(result.summary_json)
    told = [*summary["ignored"], *summary["uncertainty"]["outside"]]
    # Limits are reported only for servers like those that predictions were checked on.
    rows = without([summary[table] for table in ("workloads", "domains", "channels")], ("limited_by",))
    found = json.dumps(rows, sort_keys=True)
    return Result(found, summary["no_effect"], told, json.loads(plan.effective_json()))


def without(value: Any, names: tuple[str, ...]) -> Any:
    """Returns a piece of JSON without the entries of the given names, at any depth."""
    if isinstance(value, dict):
        return {name: without(below, names) for name, below in value.items() if name not in names}
    return [without(below, names) for below in value] if isinstance(value, list) else value


def keys_of(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Returns the dotted paths of all keys with values, and the schema of each, except tables named by users."""
    tables = [kind for kind in (schema, *schema.get("anyOf", ())) if "properties" in kind]
    for table in tables:
        for name, below in table["properties"].items():
            yield from keys_of(below, f"{path}.{name}" if path else name)
    if not tables and not isinstance(schema.get("additionalProperties"), dict):
        yield path, schema


def value_at(tree: Any, path: str) -> Any:
    """Returns the value at a dotted path; None if there is none."""
    for name in path.split("."):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def others(schema: Schema, now: Any) -> list[Any]:
    """Yields values of a key that may be legal, other than its current one, most likely first."""
    values: list[Any] = []
    for kind in (schema, *schema.get("anyOf", ())):
        values += numbers(kind, now) + quantities(kind, now)
        values += [True, False] if kind.get("type") == "boolean" else []
        values += [*kind.get("enum", ()), *kind.get("x-words", ())]
        values += [choice["const"] for choice in kind.get("oneOf", ()) if "const" in choice]
        values += LISTS.get(kind.get("x-form", ""), []) + lists(kind)
    return [value for at, value in enumerate(values) if value != now and value not in values[:at]]


def lists(kind: Schema) -> list[Any]:
    """Returns lists of numbers, spans of time, and lists of those: one early in a run, one long after its end."""
    items = kind.get("items", {})
    if items.get("type") == "integer":
        return [[items.get("minimum", 0)], [items.get("maximum", 7)]]
    if items.get("x-quantity") == "time" and kind.get("maxItems") == 2:
        return [["20 us", "30 us"], ["500 s", "600 s"]]
    return [[item] for item in lists(items)] if items.get("type") == "array" else []


def numbers(kind: Schema, now: Any) -> list[Any]:
    """Returns numbers around the current one, then the bounds of the range."""
    if kind.get("type") not in ("integer", "number"):
        return []
    least, most = kind.get("minimum", 0), kind.get("maximum", 100)
    near = [] if isinstance(now, bool) or not isinstance(now, int | float) else [now * 2, now // 2, now + 1]
    return [*near, min(most, max(least, 2)), least, most]


def quantities(kind: Schema, now: Any) -> list[Any]:
    """Returns values with a unit around the current one, then the bounds of the range."""
    shown = re.fullmatch(r"([0-9.]+) (\S+)", now) if isinstance(now, str) else None
    near = [f"{float(shown[1]) * by:g} {shown[2]}" for by in (2, 0.5, 10)] if shown else []
    unit = UNITS.get(kind.get("x-quantity", ""))
    any_at_all = [f"{size} {unit}" for size in (10, 64)] if unit else []
    return [*near, *(kind[end] for end in ("x-min", "x-max") if isinstance(kind.get(end), str)), *any_at_all]


def fate(text: str, before: Result, key: str, schema: Schema, engine: Engine, tries: int) -> Fate:
    """Returns the effect of setting a key to other values; tries up to `tries` that are accepted and change nothing.

    The key is silent if no note names it for the last value, and wrong if a note denies an effect that it has.
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
        # A configuration outside of the validated range of predictions is reported in a sentence.
        outside = engine is predict and after.told != before.told
        told = outside or any(key in note for note in (*after.no_effect, *after.told))
        fate = "told" if told else "silent"
        tries -= 1
        if not tries:
            break
    return fate
