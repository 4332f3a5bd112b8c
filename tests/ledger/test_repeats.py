"""Runs of the ledger that are repeated on threads and in processes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hostnet.ledger import LedgerError, validate
from hostnet.ledger.cluster_runs import run_clusters
from hostnet.ledger.plots import write_plots
from tests.support import raises_code


@pytest.mark.long
def test_clusters_in_several_processes_get_no_worse(tmp_path: Path) -> None:
    ledger = validate("dist_gem5", selection="smoke")
    assert {path.name for path in write_plots(tmp_path, ledger)} >= {"same.png"}
    expected = set() if find_spec("mpi4py") else {"dg.det.4.httperf"}
    assert {row.id for row in ledger.failing} == expected
    assert len({row.id for row in ledger.rows if row.verdict != "context"}) >= 6


def tiny(*ways: str) -> dict[str, Any]:
    """Returns a cluster of two endpoints that is run in more than one way."""
    return {
        "host": {name: {"kind": "endpoint"} for name in ("a", "b")},
        "flow": {"bulk": {"kind": "bulk", "from": "a", "to": "b"}},
        "run": {"name": "tiny", "seed": 1, "warmup": "100 us", "duration": "1 ms"},
        "ledger": {"series": None, "skip": None, "again": list(ways)},
    }


def test_a_run_is_made_again_in_other_ways() -> None:
    (found,) = run_clusters([tiny("2 threads")], Path(), 1, None)
    assert found["again"] == [{"way": "2 threads", "same": True}]
    with raises_code("malformed-file", LedgerError):
        run_clusters([tiny("2 cores")], Path(), 1, None)
