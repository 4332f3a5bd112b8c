"""The page of `hostnet whatif`: stages that add up, units that people read, and gaps that are explained."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hostnet.attachments.advice import gap_notes, lacking
from hostnet.attachments.page import answers, whatif_page
from hostnet.attachments.page_charts import MEANINGS, segments, work_of
from hostnet.stages import STAGES
from tests.report.test_pages import Page

SUMMARY = {"window_ns": 500_000.0, "warm_up_ns": 50_000.0, "seed": 1}
PLACES = ("pcie", "onchip", "dimm", "cxl")


def stage_row(place: str, name: str = "ping", way: str = "there", **stages: float) -> dict[str, Any]:
    """Returns the stages of a class, which take as long as its mean."""
    known = dict.fromkeys(STAGES, 0.1) | {"tx_flush": 0.0, "rx_invalidate": 0.0} | stages
    return {"place": place, "class": name, "way": way, **known, "mean_us": sum(known.values()), "datagrams": 95}


def traffic_row(place: str, name: str = "ping", **changes: Any) -> dict[str, Any]:
    return {
        "class": name,
        "place": place,
        "goodput_gbps": 0.2,
        "mean_us": 4.2,
        "p99_us": 5.0,
        "requests": 120,
        "pj_per_byte": 8_058_408.0,
        "nj_per_operation": 1_026_104.0,
        "memory_bytes_per_packet": 124.0,
        "limit": "requests in flight",
        "why": "it waits",
        **changes,
    }


def host_row(place: str, host: str = "node-0", **changes: Any) -> dict[str, Any]:
    return {
        "host": host,
        "place": place,
        "in_gbps": 0.4,
        "out_gbps": 0.2,
        "memory_gb_per_s": 0.02,
        "busy_percent": 24.4,
        "power_w": 98.5,
        "others_gb_per_s": None,
        "others_latency_ns": None,
        **changes,
    }


def content_of(**changes: Any) -> dict[str, Any]:
    """Returns the content of `whatif.json`."""
    return {
        "name": "ping <1>",
        "stages": [stage_row(place, way=way) for way in ("there", "back") for place in PLACES],
        "traffic": [traffic_row(place, mean_us=4.2 - at) for at, place in enumerate(PLACES)],
        "hosts": [host_row(place, host) for host in ("node-0", "node-1") for place in PLACES],
        "losses": [],
        "refused": {},
        "unvalidated": [],
        **changes,
    }


def test_stages_add_up_and_those_without_time_are_left_out() -> None:
    row = stage_row("dimm")
    found = segments(row)
    assert len(found) == len(STAGES) - 2
    assert sum(segment.value for segment in found) == pytest.approx(row["mean_us"])
    page = whatif_page(content_of(), SUMMARY)
    assert "cache lines" not in page, "no place flushes any"
    assert "cache lines" in whatif_page(content_of(stages=[stage_row("dimm", tx_flush=0.2)]), SUMMARY)
    Page(page)


def test_every_stage_has_a_colour_and_a_meaning() -> None:
    assert set(MEANINGS) == set(STAGES)
    assert len({work_of(stage) for stage in STAGES}) == 6


def test_energies_have_a_prefix_that_fits() -> None:
    text = Page(whatif_page(content_of(), SUMMARY)).text
    assert "Energy per byte, µJ/B" in text
    assert "Energy per request, mJ" in text
    assert "8.06 µJ" in text
    assert "8058408" not in text


def test_a_percentile_says_how_many_requests_it_lacks() -> None:
    few = traffic_row("pcie", p99_us=None, requests=96)
    assert lacking(few) == "96 of 100"
    assert lacking(traffic_row("pcie")) is None
    assert lacking(traffic_row("pcie", p99_us=None, requests=None)) is None
    text = Page(whatif_page(content_of(traffic=[few, traffic_row("onchip")]), SUMMARY)).text
    assert text.count("96 of 100") == 3, "the chart, the table and a note"


def test_a_nic_in_a_dimm_that_bypasses_the_host_is_explained() -> None:
    bare = host_row("dimm", in_gbps=None, out_gbps=None, memory_gb_per_s=0.0)
    assert len(list(gap_notes([], [bare]))) == 1
    assert not list(gap_notes([], [host_row("dimm"), host_row("pcie", in_gbps=0.0, out_gbps=0.0)]))


def test_columns_of_zeros_have_neither_a_chart_nor_a_column() -> None:
    zeros = [traffic_row(place, memory_bytes_per_packet=0.0) for place in PLACES]
    page = whatif_page(content_of(traffic=zeros), SUMMARY)
    assert "Memory traffic of a packet" not in page
    assert "memory B/packet" not in page
    assert "memory B/packet" in whatif_page(content_of(), SUMMARY)


def test_losses_and_places_left_out_are_warnings() -> None:
    changes = {"losses": ["bulk has 3 Gbps at onchip"], "refused": {"dimm": "host.a: is of two <sockets>"}}
    page = whatif_page(content_of(**changes), SUMMARY)
    assert page.count('class="warning"') == 2
    assert "dimm is left out: host.a: is of two &lt;sockets&gt;" in page


def test_the_answer_names_the_best_place() -> None:
    assert answers(content_of()["traffic"]) == [
        "ping: 1.20 µs a round trip at a CXL link, 4.20 at its PCIe link (-71 %)."
    ]
    bulk = [traffic_row(place, mean_us=None, goodput_gbps=rate) for place, rate in (("pcie", 50.0), ("onchip", 40.0))]
    assert answers(bulk) == ["ping: 50.0 Gbps at its PCIe link, the best place."]
    assert answers(bulk[:1]) == []


def test_each_place_links_to_its_run() -> None:
    page = whatif_page(content_of(), SUMMARY)
    assert re.findall(r'href="([^"]+)"', page) == [f"{place}/report.html" for place in PLACES]
