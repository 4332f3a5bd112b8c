"""Functions for single servers refuse a configuration of hosts, and say why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import hostnet
from hostnet import _core, presets
from hostnet.explanation.formula import FormulaConstants
from tests.support import raises_code

CALLS: dict[str, Callable[[Path], object]] = {
    "Config": hostnet.Config.from_toml,
    "constants": FormulaConstants.of,
    "counters": lambda file: hostnet.counters.read(file, server=file),
    "a server file": lambda file: presets.load_server(str(file)),
}


@pytest.mark.parametrize("name", CALLS)
def test_hosts_on_a_network_are_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(_core.cluster_template("hostcc"))
    with raises_code("wrong-kind | cluster.toml"):
        CALLS[name](file)
