"""What the screen and the report show of a run of a cluster: a few columns of its tables, named for people."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from hostnet.energy_view import efficiency, energy
from hostnet.limit_names import NOT_KNOWN
from hostnet.power_view import power
from hostnet.stages import STAGES, stage_ways
from hostnet.view import Column, View, maybe, name_of, part, percent, plain

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
"""Percentiles of latencies by their columns: what they are called, and the requests that it takes for one beyond."""


def percentiles(row: Row) -> dict[str, float]:
    """The percentiles of latencies beyond which there is a request, by column."""
    return {key: row[key] for key, (_, least) in TAIL.items() if row["count"] >= least and row[key] is not None}


def tail(heading: str, key: str) -> Column:
    """A percentile, where there is a request beyond it."""
    return Column(heading, lambda row: percentiles(row).get(key))


def views(summary: Row, flows: Iterable[Row] = ()) -> list[View]:
    """The tables of a run, those without rows left out."""
    found = (
        traffic(summary["classes"]),
        requests(summary["latencies"]),
        stage_view(summary.get("stages", ())),
        jobs(summary.get("jobs", ())),
        steps(summary.get("steps", ())),
        paths(summary.get("path", ())),
        services(summary.get("services", ())),
        completions(flows, whole=not summary.get("warm_up_ns")),
        slowdowns(summary.get("completions", ())),
        hosts(summary["hosts"]),
        cores(summary["hosts"]),
        power(summary),
        levels(summary.get("control", ())),
        regimes(summary.get("control", ())),
        memory(summary["memory"]),
        energy(summary.get("energy", ())),
        efficiency(summary.get("efficiency", ())),
        ports(summary["queues"]),
        switches(summary.get("switches", ())),
        pool(summary.get("pool", ())),
    )
    told = (view.without_empty() for view in found if view.rows)
    return [view for view in told if len(view.columns) > 1]


def traffic(rows: Sequence[Row]) -> View:
    """What applications received."""
    columns = [
        name_of("class", "class"),
        Column("Gbps", lambda row: row["goodput_gbps"], always=True, unit="Gbps"),
        Column("± 95 %", lambda row: row["goodput_ci95"], unit="Gbps"),
        Column("drift", lambda row: row.get("goodput_drift"), unit="Gbps"),
        Column("packets", lambda row: row["sent_packets"], always=True),
        plain("sent again", "retransmitted_packets"),
        part("marked %", "marked_segments", "received_segments"),
        part("marked by host %", "marked_by_host", "sent_packets"),
        plain("NIC drops %", "nic_drop_percent"),
        plain("network drops", "fabric_dropped"),
        plain("timeouts", "timeouts"),
    ]
    return View("Traffic", "What applications received, and what happened to its packets.", columns, rows, "classes")


def requests(rows: Sequence[Row]) -> View:
    """Latencies."""
    columns = [
        name_of("class", "class"),
        plain("requests", "count"),
        plain("mean µs", "mean_us"),
        *(tail(name, key) for key, (name, _) in TAIL.items()),
        plain("max", "max_us"),
    ]
    about = (
        "From the request to the last byte of its answer, in µs. P99 takes 100 requests, P99.9 takes 1000, and so on."
    )
    return View("Latencies of requests", about, columns, rows, "latencies")


def stage_view(rows: Sequence[Row]) -> View:
    """Where the time of datagrams goes."""
    columns = [
        name_of("class", "class"),
        name_of("way", "way"),
        plain("count", "datagrams"),
        *(maybe(heading, stage) for stage, heading in STAGES.items()),
        plain("mean µs", "mean_us"),
        Column("P99", lambda row: row["p99_us"] if row["datagrams"] >= TAIL["p99_us"][1] else None),
    ]
    about = (
        "From one application to the other, in µs: the stages that a datagram comes through, which add up to the mean."
    )
    return View("Stages of datagrams", about, columns, stage_ways(rows))


def services(rows: Sequence[Row]) -> View:
    """Requests in an open loop, and their workers."""
    columns = [
        name_of("class", "class"),
        name_of("host", "host"),
        plain("workers", "workers"),
        percent("busy %", "busy_share"),
        plain("answered/s", "answered_per_s"),
        plain("given up", "given_up"),
        plain("waiting", "queue_mean"),
        plain("most", "queue_max"),
        plain("wait µs", "wait_mean_us"),
        plain("P95 latency µs", "p95_us"),
    ]
    return View(
        "Services", "Requests that come in an open loop, and the workers that serve them.", columns, rows, "services"
    )


def jobs(rows: Sequence[Row]) -> View:
    """Jobs of ranks."""
    columns = [
        name_of("job", "job"),
        name_of("kind", "kind"),
        plain("ranks", "ranks"),
        plain("done µs", "done_us"),
        Column("not done", lambda row: row["unfinished_ranks"] or None),
        plain("iterations", "iterations"),
        plain("µs each", "iteration_us"),
        percent("messages %", "communication_share"),
        plain("sent", "messages"),
        Column("MB", lambda row: row["bytes"] / 1e6),
        Column("slowest rank", lambda row: f"{row['slowest_rank']} at {row['slowest_host']}", text=True),
        Column("path", lambda row: row.get("path_host"), text=True),
        Column("of it %", lambda row: 100 * row["path_share"] if row.get("path_share") else None),
    ]
    about = (
        "Done is when the last rank was. Messages % is the share of the time of the ranks in which they sent messages "
        "or waited for them. Not done are ranks that were not when the run ended. Path is the host that most of what "
        "the job waited for was at, led to or came from."
    )
    return View("Jobs", about, columns, rows, "jobs")


def steps(rows: Sequence[Row]) -> View:
    """Steps of jobs."""
    columns = [
        name_of("job", "job"),
        name_of("step", "step"),
        plain("count", "count"),
        percent("time %", "share"),
        plain("mean µs", "mean_us"),
        plain("max", "max_us"),
        plain("computes µs", "compute_us"),
        Column("MB", lambda row: row["bytes"] / 1e6 or None),
        plain("Gbps", "rate_gbps"),
    ]
    about = "Steps of all ranks by name. Gbps is what a rank sends per time in which it does not compute."
    return View("Steps of jobs", about, columns, rows, "steps")


def paths(rows: Sequence[Row]) -> View:
    """What binds the steps of jobs."""
    columns = [
        name_of("job", "job"),
        name_of("step", "step"),
        name_of("does", "does"),
        name_of("bound by", "limit"),
        name_of("at", "place"),
        Column("ms", lambda row: row["time_us"] / 1000),
        percent("path %", "share"),
    ]
    about = (
        "From the end of each job back to its beginning, always along what was waited for last: what bound it then. "
        "Only what is made faster here makes the job faster."
    )
    return View("What binds the steps of jobs", about, columns, rows)


def completions(flows: Iterable[Row], *, whole: bool) -> View:
    """Completion times of the flows that have an end; also their rates, where the `whole` of them was measured."""
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
        name_of("class", "class"),
        plain("flows", "flows"),
        plain("ended", "ended"),
        plain("first µs", "first"),
        plain("median", "median"),
        plain("last", "last"),
        plain("Gbps each", "each_gbps"),
    ]
    about = "From the start of a flow until its last byte was received, in µs. Gbps each is what half of the flows had."
    return View("Completion times", about, columns, rows, "flows")


def slowdowns(rows: Sequence[Row]) -> View:
    """How much longer flows of each size took than alone, where a class has many."""
    columns = [
        name_of("class", "class"),
        name_of("data", "size"),
        plain("flows", "flows"),
        plain("ended", "completed"),
        plain("mean µs", "mean_us"),
        plain("P50", "p50_us"),
        plain("P99", "p99_us"),
        plain("slowdown mean", "slowdown_mean"),
        plain("P50", "slowdown_p50"),
        plain("P99", "slowdown_p99"),
    ]
    about = (
        "Of flows that begin in the window: the time until the last byte was received, in µs, and how many times as "
        "long it is as with nothing else in the network."
    )
    many = {row["class"] for row in rows if row["flows"] >= 10}
    return View("Slowdown by size", about, columns, [row for row in rows if row["class"] in many])


def _gbps(row: Row) -> float:
    """What a flow moved per time until it ended."""
    return 8e-3 * float(row["received_bytes"] + row["returned_bytes"]) / float(row["completion_us"])


def hosts(rows: Sequence[Row]) -> View:
    """The way from the NIC to memory."""
    columns = [
        name_of("host", "host"),
        plain("IIO lines", "iio_write_occupancy"),
        plain("IIO ns", "iio_write_latency_ns"),
        plain("PCIe in Gbps", "iio_write_gbps"),
        plain("out Gbps", "iio_read_gbps"),
        Column("NIC buffer kB", lambda row: _kb(row["nic_buffer_mean_bytes"])),
        plain("P99 µs", "nic_buffered_p99_us"),
        percent("no credits %", "nic_credit_wait_share"),
        percent("no descriptors %", "nic_descriptor_wait_share"),
        plain("drops %", "nic_drop_percent"),
        plain("pauses", "nic_pauses_sent"),
    ]
    about = (
        "IIO lines is the mean number of lines that writes of devices hold in the IIO (I_S), IIO ns how long one is "
        "held. No credits is the share of time that the NIC waits for credits of PCIe: the sign of host congestion."
    )
    return View("Hosts: from the NIC to memory", about, columns, rows, "hosts")


def _kb(number: float | None) -> float | None:
    return None if number is None else number / 1000


def cores(rows: Sequence[Row]) -> View:
    """What network cores do."""
    kinds = {"softirq": "softirq", "calls": "call", "copies": "copy", "wait for memory": "stalled", "sending": "send"}
    columns = [name_of("host", "host")]
    columns += [percent(f"{word} %", f"core_{key}_share") for word, key in kinds.items()]
    keys = [f"core_{key}_share" for key in kinds.values()] + ["core_serve_share"]
    columns.append(Column("requests %", lambda row: 100 * (row.get("core_serve_share") or 0)))
    columns.append(Column("busy %", lambda row: 100 * sum(row.get(key) or 0 for key in keys)))
    busy = [row for row in rows if any(row.get(key) for key in keys)]
    return View(
        "Cores of the network", "Share of time, mean over the cores that have any work.", columns, busy, "hosts"
    )


def levels(rows: Sequence[Row]) -> View:
    """How much controllers throttled."""
    columns = [name_of("host", "host"), name_of("rule", "rule")]
    columns += [percent(f"level {level} %", f"level_{level}_share") for level in range(5)]
    columns += [plain("changes", "level_changes"), plain("of 3 and 4", "level_3_4_switches")]
    about = "Share of time at each level of throttling: 0 is none, at 4 the processes are stopped."
    return View("Control: levels", about, columns, rows, "control")


def regimes(rows: Sequence[Row]) -> View:
    """What controllers saw, and whether they marked."""
    columns = [name_of("host", "host")]
    columns += [plain("I_S lines", "occupancy_mean_lines"), plain("B_S Gbps", "bandwidth_mean_gbps")]
    columns += [percent(f"regime {regime} %", f"regime_{regime}_share") for regime in range(1, 5)]
    columns += [percent("marking %", "echo_share"), plain("samples", "bandwidth_samples")]
    about = (
        "Means over time of the smoothed signals; share of time in the regimes of hostCC: 1 target met, 2 met and "
        "congested, 3 not met and congested, 4 not met; share of time with packets being marked."
    )
    return View("Control: signals", about, columns, rows, "control")


def memory(rows: Sequence[Row]) -> View:
    """Memory bandwidth."""
    columns = [
        name_of("host", "host"),
        name_of("caused by", "workload"),
        plain("GB/s", "gb_per_s"),
        plain("read", "read_gb_per_s"),
        plain("write", "write_gb_per_s"),
    ]
    used = [row for row in rows if row["gb_per_s"]]
    return View("Memory bandwidth", "At the memory channels, by what causes it.", columns, used, "memory")


def ports(rows: Sequence[Row]) -> View:
    """Ports with their queues, those that sent anything or that others' packets came to, the busiest first."""
    columns = [
        name_of("from", "place"),
        name_of("to", "to"),
        plain("Gbps", "sent_gbps"),
        plain("of", "rate_gbps"),
        plain("packets", "sent_packets"),
        plain("queue mean", "queue_mean_packets"),
        plain("max", "queue_max_packets"),
        plain("marked", "marked_packets"),
        percent("paused %", "paused_share"),
        Column("flooded Gbps", lambda row: row.get("flooded_gbps"), unit="Gbps"),
        Column("strays", lambda row: row.get("stray_packets")),
    ]
    used = [row for row in rows if row["sent_packets"] or row.get("stray_packets")]
    used.sort(key=lambda row: -row["sent_gbps"])
    about = "What each port sent, framing included; queues are in packets. Strays came and were for other hosts."
    return View("Ports", about, columns, used, "queues")


def switches(rows: Sequence[Row]) -> View:
    """Switches that learn."""
    columns = [
        name_of("switch", "switch"),
        Column("addresses", lambda row: row["addresses"], always=True),
        plain("learnt", "learned"),
        plain("forgotten", "forgotten"),
        plain("displaced", "displaced"),
        plain("flooded packets", "flooded_packets"),
    ]
    about = "Addresses known at the end, and what came and went; packets that went everywhere, for want of an address."
    return View("Switches that learn", about, columns, rows, "switches")


def pool(rows: Sequence[Row]) -> View:
    """Memory of other servers."""
    keys = ["reads", "read_mean_ns", "read_p99_ns", "writes", "prefetch_hits", "nacks", "retries", "dropped_prefetch"]
    keys += ["read_grants", "write_grants", "grant_mean_ns", "grants_here", "pages_taken"]
    columns = [name_of("place", "place"), *(plain(key.replace("_", " "), key) for key in keys)]
    about = "Lines of other servers, what was read ahead, dropped and tried again, and shared pages that were granted."
    return View("Pool of memory", about, columns, rows, "pool")


def reason_text(name: str, limit: str, why: str) -> str:
    """What limits a class, in a sentence."""
    if limit in ("ended", "nothing measured"):
        return f"{name}: {why}"
    return f"{name} {'has no known limit' if limit == NOT_KNOWN else f'is limited by {limit}'}: {why}"


def reasons(summary: Row) -> list[tuple[str, str, str]]:
    """What limits each class and each workload that its host throttles: its name, the limit, and why."""
    of_classes = [(row["class"], row["limit"], row["why"]) for row in summary.get("limits", ())]
    return [*of_classes, *throttled(summary)]


def throttled(summary: Row) -> list[tuple[str, str, str]]:
    """The workloads that the control of their host limits; of several servers with the name of theirs."""
    servers = summary.get("servers", {})
    found = []
    for host, server in servers.items():
        for row in server.get("binding", ()):
            limit = row.get("outside")
            if row["kind"] == "stream" and limit is not None:
                name = row["workload"] if len(servers) == 1 else f"{row['workload']} of {host}"
                found.append((name, limit["limit"], limit["why"]))
    return found
