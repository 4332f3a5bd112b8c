"""Picture of a job over time: a lane for each rank, and the critical path through them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from hostnet.report.charts import legend_icon, round_ticks
from hostnet.report.html import Html, element
from hostnet.report.numbers import number, percent
from hostnet.report.svg import tick_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.report.clusters.lanes import JobTimeline, Lane, Span

SCALE = 1000.0
"""Width of the drawing in its own units; it is stretched to the width of the page."""

LANE, BAR = 24, 14
"""Height of a lane and of its bar, in pixels."""

BINS = 250
"""Number of bins of a lane with more spans than that: each bin is filled by the shares of the activities in it."""

DENSE = 300
"""Number of points of a critical path from which its line is thin, so that it does not hide the lanes."""

STEPS_MAX = 60
"""Maximum number of spans in the row of steps."""

COLOURS = {"compute": "a", "send": "b", "wait": "", "copy": "c"}
"""Kinds of the activities; waiting is as pale as what is not used elsewhere."""

NAMES = {"compute": "computes", "send": "sends", "wait": "waits for a message", "copy": "copies"}

UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))


def timeline_picture(timeline: JobTimeline) -> Html:
    """Draws the lanes and the critical path. Labels are text of the page, so that they keep their size."""
    lanes, others = timeline.lanes, has_others(timeline)
    height = LANE * (len(lanes) + others)
    span = timeline.end - timeline.start
    scale = (timeline.start, SCALE / span if span else 0.0)
    drawn = [
        part for place, lane in enumerate(lanes) for part in lane_bars(lane, place * LANE + (LANE - BAR) / 2, scale)
    ]
    label = f"What {len(lanes)} ranks do over {time_text(span)}, and the critical path through them"
    svg = element(
        "svg",
        element("title", label),
        *drawn,
        *critical_path(timeline, scale),
        viewBox=f"0 0 {SCALE:g} {height}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
        style=f"height: {height}px",
    )
    names = [lane_name(lane) for lane in lanes] + ([element("span", "other ranks", class_="quiet")] if others else [])
    values = [element("span", percent(lane.shares["wait"], 0)) for lane in lanes]
    return element(
        "figure",
        element("div", element("b", "rank"), *names, class_="lanes"),
        element("div", steps_row(timeline), svg, time_axis(timeline), class_="plot"),
        element("div", element("b", "waits"), *values, class_="lanes values"),
        class_="timeline",
    )


def has_others(timeline: JobTimeline) -> bool:
    """Returns True if the critical path passes ranks that are not shown."""
    shown = {lane.rank for lane in timeline.lanes}
    return any(rank not in shown for piece in timeline.path for rank in piece.ranks)


def lane_name(lane: Lane) -> Html:
    """Creates the label of a lane."""
    role = element("i", lane.role) if lane.role else None
    return element("span", element("b", str(lane.rank)), " ", lane.host, role, title=f"rank {lane.rank} at {lane.host}")


def lane_bars(lane: Lane, top: float, scale: tuple[float, float]) -> list[Html]:
    """Draws a lane: each span in the colour of its activity, or shares of bins if there are very many spans."""
    start, factor = scale
    spans = {
        name: [((max(first, start) - start) * factor, (last - start) * factor) for first, last in own]
        for name, own in lane.spans.items()
    }
    many = sum(map(len, spans.values())) > 2 * BINS
    paths = binned(spans, top) if many else {name: plain(own, top) for name, own in spans.items()}
    shares = ", ".join(f"{NAMES[name]} {percent(share)}" for name, share in lane.shares.items())
    bars = [
        element("path", d=path, class_=f"bar fill-{COLOURS[name]}")
        for name, path in paths.items()
        if path and COLOURS[name]
    ]
    first, last = ((at - start) * factor for at in lane.extent)
    first = max(first, 0.0)
    track = element("rect", x=f"{first:.5g}", y=top, width=f"{last - first:.5g}", height=BAR, class_="track")
    return [element("g", element("title", f"rank {lane.rank} at {lane.host} {shares}"), track, *bars)]


def plain(spans: Sequence[Span], top: float) -> str:
    """Returns the outlines of spans."""
    return "".join(f"M{first:.5g},{top:g}H{max(last, first + 0.3):.5g}v{BAR}H{first:.5g}z" for first, last in spans)


def binned(spans: Mapping[str, Sequence[Span]], top: float) -> dict[str, str]:
    """Returns the outlines of the activities stacked in bins: each as high as its share of the bin."""
    width = SCALE / BINS
    shares = {name: bin_shares(own, width) for name, own in spans.items()}
    paths = dict.fromkeys(spans, "")
    for place in range(BINS):
        bottom = top + BAR
        for name, own in shares.items():
            high = BAR * own[place]
            if high >= 0.5 and COLOURS[name]:
                paths[name] += f"M{place * width:g},{bottom:.4g}h{width:g}v{-high:.3g}h{-width:g}z"
            bottom -= high if COLOURS[name] else 0.0
    return paths


def bin_shares(spans: Sequence[Span], width: float) -> list[float]:
    """Returns the share of each bin that spans cover."""
    covered = [0.0] * BINS
    for first, last in spans:
        for place in range(max(int(first / width), 0), min(int(last / width) + 1, BINS)):
            covered[place] += max(min(last, (place + 1) * width) - max(first, place * width), 0.0)
    return [time / width for time in covered]


def critical_path(timeline: JobTimeline, scale: tuple[float, float]) -> list[Html]:
    """Draws the critical path: level while a rank works, slanted while a message is in flight."""
    start, factor = scale
    rows = {lane.rank: place for place, lane in enumerate(timeline.lanes)}
    other = len(rows)
    points: list[tuple[float, int]] = []
    for piece in timeline.path:
        for at, rank in zip((piece.start, piece.end), piece.ranks, strict=True):
            point = ((at - start) * factor, rows.get(rank, other))
            # A point that lies on the last one, or continues its level, adds nothing to see.
            if points and point[0] - points[-1][0] < 0.2 and point[1] == points[-1][1]:
                continue
            if len(points) > 1 and points[-1][1] == points[-2][1] == point[1]:
                points.pop()
            points.append(point)
    if not points:
        return []
    shown = " ".join(f"{x:.5g},{row * LANE + LANE / 2:g}" for x, row in points)
    if len(points) > DENSE:
        return [element("polyline", points=shown, class_="path dense")]
    return [element("polyline", points=shown, class_=class_) for class_ in ("path-halo", "path")]


def steps_row(timeline: JobTimeline) -> Html | None:
    """Creates the row of the steps on the critical path; None if they are too many to be named."""
    groups = [(name, list(own)) for name, own in groupby(timeline.path, key=lambda piece: piece.step)]
    if not groups or len(groups) > STEPS_MAX:
        return None
    span = timeline.end - timeline.start
    cells = []
    for name, own in groups:
        left, right = ((at - timeline.start) / span * 100 for at in (own[0].start, own[-1].end))
        title = f"{name}: {time_text(own[-1].end - own[0].start)} of the critical path"
        cells.append(element("span", name, title=title, style=f"left: {left:.2f}%; width: {right - left:.2f}%"))
    return element("div", *cells, class_="steps")


def time_axis(timeline: JobTimeline) -> Html:
    """Creates the axis, whose ticks are rounded times from the start of the run."""
    span = timeline.end - timeline.start
    size, unit = unit_of(timeline.end)
    ticks = round_ticks(timeline.start / size, timeline.end / size)
    marks = [
        element("span", label, style=f"left: {(tick * size - timeline.start) / span * 100:.2f}%")
        for tick, label in zip(ticks, tick_labels(ticks), strict=True)
    ]
    return element("div", *marks, element("em", unit), class_="ticks")


def unit_of(longest_us: float) -> tuple[float, str]:
    """Returns the unit for times up to the longest one: its size in us, and its name."""
    return next((size, unit) for size, unit in UNITS if longest_us >= 2 * size or size == 1.0)


def time_text(us: float) -> str:
    """Formats a time given in us."""
    size, unit = unit_of(us)
    return f"{number(us / size)} {unit}"


def timeline_legend() -> Html:
    """Creates the legend of activities and of the critical path."""
    entries = [
        (NAMES[name], element("rect", x=0, y=1, width=26, height=10, class_=f"bar fill-{kind}" if kind else "track"))
        for name, kind in COLOURS.items()
    ]
    entries.append(("critical path", element("line", x1=0, x2=26, y1=6, y2=6, class_="path")))
    return element("ul", *(element("li", legend_icon(mark), name) for name, mark in entries), class_="legend")
