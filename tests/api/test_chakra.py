"""Jobs that execute traces of Chakra."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from hostnet import Cluster, Host, Job, Network, Run, run_cluster
from tests.chakra_wire import COLLECTIVE, COMPUTE, node, write
from tests.support import raises_code


def cluster(trace: str) -> Cluster:
    worker = Host(kind="endpoint", count=4)
    network = Network(mtu="9000 B", rate="100 Gbps")
    job = Job(kind="chakra", hosts="worker", trace=trace)
    return Cluster(host={"worker": worker}, network=network, job={"train": job}, run=Run(until="jobs"))


def sum_of(name: int, after: Sequence[int], size: int = 1_000_000) -> bytes:
    return node(name, COLLECTIVE, after, comm_type=0, comm_size=size)


def test_sums_are_done_while_the_accelerator_computes(tmp_path: Path) -> None:
    layers = [node(1, COMPUTE, micros=1000), node(2, COMPUTE, [1], 1000), node(3, COMPUTE, [2], 1000)]
    overlapped = [*layers, sum_of(4, [1]), sum_of(5, [2]), sum_of(6, [3]), node(7, COMPUTE, [4, 5, 6], 500)]
    after = [*layers, sum_of(4, [3]), sum_of(5, [3]), sum_of(6, [3]), node(7, COMPUTE, [4, 5, 6], 500)]
    alone = [sum_of(4, [])]
    times = []
    for name, nodes in {"overlapped": overlapped, "after": after, "alone": alone}.items():
        (tmp_path / name).mkdir()
        row = run_cluster(cluster(write(tmp_path / name, [nodes] * 4))).jobs["train"]
        assert row["unfinished_ranks"] == 0
        times.append(row["done_us"])
    assert times[2] < 1000, "a sum takes less than a layer"
    assert times[0] == pytest.approx(3500 + times[2], rel=0.01)
    assert times[1] == pytest.approx(3500 + 3 * times[2], rel=0.01)


def test_what_is_wrong_is_said_with_file_and_place(tmp_path: Path) -> None:
    name = write(tmp_path, [[sum_of(1, [])]] * 4)
    second = tmp_path / "model.2.et"
    whole = second.read_bytes()
    second.write_bytes(whole[:-3])
    with raises_code("malformed-file | model.2.et | job.train.trace"):
        run_cluster(cluster(name))
    second.write_bytes(whole + node(2, COMPUTE, [3]))
    with raises_code("malformed-file | model.2.et"):
        run_cluster(cluster(name))
    second.unlink()
    with raises_code("file-not-found | model.2.et"):
        run_cluster(cluster(name))
