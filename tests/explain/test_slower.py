"""The step "slower" makes storage offer three quarters of its load."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostnet import _core
from hostnet.explanation.steps import candidates, resolve_complete

LOAD_FACTOR = 0.75

READ = {"rw": "read", "bs": "128 KiB", "iodepth": 32, "size": "1 GiB"}
SMALL = {"rw": "randread", "bs": "4 KiB", "iodepth": 1, "size": "1 GiB"}


def server(*jobs: dict[str, Any], preset: str = "cascade-lake-6234", **keys: Any) -> dict[str, Any]:
    workload = {"w": {"kind": "fio", "jobs": [{**job, "ssd": at} for at, job in enumerate(jobs)]}}
    config = {"server": {"preset": preset, **keys}, "workload": workload, "run": {"duration": "20 us"}}
    complete: dict[str, Any] = json.loads(resolve_complete(config, ".").effective_json())
    return complete


def slowed(config: dict[str, Any], load: float) -> dict[str, Any] | None:
    found = (changed for step, changed in candidates(config, {"w": load}) if step.path == "rate of storage")
    return next(found, None)


def offered(config: dict[str, Any]) -> float:
    loads = json.loads(_core.predict(resolve_complete(config, ".")).summary_json)["offered_gb_per_s"]
    return float(loads["w"])


@pytest.mark.parametrize("jobs", [(READ, READ), (READ, SMALL), (READ, {**READ, "rw": "write"}, SMALL)])
def test_storage_offers_three_quarters_of_its_load_however_uneven_its_drives(jobs: tuple[dict[str, Any], ...]) -> None:
    config = server(*jobs)
    slower = slowed(config, offered(config))
    assert slower is not None
    assert offered(slower) == pytest.approx(LOAD_FACTOR * offered(config), rel=0.01)


@pytest.mark.parametrize(("jobs", "is_there"), [((READ, READ), True), ((READ, SMALL), False)])
def test_where_loads_are_not_predicted_drives_must_be_alike(jobs: tuple[dict[str, Any], ...], is_there: bool) -> None:
    assert (slowed(server(*jobs, preset="skylake-8160", sockets=2), 2.0) is not None) == is_there
