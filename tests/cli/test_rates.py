"""Rates that are small compared to the unit of their column have their own prefix."""

from __future__ import annotations

import pytest

from hostnet.cli.show import rate
from hostnet.cli.show_cluster import ROWS_MAX, view_table
from hostnet.cli.show_seeds import mean_text
from hostnet.cli.show_sweep import sweep_table
from hostnet.cluster_view import port_view, traffic_view
from hostnet.units import format_rate, unit_of_rate
from hostnet.view import View, text_column, value_column


@pytest.mark.parametrize(
    ("value", "unit", "half_width", "text"),
    [
        (0.001, "Gbps", None, "1.00 Mbps"),
        (0.0004, "GB/s", None, "400 kB/s"),
        (0.0004, "GB/s", 0.0000123, "400 ±12 kB/s"),
        (0.00123, "Gbps", 0.00002, "1.23 ±0.02 Mbps"),
        (18.23, "Gbps", None, "18.2 Gbps"),
        (0.0, "GB/s", None, "0 GB/s"),
        (3e-9, "GB/s", None, "3.00 B/s"),
        (-0.02, "Gbps", None, "-20.0 Mbps"),
    ],
)
def test_a_rate_has_a_prefix_that_suits_it(value: float, unit: str, half_width: float | None, text: str) -> None:
    assert format_rate(value, unit, half_width) == text


def test_columns_of_rates_are_known_by_their_ends() -> None:
    assert [unit_of_rate(name) for name in ("goodput_gbps", "read_gb_per_s", "p99_us")] == ["Gbps", "GB/s", None]


def test_a_cell_has_its_own_unit_only_if_little_of_it_were_left() -> None:
    row = {"throughput_gb_per_s": 0.0123, "throughput_ci95": 0.0005, "read_gb_per_s": 0.1, "write_gb_per_s": 0}
    assert rate(row, "throughput_gb_per_s", "throughput_ci95") == "12.3 ±0.5 MB/s"
    assert [rate(row, name) for name in ("read_gb_per_s", "write_gb_per_s")] == ["0.10", "0"]
    assert mean_text({"mean": 0.001, "ci95": 0.0001}, 1.0, "Gbps") == "1.00 ±0.10 Mbps"
    assert mean_text({"mean": 0.5, "ci95": None}, 100.0) == "50.0"


def test_a_flow_of_a_megabit_per_second_is_no_nothing() -> None:
    packets = dict.fromkeys(
        ("retransmitted_packets", "marked_segments", "received_segments", "marked_by_host", "nic_drop_percent"), 0
    )
    row = {**packets, "class": "a", "goodput_gbps": 0.001, "goodput_ci95": 0.0001, "sent_packets": 9}
    row |= {"fabric_dropped": 0, "timeouts": 0}
    table = view_table(
        traffic_view([row, {**row, "class": "b", "goodput_gbps": 20.0, "goodput_ci95": 0.5}]).without_empty()
    )
    cells = {str(column.header): list(column.cells) for column in table.columns}
    assert (cells["Gbps"], cells["± 95 %"]) == (["1.00 Mbps", "20.0"], ["100 kbps", "0.50"])


def test_a_sweep_tells_small_rates() -> None:
    row = {"core.count": 2, "workload": "a", "limited_by": "b", "throughput_gb_per_s": 4e-4, "throughput_ci95": None}
    manifest = {"over": [{"path": "core.count"}], "seeds": []}
    found = [list(sweep_table(manifest, [row], intervals=wanted).columns[2].cells) for wanted in (True, False)]
    assert found == [["400 kB/s"], ["400 kB/s"]]


def test_rows_that_are_not_shown_are_said_to_stand_somewhere() -> None:
    row = {"to": "tor", "rate_gbps": 100, "sent_packets": 3, "queue_mean_packets": 1.0, "queue_max_packets": 3}
    row |= {"marked_packets": 2, "paused_share": 0.0}
    rows = [{**row, "place": f"host{number}", "sent_gbps": number + 1.0} for number in range(ROWS_MAX + 8)]
    for width in (30, 80):
        parts = view_table(port_view(rows).without_empty()).fitted(width)
        said = [part.caption for part in parts if part.caption]
        assert said == ['8 more rows of "Ports": queues.parquet of the run directory']
    assert view_table(port_view(rows[:ROWS_MAX])).caption is None


def test_a_row_of_zeros_says_so_once() -> None:
    rows = [{"class": name, "goodput_gbps": rate, "goodput_ci95": rate} for name, rate in (("bulk", 9.0), ("rpc", 0))]
    columns = [
        text_column("class", "class"),
        value_column("Gbps", "goodput_gbps"),
        value_column("± 95 %", "goodput_ci95"),
    ]
    table = view_table(View("Traffic", "", columns, rows))
    assert [list(column.cells)[1] for column in table.columns] == ["rpc", "nothing", ""]
