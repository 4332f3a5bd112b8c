"""Pages of several runs in a browser: nothing overlaps, is cut or too small, and links lead to their rows."""

from __future__ import annotations

from typing import Any

import pytest

import hostnet
from hostnet.attachments.page import whatif_page
from hostnet.comparison.page import comparison_page
from hostnet.curves.matrix_page import matrix_page
from hostnet.curves.page import curve_page
from hostnet.explanation import explain_results
from hostnet.explanation.html_page import explanation_page
from hostnet.sweeps.axis import axes_of
from hostnet.sweeps.page import sweep_page
from tests.cli.test_compare_page import cluster_comparison, server_comparison, server_config
from tests.cli.test_whatif_page import PLACES, SUMMARY, traffic_row
from tests.cli.test_whatif_page import content_of as places_content
from tests.curve.test_page import MANY, by_ccd, content, curve, matrix
from tests.report.browser import NAMES, WIDTHS, Browser, Seen, find_browser
from tests.report.test_browser import assert_sound
from tests.sweeps.test_page import content_of

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason=f"no browser to look at pages with: none of {', '.join(NAMES)} is on PATH"
)

LONG = "a-policy-whose-name-is-so-long-that-it-stands-above-its-bars"

SWEEPS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "quantities": (["a.entries=1,2,4,8,16,32,64,4096", "a.reads=1.0,0.5", "b.channels=1,2,3,4,5,6"], {}),
    "names": ([f"a.rule=none,{LONG}", "a.algorithm=ring,recursive-doubling,tree,aggregator,in-network"], {}),
    "one": (["a.size=64 B,1 KiB,64 MiB"], {"throughput_gb_per_s": lambda point, _: 1e-6 * 400**point}),
    "failed": (["a.b=1,2,3", "a.c=x,y"], {"points": 3}),
    "limits": (["a.b=1,2,3", "a.c=x,y"], {"limited_by": lambda point, _: f"limit {point}, of worker-{point}"}),
}


def sweep_pages() -> list[str]:
    """Returns pages of sweeps over quantities and names, with failures, and with very long and very large values."""
    return [sweep_page(content_of(axes_of(over), **columns)) for over, columns in SWEEPS.values()]


def curve_pages() -> list[str]:
    """Returns pages of a single curve, of more curves than there are colours, and of matrices of few and many nodes."""
    one = content(curve(1.0, (46.8, 1140.0), (30.0, 105.0), (1.6, 80.3)), unvalidated="x" * 200)
    return [
        curve_page(one),
        curve_page(MANY),
        *(matrix_page(matrix(nodes)) for nodes in (1, 2, 8)),
        matrix_page(by_ccd(32, 8)),
    ]


def whatif_pages() -> list[str]:
    """Returns pages of one class and of many, with tables open, and of flows without stages."""
    few = traffic_row("pcie", p99_us=None, requests=96)
    many = [traffic_row(place, f"a-class-of-flows-{at}", goodput_gbps=10.0**at) for at in range(5) for place in PLACES]
    pages = [
        places_content(traffic=[few, traffic_row("onchip")]),
        places_content(traffic=many, losses=["x" * 200]),
        places_content(stages=[]),
    ]
    return [whatif_page(content, SUMMARY).replace("<details", "<details open") for content in pages]


def comparison_pages() -> list[str]:
    """Returns pages of two servers, of two servers of several sockets, and of two clusters."""
    return [comparison_page(each) for each in (server_comparison(1), server_comparison(3), cluster_comparison("dctcp"))]


def explanation_pages() -> list[str]:
    """Returns the page of the explanation of a run of several sockets."""
    page = explain_results(hostnet.run(server_config(2)), None)
    return [explanation_page(page), explanation_page(page.with_steps())]


PAGES = {
    "sweep": sweep_pages,
    "curve": curve_pages,
    "whatif": whatif_pages,
    "compare": comparison_pages,
    "explain": explanation_pages,
}


@pytest.mark.parametrize("study", PAGES)
def test_pages_of_studies_are_sound(browser: Browser, study: str) -> None:
    pages = PAGES[study]()
    seen = browser.look_at(pages)
    assert len(seen.frames) == len(WIDTHS) * len(pages)
    for first in range(0, len(seen.frames), len(WIDTHS)):
        assert_sound(Seen(seen.frames[first : first + len(WIDTHS)], seen.console))


def test_a_point_leads_to_its_row(browser: Browser) -> None:
    page = sweep_page(content_of(axes_of(["a.b=1,2,3", "a.c=x,y"])))
    script = """(frame) => {
      const page = frame.contentDocument;
      const links = Array.from(page.querySelectorAll("svg a"));
      const rows = links.map((link) => page.getElementById(link.getAttribute("href").slice(1))?.closest("tr"));
      return links.map((link, index) => [link.querySelector("title").textContent, rows[index].innerText]);
    }"""
    found = browser.look(page, script, (1280,)).frames[0]
    assert len(found) == 6
    for title, row in found:
        name, settings, value = title.split("\n")
        assert name in ("x", "y")
        assert [part.split(" = ")[1] for part in settings.split(", ")] == row.split("\t")[1:3]
        assert value.removesuffix(" GB/s") in row
