"""The explanation as one page of plain text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from hostnet.explain.buses import bus_text
from hostnet.explain.steps import FACTORS, NO_GAIN
from hostnet.limit_names import NOT_KNOWN, divided_text
from hostnet.pools import credits_of, pool_at, pool_of, with_directions
from hostnet.regimes import regime_headline
from hostnet.units import GB_PER_S, NO_BREAK, format_percent, format_rate, is_small_rate, share_in_words, unbroken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostnet.explain.page import Page
    from hostnet.explain.steps import Step, Steps

WIDTH = 80
"""Columns of the page, on a terminal and in a file."""

LABEL = 25
"""Columns of what is raised, in the table of what would help."""

GAIN = 10
"""Columns of a gain in that table."""

BAR = 30
"""Characters of the longest bar."""

STEPS_MAX = 12
"""Steps that are shown; all of them are in the JSON."""

ADMISSION = "CHA admission"
"""The cause that entries of the TOR may be."""

PARTS = (
    ("unloaded_ns", "without load"),
    ("switching_ns", "switching"),
    ("write_hol_ns", "write head-of-line"),
    ("read_hol_ns", "read head-of-line"),
    ("top_of_queue_ns", "top-of-queue"),
    ("cha_admission_ns", ADMISSION),
    ("unexplained_ns", "not explained"),
)
"""What a latency is made of, and what each part is called."""

CAUSES = {
    "switching": "the channels change between reading and writing all the time",
    "write head-of-line": "the channels are busy with writes that go first",
    "read head-of-line": "the channels are busy with reads that go first",
    "top-of-queue": "rows of DRAM have to be opened and closed",
    ADMISSION: "lines wait outside of the CHA, for TOR entries of their slice or on the way there",
}
"""What a cause means."""

TOR_KEYS = "cha.tor."
"""The beginning of the keys of the limit that lines may wait for outside of the CHA."""

NOT_FOR_ENTRIES = (
    "lines wait on the way to the CHA, or for what holds its TOR entries: more of these are not predicted to help"
)
"""What waiting for admission to the CHA means where more TOR entries were tried."""

OF_SLICES = "a line waits for a TOR entry of its slice; CHA TOR is full only while those of all slices are in use"
"""Stands on a page where lines wait for admission to the CHA, which that pool may not show."""

ADDED_MIN = 0.05
"""Of the latency without load: what load adds below this share is not worth a cause."""


def page_text(page: Page) -> str:
    """The page, at most `WIDTH` columns wide."""
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
    told = (*explanation["missing"], *page.notes, *([OF_SLICES] if waits else ()))
    notes = [f"note: {note}" for note in told]
    parts.append([line for note in notes for line in wrapped(note, hang=6)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def wrapped(text: str, indent: int = 0, hang: int | None = None) -> list[str]:
    """Text in lines that fit the page; long words are broken, numbers stay with their percent signs."""
    later = " " * (indent if hang is None else hang)
    clean = "".join(letter if letter.isprintable() else "?" for letter in text)
    lines = textwrap.wrap(unbroken(clean), WIDTH, initial_indent=" " * indent, subsequent_indent=later)
    return [line.replace(NO_BREAK, " ") for line in lines]


def regime_lines(regime: dict[str, Any]) -> Iterator[str]:
    """Yields the regime: who is slowed down by whom, and the evidence."""
    yield from wrapped(regime_headline(regime))
    for line in regime["evidence"]:
        yield from wrapped(f"- {line}", 2, 4)


def workload_lines(
    row: dict[str, Any], events: Mapping[str, str], channels: Sequence[Mapping[str, Any]] = ()
) -> Iterator[str]:
    """What limits a workload, its credits and bound, and where its latency comes from.

    `events` as of a page; `channels` is the table of that name.
    """
    yield from wrapped(f"{row['workload']} {limit_text(row)}")
    bus = bus_text(row, channels)
    if bus:
        yield from wrapped(bus, 2)
    pool = pool_at(row, row["domain"])
    if pool is not None and row["bound_gb_per_s"] is not None:
        yield from wrapped(pool_text(row, pool), 2)
    yield from cached_lines(row.get("cached"))
    latency = row["latency"]
    if latency is not None:
        yield from latency_lines(row, latency, events)


def cached_lines(cached: dict[str, Any] | None) -> Iterator[str]:
    """What the caches do for a workload."""
    if not cached:
        return
    misses, hits, leaks = cached["llc_miss_ratio"], cached["ddio_hit_ratio"], cached["ddio_leak_ratio"]
    if misses is not None:
        yield from wrapped(f"{share_in_words(misses)} of the reads of its cores that look into the LLC miss.", 2)
    if hits is not None:
        evictions = cached["ddio_eviction_ratio"]
        yield from wrapped(
            f"DDIO: {share_in_words(hits)} of the lines that its devices write are in a cache already. Of 100 lines "
            f"written, {100 * evictions:.0f} leave the LLC for memory, {100 * leaks:.0f} of them before anything has "
            "read them.",
            2,
        )


def rate_text(gb_per_s: float) -> str:
    """A rate, with the digits that the evidence of a regime gives it; a small one with a suitable prefix."""
    if is_small_rate(gb_per_s, GB_PER_S):
        return format_rate(gb_per_s, GB_PER_S)
    return f"{gb_per_s:.{3 if gb_per_s < 1 else 1}f} {GB_PER_S}"


def limit_text(row: dict[str, Any]) -> str:
    """What limits a workload, in words that follow its name."""
    held = next((pool["in_use"] for pool in row["pools"] if pool["domain"] == row["domain"]), 0.0)
    credits = credits_of(row["kind"], row["domain"])
    if row["gb_per_s"] == 0 and row["bound_gb_per_s"] is None and held:
        return f"moved nothing; {held:.1f} {credits} are in use for {row['domain']}, and none came back"
    limited = with_directions(row["limited"])
    asked = row["offered_gb_per_s"]
    if row["binding"] == ["offered load"] and asked and row["app_gb_per_s"] is not None:
        moved = row["app_gb_per_s"]
        # A window may begin with commands of the one before it.
        return f"{limited}; it gets {rate_text(moved)} of {rate_text(max(asked, moved))}"
    return limited


def pool_text(row: dict[str, Any], pool: dict[str, Any]) -> str:
    """Credits, latency and bound of the fullest pool, against what passes."""
    about = "about " if row["estimated"] else ""
    credits, latency, bound = pool["credits"], pool["latency_ns"], row["bound_gb_per_s"]
    share = pool["gb_per_s"] / bound
    words = credits_of(row["kind"], pool["domain"])
    where = f" on {pool['place']}, where it is fullest" if pool.get("place") else ""
    return (
        f"{pool['domain']}{where}: {credits:.0f} {words} x 64 B / {latency:.0f} ns = {rate_text(bound)} at most; "
        f"{rate_text(pool['gb_per_s'])} pass ({share_in_words(share)}), with {pool['in_use']:.1f} of them in use, "
        f"all of them {about}{share_in_words(pool['full_share'])} of the time."
    )


def latency_lines(row: dict[str, Any], latency: dict[str, Any], events: Mapping[str, str]) -> Iterator[str]:
    """A latency in its parts, with a bar each, and the largest of them as far as it is known."""
    mean, unloaded = latency["mean_ns"], latency["unloaded_ns"]
    pool = pool_of(row["kind"], latency["domain"])
    place = (pool_at(row, latency["domain"]) or {}).get("place")
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
    added = mean - unloaded
    if added < ADDED_MIN * unloaded:
        return
    if latency["cause"] is not None:
        yield from wrapped(f"The largest part of what load adds is {latency['cause']}: {cause_text(row, latency)}.", 2)
    elif round(added) > 0 and round(latency["unexplained_ns"]) > 0:
        yield from wrapped(unknown_text(latency, added, events), 2)


def cause_text(row: dict[str, Any], latency: dict[str, Any]) -> str:
    """What a cause means, as far as the limits that were raised tell."""
    tried = row.get("limits")
    if latency["cause"] != ADMISSION or tried is None or not tried["covered"]:
        return CAUSES[latency["cause"]]
    helped = any(gain["key"].startswith(TOR_KEYS) for gain in tried["gains"])
    return CAUSES[ADMISSION] if helped or row["doubtful"] or row.get("refuted") else NOT_FOR_ENTRIES


def unknown_text(latency: dict[str, Any], added: float, events: Mapping[str, str]) -> str:
    """Why no cause is named: how much is not explained, and what would tell."""
    rest = min(latency["unexplained_ns"], added)
    text = f"What load adds most is not known: {rest:.0f} of {added:.0f} ns are not explained."
    lacks = latency.get("lacks") or []
    counters = list(dict.fromkeys(name for lack in lacks for name in lack["counters"]))
    names = [f"{name} ({events[name]})" if name in events else name for name in counters]
    if not names:
        return text
    causes = ", ".join(lack["quantity"] for lack in lacks if lack["counters"])
    return f"{text} To tell {causes}, the counters lack {', '.join(names)}."


def step_lines(steps: Steps) -> Iterator[str]:
    """What would help: a line for each limit, the one that helps most first."""
    yield from wrapped(f"What would help {steps.workload} (each change alone, {told_by(steps)}):")
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


def told_by(steps: Steps) -> str:
    """How the steps were told."""
    if steps.engine == "run":
        return "simulated"
    return "predicted and simulated" if any(step.confirmed for step in steps.steps) else "predicted"


def limit_lines(steps: list[Step], workload: str) -> Iterator[str]:
    """What raising a limit does, by one factor after the other, and who pays for it or gains with it."""
    first = steps[0]
    by_factor = {step.factor: step for step in steps}
    columns = [told_text(by_factor.get(factor), workload) for factor in FACTORS]
    told = "".join(f"{column:>{GAIN}}" for column in columns)
    label = f"{first.what}: {first.before}{divided_text(first.path, by_factor)}" if first.before else first.what
    if len(label) > LABEL:
        yield f"    {label}"
        label = ""
    yield f"    {label:<{LABEL}}{told}  {others_text(steps, workload)}".rstrip()
    if any(step.confirmed for step in steps):
        sure = [sure_text(by_factor.get(factor), workload) for factor in FACTORS]
        yield f"      {'simulated':<{LABEL - 2}}{''.join(f'{column:>{GAIN}}' for column in sure)}".rstrip()


def change_lines(step: Step, workload: str) -> Iterator[str]:
    """What a change does that raises no limit."""
    sure = sure_text(step, workload)
    beside = f" (simulated {sure})" if sure else ""
    others = others_text([step], workload)
    what = f"{step.what}, {step.before} -> {step.after}: {told_text(step, workload)}{beside}"
    yield from wrapped(f"{what}{f'; {others}' if others else ''}", 4)


def told_text(step: Step | None, workload: str) -> str:
    """A gain, with its interval if it was not predicted."""
    if step is None:
        return ""
    noise = None if step.confirmed else (step.noise or {}).get(workload)
    return gain_text(step.gains.get(workload)) + near_text(noise)


def near_text(noise: float | None) -> str:
    """How far off a gain may be."""
    return "" if noise is None else f" ±{max(100 * noise, 0.5):.0f}"


def has_effect(step: Step, workload: str) -> bool:
    """Whether a step does anything for a workload, beyond what may be noise."""
    least = max(NO_GAIN, (step.noise or {}).get(workload, 0.0))
    return abs((step.confirmed or step.gains).get(workload, 0.0)) >= least


def others_text(steps: list[Step], workload: str) -> str:
    """The greatest change of another workload, whichever step makes it."""
    most: dict[str, float] = {}
    for step in steps:
        for name, gain in (step.confirmed or step.gains).items():
            if name != workload and has_effect(step, name) and abs(gain) > abs(most.get(name, 0.0)):
                most[name] = gain
    if not most:
        return ""
    name = max(most, key=lambda name: abs(most[name]))
    return f"{name[:12]} {gain_text(most[name])}"


def sure_text(step: Step | None, workload: str) -> str:
    """A simulated gain with its interval, beside one that was predicted."""
    if step is None or step.confirmed is None:
        return ""
    return gain_text(step.confirmed.get(workload)) + near_text((step.noise or {}).get(workload))


def gain_text(gain: float | None) -> str:
    """A gain in percent."""
    if gain is None:
        return "-"
    return format_percent(0.0 if abs(gain) < NO_GAIN else gain, sign="+")
