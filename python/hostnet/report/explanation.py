"""Section of a run's page that explains its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hostnet.limit_names import NOT_KNOWN, divided_text
from hostnet.pools import find_pool, with_directions
from hostnet.report.html import Child, Html, details, element, section, table
from hostnet.report.svg import text
from hostnet.units import format_percent

if TYPE_CHECKING:
    from hostnet.report.load import RunFiles

NAME_WIDTH = 116
BAR_WIDTH = 170
VALUE_WIDTH = 64
ROW_HEIGHT = 20
"""Dimensions of a bar chart."""

GAINS_MAX = 5
"""Maximum number of limits in the chart of a workload."""

KIND_OF_PART = {"unloaded_ns": "n", "cha_admission_ns": "c", "unexplained_ns": "d"}
"""Colours of the parts of a latency; the others are causes at the memory controller."""

UNRAISED = 1.0
"""Factor of a change that raises no limit."""

NO_GAIN = 0.01
"""Changes below this fraction count as none."""

BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError)
"""Exceptions that a damaged file may cause."""


def explanation_section(run: RunFiles) -> Html | None:
    """Creates the section from the explanation in the run directory; None without one."""
    if run.explanation is None:
        return None
    block = element("div", element("pre", run.explanation), class_="block")
    drawn = pictures(run.why)
    return section("Why", *drawn, details("As text", block)) if drawn else section("Why", block)


def pictures(why: dict[str, Any]) -> list[Html]:
    """Creates a card per workload and the table of remedies; empty if the explanation cannot be read."""
    try:
        cards = [workload_card(row, why["parts"]) for row in why["workloads"]]
        steps = why.get("steps")
        helps = [steps_table(steps)] if steps and steps["steps"] else []
    except BROKEN:
        return []
    return [element("div", *cards, class_="whys"), *helps] if cards else []


def workload_card(row: dict[str, Any], parts: dict[str, str]) -> Html:
    """Creates the card of a workload: its limit, the gains of raised limits, and the sources of its latency."""
    gains, latency = unique_gains((row.get("limits") or {}).get("gains", [])), row.get("latency")
    return element(
        "div",
        element("h3", str(row["workload"])),
        element("p", f"{row['workload']} {with_directions(row['limited'])}.", class_="sub"),
        *(gains_figure(gains[:GAINS_MAX]) if gains and not row["doubtful"] else ()),
        *(latency_figure(latency, parts, (find_pool(row, latency["domain"]) or {}).get("place")) if latency else ()),
        class_="card why",
    )


def unique_gains(gains: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the gain of each limit; of limits with the same name, the first."""
    found: dict[str, dict[str, Any]] = {}
    for gain in gains:
        found.setdefault(str(gain["limit"]), gain)
    return list(found.values())


def gains_figure(gains: Sequence[dict[str, Any]]) -> Iterable[Html]:
    """Draws the gain of raising each limit by a quarter, as bars."""
    bars = [
        (str(gain["limit"]), max(0.0, 100 * float(gain["gain"])), format_percent(float(gain["gain"]), sign="+"), "a")
        for gain in gains
    ]
    yield figure("A quarter more of one limit gives (predicted)", bars)


def latency_figure(latency: dict[str, Any], parts: dict[str, str], place: str | None = None) -> Iterable[Html]:
    """Draws the parts of a latency as bars; `parts` has their names. An unknown part has no bar.

    `place` is the place of its lines, if there are several.
    """
    bars = [
        (name, max(0.0, float(value)), f"{float(value):z.0f} ns", KIND_OF_PART.get(key, "b"))
        if (value := latency.get(key)) is not None
        else (name, 0.0, NOT_KNOWN, "n")
        for key, name in parts.items()
    ]
    mean = float(latency["mean_ns"])
    where = f"{latency['domain']} on {place}" if place else latency["domain"]
    yield figure(f"Where the {mean:.0f} ns of a line in {where} come from", bars)


def figure(caption: str, bars: Sequence[tuple[str, float, str, str]]) -> Html:
    """Draws bars with their names on the left and their values on the right."""
    longest = max((value for _, value, _, _ in bars), default=0.0) or 1.0
    parts: list[Child] = []
    for index, (name, value, value_label, kind) in enumerate(bars):
        middle = (index + 0.5) * ROW_HEIGHT
        width = round(BAR_WIDTH * value / longest, 1)
        parts += [
            text(name, NAME_WIDTH - 8, middle + 4, anchor="end"),
            element(
                "rect",
                x=NAME_WIDTH,
                y=index * ROW_HEIGHT + 3,
                width=width,
                height=ROW_HEIGHT - 6,
                class_=f"bar fill-{kind}",
            ),
            text(value_label, NAME_WIDTH + width + 6, middle + 4),
        ]
    size = f"0 0 {NAME_WIDTH + BAR_WIDTH + VALUE_WIDTH} {len(bars) * ROW_HEIGHT}"
    drawn = element("svg", *parts, viewBox=size, role="img", aria_label=caption)
    return element("figure", element("figcaption", caption), drawn)


def steps_table(steps: dict[str, Any]) -> Html:
    """Creates the table of the effect of raising each limit on the workload that suffers, in the order of the steps."""
    workload = str(steps["workload"])
    raised = [step for step in steps["steps"] if float(step["factor"]) != UNRAISED]
    factors = sorted({float(step["factor"]) for step in raised})
    limits: dict[str, dict[float, dict[str, Any]]] = {}
    for step in raised:
        limits.setdefault(str(step["path"]), {})[float(step["factor"])] = step
    first = {path: next(iter(found.values())) for path, found in limits.items()}
    gains = {path: [known_gain(found.get(at), workload) for at in factors] for path, found in limits.items()}
    helping, others = (
        [
            [
                str(first[path]["what"]),
                f"{first[path]['before']}{divided_text(path, found)}",
                *(gain_of(found.get(at), workload) for at in factors),
            ]
            for path, found in limits.items()
            if any(gains[path]) is helps
        ]
        for helps in (True, False)
    )
    engine = "predicted" if steps["engine"] == "predict" else "simulated"
    caption = f"What more of one limit does for the throughput of {workload} ({engine})"
    columns = ["limit", "now", *(f"x {factor:g}" for factor in factors)]
    count = (
        f"{len(others)} limit{'s' if len(others) > 1 else ''} whose raise changes less than {format_percent(NO_GAIN)}"
    )
    return element(
        "figure",
        element("figcaption", caption),
        table(columns, helping, text_columns=2, label=caption) if helping else None,
        details(count, table(columns, others, text_columns=2, label=count)) if others else None,
    )


def gain_of(step: dict[str, Any] | None, workload: str) -> str:
    """Formats the gain of a workload from a step, in percent."""
    gain = known_gain(step, workload)
    return "" if gain is None else format_percent(gain, sign="+")


def known_gain(step: dict[str, Any] | None, workload: str) -> float | None:
    """Returns the gain of a workload from a step; 0 if it counts as none, and None if it is not known."""
    gain = None if step is None else (step["confirmed"] or step["gains"]).get(workload)
    if gain is None:
        return None
    return 0.0 if abs(float(gain)) < NO_GAIN else float(gain)
