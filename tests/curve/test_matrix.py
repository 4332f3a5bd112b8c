"""The matrix between nodes matches the paths between them, and the command reports invalid input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hostnet.curves import measure_matrix
from hostnet.presets import load_server
from tests.support import Cli, assert_tells, read_json

FOUR = """\
[server]
preset = "cascade-lake-6234"
sockets = 3

[socket.2]
core.count = 0
"""


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    file = tmp_path / "nodes.toml"
    file.write_text(FOUR)
    return file


def test_foreign_memory_is_farther_and_no_wider_than_the_way_to_it(nodes: Path) -> None:
    pairs = {(pair.node, pair.memory): pair for pair in measure_matrix(load_server(str(nodes)))}
    assert sorted(pairs) == [(node, memory) for node in range(2) for memory in range(3)], "node 2 has no cores"
    for (node, memory), pair in pairs.items():
        local = pairs[node, node]
        if node != memory:
            # Twice the latency of 35 ns, plus 80 B at 41.6 GB/s.
            assert pair.latency_ns - local.latency_ns == pytest.approx(72, abs=4)
            assert pair.bandwidth_gb_per_s < min(local.bandwidth_gb_per_s, 41.6 * 64 / 72)


CHIPLETS = """\
[server]
preset = "epyc-7742"
sockets = 2

[core]
count = 8

[chiplets]
ccds = 4
nps = 4
"""


@pytest.fixture
def chiplets(tmp_path: Path) -> Path:
    file = tmp_path / "chiplets.toml"
    file.write_text(CHIPLETS)
    return file


def test_each_ccd_is_nearest_to_the_memory_of_its_quadrant(chiplets: Path) -> None:
    server = load_server(str(chiplets))
    pairs = {(pair.ccd, pair.memory): pair for pair in measure_matrix(server)}
    assert sorted(pairs) == [(ccd, memory) for ccd in range(8) for memory in range(8)]
    hop_ns = 7 / 1.467
    for (ccd, memory), pair in pairs.items():
        assert pair.node == ccd, "a CCD per quadrant"
        own = pairs[ccd, ccd].latency_ns
        if ccd // 4 != memory // 4:
            assert pair.latency_ns > own + 60, "another socket"
        elif ccd != memory:
            # Adjacent quadrants are one hop apart and opposite ones two, there and back.
            hops = (ccd ^ memory).bit_count()
            assert pair.latency_ns - own == pytest.approx(2 * hops * hop_ns, abs=5)


def test_a_server_of_one_node_has_a_row_per_ccd(cli: Cli, chiplets: Path, tmp_path: Path) -> None:
    chiplets.write_text(CHIPLETS.replace("nps = 4", "nps = 1").replace("sockets = 2", "sockets = 1"))
    out = tmp_path / "matrix"
    done = cli("curve", str(chiplets), "--matrix", "--csv", "--out", str(out))
    assert "cores of a CCD (rows)" in done.stdout
    content = read_json(out / "matrix.json")
    assert content["nodes"] == 1
    assert [(pair["ccd"], pair["node"], pair["memory"]) for pair in content["pairs"]] == [
        (ccd, 0, 0) for ccd in range(4)
    ]
    assert "ccd" in (out / "matrix.csv").read_text().splitlines()[0]


def test_a_node_that_does_not_exist_is_refused(cli: Cli, chiplets: Path) -> None:
    stream = 'workload.x={kind="stream",cores="0",memory="node:8"}'
    assert_tells(cli.fails("run", str(chiplets), "--set", stream), "does-not-exist | node 8 | 0 to 7 | chiplets.nps")


def test_the_command_prints_both_matrices(cli: Cli, nodes: Path, tmp_path: Path) -> None:
    out = tmp_path / "matrix"
    done = cli("curve", str(nodes), "--matrix", "--csv", "--out", str(out))
    assert "latency, ns" in done.stdout
    assert "reads, GB/s" in done.stdout
    files = ["matrix.csv", "matrix.json", "matrix.parquet", "matrix.png", "report.html"]
    assert sorted(file.name for file in out.iterdir()) == files
    content = read_json(out / "matrix.json")
    assert content["nodes"] == 3
    assert len(content["pairs"]) == 6
    shown = cli("curve", str(nodes), "--matrix", "--json", "--out", str(tmp_path / "again")).stdout
    assert json.loads(shown) == content, "the same question gets the same answer"


def test_options_of_curves_are_refused(cli: Cli) -> None:
    assert_tells(
        cli.fails("curve", "broadwell-r730", "--matrix", "--points", "3"), "conflicting-keys | --matrix | --points"
    )
