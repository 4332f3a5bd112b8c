"""Any text resolves to a plan or a `ConfigError` with one line of explanation."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import ConfigError, _core
from tests.support import QUADRANT

COMPLETE: dict[str, Any] = json.loads(_core.resolve(QUADRANT).effective_json())

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ["0 ns", "1 ps", "999999999 s", "0 B", "64 B", "16 EiB", "1 B/s", "all", "auto", "RoBaRaCoCh", "0-1023"]
    ),
    st.lists(st.integers(-1, 100), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)


def paths(table: dict[str, Any], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Yields the path of every value of a configuration."""
    found = []
    for key, value in table.items():
        found.append((*above, key))
        if isinstance(value, dict):
            found += paths(value, (*above, key))
    return found


def resolves_or_explains(text: str, **more: Any) -> None:
    try:
        plan = _core.resolve(text, **more)
    except ConfigError:
        return
    assert _core.resolve(plan.effective_json(), format="json").hash == plan.hash


def replace(table: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Puts a value at a path, unless an ancestor is no longer a table."""
    for key in path[:-1]:
        if not isinstance(table.get(key), dict):
            return
        table = table[key]
    table[path[-1]] = value


@given(st.text())
def test_any_text(text: str) -> None:
    resolves_or_explains(text)
    resolves_or_explains(text, format="json")


@given(st.text())
def test_any_override(text: str) -> None:
    resolves_or_explains(QUADRANT, overrides=[text])


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(paths(COMPLETE)), VALUES), min_size=1, max_size=3))
def test_any_value_of_any_key(changes: list[tuple[tuple[str, ...], Any]]) -> None:
    changed = json.loads(json.dumps(COMPLETE))
    for path, value in changes:
        replace(changed, path, value)
    resolves_or_explains(json.dumps(changed), format="json")


@given(st.integers(0, 2**64 - 1))
def test_any_seed(seed: int) -> None:
    plan = _core.resolve(QUADRANT).with_seed(seed)
    assert plan.seed == seed
    assert (plan.hash == _core.resolve(QUADRANT).hash) == (seed == 7)


def test_a_plan_survives_pickling_without_its_files(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[job]\nrw=read\nbs=64k\niodepth=16\nsize=1g\nioengine=libaio\n")
    text = QUADRANT.partition("jobs =")[0] + 'job = "a.fio"\n[iio]\nwrite_credits = 90\n'
    plan = _core.resolve(text, file="mine.toml", base_dir=str(tmp_path))
    content = pickle.dumps(plan)
    job.unlink()
    copy: _core.Plan = pickle.loads(content)
    assert (copy.hash, copy.name, copy.ignored) == (plan.hash, plan.name, plan.ignored)
    assert plan.ignored
    assert _core.run(copy).summary_json == _core.run(plan).summary_json
    assert "iio.write_credits" in _core.run(copy).summary_json, "what the user wrote is known"
