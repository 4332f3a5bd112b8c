"""Every value of a cluster that the schema allows runs, or is refused as the user's mistake."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import ConfigError, SimulationError, _core, run_cluster

SCHEMA: dict[str, Any] = json.loads(_core.cluster_schema())
DOCUMENTS = [tomllib.loads(_core.cluster_template(name)) for name in ("hostcc", "incast", "rdma")]
RUN = {"duration": "15 us", "warmup": "0 us", "seed": 1}
LEFT_OUT = {"run", "count"}
"""Keys whose largest values make long runs by their nature."""

Path = tuple[str, ...]


def bounds(schema: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields every key with its minimum and maximum, or with each of its allowed words."""
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if LEFT_OUT & set(path) or len(path) > 7:
        return
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from bounds(choice, path)
    for key, value in schema.get("properties", {}).items():
        yield from bounds(value, (*path, key))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from bounds(schema["additionalProperties"], (*path, "*"))
    for key in ("minimum", "maximum", "x-min", "x-max", "const"):
        if key in schema:
            yield path, schema[key]
    yield from ((path, name) for name in schema.get("enum", ()))
    if schema.get("type") == "boolean":
        yield from ((path, value) for value in (False, True))


BOUNDS = list(bounds(SCHEMA))


def places(document: Any, path: Path) -> list[Path]:
    """Returns the path with every name that the document has in place of a star."""
    if not path:
        return [()]
    inside = document if isinstance(document, dict) else {}
    names = list(inside) if path[0] == "*" else [path[0]]
    return [(name, *rest) for name in names for rest in places(inside.get(name), path[1:])]


@st.composite
def extreme(draw: st.DrawFn) -> dict[str, Any]:
    """Returns a template with one to three values at a bound of their range."""
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for path, value in draw(st.lists(st.sampled_from(BOUNDS), min_size=1, max_size=3)):
        found = places(document, path)
        if found:
            *tables, key = draw(st.sampled_from(found))
            inside = document
            for name in tables:
                inside = inside.setdefault(name, {})
                if not isinstance(inside, dict):
                    break
            else:
                inside[key] = value
    return {**document, "run": RUN}


@settings(max_examples=60, deadline=None)
@given(extreme())
def test_what_is_allowed_runs_and_what_is_not_is_told(document: dict[str, Any]) -> None:
    try:
        results = run_cluster(document)
    except (ConfigError, SimulationError):
        return
    assert results.complete
    for row in results.tables["flows"].to_pylist():
        assert row["host_received"] + row["fabric_dropped"] <= row["host_sent"]
