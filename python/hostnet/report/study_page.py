"""The report of a recomputed study: published and simulated, panel by panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hostnet.report.bars import grouped_chart, stacked_bars
from hostnet.report.charts import Axis, legend, line_chart, stacked_chart
from hostnet.report.html import Cell, Child, Html, details, element, facts, section, table
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import (
    MISSING,
    absolute_text,
    exact,
    number,
    percent,
    row_error_text,
    row_tolerance_text,
    span_text,
)
from hostnet.report.page import page
from hostnet.report.parity import parity_chart, parity_legend
from hostnet.report.series import Level, Plotted, Value, is_parity, is_stacked, plotted_curves, plotted_panel, y_title

PARTS = (
    ("Bandwidth", "bandwidth_"),
    ("Latency", "latency", "unloaded_", "p99_"),
    ("Commands", "activations_", "refreshes_"),
    ("Memory controller", "rpq_occupancy", "row_miss_ratio", "wpq_full", "bank_deviation"),
    ("IIO write buffer", "iio_occupancy"),
)
"""Headings of the further panels, each with what the names of its panels contain."""

HOW_TO_READ = (
    "Lines and bars are simulated, hollow marks and spans are published. "
    "Whiskers are 95 % confidence intervals where they are wide enough to see."
)


PEERS = {"memory": ("requests", "Device"), "noc": ("packets", "Topology")}
"""What parts that are run alone are measured in, and what their presets are called."""

UNITS = {**PEERS, "chip": ("cycles", "Preset")}
"""The same of everything that is not measured in events."""

HOW_TO_READ_PEERS = (
    "Along x is what the other simulator got, along y what hostnet gets for the same traffic. Marks on the dashed line "
    "are equal values. Latency beyond the knee is not drawn."
)


LEDGER_COLUMNS = {"±": "ci95"}
"""Columns of the ledger's rows whose name in copied tables is not that of the page."""


def study_page(run: RunFiles) -> str:
    """The whole page."""
    summary = run.summary
    panels = {panel["name"]: panel for panel in summary["panels"]}
    rows = summary["rows"]
    return page(
        f"{summary['name']} – hostnet",  # noqa: RUF001
        header(run),
        quadrants_section(panels, rows),
        *named_sections(panels, rows),
        groups_section(summary),
        section("What other simulators get", note=HOW_TO_READ_PEERS) if is_of_peers(summary) else None,
        *(part_section(title, keys, panels, rows, summary["curves"]) for title, *keys in PARTS),
        failing_section(summary),
        all_rows_section(summary),
        element(
            "footer",
            f"hostnet {run.manifest.get('version', '')}. Published: {summary['study']['source']}"
            + (f", {summary['study']['origin']}." if summary["study"].get("origin") else "."),
        ),
    )


def is_of_peers(summary: dict[str, Any]) -> bool:
    """Whether the study is one of a part alone, beside other simulators."""
    return summary["study"].get("engine") in PEERS


def header(run: RunFiles) -> Html:
    """Title, verdict, and what was run."""
    summary, manifest = run.summary, run.manifest
    count = Counter(row["verdict"] for row in summary["rows"])
    scored = count["pass"] + count["fail"]
    unit, machine = UNITS.get(summary["study"].get("engine"), ("events", "Preset"))
    speed = manifest.get(f"{unit}_per_s")
    return element(
        "header",
        element("p", f"Published and simulated: {summary['study']['source']}", class_="eyebrow"),
        element("h1", summary["study"]["title"]),
        element("p", f"{count['pass']} of {scored} published values are met within their tolerance.", class_="lead"),
        facts(
            (
                (machine, str(summary["study"]["preset"])),
                ("Operating points", str(manifest.get("points", ""))),
                ("Measured at each", str(manifest.get("duration", ""))),
                ("Seed", str(manifest.get("seed", ""))),
                ("Wall time", f"{manifest['wall_time_s']:.1f} s" if "wall_time_s" in manifest else None),
                ("Speed", f"{speed / 1e6:.1f} M {unit}/s" if speed else None),
                ("Started", str(manifest.get("started", "")).replace("T", " ").replace("+00:00", " UTC")),
            )
        ),
    )


def groups_section(summary: dict[str, Any]) -> Html:
    """How close every quantity comes, against its target."""
    columns = ["Quantity", "Within tolerance", "Mean error", "Target", "Largest error", "Tolerance"]
    rows: list[list[Child]] = [
        [
            group["title"],
            f"{group['passed']} of {group['rows']}",
            judged(error_text(group["mean_error"], group), group["on_target"]),
            error_text(group["mean_target"], group),
            judged(error_text(group["max_error"], group), group["passed"] == group["rows"]),
            error_text(group["tolerance"], group),
        ]
        for group in summary["groups"]
    ]
    excluded = [f"{rule['panel']}, {rule['series']}: {rule['reason']}." for rule in summary["excluded"]]
    notes = element("ul", *(element("li", text) for text in excluded), class_="notes")
    return section(
        "How close it comes",
        table(columns, rows, label="How close it comes"),
        element("p", "Left out of the score, because the published points are known to be wrong:", class_="note sub")
        if excluded
        else None,
        notes if excluded else None,
        note="Errors are relative to the published value, or to a floor where that is more, or differences in the unit "
        "that stands beside them (pp: percentage points). The target is of the mean error.",
    )


def judged(content: str, good: bool) -> Html:
    """A number that is fine, or one that is not."""
    return element("span", content, class_=None if good else "bad")


def error_text(value: float | None, group: Row) -> str:
    """An error in the group's kind."""
    if value is None:
        return MISSING
    return absolute_text(value, group.get("unit", "pp")) if group["kind"] == "absolute" else percent(value)


def quadrants_section(panels: dict[str, Row], rows: Sequence[Row]) -> Html | None:
    """The four quadrants: degradation beside bandwidth."""
    quadrants = [name.removesuffix("_degradation") for name in panels if name.endswith("_degradation")]
    cards = [quadrant_card(name, panels, rows) for name in quadrants if f"{name}_membw" in panels]
    if not cards:
        return None
    note = (
        "C2M is traffic of the cores, P2M of the drives. Degradation is throughput alone over throughput together. "
        f"{HOW_TO_READ}"
    )
    return section("The four quadrants", element("div", *cards, class_="pair"), note=note)


def quadrant_card(name: str, panels: dict[str, Row], rows: Sequence[Row]) -> Html:
    """Degradation and bandwidth of one quadrant."""
    slow, bandwidth = panels[f"{name}_degradation"], panels[f"{name}_membw"]
    slow_series, _ = plotted_panel(slow, rows)
    bandwidth_series, levels = plotted_panel(bandwidth, rows)
    slow_axis, bandwidth_axis = Axis(slow["x_label"], floor=1.0), Axis(bandwidth["x_label"], bandwidth["unit"])
    charts = (
        figure(y_title(slow), line_chart(chart_title(slow), slow_axis, slow_series)),
        figure(y_title(bandwidth), stacked_chart(chart_title(bandwidth), bandwidth_axis, bandwidth_series, levels)),
    )
    return element(
        "div",
        element("h3", slow["title"]),
        legend(bandwidth_series, levels),
        element("div", *charts, class_="charts"),
        class_="card",
    )


def named_sections(panels: dict[str, Row], rows: Sequence[Row]) -> list[Html]:
    """The panels that name the section they belong to."""
    names = dict.fromkeys(panel["section"] for panel in panels.values() if "section" in panel)
    return [
        section(
            name,
            element("div", *(panel_card(panel, rows, None) for panel in own), class_="many"),
            note=HOW_TO_READ if place == 0 else None,
        )
        for place, name in enumerate(names)
        if (own := [panel for panel in panels.values() if panel.get("section") == name])
    ]


def figure(caption: str, chart: Html) -> Html:
    """A chart below the title of its y axis."""
    return element("figure", element("figcaption", caption), chart)


def chart_title(panel: Row) -> str:
    """What a chart shows, for those who cannot see it."""
    return f"{panel['title']}. {y_title(panel)} by {panel['x_label']}"


def part_section(
    title: str, keys: Sequence[str], panels: dict[str, Row], rows: Sequence[Row], curves: dict[str, Any]
) -> Html | None:
    """The panels whose names contain one of the keys."""
    unnamed = {name: panel for name, panel in panels.items() if "section" not in panel}
    chosen = [panel for name, panel in unnamed.items() if any(key in name for key in keys)]
    cards = [panel_card(panel, rows, curves.get(panel["name"])) for panel in chosen]
    return section(title, element("div", *cards, class_="many")) if cards else None


def panel_card(panel: Row, rows: Sequence[Row], curves: dict[str, list[list[float]]] | None) -> Html:
    """One panel as a chart."""
    if curves is not None:
        return curve_card(panel, curves)
    series, levels = plotted_panel(panel, rows)
    axis = Axis(panel["x_label"], panel["unit"])
    if is_parity(panel):
        return card(panel, parity_chart(chart_title(panel), axis, series), parity_legend(series))
    if is_stacked(panel):
        return card(panel, stacked_bars(chart_title(panel), axis, series, levels), legend(series, levels))
    if panel.get("chart") == "bars":
        return bars_card(panel, series, published_ends(panel, rows))
    return card(panel, line_chart(chart_title(panel), axis, series, levels), legend(series, levels))


def bars_card(panel: Row, series: Sequence[Plotted], ends: Sequence[Level]) -> Html:
    """A panel as bars side by side; a published range is two lines across them."""
    bars = [replace(plotted, values=tuple(map(without_range, plotted.values))) for plotted in series]
    axis = Axis(panel["x_label"], panel["unit"], floor=1.0)
    return card(panel, grouped_chart(chart_title(panel), axis, bars, ends), legend(bars, ends))


def without_range(value: Value) -> Value:
    """The value without a published range, of which a mark would show one end only."""
    return value if value.published_to is None else replace(value, published=None, published_to=None)


def published_ends(panel: Row, rows: Sequence[Row]) -> list[Level]:
    """The ends of the range that was published of all bars of a panel, if there is one."""
    ranges = {(row["published"], row["other"]) for row in rows if row["panel"] == panel["name"] and "other" in row}
    return [Level("Published", end) for end in sorted(ranges.pop())] if len(ranges) == 1 else []


def curve_card(panel: Row, curves: dict[str, list[list[float]]]) -> Html:
    """A panel that is published only: its curves."""
    series = plotted_curves(curves)
    axis = Axis(panel["x_label"], whole_x=False)
    return card(
        panel, line_chart(chart_title(panel), axis, series), legend(series), sub="published only, not simulated"
    )


def card(panel: Row, chart: Html, key: Html, sub: str | None = None) -> Html:
    """A chart with its heading."""
    source = [f"Figure {panel['figure']}"] if panel["figure"][:1].isdigit() else []
    head = element("p", ", ".join([*source, *([sub] if sub else [])]), class_="sub")
    return element("div", element("h3", panel["title"]), head, key, figure(y_title(panel), chart), class_="card")


def failing_section(summary: dict[str, Any]) -> Html | None:
    """Values beyond their tolerance."""
    failing = [row for row in summary["rows"] if row["verdict"] == "fail"]
    return section("Beyond tolerance", row_table(failing)) if failing else None


def all_rows_section(summary: dict[str, Any]) -> Html:
    """Every row of the ledger, folded."""
    return section("Every row", details(f"{len(summary['rows'])} rows", row_table(summary["rows"])))


def row_table(rows: Sequence[Row]) -> Html:
    """Rows of the ledger as a table."""
    columns = ["Panel", "Series", "x", "Published", "Simulated", "±", "Unit", "Error", "Tolerance", "Verdict"]
    cells: list[list[Child | Cell]] = [
        [
            row["panel"],
            row["series"],
            row["x"],
            Cell(span_text(row["published"], row.get("other"), row.get("relation")), exact(row["published"])),
            Cell(number(row["simulated"], 4), exact(row["simulated"])),
            Cell(number(row["ci95"], 2), exact(row["ci95"])),
            row["unit"],
            Cell(MISSING if row["error"] is None else row_error_text(row["error"], row, "+"), exact(row["error"])),
            Cell(
                MISSING if row["tolerance"] is None else row_tolerance_text(row["tolerance"], row),
                exact(row["tolerance"]),
            ),
            element("span", row["verdict"], class_={"fail": "bad", "pass": "good"}.get(row["verdict"], "quiet")),
        ]
        for row in rows
    ]
    heads = [Cell(name, LEDGER_COLUMNS.get(name, name.lower())) for name in columns]
    return table(heads, cells, text_columns=2, label="Rows of the ledger")
