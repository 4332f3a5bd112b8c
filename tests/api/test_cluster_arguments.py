"""Invalid arguments of `run_cluster` are reported as such."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hostnet import ConfigError, _core, run_cluster
from tests.support import raises_code

TEXT = re.sub(r'(duration|warmup) = ".*"', r'\1 = "200 us"', _core.cluster_template("dumbbell"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("config", [None, 5, b"x", [], ["a"]])
def test_a_configuration_is_a_cluster_a_path_or_a_mapping(config: Any) -> None:
    with raises_code("wrong-type"):
        run_cluster(config)


@pytest.mark.parametrize("config", [{"host": float("nan")}, {"host": {"a": object()}}, {1: 2}, {"host": {}}])
def test_a_mapping_is_what_a_file_can_hold(config: Any) -> None:
    with pytest.raises(ConfigError):
        run_cluster(config)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"threads": 0}, "threads: 0 must be a whole number between 1 and 1024"),
        ({"threads": 1.5}, "threads: 1.5 must be a whole number"),
        ({"threads": "2"}, "threads: '2' must be a whole number"),
        ({"series": 5}, 'series: "5" is not a time'),
        ({"series": "1 ps"}, "series: 200 µs have 200000000 steps of 0.001 ns; at most 1000000 are recorded"),
        ({"controllers": [print]}, "controllers: a mapping from names of hosts is wanted"),
        ({"controllers": {1: print}}, "controllers: a mapping from names of hosts is wanted"),
        ({"overrides": "run.seed=2"}, r"overrides: a list is wanted, such as \['run.seed=2'\]"),
        ({"overrides": ["run.sed=2"]}, 'run.sed: unknown key; did you mean "seed"?'),
        ({"pcap": ".", "pcap_host": "sender-0"}, "pcap: .: name a file in a folder that exists"),
        ({"pcap": "/nowhere/x", "pcap_host": "sender-0"}, "pcap: /nowhere/x: name a file in a folder that exists"),
    ],
)
def test_an_argument_that_is_none_is_told(file: Path, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says.replace("?", r"\?")):
        run_cluster(file, **arguments)


def test_overrides_replace_what_a_file_or_a_mapping_says(file: Path) -> None:
    found = run_cluster(file, overrides=["host.sender.count=3", "host.receiver.count=3"])
    assert found.tables["flows"].num_rows == 3
    ends = {"a": {"kind": "endpoint"}, "b": {"kind": "endpoint"}}
    flow = {"kind": "bulk", "from": "a", "to": "b"}
    config = {"host": ends, "flow": {"f": flow}, "run": {"duration": "10 us", "warmup": "1 us"}}
    assert run_cluster(config, overrides=["flow.f.count=2"]).tables["flows"].num_rows == 2
