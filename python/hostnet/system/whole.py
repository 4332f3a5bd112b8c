"""Base class of whole configurations, which are read from files and converted back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

from hostnet import _core
from hostnet.files import parse_toml, read_config
from hostnet.plain_json import json_of
from hostnet.system.convert import from_dict, to_dict


class Whole:
    """The content of a configuration file."""

    def to_dict(self) -> dict[str, Any]:
        """The configuration as nested dicts with the keys of the file; what is None is left out."""
        content: dict[str, Any] = to_dict(self)
        del content["base_dir"]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], base_dir: str = ".") -> Self:
        """Makes a configuration of nested dicts with the keys of the file.

        Raises:
            ConfigError: A key is unknown or a value is wrong.
        """
        what = cls.__name__.lower()
        text = json_of(content, what)
        cls._check(_core.resolve(text, format="json", file=what, base_dir=base_dir), what)
        return from_dict(cls, {**content, "base_dir": base_dir})

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Self:
        """Reads a configuration file. A run without a name is named after the file.

        Raises:
            ConfigError: A key is unknown or a value is wrong; the message gives the line.
            OSError: The file cannot be read.
        """
        file = Path(path)
        text = read_config(file)
        plan = _core.resolve(text, file=str(path), base_dir=str(file.parent))
        cls._check(plan, str(path))
        whole: Any = from_dict(cls, {**parse_toml(text, file), "base_dir": str(file.parent)})
        named: Self = replace(whole, run=replace(whole.run, name=plan.name))
        return named

    @classmethod
    def _check(cls, plan: _core.Plan, file: str) -> None:
        """Refuses a plan that is not of this class."""


class WholeServer(Whole):
    """The content of a configuration file of one server."""

    @classmethod
    def _check(cls, plan: _core.Plan, file: str) -> None:
        if plan.is_cluster:
            raise _core.ConfigError(
                "wrong-kind", f"{file}: host: describes hosts on a network; hostnet.Cluster describes them"
            )
