"""Report of a reproduced study: published and simulated values, panel by panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hostnet.report.bars import grouped_chart, stacked_bars
from hostnet.report.charts import ChartAxis, legend, line_chart, stacked_chart
from hostnet.report.html import Cell, Child, Html, details, element, fact_list, section, table
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import (
    MISSING,
    absolute_text,
    exact_text,
    number,
    percent,
    row_error_text,
    row_tolerance_text,
    span_text,
)
from hostnet.report.page import page
from hostnet.report.parity import parity_chart, parity_legend
from hostnet.report.series import (
    ChartSeries,
    ReferenceLine,
    SeriesPoint,
    is_parity,
    is_stacked,
    plotted_curves,
    plotted_panel,
    y_title,
)

PARTS = (
    ("Bandwidth", "bandwidth_"),
    ("Latency", "latency", "unloaded_", "p99_"),
    ("Commands", "activations_", "refreshes_"),
    ("Memory controller", "rpq_occupancy", "row_miss_ratio", "wpq_full", "bank_deviation"),
    ("IIO write buffer", "iio_occupancy"),
)
"""Headings of further sections, with the keys that select panels by name."""

HOW_TO_READ = (
    "Lines and bars are simulated, hollow marks and spans are published. "
    "Whiskers are 95 % confidence intervals where they are wide enough to see."
)


PEERS = {"memory": ("requests", "Device"), "noc": ("packets", "Topology")}
"""Units of work of parts that are simulated alone, and the names of their presets."""

UNITS = {**PEERS, "chip": ("cycles", "Preset")}
"""Units of work of all engines that do not count events."""

HOW_TO_READ_PEERS = (
    "The x axis is the result of the other simulator, the y axis that of hostnet for the same traffic. Marks on the "
    "dashed line are equal values. Latency beyond the knee is not plotted."
)


LEDGER_COLUMNS = {"±": "ci95"}
"""Columns whose name in copied tables differs from that on the page."""


def study_page(run: RunFiles) -> str:
    """Returns the page."""
    summary = run.summary
    return page(
        f"{summary['name']} – hostnet",  # noqa: RUF001
        header(run),
        *leading_charts(summary),
        groups_section(summary),
        *charts_of_parts(summary),
        failing_section(summary),
        all_rows_section(summary),
        element(
            "footer",
            f"hostnet {run.manifest.get('version', '')}. Published: {summary['study']['source']}"
            + (f", {summary['study']['origin']}." if summary["study"].get("origin") else "."),
        ),
    )


def leading_charts(summary: dict[str, Any]) -> list[Html | None]:
    """Creates the sections of the quadrants, and of the panels that name their section."""
    panels = {panel["name"]: panel for panel in summary["panels"]}
    return [quadrants_section(panels, summary["rows"]), *named_sections(panels, summary["rows"])]


def charts_of_parts(summary: dict[str, Any]) -> list[Html | None]:
    """Creates the sections of all other panels, by the part of the server that they are about."""
    panels = {panel["name"]: panel for panel in summary["panels"]}
    return [
        section("Comparison with other simulators", note=HOW_TO_READ_PEERS) if is_of_peers(summary) else None,
        *(part_section(title, keys, panels, summary["rows"], summary["curves"]) for title, *keys in PARTS),
    ]


def is_of_peers(summary: dict[str, Any]) -> bool:
    """Returns True for a study of a part alone, which is compared with other simulators."""
    return summary["study"].get("engine") in PEERS


def header(run: RunFiles) -> Html:
    """Creates the title, the verdict, and a description of the study."""
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
        fact_list(
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
    """Creates the table of the errors of every quantity and their targets."""
    columns = ["Quantity", "Within tolerance", "Mean error", "Target", "Largest error", "Tolerance"]
    rows: list[list[Child]] = [
        [
            group["title"],
            f"{group['passed']} of {group['rows']}",
            verdict_cell(error_text(group["mean_error"], group), group["on_target"]),
            error_text(group["mean_target"], group),
            verdict_cell(error_text(group["max_error"], group), group["passed"] == group["rows"]),
            error_text(group["tolerance"], group),
        ]
        for group in summary["groups"]
    ]
    excluded = [f"{rule['panel']}, {rule['series']}: {rule['reason']}." for rule in summary["excluded"]]
    notes = element("ul", *(element("li", text) for text in excluded), class_="notes")
    return section(
        "Accuracy",
        table(columns, rows, label="Accuracy"),
        element("p", "Left out of the score, because the published points are known to be wrong:", class_="note sub")
        if excluded
        else None,
        notes if excluded else None,
        note="Errors are relative to the published value or to a floor if that is larger, or differences in the unit "
        "shown beside them (pp: percentage points). The target applies to the mean error.",
    )


def verdict_cell(content: str, good: bool) -> Html:
    """Formats a number that is within its limit or not."""
    return element("span", content, class_=None if good else "bad")


def error_text(value: float | None, group: Row) -> str:
    """Formats an error according to the kind of its group."""
    if value is None:
        return MISSING
    return absolute_text(value, group.get("unit", "pp")) if group["kind"] == "absolute" else percent(value)


def quadrants_section(panels: dict[str, Row], rows: Sequence[Row]) -> Html | None:
    """Creates the charts of the four quadrants: degradation beside bandwidth."""
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
    """Creates the charts of one quadrant."""
    slow, bandwidth = panels[f"{name}_degradation"], panels[f"{name}_membw"]
    slow_series, _ = plotted_panel(slow, rows)
    bandwidth_series, levels = plotted_panel(bandwidth, rows)
    slow_axis, bandwidth_axis = (
        ChartAxis(slow["x_label"], floor=1.0),
        ChartAxis(bandwidth["x_label"], bandwidth["unit"]),
    )
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
    """Creates the sections of panels that name their section."""
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
    """Creates a chart below the title of its y axis."""
    return element("figure", element("figcaption", caption), chart)


def chart_title(panel: Row) -> str:
    """Describes a chart for screen readers."""
    return f"{panel['title']}. {y_title(panel)} by {panel['x_label']}"


def part_section(
    title: str, keys: Sequence[str], panels: dict[str, Row], rows: Sequence[Row], curves: dict[str, Any]
) -> Html | None:
    """Creates the section of the panels whose names contain one of the keys."""
    unnamed = {name: panel for name, panel in panels.items() if "section" not in panel}
    chosen = [panel for name, panel in unnamed.items() if any(key in name for key in keys)]
    cards = [panel_card(panel, rows, curves.get(panel["name"])) for panel in chosen]
    return section(title, element("div", *cards, class_="many")) if cards else None


def panel_card(panel: Row, rows: Sequence[Row], curves: dict[str, list[list[float]]] | None) -> Html:
    """Creates the chart of one panel."""
    if curves is not None:
        return curve_card(panel, curves)
    series, levels = plotted_panel(panel, rows)
    axis = ChartAxis(panel["x_label"], panel["unit"])
    if is_parity(panel):
        return card(panel, parity_chart(chart_title(panel), axis, series), parity_legend(series))
    if is_stacked(panel):
        return card(panel, stacked_bars(chart_title(panel), axis, series, levels), legend(series, levels))
    if panel.get("chart") == "bars":
        return bars_card(panel, series, published_ends(panel, rows))
    return card(panel, line_chart(chart_title(panel), axis, series, levels), legend(series, levels))


def bars_card(panel: Row, series: Sequence[ChartSeries], ends: Sequence[ReferenceLine]) -> Html:
    """Creates the chart of a panel as bars side by side; a published range is drawn as two lines across them.

    Bars start at 0, and those of ratios at 1.
    """
    bars = [replace(plotted, values=tuple(map(without_whisker, plotted.values))) for plotted in series]
    axis = ChartAxis(panel["x_label"], panel["unit"], floor=1.0 if panel["unit"] == "x" else 0.0)
    return card(panel, grouped_chart(chart_title(panel), axis, bars, ends), legend(bars, ends))


def without_whisker(value: SeriesPoint) -> SeriesPoint:
    """Returns the value without a published range, of which a mark would show only one end."""
    return value if value.published_to is None else replace(value, published=None, published_to=None)


def published_ends(panel: Row, rows: Sequence[Row]) -> list[ReferenceLine]:
    """Returns the ends of the range that was published for all bars of a panel, if any."""
    ranges = {(row["published"], row["other"]) for row in rows if row["panel"] == panel["name"] and "other" in row}
    return [ReferenceLine("Published", end) for end in sorted(ranges.pop())] if len(ranges) == 1 else []


def curve_card(panel: Row, curves: dict[str, list[list[float]]]) -> Html:
    """Creates the chart of the curves of a panel that is only published."""
    series = plotted_curves(curves)
    axis = ChartAxis(panel["x_label"], whole_x=False)
    return card(
        panel, line_chart(chart_title(panel), axis, series), legend(series), sub="published only, not simulated"
    )


def card(panel: Row, chart: Html, key: Html, sub: str | None = None) -> Html:
    """Creates a chart with its heading."""
    source = [f"Figure {panel['figure']}"] if panel["figure"][:1].isdigit() else []
    head = element("p", ", ".join([*source, *([sub] if sub else [])]), class_="sub")
    return element("div", element("h3", panel["title"]), head, key, figure(y_title(panel), chart), class_="card")


def failing_section(summary: dict[str, Any]) -> Html | None:
    """Creates the table of values beyond their tolerance."""
    failing = [row for row in summary["rows"] if row["verdict"] == "fail"]
    return section("Beyond tolerance", row_table(failing)) if failing else None


def all_rows_section(summary: dict[str, Any]) -> Html:
    """Creates the folded table of all rows of the ledger."""
    return section("Every row", details(f"{len(summary['rows'])} rows", row_table(summary["rows"])))


def row_table(rows: Sequence[Row]) -> Html:
    """Creates a table of rows of the ledger."""
    columns = ["Panel", "Series", "x", "Published", "Simulated", "±", "Unit", "Error", "Tolerance", "Verdict"]
    cells: list[list[Child | Cell]] = [
        [
            row["panel"],
            row["series"],
            row["x"],
            Cell(span_text(row["published"], row.get("other"), row.get("relation")), exact_text(row["published"])),
            Cell(number(row["simulated"], 4), exact_text(row["simulated"])),
            Cell(number(row["ci95"], 2), exact_text(row["ci95"])),
            row["unit"],
            Cell(MISSING if row["error"] is None else row_error_text(row["error"], row, "+"), exact_text(row["error"])),
            Cell(
                MISSING if row["tolerance"] is None else row_tolerance_text(row["tolerance"], row),
                exact_text(row["tolerance"]),
            ),
            element("span", row["verdict"], class_={"fail": "bad", "pass": "good"}.get(row["verdict"], "quiet")),
        ]
        for row in rows
    ]
    heads = [Cell(name, LEDGER_COLUMNS.get(name, name.lower())) for name in columns]
    return table(heads, cells, text_columns=2, label="Rows of the ledger")
