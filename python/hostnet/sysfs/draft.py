"""Drafts the table of frequencies and sleep states of a machine, with the source of each value as a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hostnet.sysfs.measured import measured_lines
from hostnet.sysfs.values import Profile, frequency_range, ghz, profile, toml, volts_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.sysfs.tree import CoreProperties, IdleState
    from hostnet.sysfs.turbostat import TurbostatMeans

COLUMN = 40
"""Column in which comments start."""

STEP_KHZ = 100_000
"""Step between frequencies of a processor that lists none (the ratios of Intel's), in kHz."""

COUNT_MAX = 64
"""Maximum number of frequencies of a range."""

GOVERNORS = ("performance", "powersave", "ondemand", "conservative", "schedutil")
IDLE_GOVERNORS = ("menu", "teo", "ladder")

OF_HINTS = ("intel_pstate", "amd-pstate-epp", "amd_pstate_epp")
"""Drivers in active mode: the processor chooses, and its powersave follows the load, guided by a hint (EPP)."""

KEYS = {"ondemand": ("period", "up_threshold"), "conservative": ("period", "up_threshold", "down_threshold", "step")}
"""Parameters of the governors."""

DEEP = 6
LIGHT = 3
"""Numbers of the C-states at or above which a core has no voltage, or a reduced one."""


def power_table(cores: CoreProperties, measured: TurbostatMeans | None = None) -> str:
    """Returns the table as text of a configuration."""
    known = profile()
    lines = [
        "[power]",
        "# sysfs = reported by the machine; assumed = not reported: check.",
        "# Voltages are in no file of sysfs.",
        *_value("profile", known.name, "assumed: powers, voltages and how fast they change"),
        *_differing_core(cores),
        *_pstates(cores, known),
        *_domain(cores),
        *_governor(cores),
        *_idle(cores),
        *_states(cores, known, measured),
    ]
    if measured is not None:
        lines += measured_lines(measured, cores, known)
    return "\n".join(lines) + "\n"


def _value(key: str, value: Any, comment: str) -> Iterator[str]:
    """Yields the line of a value with its comment."""
    yield f"{f'{key} = {toml(value)}':<{COLUMN}} # {comment}"


def _differing_core(cores: CoreProperties) -> Iterator[str]:
    """Yields a comment if a core differs from the first."""
    if cores.unlike:
        yield f"# {cores.unlike} has other frequencies or another governor; all are described as the first: check."


def _pstates(cores: CoreProperties, known: Profile) -> Iterator[str]:
    """Yields the frequencies."""
    ends = frequency_range(cores)
    low, high = (f"{float(volts):g} V" for volts in known.volts)
    if ends is None:
        yield f"# pstates: assumed as in {known.name}, since {cores.folder or 'the tree'} has no frequencies."
        return
    assumed = f"voltages assumed: even from {low} to {high} as in {known.name}"
    least, most = cores.limits_khz or ends
    if (least, most) != ends:
        yield f"# sysfs: {cores.folder}/scaling_min_freq, scaling_max_freq limit it to {ghz(least)} to {ghz(most)}."
    listed = [khz for khz in cores.listed_khz if least <= khz <= most]
    if listed:
        yield f"# sysfs: {cores.folder}/scaling_available_frequencies; {assumed}."
        yield "pstates = ["
        yield from (f'    "{ghz(khz)} @ {volts_at(khz, ends, known)}",' for khz in listed)
        yield "]"
    elif least == most:
        yield f"# sysfs: {cores.folder}/cpuinfo_max_freq, the one frequency; {assumed}."
        yield f'pstates = ["{ghz(least)} @ {volts_at(least, ends, known)}"]'
    else:
        count = min(max(round((most - least) / STEP_KHZ) + 1, 2), COUNT_MAX)
        table = {"count": count, **{key: f"{ghz(khz)} @ {volts_at(khz, ends, known)}"
                                    for key, khz in zip(("from", "to"), (least, most), strict=True)}}  # fmt: skip
        yield f"# sysfs: {cores.folder}/cpuinfo_min_freq, cpuinfo_max_freq; steps of 100 MHz and {assumed}."
        yield f"pstates = {toml(table)}"


def _domain(cores: CoreProperties) -> Iterator[str]:
    """Yields the frequency domain."""
    if cores.shares is None:
        return
    source = f"sysfs: {cores.folder}/freqdomain_cpus or related_cpus; a chip may couple what Linux sets for each core"
    yield from _value("domain", "chip" if cores.shares else "core", source)


def _governor(cores: CoreProperties) -> Iterator[str]:
    """Yields the governor."""
    place = f"{cores.folder}/scaling_governor"
    kind, comment = cores.governor, f"sysfs: {place}"
    if not kind:
        return
    if cores.driver in OF_HINTS and kind == "powersave":
        hint = f" and {cores.preference}" if cores.preference else ""
        kind = "schedutil"
        comment = f"{comment} is powersave of {cores.driver}, which follows the load{hint}; the nearest is assumed"
    elif kind == "userspace":
        kind, comment = "performance", f"{comment} is userspace; assumed: give its frequency"
    elif kind not in GOVERNORS:
        kind, comment = "ondemand", f"{comment} is {kind}, which is not modelled; assumed"
    values: dict[str, Any] = {
        "period": f"{cores.tunables['sampling_rate']} us" if "sampling_rate" in cores.tunables else None,
        "up_threshold": cores.tunables.get("up_threshold"),
        "down_threshold": cores.tunables.get("down_threshold"),
        "step": cores.tunables.get("freq_step"),
    }
    table: dict[str, Any] = {"kind": kind, **({"variant": "3.9"} if kind == "ondemand" else {})}
    table |= {key: values[key] for key in KEYS.get(cores.governor, ()) if values[key] is not None}
    if kind == "ondemand":
        comment += "; the variant is assumed"
    yield from _value("governor", kind if len(table) == 1 else table, comment)


def _idle(cores: CoreProperties) -> Iterator[str]:
    """Yields the idle governor."""
    if cores.has_idle and not cores.states:
        yield from _value("idle", "poll", "sysfs: cpu0/cpuidle has no state but polling")
    elif cores.idle in IDLE_GOVERNORS:
        yield from _value("idle", cores.idle, "sysfs: cpuidle/current_governor")
    elif cores.idle:
        yield from _value("idle", "menu", f"assumed: cpuidle/current_governor is {cores.idle}, which is not modelled")


def _states(cores: CoreProperties, known: Profile, measured: TurbostatMeans | None) -> Iterator[str]:
    """Yields the C-states."""
    if not cores.has_idle:
        yield f"# cstate: assumed as in {known.name}, since the tree has no cpu0/cpuidle."
        return
    stays = {} if measured is None else measured.residencies
    last: IdleState | None = None
    names: set[str] = set()
    for state in cores.states:
        if state.name in names or (last is not None and not _is_deeper(state, last)):
            yield f"# {state.place} ({state.name}) is left out: it is not deeper than the state before."
            continue
        last = state
        names.add(state.name)
        power, source = _power(state.name, known)
        stay = max(state.residency_us, state.exit_us)
        table: dict[str, Any] = {"exit": f"{state.exit_us} us", "residency": f"{stay} us", "power": power}
        if state.disabled:
            table["disable"] = True
        comment = f"sysfs: {state.place}; power {source}"
        if stay != state.residency_us:
            comment += f"; its residency is {state.residency_us} us"
        if state.name in stays:
            comment += f"; turbostat: {stays[state.name]:.1f} % of time"
        yield from _value(f"cstate.{state.name}", table, comment)
    for name in known.power["cstate"]:
        if name not in names:
            yield from _value(f"cstate.{name}.disable", True, f"of {known.name}, and not of this machine")


def _is_deeper(state: IdleState, before: IdleState) -> bool:
    """Returns True if a state is deeper than the one before."""
    numbers = [re.match(r"[Cc](\d+)", one.name) for one in (before, state)]
    rises = not all(numbers) or int(numbers[0][1]) <= int(numbers[1][1])  # type: ignore[index]
    return rises and state.exit_us > before.exit_us and state.residency_us >= before.residency_us


def _power(name: str, known: Profile) -> tuple[str, str]:
    """Returns the power of a core in a state, and its source: the state of the profile with the nearest number."""
    own = known.power["cstate"].get(name)
    if own is not None:
        return _watts(own), f"assumed as in {known.name}"
    match = re.match(r"[Cc](\d+)", name)
    number = int(match[1][:4]) if match else 1
    like = f"C{DEEP}" if number >= DEEP else f"C{LIGHT}" if number >= LIGHT else "C1"
    return _watts(known.power["cstate"][like]), f"assumed as {like} of {known.name}"


def _watts(state: dict[str, str]) -> str:
    """Returns the power of a state of the profile."""
    power = state.get("power", "static")
    return "0 W" if power.startswith("0 ") else power
