"""Sweeps on a Dask cluster."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import hostnet
from hostnet.sweeps import remote
from hostnet.sweeps.journal import Journal
from tests.support import HANG_S, raises_code
from tests.sweeps.conftest import SHORT, tables_of

OVER: dict[str, list[Any]] = {"workload.stream.cores": ["0-0", "0-1"], "iio.write_credits": list(range(1, 13))}

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Returns two worker processes, which restart when they die."""
    with (
        warnings.catch_warnings(action="ignore"),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
    ):
        yield local


def test_a_cluster_gives_the_same_bytes_although_a_worker_is_killed(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers have no access to the job file, and one of them dies while it computes points."""
    (tmp_path / "job.fio").write_text("[job]\nrw=read\nbs=64k\niodepth=16\nioengine=libaio\n")
    file = tmp_path / "short.toml"
    file.write_text(SHORT.partition("jobs =")[0].replace("2 us", "40 us") + 'job = "job.fio"\n')
    hostnet.sweep(file, OVER, out=tmp_path / "local")
    with Client(cluster, set_as_default=False) as client:
        victim = client.run(os.getpid).popitem()[1]
    kept: Counter[int] = Counter()
    original = Journal.add

    def add(journal: Journal, outcomes: Any, types: Any) -> int:
        fresh = [outcome["point"] for outcome in outcomes if outcome["point"] not in journal]
        kept.update(fresh)
        if sum(kept.values()) == 3:
            os.kill(victim, signal.SIGKILL)
        return original(journal, outcomes, types)

    monkeypatch.setattr(Journal, "add", add)
    hostnet.sweep(file, OVER, out=tmp_path / "dask", dask=cluster.scheduler_address)
    assert kept == Counter(range(24)), "nothing lost, nothing twice"
    assert tables_of(tmp_path / "dask") == tables_of(tmp_path / "local")
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=HANG_S)
        assert victim not in client.run(os.getpid).values(), "a worker was killed indeed"


def test_a_scheduler_file_is_read(cluster: LocalCluster, file: Path, tmp_path: Path) -> None:
    scheduler = tmp_path / "scheduler.json"
    scheduler.write_text(json.dumps({"address": cluster.scheduler_address}))
    results = hostnet.sweep(file, {"iio.write_credits": [2, 8]}, dask=scheduler)
    assert results.table["point"].to_pylist() == [0, 0, 1, 1]


def test_predictions_come_back_in_pieces(cluster: LocalCluster, file: Path, tmp_path: Path) -> None:
    over = ["iio.write_credits=1..40"]
    hostnet.sweep(file, over, engine="predict", out=tmp_path / "local")
    hostnet.sweep(file, over, engine="predict", out=tmp_path / "dask", dask=cluster.scheduler_address)
    assert tables_of(tmp_path / "dask") == tables_of(tmp_path / "local")


def test_a_stopped_sweep_goes_on_elsewhere(cluster: LocalCluster, file: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        hostnet.sweep(
            file,
            OVER,
            out=tmp_path / "part",
            dask=cluster.scheduler_address,
            progress=lambda status: status["what"] != "points" or status["done"] < 3,
        )
    hostnet.sweep(file, OVER, out=tmp_path / "part", resume=True)
    hostnet.sweep(file, OVER, out=tmp_path / "whole")
    assert tables_of(tmp_path / "part") == tables_of(tmp_path / "whole")


def test_a_worker_of_another_version_is_refused(
    cluster: LocalCluster, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hostnet._core.version", lambda: "9.9.9")
    with raises_code("other-version | 9.9.9"):
        hostnet.sweep(file, OVER, out=tmp_path / "out", dask=cluster.scheduler_address)
    monkeypatch.setattr(remote, "_check_workers", lambda *_: None)  # a worker that starts later
    with raises_code("other-version | 9.9.9"):
        hostnet.sweep(file, OVER, dask=cluster.scheduler_address)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["nonsense", "missing.json", "http://127.0.0.1:1", "tcp://127.0.0.1"])
def test_what_is_no_address_is_refused(file: Path, tmp_path: Path, address: str) -> None:
    with raises_code("malformed-value | --dask"):
        hostnet.sweep(file, OVER, out=tmp_path / "out", dask=address)
    assert not (tmp_path / "out").exists()


def test_a_worker_is_no_scheduler(cluster: LocalCluster, file: Path) -> None:
    worker = next(iter(cluster.scheduler_info["workers"]))
    with raises_code(f"wrong-kind | {worker} | --dask"):
        hostnet.sweep(file, OVER, dask=worker)


def test_a_file_that_is_no_scheduler_file_is_refused(file: Path) -> None:
    with raises_code("malformed-file"):
        hostnet.sweep(file, OVER, dask=file)


@pytest.mark.parametrize("listens", [False, True])
def test_an_address_that_does_not_answer_is_refused(
    file: Path, tmp_path: Path, listens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "TIMEOUT_S", 1)
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        if not listens:
            server.close()
        with pytest.raises(OSError, match=f"--dask {address}: does not answer within 1 s"):
            hostnet.sweep(file, OVER, out=tmp_path / "out", dask=address)
    assert not (tmp_path / "out").exists()


def test_a_cluster_that_goes_away_leaves_what_is_done(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Journal.add
    with (
        warnings.catch_warnings(action="ignore"),
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as local,
    ):

        def add(journal: Journal, outcomes: Any, types: Any) -> int:
            local.close()
            return original(journal, outcomes, types)

        monkeypatch.setattr(Journal, "add", add)
        with pytest.raises(OSError, match="the cluster is gone"):
            hostnet.sweep(file, OVER, out=tmp_path / "out", dask=local.scheduler_address)
    with Journal(tmp_path / "out/points.journal") as journal:
        assert 0 < len(list(journal.missing())) < 24


def test_without_dask_it_is_said_how_to_install_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with raises_code("missing-package | pip install 'hostnet[dask]'"):
        hostnet.sweep(file, OVER, dask="tcp://127.0.0.1:1")


def test_the_cluster_decides_how_many_points_it_takes(file: Path) -> None:
    with raises_code("conflicting-keys | --jobs"):
        hostnet.sweep(file, OVER, dask="tcp://127.0.0.1:1", jobs=2)
