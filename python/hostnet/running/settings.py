"""Settings of a part that is simulated alone: assignments, and the file that they override."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.files import read_config
from hostnet.plain_json import json_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeVar

    Value = str | int | float | bool | list[int]
    Plan = TypeVar("Plan")


def setting(key: str, value: Value) -> str:
    """Returns an assignment "key=value" in the syntax of configurations."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def resolve_settings(check: Callable[..., Plan], overrides: Sequence[str], config: Path | None = None) -> Plan:
    """Resolves settings, on top of a configuration file if one is given.

    Raises:
        ConfigError: A setting is invalid.
        OSError: The file cannot be read.
    """
    if config is None:
        return check(base_dir="", overrides=list(overrides))
    text = read_config(config)
    form = "json" if config.suffix == ".json" else "toml"
    base_dir = str(config.parent)
    return check(text, format=form, file=str(config), base_dir=base_dir, overrides=list(overrides))


def resolve_values(check: Callable[..., Plan], values: Mapping[str, Value | None], what: str) -> Plan:
    """Resolves values of keys; those that are None are omitted. Messages call the source `what`.

    Raises:
        ConfigError: A value is invalid.
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
