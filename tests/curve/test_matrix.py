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
