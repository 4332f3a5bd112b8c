"""The report of a run: what ran, what limits it, and where its lines spend their time."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hostnet.report.charts import Axis, legend, line_chart, meter
from hostnet.report.html import Child, Html, details, element, facts, join, section, table
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import number, percent, time_from_ns, with_ci95
from hostnet.report.page import page
from hostnet.report.series import series_of_run

KIND_OF_DOMAIN = {"C2M": "a", "LFB": "a", "P2M": "b", "PCI": "b"}
"""Colour of a domain's bar by the first letters of its name: cores, devices, and green for what they share."""


def run_page(run: RunFiles) -> str:
    """The whole page."""
    name = str(run.summary.get("name", run.directory.name))
    return page(
        f"{name} – hostnet",  # noqa: RUF001
        header(run, name),
        limits_section(run),
        workloads_section(run),
        domains_section(run),
        channels_section(run),
        series_section(run),
        notes_section(run),
        config_section(run),
        element(
            "footer", f"hostnet {run.manifest.get('version', '')}, configuration {run.summary.get('config_hash', '')}"
        ),
    )


def header(run: RunFiles, name: str) -> Html:
    """Title, what was run, and whether it is to be trusted."""
    summary, manifest = run.summary, run.manifest
    kinds = ", ".join(f"{row['workload']} ({row['kind']})" for row in rows_of(run, "workloads"))
    unvalidated = summary.get("unvalidated")
    return element(
        "header",
        element("p", "Host network run", class_="eyebrow"),
        element("h1", name),
        element("p", kinds, class_="lead"),
        None
        if summary.get("complete", True)
        else warning("This run was stopped before its end; its numbers cover what was simulated."),
        warning(str(unvalidated)) if unvalidated else None,
        facts(
            (
                ("Measured", time_from_ns(summary.get("window_ns"))),
                ("Warm-up", time_from_ns(summary.get("warm_up_ns"))),
                ("Lines of 64 B", number(summary.get("lines"))),
                ("Events", number(summary.get("events"))),
                ("Seed", str(summary.get("seed", ""))),
                ("Wall time", wall_time(manifest)),
                ("Started", str(manifest.get("started", "")).replace("T", " ").replace("+00:00", " UTC")),
            )
        ),
    )


def warning(message: str) -> Html:
    """A line that must not be overlooked."""
    return element("p", message, class_="warning", role="note")


def wall_time(manifest: Row) -> str | None:
    """Wall time and speed of the run, when the manifest has them."""
    seconds, speed = manifest.get("wall_time_s"), manifest.get("events_per_s")
    if seconds is None:
        return None
    return f"{seconds:.1f} s" + (f", {speed / 1e6:.1f} M events/s" if speed else "")


def rows_of(run: RunFiles, name: str) -> list[Row]:
    """The rows of a table in the summary."""
    rows: list[Row] = run.summary.get(name, [])
    return rows


def limits_section(run: RunFiles) -> Html | None:
    """One sentence per workload on what binds it."""
    limits = run.summary.get("limits", [])
    if not limits:
        return None
    return section(
        "What limits each workload", element("ul", *(element("li", text) for text in limits), class_="limits")
    )


def workloads_section(run: RunFiles) -> Html:
    """Rates and latencies of every workload."""
    workloads = rows_of(run, "workloads")
    columns = [
        "Workload",
        "Limited by",
        "Throughput GB/s",
        "DRAM read GB/s",
        "DRAM write GB/s",
        "Latency ns",
        "p50 ns",
        "p99 ns",
    ]
    rows: list[list[Child]] = [
        [
            strong_name(row["workload"]),
            row.get("limited_by"),
            with_ci95(row["throughput_gb_per_s"], row.get("throughput_ci95")),
            number(row["read_gb_per_s"]),
            number(row["write_gb_per_s"]),
            with_ci95(row["latency_mean_ns"], row.get("latency_ci95")),
            number(row["latency_p50_ns"]),
            number(row["latency_p99_ns"]),
        ]
        for row in workloads
    ]
    return section(
        "Workloads",
        table(columns, rows, text_columns=2),
        io_table(workloads),
        note="Throughput and latency are those of the workload's own domain; ± is half of a 95% confidence interval.",
    )


def strong_name(name: object) -> Html:
    """A name that may be long."""
    return element("span", str(name), class_="name")


def io_table(workloads: Sequence[Row]) -> Html | None:
    """What applications with I/O requests see."""
    rows: list[list[Child]] = [
        [
            strong_name(row["workload"]),
            number(row["app_gb_per_s"]),
            number(row["io_completed"]),
            *completion_latency(row),
        ]
        for row in workloads
        if row.get("io_completed") is not None
    ]
    columns = ["I/O requests", "Rate GB/s", "Completed", "Mean latency µs", "p50 µs", "p99 µs"]
    return table(columns, rows) if rows else None


def completion_latency(row: Row) -> list[Child]:
    """Mean, median and 99th percentile of the completion latency, told once enough requests have completed."""
    if row["io_latency_mean_ns"] is None:
        return ["n/a (window too short)", "", ""]
    return [microseconds(row[f"io_latency_{which}_ns"]) for which in ("mean", "p50", "p99")]


def microseconds(value_ns: object) -> str:
    """A time given in ns, in µs."""
    return number(value_ns / 1000 if isinstance(value_ns, int | float) else None)


def domains_section(run: RunFiles) -> Html:
    """Credits in use of every domain, summed over the machine; single parts are folded away."""
    whole = [row for row in rows_of(run, "domains") if row.get("part") == "all"]
    totals = [row for row in whole if row["workload"] == "all"]
    split = [row for row in whole if row["workload"] != "all"]
    parts = [row for row in run.domains if row.get("part") != "all" and row["workload"] == "all"]
    return section(
        "Domains",
        domain_table(totals, "Domain"),
        details("By workload", domain_table(split, "Domain", workload=True)) if split else None,
        details("By part of the machine", domain_table(parts, "Domain", part=True)) if parts else None,
        note="Bars show the mean number of credits in use out of the capacity; the tick is the largest number seen. "
        "A domain's throughput is at most credits × 64 B / latency.",  # noqa: RUF001
    )


def domain_table(rows: Sequence[Row], title: str, *, workload: bool = False, part: bool = False) -> Html:
    """A table of domains, with columns for part and workload where they differ."""
    columns = [title, *(["Part"] if part else []), *(["Workload"] if workload else [])]
    text_columns = len(columns)
    columns += ["Credits in use", "Capacity", "Full", "Latency ns", "p99 ns", "Throughput GB/s"]
    cells: list[list[Child]] = []
    for row in rows:
        names: list[Child] = [domain_name(row)]
        names += ([row["part"]] if part else []) + ([strong_name(row["workload"])] if workload else [])
        cells.append(names + domain_cells(row))
    return table(columns, cells, text_columns=text_columns)


def domain_name(row: Row) -> Html:
    """The domain, and whose credits it uses."""
    shared = row.get("shares_capacity_with")
    return join((row["domain"], element("span", f" in {shared}", class_="quiet") if shared else None))


def domain_cells(row: Row) -> list[Child]:
    """The measured columns of a domain."""
    kind = KIND_OF_DOMAIN.get(str(row["domain"])[:3], "c")
    bar = meter(row["in_use_mean"], row["capacity"], peak=row.get("in_use_max"), kind=kind)
    return [
        element("span", bar, element("span", number(row["in_use_mean"])), class_="meter"),
        number(row["capacity"]),
        percent(row.get("full_share")),
        with_ci95(row["latency_mean_ns"], row.get("latency_ci95")),
        number(row["latency_p99_ns"]),
        number(row["throughput_gb_per_s"]),
    ]


def channels_section(run: RunFiles) -> Html | None:
    """What every memory channel did; the last row is all of them."""
    channels = sorted(rows_of(run, "channels"), key=lambda row: (row["channel"] < 0, row["channel"]))
    if not channels:
        return None
    columns = [
        "Channel",
        "Traffic, GB/s",
        "Bus busy",
        "Read GB/s",
        "Write GB/s",
        "Row misses",
        "Row conflicts",
        "RPQ",
        "WPQ",
        "WPQ full",
        "Write mode",
    ]
    rows: list[list[Child]] = [
        [
            "all" if row["channel"] < 0 else str(row["channel"]),
            element("span", str(row.get("sources") or ""), class_="sources"),
            element(
                "span",
                meter(row["bus_busy_share"], 1.0, kind="c"),
                element("span", percent(row["bus_busy_share"])),
                class_="meter",
            ),
            number(row["read_gb_per_s"]),
            number(row["write_gb_per_s"]),
            percent(row["row_miss_ratio"]),
            percent(row["row_conflict_ratio"]),
            number(row["rpq_mean"]),
            number(row["wpq_mean"]),
            percent(row["wpq_full_share"]),
            percent(row["write_mode_share"]),
        ]
        for row in channels
    ]
    note = "Row misses are activations for reads per line read; RPQ and WPQ are mean numbers of entries."
    return section("Memory channels", table(columns, rows, text_columns=2), note=note)


def series_section(run: RunFiles) -> Html | None:
    """How rates, credits and latencies went over time."""
    quantities = dict.fromkeys(row["quantity"] for row in run.series)
    cards = [card for quantity in quantities for card in series_cards(run, quantity)]
    return section("Over time", element("div", *cards, class_="pair")) if cards else None


def series_cards(run: RunFiles, quantity: str) -> list[Html]:
    """All subjects of a quantity, a chart for every few of them."""
    title, unit, groups = series_of_run(run.series, quantity)
    heading = f"{title}, {unit}" if unit else title
    axis = Axis("time, µs", unit, whole_x=False)
    charts = [(legend(plotted), line_chart(f"{title} over time", axis, plotted, wide=True)) for plotted in groups]
    return [element("div", element("h3", heading), *chart, class_="card") for chart in charts]


def notes_section(run: RunFiles) -> Html | None:
    """What had no influence, and what the model does not know."""
    ignored = [str(text) for text in run.summary.get("ignored", [])]
    without_effect = [f"{key} had no influence on this run" for key in run.summary.get("no_effect", [])]
    notes = ignored + without_effect
    return section("Notes", element("ul", *(element("li", note) for note in notes), class_="notes")) if notes else None


def config_section(run: RunFiles) -> Html | None:
    """The configuration as written and as resolved."""
    effective = run.manifest.get("config")
    blocks = []
    if run.config is not None:
        blocks.append(details("As written", element("pre", run.config)))
    if effective:
        blocks.append(
            details(
                "Complete, with the preset's values",
                element("pre", json.dumps(effective, indent=2, ensure_ascii=False)),
            )
        )
    return section("Configuration", *blocks) if blocks else None
