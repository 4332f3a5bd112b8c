"""Single servers in a study of clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostnet.ledger.cluster_runs import run_clusters
from hostnet.ledger.dependencies import quantity_of
from hostnet.ledger.panels import Series
from hostnet.ledger.quantities import Outcome


def test_servers_by_themselves_are_run_beside_clusters() -> None:
    cluster = {
        "host": {name: {"kind": "endpoint"} for name in ("a", "b")},
        "flow": {"bulk": {"kind": "bulk", "from": "a", "to": "b"}},
        "run": {"name": "one", "warmup": "100 us", "duration": "1 ms"},
        "ledger": {"series": None, "skip": None, "again": []},
    }
    alone = {
        "server": {"preset": "skylake-8160"},
        "workload": {
            "fio": {
                "kind": "fio",
                "jobs": [{"rw": "read", "bs": "64 KiB", "iodepth": 8, "size": "64 MiB", "ssd": 0}],
            }
        },
        "run": {"name": "alone", "warmup": "20 us", "duration": "30 us"},
        "ledger": {"series": None, "skip": None, "again": []},
    }
    ran, server = run_clusters([cluster, alone], Path(), 1, None)
    assert ran["classes"]
    outcome = Outcome("alone", server)
    series = Series(name="fio", quantity="application_rate", workload="fio", point="alone")
    assert quantity_of(series)(series, outcome, None).value == pytest.approx(3.3, rel=0.02)


def test_a_loss_is_what_lacks_of_the_baseline() -> None:
    def moved(rate: float) -> Outcome:
        row = {"workload": "fio", "app_gb_per_s": rate, "app_ci95": None, "throughput_gb_per_s": rate}
        return Outcome("a", {"workloads": [row]})

    series = Series(name="fio", quantity="application_loss", workload="fio", point="a", baseline="b")
    assert quantity_of(series)(series, moved(3.0), moved(4.0)).value == pytest.approx(25)
