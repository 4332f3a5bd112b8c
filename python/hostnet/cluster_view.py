"""Tables of a cluster run for the screen and the report: some columns of each result table, with readable headings."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from hostnet.energy_view import efficiency_view, energy_view
from hostnet.glossary import column_meaning
from hostnet.job_view import job_view, path_view, step_view
from hostnet.limit_names import NOT_KNOWN
from hostnet.power_view import power_view
from hostnet.stages import STAGES, stage_means
from hostnet.view import (
    Column,
    View,
    defined_column,
    optional_column,
    percent_column,
    ratio_column,
    text_column,
    value_column,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostnet.view import Row


TAIL = {
    "p50_us": ("P50", 2),
    "p90_us": ("P90", 10),
    "p99_us": ("P99", 100),
    "p99_9_us": ("P99.9", 1000),
    "p99_99_us": ("P99.99", 10_000),
}
"""Percentiles of latencies by column: their heading, and how many requests there must be for one to lie beyond."""


def percentiles(row: Row) -> dict[str, float]:
    """Returns the percentiles of latencies, by column, that at least one request lies beyond."""
    return {key: row[key] for key, (_, least) in TAIL.items() if row["count"] >= least and row[key] is not None}


def percentile_column(heading: str, key: str) -> Column:
    """Creates the column of a percentile, which is empty in rows where no request lies beyond it."""
    return Column(heading, lambda row: percentiles(row).get(key), key=key)


def cluster_views(summary: Row, flows: Iterable[Row] = ()) -> list[View]:
    """Returns the tables of a run, without those that have no rows."""
    shown = (view.without_empty() for view in all_views(summary, flows) if view.rows)
    return [view for view in shown if len(view.columns) > 1]


def all_views(summary: Row, flows: Iterable[Row] = ()) -> tuple[View, ...]:
    """Returns every table, with or without rows."""
    return (
        traffic_view(summary["classes"]),
        request_view(summary["latencies"]),
        stage_view(summary.get("stages", ())),
        job_view(summary.get("jobs", ())),
        step_view(summary.get("steps", ())),
        path_view(summary.get("path", ())),
        service_view(summary.get("services", ())),
        completion_view(flows, whole=not summary.get("warm_up_ns")),
        slowdown_view(summary.get("completions", ())),
        host_view(summary["hosts"]),
        core_view(summary["hosts"]),
        power_view(summary),
        level_view(summary.get("control", ())),
        regime_view(summary.get("control", ())),
        memory_view(summary["memory"]),
        energy_view(summary.get("energy", ())),
        efficiency_view(summary.get("efficiency", ())),
        port_view(summary["queues"]),
        switch_view(summary.get("switches", ())),
        pool_view(summary.get("pool", ())),
    )


def traffic_view(rows: Sequence[Row]) -> View:
    """Creates the table of the traffic that applications received."""
    columns = [
        text_column("class", "class"),
        Column("Gbps", lambda row: row["goodput_gbps"], always=True, unit="Gbps", key="goodput_gbps"),
        Column("± 95 %", lambda row: row["goodput_ci95"], unit="Gbps", key="goodput_ci95"),
        Column("drift", lambda row: row.get("goodput_drift"), unit="Gbps", key="goodput_drift"),
        Column("packets", lambda row: row["sent_packets"], always=True, key="sent_packets"),
        value_column("sent again", "retransmitted_packets"),
        ratio_column("marked %", "marked_segments", "received_segments"),
        ratio_column("marked by host %", "marked_by_host", "sent_packets"),
        value_column("NIC drops %", "nic_drop_percent"),
        value_column("network drops", "fabric_dropped"),
        value_column("timeouts", "timeouts"),
    ]
    return View("Traffic", "What applications received, and what happened to its packets.", columns, rows, "classes")


def request_view(rows: Sequence[Row]) -> View:
    """Creates the table of request latencies."""
    columns = [
        text_column("class", "class"),
        value_column("requests", "count"),
        value_column("mean µs", "mean_us"),
        *(percentile_column(name, key) for key, (name, _) in TAIL.items()),
        value_column("max", "max_us"),
    ]
    about = (
        "From the request to the last byte of its response, in µs. P99 needs 100 requests, P99.9 needs 1000, and so on."
    )
    return View("Request latencies", about, columns, rows, "latencies")


def stage_view(rows: Sequence[Row]) -> View:
    """Creates the table of the time that datagrams spend in each stage."""
    columns = [
        text_column("class", "class"),
        text_column("way", "way"),
        value_column("count", "datagrams"),
        *(stage_column(heading, stage) for stage, heading in STAGES.items()),
        value_column("mean µs", "mean_us"),
        Column("P99", lambda row: row["p99_us"] if row["datagrams"] >= TAIL["p99_us"][1] else None, key="p99_us"),
    ]
    about = "From one application to the other, in µs: the stages that a datagram passes, which add up to the mean."
    return View("Stages of datagrams", about, columns, stage_means(rows), source="stages")


def stage_column(heading: str, stage: str) -> Column:
    """Creates the column of the mean time in a stage."""
    return Column(heading, lambda row: row.get(stage), about=column_meaning("stages", "stage", stage))


def service_view(rows: Sequence[Row]) -> View:
    """Creates the table of services: requests in an open loop, and the workers that serve them."""
    columns = [
        text_column("class", "class"),
        text_column("host", "host"),
        value_column("workers", "workers"),
        percent_column("busy %", "busy_share"),
        value_column("answered/s", "answered_per_s"),
        value_column("given up", "given_up"),
        value_column("waiting", "queue_mean"),
        value_column("most", "queue_max"),
        value_column("wait µs", "wait_mean_us"),
        value_column("P95 latency µs", "p95_us"),
    ]
    return View(
        "Services", "Requests that arrive in an open loop, and the workers that serve them.", columns, rows, "services"
    )


def completion_view(flows: Iterable[Row], *, whole: bool) -> View:
    """Creates the table of completion times of flows that end, with their rates if the `whole` flow was measured."""
    classes: dict[str, list[Row]] = {}
    for row in flows:
        classes.setdefault(row["class"], []).append(row)
    rows = []
    for name, own in classes.items():
        times = sorted(row["completion_us"] for row in own if row["completion_us"] is not None)
        if times:
            ends = {"first": times[0], "median": median(times), "last": times[-1]}
            each = median(_gbps(row) for row in own if row["completion_us"]) if whole else None
            rows.append({"class": name, "flows": len(own), "ended": len(times), **ends, "each_gbps": each})
    columns = [
        text_column("class", "class"),
        defined_column("flows", "flows", "number of flows of the class"),
        defined_column("ended", "ended", "flows that ended before the run did"),
        defined_column("first µs", "first", "shortest completion time"),
        defined_column("median", "median", "completion time that half of the flows did not exceed"),
        defined_column("last", "last", "longest completion time"),
        defined_column("Gbps each", "each_gbps", "median of the mean rates of the flows"),
    ]
    about = "From the start of a flow until its last byte was received, in µs. Gbps each is what half of the flows had."
    return View("Completion times", about, columns, rows, "flows", source="classes")


def slowdown_view(rows: Sequence[Row]) -> View:
    """Creates the table of how much longer flows of each size take than alone, for classes with at least 10 flows."""
    columns = [
        text_column("class", "class"),
        text_column("data", "size"),
        value_column("flows", "flows"),
        value_column("ended", "completed"),
        value_column("mean µs", "mean_us"),
        value_column("P50", "p50_us"),
        value_column("P99", "p99_us"),
        value_column("slowdown mean", "slowdown_mean"),
        value_column("P50", "slowdown_p50"),
        value_column("P99", "slowdown_p99"),
    ]
    about = (
        "Of flows that begin in the window: the time until the last byte was received, in µs, and how many times as "
        "long it is as with nothing else in the network."
    )
    many = {row["class"] for row in rows if row["flows"] >= 10}
    shown = [row for row in rows if row["class"] in many]
    return View("Slowdown by size", about, columns, shown, "completions")


def _gbps(row: Row) -> float:
    """Returns the mean rate of a flow until its completion, in Gbps."""
    return 8e-3 * float(row["received_bytes"] + row["returned_bytes"]) / float(row["completion_us"])


def host_view(rows: Sequence[Row]) -> View:
    """Creates the table of the path from the NIC to memory."""
    columns = [
        text_column("host", "host"),
        value_column("IIO lines", "iio_write_occupancy"),
        value_column("IIO ns", "iio_write_latency_ns"),
        value_column("PCIe in Gbps", "iio_write_gbps"),
        value_column("out Gbps", "iio_read_gbps"),
        Column("NIC buffer kB", lambda row: _kb(row["nic_buffer_mean_bytes"]), key="nic_buffer_mean_bytes"),
        value_column("P99 µs", "nic_buffered_p99_us"),
        percent_column("no credits %", "nic_credit_wait_share"),
        percent_column("no descriptors %", "nic_descriptor_wait_share"),
        value_column("drops %", "nic_drop_percent"),
        value_column("pauses", "nic_pauses_sent"),
    ]
    about = (
        "IIO lines is the mean number of lines that writes of devices hold in the IIO (I_S), IIO ns how long one is "
        "held. No credits is the share of time that the NIC waits for credits of PCIe: the sign of host congestion."
    )
    return View("Hosts: from the NIC to memory", about, columns, rows, "hosts")


def _kb(number: float | None) -> float | None:
    """Converts bytes to kB."""
    return None if number is None else number / 1000


BUSY = "time that network cores spend on all of these together"
"""Definition of the busy share of network cores."""


def core_view(rows: Sequence[Row]) -> View:
    """Creates the table of the time shares of network cores."""
    kinds = {"softirq": "softirq", "calls": "call", "copies": "copy", "wait for memory": "stalled", "sending": "send"}
    columns = [text_column("host", "host")]
    columns += [percent_column(f"{word} %", f"core_{key}_share") for word, key in kinds.items()]
    keys = [f"core_{key}_share" for key in kinds.values()] + ["core_serve_share"]
    columns.append(Column("requests %", lambda row: 100 * (row.get("core_serve_share") or 0), key="core_serve_share"))
    columns.append(Column("busy %", lambda row: 100 * sum(row.get(key) or 0 for key in keys), about=BUSY))
    busy = [row for row in rows if any(row.get(key) for key in keys)]
    return View(
        "Cores of the network", "Share of time, mean over the cores that have any work.", columns, busy, "hosts"
    )


def level_view(rows: Sequence[Row]) -> View:
    """Creates the table of the levels to which controllers throttled."""
    columns = [text_column("host", "host"), text_column("rule", "rule")]
    columns += [percent_column(f"level {level} %", f"level_{level}_share") for level in range(5)]
    columns += [value_column("changes", "level_changes"), value_column("of 3 and 4", "level_3_4_switches")]
    about = "Share of time at each level of throttling: 0 is none, at 4 the processes are stopped."
    return View("Control: levels", about, columns, rows, "control")


def regime_view(rows: Sequence[Row]) -> View:
    """Creates the table of the signals that controllers saw, and of how long they marked packets."""
    columns = [text_column("host", "host")]
    columns += [value_column("I_S lines", "occupancy_mean_lines"), value_column("B_S Gbps", "bandwidth_mean_gbps")]
    columns += [percent_column(f"regime {regime} %", f"regime_{regime}_share") for regime in range(1, 5)]
    columns += [percent_column("marking %", "echo_share"), value_column("samples", "bandwidth_samples")]
    about = (
        "Means over time of the smoothed signals; share of time in the regimes of hostCC: 1 target met, 2 met and "
        "congested, 3 not met and congested, 4 not met; share of time with packets being marked."
    )
    return View("Control: signals", about, columns, rows, "control")


def memory_view(rows: Sequence[Row]) -> View:
    """Creates the table of memory bandwidth by workload."""
    columns = [
        text_column("host", "host"),
        text_column("caused by", "workload"),
        value_column("GB/s", "gb_per_s"),
        value_column("read", "read_gb_per_s"),
        value_column("write", "write_gb_per_s"),
    ]
    used = [row for row in rows if row["gb_per_s"]]
    return View("Memory bandwidth", "At the memory channels, by what causes it.", columns, used, "memory")


def port_view(rows: Sequence[Row]) -> View:
    """Creates the table of ports that sent packets or received strays, in descending order of their rate."""
    columns = [
        text_column("from", "place"),
        text_column("to", "to"),
        value_column("Gbps", "sent_gbps"),
        value_column("of", "rate_gbps"),
        value_column("packets", "sent_packets"),
        value_column("queue mean", "queue_mean_packets"),
        value_column("max", "queue_max_packets"),
        value_column("marked", "marked_packets"),
        percent_column("paused %", "paused_share"),
        Column("flooded Gbps", lambda row: row.get("flooded_gbps"), unit="Gbps", key="flooded_gbps"),
        optional_column("strays", "stray_packets"),
    ]
    used = [row for row in rows if row["sent_packets"] or row.get("stray_packets")]
    used.sort(key=lambda row: -row["sent_gbps"])
    about = "Traffic that each port sent, including framing; queues are in packets. Strays are packets for other hosts."
    return View("Ports", about, columns, used, "queues")


def switch_view(rows: Sequence[Row]) -> View:
    """Creates the table of learning switches."""
    columns = [
        text_column("switch", "switch"),
        Column("addresses", lambda row: row["addresses"], always=True, key="addresses"),
        value_column("learnt", "learned"),
        value_column("forgotten", "forgotten"),
        value_column("displaced", "displaced"),
        value_column("flooded packets", "flooded_packets"),
    ]
    about = "Addresses known at the end, learnt, forgotten and displaced, and packets flooded to all ports."
    return View("Switches that learn", about, columns, rows, "switches")


def pool_view(rows: Sequence[Row]) -> View:
    """Creates the table of accesses to memory of other servers."""
    keys = ["reads", "read_mean_ns", "read_p99_ns", "writes", "prefetch_hits", "nacks", "retries", "dropped_prefetch"]
    keys += ["read_grants", "write_grants", "grant_mean_ns", "grants_here", "pages_taken"]
    columns = [text_column("place", "place"), *(value_column(key.replace("_", " "), key) for key in keys)]
    about = "Accesses to lines of other servers, prefetches, drops and retries, and grants of shared pages."
    return View("Memory pool", about, columns, rows, "pool")


def reason_text(name: str, limit: str, why: str) -> str:
    """Returns a sentence that names the limit of a class."""
    if limit in ("ended", "nothing measured"):
        return f"{name}: {why}"
    return f"{name} {'has no known limit' if limit == NOT_KNOWN else f'is limited by {limit}'}: {why}"


def limit_reasons(summary: Row) -> list[tuple[str, str, str]]:
    """Returns the limit of each class and of each throttled workload, as tuples of name, limit and reason."""
    of_classes = [(row["class"], row["limit"], row["why"]) for row in summary.get("limits", ())]
    return [*of_classes, *throttled_workloads(summary)]


def throttled_workloads(summary: Row) -> list[tuple[str, str, str]]:
    """Returns the workloads that the controller of their host throttles, as tuples of name, limit and reason.

    With several servers, the names include the host.
    """
    servers = summary.get("servers", {})
    found = []
    for host, server in servers.items():
        for row in server.get("binding", ()):
            limit = row.get("outside")
            if row["kind"] == "stream" and limit is not None:
                name = row["workload"] if len(servers) == 1 else f"{row['workload']} of {host}"
                found.append((name, limit["limit"], limit["why"]))
    return found
