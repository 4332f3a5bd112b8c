"""The explanation as a section of the HTML report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet.explain.text import CAUSES, PARTS, REGIMES, binding_text, gain_text, pool_text
from hostnet.report.html import Html, element, join, section, table

if TYPE_CHECKING:
    from collections.abc import Mapping


def explanation_section(page: Mapping[str, Any]) -> Html:
    """The section, made of the content of `explain.json`."""
    regime = page["regime"]
    evidence = element("ul", *(element("li", line) for line in regime["evidence"]))
    return section(
        "Why it is so",
        element("p", REGIMES.get(regime["name"], regime["name"])),
        element("p", "An estimate: something that decides is only known roughly.") if regime["estimated"] else None,
        evidence,
        *(workload_part(row) for row in page["workloads"]),
        steps_part(page["steps"]) if page.get("steps") else None,
        *(element("p", f"Note: {note}", class_="note") for note in (*page["missing"], *page["notes"])),
    )


def workload_part(row: Mapping[str, Any]) -> Html:
    """One workload: what binds it, and where its latency comes from."""
    data = dict(row)
    pool = next((pool for pool in row["pools"] if pool["domain"] == row["domain"]), None)
    latency = row["latency"]
    return join(
        (
            element("h3", row["workload"]),
            element("p", binding_text(data)),
            element("p", pool_text(data, pool)) if pool is not None and row["bound_gb_per_s"] is not None else None,
            latency_part(latency) if latency is not None else None,
        )
    )


def latency_part(latency: Mapping[str, Any]) -> Html:
    """A latency in its parts."""
    rows = [(name, "unknown" if latency[key] is None else f"{latency[key]:.0f}") for key, name in PARTS]
    whole = ("all", f"{latency['mean_ns']:.0f}")
    cause = latency["cause"]
    return join(
        (
            table((f"latency in {latency['domain']}", "ns"), (*rows, whole)),
            element("p", f"Most of what load adds is {cause}: {CAUSES[cause]}.") if cause else None,
        )
    )


def steps_part(steps: Mapping[str, Any]) -> Html:
    """What would help."""
    told = "predicted" if steps["engine"] == "predict" else "simulated"
    names = list(steps["steps"][0]["gains"]) if steps["steps"] else []
    rows = [
        (step["what"], f"{step['before']} to {step['after']}", *(gain_text(step["gains"].get(name)) for name in names))
        for step in steps["steps"]
    ]
    return join(
        (
            element("h3", f"What would help {steps['workload']}"),
            element("p", f"Throughput of each workload when one thing is changed, {told}.", class_="note"),
            table(("change", "step", *names), rows, text_columns=2),
        )
    )
