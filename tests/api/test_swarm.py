"""Every machine that the configuration admits can be simulated, however unusual."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hostnet
from hostnet import _core

WORKLOADS = """
[run]
warmup = "1 us"
duration = "5 us"

[workload.stream]
kind = "stream"
cores = "0-2"
reads = 0.5

[workload.disk]
kind = "fio"
jobs = [{ rw = "randrw", bs = "4 KiB", iodepth = 16, size = "1 GiB", ssd = 0 }]
"""

TIMES = ["1 ps", "1 ns", "20 ns", "100 ns"]


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields path and schema of every value that describes the server."""
    for name, key in schema.get("properties", {}).items():
        if not path and name in ("server", "run", "workload"):
            continue
        dotted = f"{path}.{name}".removeprefix(".")
        if "properties" in key:
            yield from leaves(key, dotted)
        else:
            yield dotted, key


def values(key: dict[str, Any]) -> list[str]:
    """Returns values that the schema allows, bounds first."""
    if "minimum" in key:
        low, high = key["minimum"], key["maximum"]
        if key.get("x-power-of-two"):
            return [str(2**power) for power in range(high.bit_length()) if low <= 2**power <= high]
        return [str(low), str(high), str(low + (high - low) / 2 if key["type"] == "number" else min(low + 7, high))]
    if "x-max" in key:
        least = key.get("x-min", {"time": "0 ps", "size": "0 B"}.get(key["x-quantity"], key["x-max"]))
        return [f'"{value}"' for value in (least, key["x-max"], *(TIMES if key["x-quantity"] == "time" else []))]
    return ["true", "false"] if key.get("type") == "boolean" else []


LEAVES = {path: values(key) for path, key in leaves(json.loads(_core.schema())) if values(key)}

OVERRIDES = st.lists(
    st.sampled_from(sorted(LEAVES)).flatmap(
        lambda path: st.sampled_from([f"{path}={value}" for value in LEAVES[path]])
    ),
    max_size=3,
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from([name for name, _, _ in _core.presets()]), OVERRIDES)
def test_what_is_admitted_runs(preset: str, overrides: list[str]) -> None:
    try:
        plan = _core.resolve(f'server.preset = "{preset}"\n{WORKLOADS}', overrides=overrides)
    except hostnet.ConfigError:
        assume(False)
    result = _core.run(plan)
    assert result.complete
    for row in json.loads(result.summary_json)["domains"]:
        assert 0 <= row["in_use_mean"] <= row["capacity"]
