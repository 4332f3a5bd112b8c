"""Page of latency and bandwidth between the nodes of a server: two heat maps, and what a remote memory costs."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from hostnet.report.charts import WIDTH_OF_WIDE
from hostnet.report.html import Cell, Child, Html, element, section, warning
from hostnet.report.html import table as html_table
from hostnet.report.numbers import exact_text, number, with_ci95
from hostnet.report.page import page
from hostnet.report.tiles import heat_map
from hostnet.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

NOTE = (
    "Rows are the {kind}s of the cores, columns the nodes of the memory. The latency is that of one core that reads "
    "lines at random, one at a time; the bandwidth is that of all cores of the {kind} at once."
)


def matrix_page(content: Row) -> str:
    """Returns the page of the content of `matrix.json`."""
    return page(
        f"{content['server']}, between nodes \u2013 hostnet",
        header(content),
        maps_section(content),
        pairs_section(content["pairs"]),
        element("footer", "hostnet curve --matrix"),
    )


def maps_section(content: Row) -> Html:
    """Creates the heat maps of latency and bandwidth."""
    maps = [
        map_card(content, "latency_ns", "Idle latency", "ns"),
        map_card(content, "bandwidth_gb_per_s", "Read bandwidth of all cores", "GB/s"),
    ]
    return section(
        "Between the nodes", element("div", *maps, class_="pair"), note=NOTE.format(kind=rows_of(content)[0])
    )


def rows_of(content: Row) -> tuple[str, list[str]]:
    """Returns the kind of the rows of the matrix, "CCD" with chiplets and otherwise "node", and their names."""
    ccds = [pair["ccd"] for pair in content["pairs"] if "ccd" in pair]
    return ("CCD", [str(ccd) for ccd in range(max(ccds) + 1)]) if ccds else ("node", columns_of(content))


def columns_of(content: Row) -> list[str]:
    """Returns the names of the nodes of the memory."""
    return [str(node) for node in range(content["nodes"])]


def values_of(content: Row, key: str) -> dict[tuple[int, int], float]:
    """Returns the values of a column of the pairs by the row and column of the matrix."""
    return {(pair.get("ccd", pair["node"]), pair["memory"]): float(pair[key]) for pair in content["pairs"]}


def header(content: Row) -> Html:
    """Creates the title and what a remote memory costs."""
    return element(
        "header",
        element("p", "Latency and bandwidth between nodes", class_="eyebrow"),
        element("h1", content["server"]),
        element("p", remote_text(content["pairs"]), class_="lead"),
        warning(content["unvalidated"]) if content["unvalidated"] else None,
    )


def remote_text(pairs: Sequence[Row]) -> str:
    """Describes what a remote memory costs, on the mean of all pairs of nodes."""
    local, remote = ([pair for pair in pairs if (pair["node"] == pair["memory"]) == own] for own in (True, False))
    values = {key: fmean(pair[key] for pair in local) for key in ("latency_ns", "bandwidth_gb_per_s")}
    here = f"Local memory: {number(values['latency_ns'])} ns, {number(values['bandwidth_gb_per_s'])} GB/s."
    if not remote:
        return here
    there = {key: fmean(pair[key] for pair in remote) for key in values}
    changes = {key: format_percent(there[key] / values[key] - 1, 0, "+") for key in values}
    return (
        f"{here} Remote memory: {number(there['latency_ns'])} ns ({changes['latency_ns']}), "
        f"{number(there['bandwidth_gb_per_s'])} GB/s ({changes['bandwidth_gb_per_s']})."
    )


def map_card(content: Row, key: str, title: str, unit: str) -> Html:
    """Creates the card of a heat map."""
    kind, names = rows_of(content)
    titles = (f"cores of {kind}", "memory of node")
    values = values_of(content, key)
    drawn = heat_map(f"{title}, {unit}", titles, names, columns_of(content), values, unit, width=WIDTH_OF_WIDE)
    return element("figure", element("figcaption", element("b", f"{title}, {unit}")), drawn, class_="card")


def pairs_section(pairs: Sequence[Row]) -> Html:
    """Creates the table of the pairs."""
    has_ccds = "ccd" in pairs[0]
    heads = [
        *([Cell("CCD", "ccd")] if has_ccds else []),
        Cell("cores of node", "node"),
        Cell("memory of node", "memory"),
        Cell("latency ns", "latency_ns\tlatency_ci95"),
        Cell("bandwidth GB/s", "bandwidth_gb_per_s"),
    ]
    rows: list[list[Child | Cell]] = [
        [
            *([str(pair["ccd"])] if has_ccds else []),
            str(pair["node"]),
            str(pair["memory"]),
            Cell(
                with_ci95(pair["latency_ns"], pair["latency_ci95"] or None),
                f"{exact_text(pair['latency_ns'])}\t{exact_text(pair['latency_ci95'])}",
            ),
            Cell(number(pair["bandwidth_gb_per_s"]), exact_text(pair["bandwidth_gb_per_s"])),
        ]
        for pair in pairs
    ]
    return section("Pairs", html_table(heads, rows, text_columns=3 if has_ccds else 2, label="Pairs of nodes"))
