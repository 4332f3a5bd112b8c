"""The explanation as a page of plain text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from hostnet.explanation.buses import bus_text
from hostnet.explanation.steps import FACTORS, NO_GAIN
from hostnet.limit_names import NOT_KNOWN, divided_text
from hostnet.pools import credit_name, find_pool, pool_row_name, with_directions
from hostnet.regimes import regime_headline
from hostnet.units import GB_PER_S, NO_BREAK, format_percent, format_rate, is_small_rate, share_text, with_no_breaks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostnet.explanation.page import Page
    from hostnet.explanation.steps import Step, Steps

WIDTH = 80
"""Width of the page in columns, on a terminal and in a file."""

LABEL = 25
"""Width of the label in the table of remedies."""

GAIN = 10
"""Width of a gain in that table."""

BAR = 30
"""Length of the longest bar, in characters."""

STEPS_MAX = 12
"""Maximum number of steps that are shown; the JSON has all."""

ADMISSION = "CHA admission"
"""Cause that additional TOR entries may remedy."""

PARTS = (
    ("unloaded_ns", "without load"),
    ("switching_ns", "switching"),
    ("write_hol_ns", "write head-of-line"),
    ("read_hol_ns", "read head-of-line"),
    ("top_of_queue_ns", "top-of-queue"),
    ("cha_admission_ns", ADMISSION),
    ("unexplained_ns", "not explained"),
)
"""Parts of a latency, and their names."""

CAUSES = {
    "switching": "the channels switch between reads and writes all the time",
    "write head-of-line": "the channels are busy with writes that go first",
    "read head-of-line": "the channels are busy with reads that go first",
    "top-of-queue": "rows of DRAM have to be opened and closed",
    ADMISSION: "lines wait outside of the CHA, for TOR entries of their slice or on the way there",
}
"""Explanations of the causes."""

TOR_KEYS = "cha.tor."
"""Prefix of the keys of the limit that lines may wait for outside of the CHA."""

NOT_FOR_ENTRIES = (
    "lines wait on the way to the CHA, or for what holds its TOR entries: more of these are not predicted to help"
)
"""Explanation of waits for admission to the CHA if more TOR entries have been tried."""

OF_SLICES = "a line waits for a TOR entry of its slice; CHA TOR is full only while those of all slices are in use"
"""Note on a page where lines wait for admission to the CHA, which the pool CHA TOR may not show."""

ADDED_MIN = 0.05
"""Fraction of the unloaded latency below which the added latency needs no cause."""


def page_text(page: Page) -> str:
    """Returns the page, at most `WIDTH` columns wide."""
    explanation = page.explanation
    channels = () if page.together is None else page.together.channels
    parts = [
        wrapped(f"{page.name} on {page.server}"),
        list(regime_lines(explanation["regime"])),
        *(list(workload_lines(row, page.events, channels)) for row in explanation["workloads"]),
    ]
    if page.nonuniform is not None:
        first, *others = page.nonuniform.lines()
        parts.append([*wrapped(first), *others])
    if page.mesh is not None:
        first, *others = page.mesh.lines()
        parts.append([*wrapped(first), *others])
    if page.steps is not None:
        parts.append(list(step_lines(page.steps)))
    waits = any((row["latency"] or {}).get("cause") == ADMISSION for row in explanation["workloads"])
    note_texts = (*explanation["missing"], *page.notes, *([OF_SLICES] if waits else ()))
    notes = [f"note: {note}" for note in note_texts]
    parts.append([line for note in notes for line in wrapped(note, hang=6)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def wrapped(text: str, indent: int = 0, hang: int | None = None) -> list[str]:
    """Wraps text to the page; long words are broken, numbers stay with their percent signs."""
    later = " " * (indent if hang is None else hang)
    clean = "".join(letter if letter.isprintable() else "?" for letter in text)
    lines = textwrap.wrap(with_no_breaks(clean), WIDTH, initial_indent=" " * indent, subsequent_indent=later)
    return [line.replace(NO_BREAK, " ") for line in lines]


def regime_lines(regime: dict[str, Any]) -> Iterator[str]:
    """Yields the regime: which workloads slow which others down, and the evidence."""
    yield from wrapped(regime_headline(regime))
    for line in regime["evidence"]:
        yield from wrapped(f"- {line}", 2, 4)


def workload_lines(
    row: dict[str, Any], events: Mapping[str, str], channels: Sequence[Mapping[str, Any]] = ()
) -> Iterator[str]:
    """Yields the limit of a workload, its credits and bound, and the sources of its latency.

    `events` is as in `Page`; `channels` is the table of that name.
    """
    yield from wrapped(f"{row['workload']} {limit_text(row)}")
    bus = bus_text(row, channels)
    if bus:
        yield from wrapped(bus, 2)
    pool = find_pool(row, row["domain"])
    if pool is not None and row["bound_gb_per_s"] is not None:
        yield from wrapped(pool_text(row, pool), 2)
    yield from cached_lines(row.get("cached"))
    latency = row["latency"]
    if latency is not None:
        yield from latency_lines(row, latency, events)


def cached_lines(cached: dict[str, Any] | None) -> Iterator[str]:
    """Yields the effect of the caches on a workload."""
    if not cached:
        return
    misses, hits, leaks = cached["llc_miss_ratio"], cached["ddio_hit_ratio"], cached["ddio_leak_ratio"]
    if misses is not None:
        yield from wrapped(f"{share_text(misses)} of the reads of its cores that look into the LLC miss.", 2)
    if hits is not None:
        evictions = cached["ddio_eviction_ratio"]
        yield from wrapped(
            f"DDIO: {share_text(hits)} of the lines that its devices write are in a cache already. Of 100 lines "
            f"written, {100 * evictions:.0f} leave the LLC for memory, {100 * leaks:.0f} of them before anything has "
            "read them.",
            2,
        )


def rate_text(gb_per_s: float) -> str:
    """Formats a rate as in the evidence of a regime, in a smaller unit if it is small."""
    if is_small_rate(gb_per_s, GB_PER_S):
        return format_rate(gb_per_s, GB_PER_S)
    return f"{gb_per_s:.{3 if gb_per_s < 1 else 1}f} {GB_PER_S}"


def limit_text(row: dict[str, Any]) -> str:
    """Describes the limit of a workload, to follow its name."""
    held = next((pool["in_use"] for pool in row["pools"] if pool["domain"] == row["domain"]), 0.0)
    credits = credit_name(row["kind"], row["domain"])
    if row["gb_per_s"] == 0 and row["bound_gb_per_s"] is None and held:
        return f"moved nothing; {held:.1f} {credits} are in use for {row['domain']}, and none came back"
    limited = with_directions(row["limited"])
    offered = row["offered_gb_per_s"]
    if row["binding"] == ["offered load"] and offered and row["app_gb_per_s"] is not None:
        moved = row["app_gb_per_s"]
        # Commands from before the window may complete in it, so that more is moved than offered.
        return f"{limited}; it gets {rate_text(moved)} of {rate_text(max(offered, moved))}"
    return limited


def pool_text(row: dict[str, Any], pool: dict[str, Any]) -> str:
    """Describes credits, latency and bound of the fullest pool, and its throughput."""
    about = "about " if row["estimated"] else ""
    credits, latency, bound = pool["credits"], pool["latency_ns"], row["bound_gb_per_s"]
    share = pool["gb_per_s"] / bound
    words = credit_name(row["kind"], pool["domain"])
    where = f" on {pool['place']}, where it is fullest" if pool.get("place") else ""
    return (
        f"{pool['domain']}{where}: {credits:.0f} {words} x 64 B / {latency:.0f} ns = {rate_text(bound)} at most; "
        f"{rate_text(pool['gb_per_s'])} pass ({share_text(share)}), with {pool['in_use']:.1f} of them in use, "
        f"all of them {about}{share_text(pool['full_share'])} of the time."
    )


def latency_lines(row: dict[str, Any], latency: dict[str, Any], events: Mapping[str, str]) -> Iterator[str]:
    """Yields the parts of a latency, with a bar each, and its main cause if known."""
    mean, unloaded = latency["mean_ns"], latency["unloaded_ns"]
    pool = pool_row_name(row["kind"], latency["domain"])
    place = (find_pool(row, latency["domain"]) or {}).get("place")
    where, parts = (f"{pool} on {place}", "; what waits add is the mean of all sockets") if place else (pool, "")
    yield from wrapped(f"Its lines take {mean:.0f} ns in {where}, {unloaded:.0f} ns without load{parts}:", 2)
    known = [(name, latency[key]) for key, name in PARTS]
    longest = max((abs(value) for _, value in known if value is not None), default=0.0) or 1.0
    for name, value in known:
        if value is None:
            yield f"    {name:<19}{NOT_KNOWN:>8}"
        else:
            bar = "#" * round(BAR * max(value, 0.0) / longest)
            yield f"    {name:<19}{value:>z5.0f} ns  {bar}".rstrip()
    cause = added_text(row, latency, events)
    if cause is not None:
        yield from wrapped(cause, 2)


def added_text(row: dict[str, Any], latency: dict[str, Any], events: Mapping[str, str]) -> str | None:
    """Describes the main cause of what load adds to a latency; None if load adds little."""
    added = latency["mean_ns"] - latency["unloaded_ns"]
    if added < ADDED_MIN * latency["unloaded_ns"]:
        return None
    if latency["cause"] is not None:
        return f"The largest part of what load adds is {latency['cause']}: {cause_text(row, latency)}."
    if round(added) > 0 and round(latency["unexplained_ns"]) > 0:
        return unknown_text(latency, added, events)
    return None


def cause_text(row: dict[str, Any], latency: dict[str, Any]) -> str:
    """Explains a cause, as far as the raised limits allow."""
    tried = row.get("limits")
    if latency["cause"] != ADMISSION or tried is None or not tried["covered"]:
        return CAUSES[latency["cause"]]
    helped = any(gain["key"].startswith(TOR_KEYS) for gain in tried["gains"])
    return CAUSES[ADMISSION] if helped or row["doubtful"] or row.get("refuted") else NOT_FOR_ENTRIES


def unknown_text(latency: dict[str, Any], added: float, events: Mapping[str, str]) -> str:
    """Says why no cause is named: how much is unexplained, and which counters would help."""
    rest = min(latency["unexplained_ns"], added)
    text = f"What load adds most is not known: {rest:.0f} of {added:.0f} ns are not explained."
    lacks = latency.get("lacks") or []
    counters = list(dict.fromkeys(name for lack in lacks for name in lack["counters"]))
    names = [f"{name} ({events[name]})" if name in events else name for name in counters]
    if not names:
        return text
    causes = ", ".join(lack["quantity"] for lack in lacks if lack["counters"])
    return f"{text} To determine {causes}, the counters lack {', '.join(names)}."


def step_lines(steps: Steps) -> Iterator[str]:
    """Yields the remedies: a line for each limit, in descending order of gain."""
    yield from wrapped(f"What would help {steps.workload} (each change alone, {engine_text(steps)}):")
    if not steps.steps:
        yield "  nothing can be changed by one step"
        return
    limits: dict[str, list[Step]] = {}
    for step in steps.steps:
        limits.setdefault(step.path, []).append(step)
    shown = [found for found in limits.values() if any(has_effect(step, steps.workload) for step in found)]
    if shown:
        heads = "".join(f"{f'x {factor:g}':>{GAIN}}" for factor in FACTORS)
        yield f"    {'':<{LABEL}}{heads}   another, at most"
    raised = [found for found in shown if found[0].factor in FACTORS]
    for found in raised[:STEPS_MAX]:
        yield from limit_lines(found, steps.workload)
    for found in shown:
        if found not in raised:
            yield from change_lines(found[0], steps.workload)
    none = [found[0].what for found in limits.values() if found not in shown]
    if none:
        yield from wrapped(f"No effect on {steps.workload}: {', '.join(none)}.", 2)


def engine_text(steps: Steps) -> str:
    """Names the engine of the steps."""
    if steps.engine == "run":
        return "simulated"
    return "predicted and simulated" if any(step.confirmed for step in steps.steps) else "predicted"


def limit_lines(steps: list[Step], workload: str) -> Iterator[str]:
    """Yields the effect of raising a limit by each factor, on the workload and on the others."""
    first = steps[0]
    by_factor = {step.factor: step for step in steps}
    columns = [simulated_gain_text(by_factor.get(factor), workload) for factor in FACTORS]
    header = "".join(f"{column:>{GAIN}}" for column in columns)
    label = f"{first.what}: {first.before}{divided_text(first.path, by_factor)}" if first.before else first.what
    if len(label) > LABEL:
        yield f"    {label}"
        label = ""
    yield f"    {label:<{LABEL}}{header}  {others_text(steps, workload)}".rstrip()
    if any(step.confirmed for step in steps):
        sure = [beside_predicted_text(by_factor.get(factor), workload) for factor in FACTORS]
        yield f"      {'simulated':<{LABEL - 2}}{''.join(f'{column:>{GAIN}}' for column in sure)}".rstrip()


def change_lines(step: Step, workload: str) -> Iterator[str]:
    """Yields the effect of a change that raises no limit."""
    sure = beside_predicted_text(step, workload)
    beside = f" (simulated {sure})" if sure else ""
    others = others_text([step], workload)
    what = f"{step.what}, {step.before} -> {step.after}: {simulated_gain_text(step, workload)}{beside}"
    yield from wrapped(f"{what}{f'; {others}' if others else ''}", 4)


def simulated_gain_text(step: Step | None, workload: str) -> str:
    """Formats a gain, with its interval unless it was predicted."""
    if step is None:
        return ""
    noise = None if step.confirmed else (step.noise or {}).get(workload)
    return gain_text(step.gains.get(workload)) + noise_text(noise)


def noise_text(noise: float | None) -> str:
    """Formats the noise of a gain."""
    return "" if noise is None else f" ±{max(100 * noise, 0.5):.0f}"


def has_effect(step: Step, workload: str) -> bool:
    """Returns True if a step affects a workload beyond noise."""
    least = max(NO_GAIN, (step.noise or {}).get(workload, 0.0))
    return abs((step.confirmed or step.gains).get(workload, 0.0)) >= least


def others_text(steps: list[Step], workload: str) -> str:
    """Formats the largest change of another workload by any of the steps."""
    most: dict[str, float] = {}
    for step in steps:
        for name, gain in (step.confirmed or step.gains).items():
            if name != workload and has_effect(step, name) and abs(gain) > abs(most.get(name, 0.0)):
                most[name] = gain
    if not most:
        return ""
    name = max(most, key=lambda name: abs(most[name]))
    return f"{name[:12]} {gain_text(most[name])}"


def beside_predicted_text(step: Step | None, workload: str) -> str:
    """Formats a simulated gain with its interval, beside a predicted one."""
    if step is None or step.confirmed is None:
        return ""
    return gain_text(step.confirmed.get(workload)) + noise_text((step.noise or {}).get(workload))


def gain_text(gain: float | None) -> str:
    """Formats a gain in percent."""
    if gain is None:
        return "-"
    return format_percent(0.0 if abs(gain) < NO_GAIN else gain, sign="+")
