"""Engines of NICs that know gradients compress packets to the size that the codec gives their content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import Cluster, Compress, Host, Job, Network, Results, Run, Transport, codec, run_cluster
from tests.support import raises_code

RATE = 10e9 / 8
"""Bytes per second."""

HEADERS = 52 + 38
DATA = 8416
"""Data of a packet with an MTU of 9000 B, less room to grow by 34/32."""

QUICK = Transport(base="reno", ecn=False, initial_window=30_000, receive_buffer="256 MB")


def run(gradient: Any, folder: Path, floats: int, ranks: int = 4, mode: str = "thesis", **job: Any) -> Results:
    file = folder / "gradient.npy"
    np.save(file, np.asarray(gradient, "float32"))
    engines = Compress(gradients=str(file), bound=10, mode=mode, clock="4 GHz")
    return run_cluster(
        Cluster(
            host={"e": Host(kind="endpoint", count=ranks, latency="1 us", compress=engines)},
            network=Network(rate="10 Gbps", latency="1 us", mtu="9000 B"),
            transport={"quick": QUICK},
            job={"j": Job(hosts="e", bytes=f"{4 * floats} B", transport="quick", compress=True, **job)},
            run=Run(until="jobs"),
        )
    )


def wire_bytes(results: Results) -> int:
    return sum(row["wire_bytes"] for row in results.tables["engines"].to_pylist() if row["direction"] == "out")


def took_s(results: Results) -> float:
    return float(results.jobs["j"]["done_us"]) / 1e6


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    floats=st.integers(1, 16_384),
    more=st.integers(0, 3),
    mode=st.sampled_from(codec.MODES),
)
def test_packets_are_as_small_as_the_codec_makes_them(
    tmp_path_factory: pytest.TempPathFactory, seed: int, floats: int, more: int, mode: str
) -> None:
    random = np.random.default_rng(seed)
    gradient = random.normal(0, 1, floats) * 10.0 ** random.uniform(-5, 0.5, floats)
    # Groups of the file and of the vector coincide if the file ends with a whole group.
    times = 1 + more if floats % 8 == 0 else 1
    found = run(gradient, tmp_path_factory.getbasetemp(), floats * times, 2, mode, kind="broadcast")
    vector = np.tile(gradient.astype("float32"), times)
    packets = [vector[at : at + DATA // 4] for at in range(0, len(vector), DATA // 4)]
    assert wire_bytes(found) == sum(codec.sizes(packet, 10, mode).payload_bytes for packet in packets)


def test_steps_of_a_ring_last_as_long_as_its_densest_part(tmp_path: Path) -> None:
    """One of four parts does not compress: in every step some rank sends it."""
    floats, ranks = 4 * DATA // 4 * 160, 4
    gradient = np.zeros(floats)
    gradient[: floats // ranks] = 2.0
    ring = run(gradient, tmp_path, floats, ranks, kind="allreduce", algorithm="ring")
    part = floats // ranks * 4
    dense = part / 32 * 34 + part / DATA * HEADERS
    sparse = part / 32 * 2 + part / DATA * HEADERS
    assert took_s(ring) == pytest.approx(2 * (ranks - 1) * dense / RATE, rel=0.02)
    # Each part is sent 2 (p - 1) times.
    assert wire_bytes(ring) == pytest.approx(6 * floats * 4 / 32 * (34 + 3 * 2) / 4, rel=0.01)
    # The ranks send all parts one after the other, which takes as long as all parts together.
    one = run(gradient, tmp_path, floats, ranks, kind="allreduce", algorithm="aggregator", answer="each")
    assert wire_bytes(one) == pytest.approx(3 * codec.sizes(gradient.astype("float32"), 10).payload_bytes, rel=0.01)
    plain = (floats * 4 + floats * 4 / DATA * HEADERS) * 3 / RATE
    assert took_s(one) == pytest.approx(3 * (dense + 3 * sparse) / RATE + plain, rel=0.02)


@pytest.mark.parametrize(
    ("job", "vectors"),
    [
        ({"kind": "allreduce", "algorithm": "ring", "bucket": "100 kB"}, 2 * 3),
        ({"kind": "allreduce", "algorithm": "tree"}, 2 * 3),
        ({"kind": "allreduce", "algorithm": "recursive-doubling"}, 4 * 2),
        ({"kind": "allreduce", "algorithm": "halving-doubling"}, 2 * 3),
        ({"kind": "allreduce", "algorithm": "hierarchical", "group": 2}, 2 * 2 + 2),
        ({"kind": "allgather", "algorithm": "ring"}, 4 * 3),
        ({"kind": "allgather", "algorithm": "recursive-doubling"}, 4 * 3),
    ],
    ids=lambda given: "-".join(str(value) for value in given.values()) if isinstance(given, dict) else "",
)
def test_every_algorithm_sends_the_parts_of_vectors(job: dict[str, Any], vectors: int, tmp_path: Path) -> None:
    """All parts are sent equally often, so the ratio is that of the whole vector, however dense single parts are."""
    floats = 4 * 50_000
    random = np.random.default_rng(3)
    gradient = random.normal(0, 1, floats) * np.repeat([3e-1, 3e-3, 3e-2, 3e-5], floats // 4)
    found = run(gradient, tmp_path, floats // (4 if job["kind"] == "allgather" else 1), **job)
    # The vector of an all-gather consists of the parts of four ranks.
    whole = codec.sizes(gradient.astype("float32"), 10).payload_bytes / (4 if job["kind"] == "allgather" else 1)
    assert wire_bytes(found) == pytest.approx(vectors * whole, rel=0.01)


def test_the_file_is_part_of_what_is_run(tmp_path: Path) -> None:
    hashes = set()
    for scale in (1e-4, 1.0):
        gradient = np.full(4096, scale)
        hashes.add(run(gradient, tmp_path, 4096, kind="allreduce").summary["config_hash"])
    assert len(hashes) == 2


def test_a_file_that_goes_on_behind_its_floats_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "gradient.npy").open("wb") as file:
        np.save(file, np.zeros(64, "float32"))
        file.write(b"more")
    engines = Compress(gradients=str(tmp_path / "gradient.npy"), bound=10, mode="thesis", clock="4 GHz")
    with raises_code("malformed-file | 260 B | 64 | 256 B"):
        run_cluster(
            Cluster(
                host={"e": Host(kind="endpoint", count=2, compress=engines)},
                job={"j": Job(kind="allreduce", hosts="e", bytes="1 kB", transport="reno", compress=True)},
                run=Run(until="jobs"),
            )
        )
