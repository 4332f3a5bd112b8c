"""The page of the network on a chip alone shows the measurement."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.report.noc_curves import NocRun
from hostnet.report.noc_page import noc_page, write_noc

Summary = dict[str, Any]


def summary_of(**arguments: Any) -> Summary:
    return hostnet.noc(cycles=400, warmup=200, **arguments).summary


@pytest.fixture(scope="module")
def mesh() -> Summary:
    return summary_of(size="4x3", rate=0.2)


def test_the_map_has_every_link_and_every_router(mesh: Summary) -> None:
    page = noc_page([NocRun("", "", mesh)])
    assert page.count('class="router"') == 12
    assert len(re.findall(r"<line [^>]*><title>|<line [^>]*stroke-width=\"5", page)) == 2 * (3 * 3 + 4 * 2)
    for row in mesh["links"]:
        name = row["link"].replace(">", "&gt;")
        assert f"{name}: busy {100 * row['busy_share']:.1f}\u00a0%, {row['flits']} flits" in page
    assert "uniform, 0.2 flits/node/cycle, packets of 1 flit, seed 1" in page
    assert "Latency under load" not in page


def test_several_rates_are_curves_that_mark_what_is_saturated(tmp_path: Path) -> None:
    runs = [
        NocRun(f"vcs {vcs}, rate {rate}", f"vcs {vcs}", summary_of(size="4x4", rate=rate, vcs=vcs))
        for vcs in (1, 4)
        for rate in (0.1, 0.3, 1.0)
    ]
    file = tmp_path / "noc.html"
    write_noc(file, runs)
    page = file.read_text(encoding="utf-8")
    assert "Latency under load" in page
    curves = re.findall(r'<polyline points="([^"]*)" class="curve', page)
    assert [len(points.split()) for points in curves[:4]] == [3, 3, 3, 3], "latencies and rates of all loads"
    assert page.count('class="noc"') == 6
    assert "Values of several networks" in page


def test_a_run_that_measured_nothing_has_a_page() -> None:
    stopped = hostnet.noc(warmup=10**9, progress=lambda _: False).summary
    assert "Nothing was measured yet." in noc_page([NocRun("", "", stopped)])


def test_a_trace_has_a_page(tmp_path: Path) -> None:
    trace = tmp_path / "<b>.txt"
    trace.write_text("0 0 5 3\n")
    page = noc_page([NocRun("", "", hostnet.noc(trace=trace).summary)])
    assert "&lt;b&gt;.txt" in page
    assert "<b>" not in page
