"""Checks what the memory alone is to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet.files import read_config
from hostnet.running.arguments import json_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Value = str | int | float | bool


def setting(key: str, value: Value) -> str:
    """An assignment "key=value" as configurations take it."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def plan_of(overrides: Sequence[str], config: Path | None = None) -> _core.MemoryPlan:
    """Checks settings, on top of a configuration file if there is one.

    Raises:
        ConfigError: Something is wrong.
        OSError: The file cannot be read.
    """
    if config is None:
        return _core.memory_plan(base_dir="", overrides=list(overrides))
    text = read_config(config)
    form = "json" if config.suffix == ".json" else "toml"
    base_dir = str(config.parent)
    return _core.memory_plan(text, format=form, file=str(config), base_dir=base_dir, overrides=list(overrides))


def plan_from(values: Mapping[str, Value | None]) -> _core.MemoryPlan:
    """The plan with these values of keys; None is not given."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        if value is None:
            continue
        *tables, key = path.split(".")
        table = tree
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise _core.ConfigError(f"{path}: a part of it is a value, not a table")
        table[key] = value
    return _core.memory_plan(json_of(tree, "hostnet.memory"), format="json", file="hostnet.memory", base_dir="")
