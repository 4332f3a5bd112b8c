"""Parses the event names of perf and PCM: any case, with units, raw encodings and thresholds."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hostnet.counters.events import AT_LEAST

if TYPE_CHECKING:
    from hostnet.counters.events import Uarch

DURATION = "DURATION_TIME"
"""The perf event that counts the ns of the recording."""

GENERIC = frozenset(
    "instructions branches branch-instructions branch-misses cache-references cache-misses bus-cycles task-clock "
    "cpu-clock context-switches cs cpu-migrations migrations page-faults faults minor-faults major-faults "
    "alignment-faults emulation-faults dummy bpf-output cgroup-switches user_time system_time slots mem-loads "
    "mem-stores mem-loads-aux instructionsretired topdownslots invarianttsc uncoreclocks".upper().split()
)
"""Events of perf and PCM that are unrelated to the host network."""

OTHERS = re.compile(
    r"(?:L1-|LLC-|DTLB-|ITLB-|BRANCH-|NODE-|STALLED-|TOPDOWN-|TMA_|INST_RETIRED|UOPS_|BR_|CYCLE_ACTIVITY"
    r"|MEM_INST_RETIRED|MEM_UOPS|MEM_TRANS|MEM_LOAD_L3|MEM_LOAD_MISC|L2_|OFFCORE_|OCR\.|DTLB_|ITLB_|EXE_ACTIVITY|IDQ"
    r"|INT_MISC|LD_BLOCKS|LONGEST_LAT|MACHINE_CLEARS|TOPDOWN|RESOURCE_STALLS|RS_EVENTS|FP_|SW_PREFETCH|PARTIAL_RAT"
    r"|ROB_|LSD|ARITH|ICACHE|DSB|FRONTEND|HLE_|RTM_|TX_|ASSISTS|CORE_|BACLEARS|MISC_|CPU_CLK_UNHALTED\.|LOAD_HIT"
    r"|LOCK_CYCLES|LLC_|HW_INTERRUPTS|UNC_(?:M2M|M3UPI|M2P|M2PCIE|P|U|MDF|C)_)"
)
"""Events of cores and uncore units that are unrelated to the host network."""

OUTSIDE = re.compile(
    r"POWER|MSR|CSTATE|UNCORE_(?!IMC|CHA|CBOX|IRP|IIO|UPI)|INTEL|I915|SOFTWARE|TRACEPOINT|.*FREE_?RUN.*"
)
"""PMUs whose events are unrelated to the host network."""

_SUFFIX = re.compile(r"(?P<name>.+?)\s+\[(?P<unit>[\w-]+)\]")
_SLASHED = re.compile(r"(?P<unit>[\w-]+)/(?P<terms>.*)/(?P<modifiers>\w*)")
_THRESHOLD = re.compile(r"(?P<name>.+?)[._:@](?:T|T=|THRESH=|THRESHOLD=)(?P<threshold>0X[0-9A-F]+|\d+)@?")
_UNIT = re.compile(r"(?:UNCORE_)?(?P<pmu>[A-Z]+)(?:_(?P<number>\d+))?")
_MODIFIERS = re.compile(r":[ukhpPDGHSWIEukhp]{1,8}$")
_PMUS = {
    "CPU": "core",
    "CORE": "core",
    "CHA": "cha",
    "CBOX": "cha",
    "IMC": "imc",
    "IRP": "irp",
    "IIO": "iio",
    "UPI": "upi",
}


class UnknownEventError(Exception):
    """Raised if an event is unknown; the message names the closest one."""


@dataclass(frozen=True)
class ParsedName:
    """A parsed event name: the key of the event, None if it is irrelevant, and the unit if the name tells it.

    `modifiers` are the processor modes in which the event counts, such as `u`.
    """

    key: str | None
    unit: str = ""
    modifiers: str = ""


class NameParser:
    """Parses the event names of a microarchitecture."""

    def __init__(self, uarch: Uarch) -> None:
        """Indexes the names, aliases and encodings of every event of `uarch`."""
        self._uarch = uarch
        self._by_name = {name.upper(): name for name in uarch.events}
        for event in uarch.events.values():
            self._by_name.update((alias.upper(), event.name) for alias in event.aliases)
        self._by_code = {
            (event.pmu, _code(_terms(event.encoding), event.pmu)): event.name for event in uarch.events.values()
        }

    def parse(self, text: str) -> ParsedName:
        """Parses a name.

        Raises:
            UnknownEventError: The name is not that of a known event.
        """
        text, unit = text.strip(), ""
        if match := _SUFFIX.fullmatch(text):
            text, unit = match["name"], match["unit"]
        if match := _SLASHED.fullmatch(text):
            return replace(
                self._with_unit(match["unit"], match["terms"]), modifiers=_sorted_modifiers(match["modifiers"])
            )
        if OUTSIDE.match(unit.upper()):
            return ParsedName(None, unit)
        name = _MODIFIERS.sub("", text)
        key = self._key_of_name(name.upper(), text)
        if place := _UNIT.fullmatch(unit.upper()):
            self.check_unit(key, _PMUS.get(place["pmu"]), unit)
        return ParsedName(key, unit, _sorted_modifiers(text[len(name) + 1 :]))

    def check_unit(self, key: str | None, pmu: str | None, unit: str) -> None:
        """Checks that units of a kind have an event.

        Raises:
            UnknownEventError: They do not have it.
        """
        if key is not None and key != DURATION and pmu != self._uarch.event_of(key).pmu:
            raise UnknownEventError(f"{key} is no event of {unit}")

    def _with_unit(self, unit: str, inside: str) -> ParsedName:
        place = _UNIT.fullmatch(unit.upper())
        pmu = _PMUS.get(place["pmu"]) if place else None
        if pmu is None:
            if OUTSIDE.match(unit.upper()):
                return ParsedName(None, unit)
            raise UnknownEventError(
                f'"{unit}" is no unit with counters that are known here (uncore_imc, uncore_cha, ...)'
            )
        terms = _terms(inside)
        threshold = terms.pop("THRESH", terms.pop("THRESHOLD", 0))
        numbered = unit if pmu != "core" and place is not None and place["number"] is not None else ""
        name = terms.pop("NAME", None) or next((term for term, value in terms.items() if value is None), None)
        key: str | None
        if name == "CLOCKTICKS":
            key = self._uarch.pmus[pmu].clock
        elif name is not None:
            key = self._key_of_name(str(name).upper(), inside)
        else:
            event = self._by_code.get((pmu, _code(terms, pmu)))
            if event is None:
                raise UnknownEventError(f'"{unit}/{inside}/" is no event that is known here; give it a name with name=')
            key = event
        if key is not None and isinstance(threshold, int) and threshold and AT_LEAST not in key:
            key = f"{key}{AT_LEAST}{threshold}"
        self.check_unit(key, pmu, unit)
        return ParsedName(key, numbered)

    def _key_of_name(self, upper: str, text: str) -> str | None:
        if event := self._by_name.get(upper):
            return event
        if match := _THRESHOLD.fullmatch(upper):
            event = self._by_name.get(match["name"])
            if event is not None and self._uarch.events[event].kind == "occupancy":
                return f"{event}{AT_LEAST}{int(match['threshold'], 0)}"
        if upper == DURATION:
            return DURATION
        if upper in GENERIC or upper in self._uarch.known or upper.startswith(self._uarch.families):
            return None
        if OTHERS.match(upper):
            return None
        raise UnknownEventError(f'"{text}" is no event that is known here{self._nearest(upper)}')

    def _nearest(self, upper: str) -> str:
        near = difflib.get_close_matches(upper, self._by_name, 1, 0.6)
        return f"; the nearest is {self._by_name[near[0]]}" if near else ""


def _terms(text: str) -> dict[str, int | str | None]:
    """Parses the terms between the slashes of an event. Names stand alone and have no value."""
    terms: dict[str, int | str | None] = {}
    for term in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = term.partition("=")
        key = key.strip().upper()
        if not equals:
            terms[key] = None
            continue
        if key == "NAME":
            terms[key] = value.strip("'\"")
            continue
        try:
            terms[key] = int(value, 0)
        except ValueError:
            raise UnknownEventError(f'"{term}" is no number') from None
    config = terms.pop("CONFIG", None)
    if isinstance(config, int):
        terms |= {"EVENT": config & 0xFF, "UMASK": config >> 8 & 0xFF, "THRESH": config >> 24 & 0xFF}
    return terms


def _code(terms: Mapping[str, int | str | None], pmu: str) -> frozenset[tuple[str, int]]:
    """Returns the terms that distinguish one event from another, independent of spelling."""
    code = {
        key: value for key, value in terms.items() if isinstance(value, int) and value and key not in ("EDGE", "INV")
    }
    filtered = code.get("CONFIG1", 0)
    if pmu == "cha" and 0 < filtered < 1 << 32:  # kernels before 6.12 take the filter's upper half on its own
        code["CONFIG1"] = filtered << 32
    return frozenset(code.items())


def _sorted_modifiers(modifiers: str) -> str:
    return "".join(sorted(modifiers))
