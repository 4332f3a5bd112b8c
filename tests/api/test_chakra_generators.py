"""Execution traces of Chakra as various generators write them, byte by byte."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hostnet import Cluster, Host, Job, Network, Run, Switch, Transport, run_cluster
from tests.chakra_wire import (
    BOOL,
    BOOLS,
    COLLECTIVE,
    COMPUTE,
    INT32,
    INT64,
    RECEIVE,
    SEND,
    TEXT,
    UINT32,
    UINT64,
    attribute,
    number,
    text,
    typed,
    write,
)

ALL_REDUCE, ALL_GATHER = 0, 2

NOT_CPU = attribute("is_cpu_op", BOOL, value=False)


def took_us(ranks: int, job: Job) -> float:
    """Returns the duration of a job with the given number of endpoints."""
    transport = Transport(base="reno", ecn=False, initial_window=10000, receive_buffer="64 MB")
    cluster = Cluster(
        host={"worker": Host(kind="endpoint", count=ranks, latency="3 us")},
        network=Network(rate="10 Gbps", latency="2 us", mtu="9000 B", switch=Switch(latency="700 ns")),
        transport={"t": transport},
        job={"j": replace(job, transport="t")},
        run=Run(until="jobs"),
    )
    row = run_cluster(cluster).jobs["j"]
    assert row["unfinished_ranks"] == 0
    return float(row["done_us"])


def traces(trace: str, groups: str | None = None, peak: float | None = None, memory_rate: str | None = None) -> Job:
    return Job(kind="chakra", hosts="worker", trace=trace, groups=groups, peak=peak, memory_rate=memory_rate)


def wire_us(size: int) -> float:
    """Returns the wire time of a packet, with its headers and the overhead of Ethernet."""
    return (size + 90) * 0.8e-3


def way_us(size: int) -> float:
    """Returns the time of a message of one packet between two ranks."""
    return 2 * 3 + 2 * (wire_us(size) + 2) + 0.7


def test_a_microbenchmark_of_astra_sim(tmp_path: Path) -> None:
    # Node numbers continue from rank to rank.
    files = [
        [typed(rank, COLLECTIVE, attributes=[NOT_CPU, attribute("comm_type", INT64, ALL_GATHER), size_of(10_000)])]
        for rank in range(4)
    ]
    trace = write(tmp_path, files)
    assert took_us(4, traces(trace)) == took_us(4, Job(hosts="worker", kind="allgather", bytes="10000 B"))


def size_of(size: int, field: int = INT64) -> bytes:
    return attribute("comm_size", field, size)


def test_a_text_of_layers_that_chakra_converts(tmp_path: Path) -> None:
    # The metadata have attributes instead of a version, one of them the whole input; operations lack their location.
    head = text(2, attribute("schema", TEXT, "1.0.2-chakra.1.0.0")) + text(2, attribute("input_file", TEXT, "MICRO\n1"))
    nodes = [
        typed(0, COMPUTE, micros=30),
        typed(1, COMPUTE, [0], 50),
        typed(2, COLLECTIVE, [1], 0, [attribute("comm_type", INT64, ALL_REDUCE), size_of(4000)]),
        typed(3, COMPUTE, [1], 7),
    ]
    trace = write(tmp_path, [nodes, nodes], head)
    assert took_us(2, traces(trace)) == pytest.approx(80 + 2 * way_us(2000), abs=1e-3)


def test_a_symbolic_tensor_graph(tmp_path: Path) -> None:
    """Operations and tensors without durations; groups by number in a separate file; tags and ranks of 32 bits."""
    head = text(2, attribute("schema", TEXT, "symbolic_tensor_network"))
    axes = attribute("involved_dim", BOOLS, [True, True, True])

    def work(name: int, after: Sequence[int], ops: int, size: int) -> bytes:
        amounts = [attribute("num_ops", UINT64, ops), attribute("tensor_size", UINT64, size)]
        return typed(name, COMPUTE, after, 0, amounts)

    def of(rank: int) -> list[bytes]:
        other = attribute("comm_dst" if rank == 0 else "comm_src", UINT32, 1 - rank)
        message = [size_of(1000, UINT64), attribute("comm_tag", UINT32, 5), other]
        summed = [size_of(4000, UINT64), attribute("comm_type", INT64, ALL_REDUCE), axes]
        return [
            work(0, [], 50_000_000, 1000),
            work(1, [0], 1000, 20_000_000),
            typed(2, SEND if rank == 0 else RECEIVE, [1], 0, message),
            typed(3, COLLECTIVE, [2], 0, [*summed, attribute("pg_name", TEXT, "1")]),
        ]

    trace = write(tmp_path, [of(0), of(1)], head)
    (tmp_path / "groups.json").write_text(json.dumps({"1": [0, 1]}))
    found = took_us(2, traces(trace, groups=str(tmp_path / "groups.json"), peak=1e12, memory_rate="1 TB/s"))
    # Rank 1 receives the message 70 us plus one message time after the start, then sends its half of the vector.
    assert found == pytest.approx(50 + 20 + way_us(1000) + 2 * way_us(2000), abs=1e-3)


def test_a_trace_of_pytorch(tmp_path: Path) -> None:
    """CPU operators, kernels and collectives that they launch, groups described by a node, and omitted callers."""
    groups = '[{"pg_name": "0", "ranks": []}, {"pg_name": "3", "pg_desc": "dp", "ranks": [0, 1]}]'
    inputs = text(8, text(1, f"['{groups}']".encode()))
    cpu = [attribute("is_cpu_op", BOOL, value=True), attribute("op_schema", TEXT, ""), attribute("rf_id", INT64, 9)]
    gpu = [NOT_CPU, attribute("stream", INT64, 7)]
    caller = number(4, 77)
    nodes = [
        typed(2, 1, [], 0, cpu, inputs + text(2, b"## process_group:init ##")),
        typed(3, COMPUTE, [2], 4, cpu, caller),
        typed(900, COMPUTE, [3], 100, gpu, number(4, 3)),
        typed(5, COMPUTE, [3], 6, cpu, caller),
        typed(
            901,
            COLLECTIVE,
            [5, 900],
            55,
            [*gpu, attribute("comm_type", INT64, ALL_REDUCE), size_of(4000), attribute("pg_name", TEXT, "3")],
        ),
        typed(7, COMPUTE, [5, 901], 3, cpu),
    ]
    trace = write(tmp_path, [nodes, nodes])
    assert took_us(2, traces(trace)) == pytest.approx(4 + 100 + 2 * way_us(2000) + 3, abs=1e-3)


def test_training_in_three_dimensions(tmp_path: Path) -> None:
    """Two pipeline stages, two replicas, tensors over two ranks: rank 4 stage + 2 copy + half.

    Stage 1 receives the parts of the activations in another order than stage 0 sends them.
    """
    groups = {f"tensor {first}": [first, first + 1] for first in range(0, 8, 2)}
    groups |= {f"data {first}": [first, first + 2] for first in (0, 1, 4, 5)}
    (tmp_path / "groups.json").write_text(json.dumps(groups))

    def summed(name: int, after: int, size: int, group: str) -> bytes:
        kind = attribute("comm_type", INT64, ALL_REDUCE)
        return typed(name, COLLECTIVE, [after], 0, [NOT_CPU, kind, size_of(size), attribute("pg_name", TEXT, group)])

    def message(name: int, after: int, kind: int, other: int, size: int, tag: int) -> bytes:
        rank = attribute("comm_dst" if kind == SEND else "comm_src", INT32, other)
        return typed(name, kind, [after], 0, [NOT_CPU, rank, size_of(size), attribute("comm_tag", INT32, tag)])

    def of(rank: int) -> list[bytes]:
        tensor, data = f"tensor {rank - rank % 2}", f"data {rank - rank % 4 + rank % 2}"
        if rank < 4:
            return [
                typed(1, COMPUTE, [], 100),
                summed(2, 1, 2000, tensor),
                message(3, 2, SEND, rank + 4, 1000, 1),
                message(4, 3, SEND, rank + 4, 500, 2),
                message(5, 4, RECEIVE, rank + 4, 1000, 3),
                typed(6, COMPUTE, [5], 150),
                summed(7, 6, 8000, data),
            ]
        return [
            nothing(),
            message(1, 0, RECEIVE, rank - 4, 500, 2),
            message(2, 1, RECEIVE, rank - 4, 1000, 1),
            typed(3, COMPUTE, [2], 110),
            summed(4, 3, 2000, tensor),
            typed(5, COMPUTE, [4], 160),
            message(6, 5, SEND, rank - 4, 1000, 3),
            summed(7, 6, 8000, data),
        ]

    trace = write(tmp_path, [of(rank) for rank in range(8)])
    found = took_us(8, traces(trace, groups=str(tmp_path / "groups.json")))
    forward = 100 + 2 * way_us(1000) + way_us(1000) + wire_us(500)
    turn = 110 + 2 * way_us(1000) + 160 + way_us(1000)
    backward = 150 + 2 * way_us(4000)
    assert found == pytest.approx(forward + turn + backward, abs=1e-3)


def nothing() -> bytes:
    """Returns a node that others depend on and that does nothing; Chakra calls it invalid."""
    return typed(0, 0)
