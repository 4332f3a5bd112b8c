"""An IOMMU with few IOTLB entries: page walks are named as the limit, and more entries help."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from hostnet.explanation.trials import not_predicted
from hostnet.ledger import validate
from tests.support import raises_code


def server(entries: int, **more: Any) -> dict[str, Any]:
    """Returns a device that writes 64 B at random places of 64 pages."""
    load = {"kind": "dma", "operation": "write", "size": "64 B", "window": "256 KiB", "outstanding": 64}
    return {
        "server": {"preset": "cascade-lake-6234"},
        "iommu": {"mode": "lazy", "iotlb": {"entries": entries}, **more},
        "workload": {"dma": load},
        "run": {"warmup": "20 us", "duration": "50 us"},
    }


def gb_per_s(config: dict[str, Any]) -> float:
    """Returns the throughput of the device, in GB/s."""
    rate: float = hostnet.run(config).summary["workloads"][0]["throughput_gb_per_s"]
    return rate


def test_few_entries_are_named_and_more_help() -> None:
    few = hostnet.run(server(16)).summary
    assert few["binding"][0]["binding"] == ["IOMMU walk"]
    rate = few["workloads"][0]["throughput_gb_per_s"]
    assert gb_per_s(server(32)) > 1.2 * rate
    assert gb_per_s(server(16, walks=12)) > 1.2 * rate
    enough = hostnet.run(server(64)).summary
    assert enough["binding"][0]["binding"] != ["IOMMU walk"]


def test_what_an_iommu_costs_drives_is_tried() -> None:
    jobs = [{"rw": "read", "bs": "128 KiB", "iodepth": 32, "ssd": "0-3"}]
    config = {
        "server": {"preset": "xeon-platinum-8460y"},
        "iommu": {"mode": "lazy"},
        "workload": {"disk": {"kind": "fio", "cores": "36-39", "jobs": jobs}},
        "run": {"warmup": "50 us", "duration": "50 us"},
    }
    page = hostnet.explain(config)
    assert page.steps is not None
    (off,) = (step for step in page.steps.steps if step.path == "iommu.mode")
    assert (off.before, off.after) == ("lazy", "off")
    assert off.gains["disk"] > 0.5


def test_predictions_do_not_cover_an_iommu() -> None:
    with raises_code("not-supported | iommu.mode"):
        hostnet.predict(server(16))
    assert not_predicted(server(16)) is not None


@pytest.mark.long
def test_the_quick_rows_of_its_study_pass() -> None:
    ledger = validate("pcie", selection="quick")
    assert {row.verdict for row in ledger.rows if row.verdict != "context"} == {"pass"}
