"""Content given in Python means the same as in a file, or is reported as an error of the argument."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import hostnet
from hostnet import Cluster, Config, ConfigError, Fio, Host, Run, Server, Stream
from hostnet.plain_json import json_of
from tests.support import raises_code

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_a_file_can_hold_stays_as_it_is(value: Any) -> None:
    assert json.loads(json_of(value, "config")) == value


def test_numbers_and_tables_of_other_libraries_are_numbers_and_tables() -> None:
    content = {"a": np.int64(3), "b": np.float32(0.5), "c": Fraction(1, 4), "d": range(3), "e": MappingProxyType({})}
    assert json.loads(json_of(content, "config")) == {"a": 3, "b": 0.5, "c": 0.25, "d": [0, 1, 2], "e": {}}
    streams = {"s": Stream(cores=tuple(np.arange(2)), reads=np.float64(0.5))}
    run = Run(duration="1 us", warmup="1 us")
    config = Config(server=Server(preset="cascade-lake-6234"), workload=streams, run=run)
    assert json.loads(hostnet.run(config).plan.effective_json())["workload"]["s"]["cores"] == "0-1"


RULE = "is no text, number, true or false, list or table"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: hostnet.run(Config(workload={"disk": Fio(job=Path("a.fio"))})),  # type: ignore[arg-type]
            f"config: workload.disk.job: {Path('a.fio')!r} {RULE}",
        ),
        (lambda: hostnet.predict(Config(run=Run(precision=math.nan))), f"config: run.precision: nan {RULE}"),
        (lambda: Config.from_dict({"core": {"count": object}}), f"config: core.count: {object!r} {RULE}"),
        (lambda: Cluster.from_dict({"host": {"a": b""}}), f"cluster: host.a: b'' {RULE}"),
        (
            lambda: hostnet.run_cluster({"flow": {"f": {"deaf": ["1 us", math.inf]}}}),
            f"config: flow.f.deaf[1]: inf {RULE}",
        ),
        (
            lambda: hostnet.run_cluster(Cluster(host={1: Host()})),  # type: ignore[dict-item]
            "config: host: keys must be text",
        ),
        (lambda: hostnet.run_cluster({1: 2}), "config: keys must be text"),  # type: ignore[dict-item]
        (lambda: hostnet.memory(reads=math.nan), f"hostnet.memory: traffic.reads: nan {RULE}"),
    ],
)
def test_what_no_file_can_hold_is_told_with_its_place(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert str(caught.value) == says


def test_a_table_within_itself_is_told() -> None:
    content: dict[str, Any] = {}
    content["run"] = content
    with raises_code("syntax"):
        Config.from_dict(content)
