"""Tables of clusters for people: their values are possible, and name their subject."""

from __future__ import annotations

from typing import Any

import pytest

from hostnet.cluster_view import completion_view, request_view, traffic_view
from hostnet.energy_view import energy_view
from hostnet.view import View

CLASS: dict[str, Any] = {
    "class": "bulk",
    "goodput_gbps": 75.0,
    "goodput_ci95": 3.0,
    "sent_packets": 12_000,
    "retransmitted_packets": 0,
    "received_segments": 1000,
    "marked_segments": 250,
    "marked_by_host": 2400,
    "nic_drop_percent": 0.0,
    "fabric_dropped": 0,
    "timeouts": 0,
}


def shown(view: View) -> dict[str, Any]:
    """Returns the first row by its headings, without columns that hold no information."""
    view = view.without_empty()
    return dict(zip((column.heading for column in view.columns), view.cells()[0], strict=True))


def test_marked_segments_are_a_share_of_segments_and_marked_packets_of_packets() -> None:
    row = shown(traffic_view([CLASS]))
    assert (row["marked %"], row["marked by host %"]) == (25.0, 20.0)


@pytest.mark.parametrize(
    ("count", "told"), [(5, []), (104, ["P90", "P99"]), (10_000, ["P90", "P99", "P99.9", "P99.99"])]
)
def test_a_percentile_needs_a_request_beyond_it(count: int, told: list[str]) -> None:
    names = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "max")
    row = {"class": "rpc", "count": count, **{f"{name}_us": 50.0 for name in names}}
    assert [heading for heading in shown(request_view([row])) if heading.startswith("P")] == ["P50", *told]


def test_flows_that_end_have_the_rate_of_their_own_time() -> None:
    flow = {"class": "answer", "received_bytes": 250_000, "returned_bytes": 0}
    flows = [{**flow, "completion_us": time} for time in (100.0, 200.0, 400.0)] + [{**flow, "completion_us": None}]
    row = shown(completion_view(flows, whole=True))
    assert (row["flows"], row["ended"], row["Gbps each"]) == (4, 3, pytest.approx(10.0))
    assert "Gbps each" not in shown(completion_view(flows, whole=False)), "bytes of the warm-up are not counted"


def test_energy_says_that_switches_are_not_counted_where_none_is() -> None:
    row = {"host": "receiver", "part": "all", "power_w": 10.0, "power_low_w": 9.0, "power_high_w": 11.0}
    switch = {**row, "host": "tor", "part": "switch ports", "power_w": 3.0}
    assert "Switches are not included" in energy_view([row]).about
    assert "Switches" not in energy_view([row, switch]).about
    assert "Switches" not in energy_view([{key: row[key] for key in row if key != "host"}]).about, "of one server"
    assert shown(energy_view([switch]))["switch W"] == 3.0
