"""A whole configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from hostnet import _core
from hostnet.files import parse_toml, read_config
from hostnet.running.arguments import json_of
from hostnet.system.convert import from_dict, to_dict
from hostnet.system.host import Run, Server
from hostnet.system.parts import Parts


@dataclass(frozen=True, kw_only=True, repr=False)
class Config(Parts):
    """A server, what runs on it, and for how long: the content of a configuration file.

    Values with units are strings such as "70 ns", "46.9 GB/s" or "8 MiB" (GB = 10^9 bytes, GiB = 2^30 bytes). What is
    None comes from the preset that `server` names. Values are checked when the configuration is run.
    """

    server: Server = Server()
    """Which server the values start from."""
    run: Run = Run()
    """How long to simulate."""
    base_dir: str = "."
    """The folder that relative paths of fio job files start from. It is not part of the file."""

    def to_dict(self) -> dict[str, Any]:
        """The configuration as nested dicts with the keys of the file; what is None is left out."""
        content: dict[str, Any] = to_dict(self)
        del content["base_dir"]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], base_dir: str = ".") -> Config:
        """Makes a configuration of nested dicts with the keys of the file.

        Raises:
            ConfigError: A key is unknown or a value is wrong.
        """
        _of_a_server(
            _core.resolve(json_of(content, "config"), format="json", file="config", base_dir=base_dir), "config"
        )
        return from_dict(cls, {**content, "base_dir": base_dir})

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Config:
        """Reads a configuration file. A run without a name is named after the file.

        Raises:
            ConfigError: A key is unknown or a value is wrong; the message gives the line.
            OSError: The file cannot be read.
        """
        file = Path(path)
        text = read_config(file)
        plan = _of_a_server(_core.resolve(text, file=str(path), base_dir=str(file.parent)), str(path))
        config = from_dict(cls, {**parse_toml(text, file), "base_dir": str(file.parent)})
        return replace(config, run=replace(config.run, name=plan.name))


def _of_a_server(plan: _core.Plan, file: str) -> _core.Plan:
    if plan.is_cluster:
        raise _core.ConfigError(f"{file}: host: describes hosts on a network; hostnet.Cluster describes them")
    return plan
