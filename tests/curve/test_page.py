"""Pages of latency under load and of the matrix between nodes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet.curves.matrix_page import matrix_page, remote_text, rows_of
from hostnet.curves.page import KNEE, curve_page, knee
from tests.report.test_pages import Page


def curve(reads: float, *points: tuple[float, float]) -> dict[str, Any]:
    """Returns a curve of points of bandwidth and latency, from the heaviest load to the lightest."""
    return {
        "reads": reads,
        "latency_light_ns": points[-1][1],
        "bandwidth_max_gb_per_s": max(bandwidth for bandwidth, _ in points),
        "points": [
            {"gap_ns": 10.0 * at, "latency_ns": latency, "latency_ci95": 2.0, "bandwidth_gb_per_s": bandwidth}
            for at, (bandwidth, latency) in enumerate(points)
        ],
    }


def content(*curves: dict[str, Any], unvalidated: str | None = None) -> dict[str, Any]:
    return {
        "format": 1,
        "server": "a server <of> mine",
        "engine": "run",
        "cores": 7,
        "probe": "sequential",
        "peak_gb_per_s": 46.9,
        "unvalidated": unvalidated,
        "curves": list(curves),
    }


def matrix(nodes: int, *, bare: int = 0) -> dict[str, Any]:
    """Returns the matrix of nodes, of which the last ones have no cores."""
    return {
        "server": "server",
        "nodes": nodes,
        "unvalidated": None,
        "pairs": [
            {
                "node": node,
                "memory": memory,
                "latency_ns": 100.0 if node == memory else 150.0,
                "latency_ci95": 3.0,
                "bandwidth_gb_per_s": 60.0 if node == memory else 15.0,
            }
            for node in range(nodes - bare)
            for memory in range(nodes)
        ],
    }


MANY = content(*(curve(1 - share / 20, (40.0, 200.0 + share), (20.0, 100.0), (2.0, 80.0)) for share in range(10)))


def test_a_curve_has_its_asymptotes_and_a_row_for_each_point() -> None:
    page = curve_page(content(curve(1.0, (41.5, 140.0), (30.0, 105.0), (1.6, 80.3)), unvalidated="<never>"))
    assert "peak 46.9" in page
    assert "unloaded 80.3" in page
    rows, links = set(re.findall(r'id="(point-[\d-]+)"', page)), re.findall(r'href="#([^"]+)"', page)
    assert rows == {"point-0-0", "point-0-1", "point-0-2"}
    # The point without an inject delay offers no bandwidth, so the second chart lacks it.
    assert sorted(links) == sorted([*rows, "point-0-1", "point-0-2"])
    assert "&lt;never&gt;" in page
    Page(page)


def test_more_curves_than_colours_are_in_the_table() -> None:
    page = curve_page(MANY)
    assert len(set(re.findall(r'id="(point-[\d-]+)"', page))) == 30
    assert page.count("<polyline") == 16


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(1, 40), st.floats(80, 400)), min_size=2, max_size=12))
def test_a_curve_bends_where_it_passes_the_limit(points: list[tuple[float, float]]) -> None:
    ordered = [*sorted(points, reverse=True), (0.5, 80.0)]
    found = knee(curve(1.0, *ordered))
    limit = KNEE * 80
    if max(latency for _, latency in ordered) < limit:
        assert found is None
    elif found is not None:
        above = [bandwidth for bandwidth, latency in ordered if latency >= limit]
        assert 0.5 <= found <= max(above)
        below = [latency for bandwidth, latency in ordered if bandwidth < found - 1e-9]
        assert all(latency <= limit + 1e-9 for latency in below)


def by_ccd(ccds: int, nodes: int) -> dict[str, Any]:
    """Returns the matrix of a server whose nodes have as many CCDs each."""
    node_of = [ccd * nodes // ccds for ccd in range(ccds)]
    of_nodes = matrix(nodes)
    pairs = [{"ccd": ccd, **pair} for ccd in range(ccds) for pair in of_nodes["pairs"] if pair["node"] == node_of[ccd]]
    return {**of_nodes, "pairs": pairs}


@pytest.mark.parametrize(("ccds", "nodes"), [(8, 1), (12, 4), (32, 8)])
def test_a_matrix_of_chiplets_has_a_row_for_each_ccd(ccds: int, nodes: int) -> None:
    content = by_ccd(ccds, nodes)
    page = matrix_page(content)
    assert page.count('class="fill-a"') == 2 * ccds * nodes
    assert f"cores of CCD {ccds - 1}, memory of node {nodes - 1}" in page
    assert rows_of(content) == ("CCD", [str(ccd) for ccd in range(ccds)])
    Page(page)


@pytest.mark.parametrize(("nodes", "bare"), [(1, 0), (2, 0), (4, 2), (8, 0)])
def test_a_matrix_has_a_tile_for_each_pair(nodes: int, bare: int) -> None:
    page = matrix_page(matrix(nodes, bare=bare))
    assert page.count('class="fill-a"') == 2 * nodes * (nodes - bare)
    Page(page)


def test_the_cost_of_remote_memory_is_told() -> None:
    assert remote_text(matrix(2)["pairs"]) == (
        "Local memory: 100 ns, 60.0 GB/s. Remote memory: 150 ns (+50 %), 15.0 GB/s (-75 %)."
    )
    assert "Remote" not in remote_text(matrix(1)["pairs"])
