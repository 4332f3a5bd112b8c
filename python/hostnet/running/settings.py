"""Settings of a part that is simulated alone: keys with values, and the file that they refine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_config
from hostnet.running.arguments import json_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeVar

    Value = str | int | float | bool | list[int]
    Plan = TypeVar("Plan")


def setting(key: str, value: Value) -> str:
    """An assignment "key=value" as configurations take it."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def plan_of(check: Callable[..., Plan], overrides: Sequence[str], config: Path | None = None) -> Plan:
    """Has settings checked, on top of a configuration file if there is one.

    Raises:
        ConfigError: Something is wrong.
        OSError: The file cannot be read.
    """
    if config is None:
        return check(base_dir="", overrides=list(overrides))
    text = read_config(config)
    form = "json" if config.suffix == ".json" else "toml"
    base_dir = str(config.parent)
    return check(text, format=form, file=str(config), base_dir=base_dir, overrides=list(overrides))


def plan_from(check: Callable[..., Plan], values: Mapping[str, Value | None], what: str) -> Plan:
    """The plan with these values of keys; None is not given. `what` stands in messages where files do.

    Raises:
        ConfigError: Something is wrong.
    """
    tree: dict[str, Any] = {}
    for path, value in values.items():
        if value is None:
            continue
        *tables, key = path.split(".")
        table = tree
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise ConfigError("wrong-type", f"{path}: a part of it is a value, not a table")
        table[key] = value
    return check(json_of(tree, what), format="json", file=what, base_dir="")
