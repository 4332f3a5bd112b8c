"""What `fio --output-format=json` prints: the bandwidth of every job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hostnet.calibrate.measurement import Conditions, DataError, Measurement, set_condition, wrong
from hostnet.calibrate.readers.content import Found
from hostnet.files import parse_json

if TYPE_CHECKING:
    from hostnet.calibrate.readers.content import Content

    Job = dict[str, Any]

SIDES = {"read": ("read",), "randread": ("read",), "write": ("write",), "randwrite": ("write",)}
"""Where fio tells the bandwidth of a direction; both for the mixed ones."""


def matches(content: Content) -> bool:
    """Whether the text looks like JSON. fio may print messages before it."""
    start = content.text.lstrip()
    return start.startswith("{") or ('"fio version"' in content.text and "{" in content.text)


def read(content: Content) -> Found:
    """The bandwidth of the jobs; jobs that do the same are added up.

    Raises:
        DataError: The text is not fio's JSON, or a job lacks something.
    """
    jobs = _jobs(content)
    groups: dict[Conditions, list[tuple[int, Job]]] = {}
    for index, (job, options) in enumerate(jobs):
        groups.setdefault(_conditions(content, index, options), []).append((index, job))
    found = Found()
    for conditions, members in groups.items():
        total = sum(_bandwidth(content, index, job, conditions) for index, job in members)
        place = f"jobs[{members[0][0]}]"
        drives = _drives([jobs[index][1] for index, _ in members], content)
        full = content.conditions(_with_drives(conditions, drives, content))
        found.measurements.append(Measurement("io_bandwidth", total, full, content.file, place))
    return found


def _jobs(content: Content) -> list[tuple[Job, Job]]:
    """Every job with its options, those of the whole file included."""
    text = content.text[content.text.index("{") :]
    try:
        tree = parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise wrong(content.file, line, f"not whole JSON ({error}); is the file truncated?") from None
    jobs = tree.get("jobs") if isinstance(tree, dict) else None
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise DataError(f'{content.file}: not the output of fio --output-format=json: it has no list "jobs"')
    common = tree.get("global options")
    common = common if isinstance(common, dict) else {}
    return [(job, {**common, **_options(job)}) for job in jobs]


def _options(job: Job) -> Job:
    options = job.get("job options")
    return options if isinstance(options, dict) else {}


def _conditions(content: Content, index: int, options: Job) -> Conditions:
    """What a job did. fio's own defaults hold for what it does not say."""
    words = {"rw": options.get("rw", options.get("readwrite")), "bs": options.get("bs", "4k")}
    words["iodepth"] = options.get("iodepth", "1")
    conditions = Conditions()
    for name, word in words.items():
        if name in content.given:
            word = content.given[name]
        if word is None:
            raise wrong(
                content.file, f"jobs[{index}]", f"job options: {name} is missing; say it: {content.file}@{name}=..."
            )
        try:
            conditions = set_condition(conditions, name, str(word))
        except ValueError as error:
            raise wrong(content.file, f"jobs[{index}]", f"job options: {error}") from None
    return conditions


def _bandwidth(content: Content, index: int, job: Job, conditions: Conditions) -> float:
    """GB/s of a job."""
    place, total = f"jobs[{index}]", 0.0
    if job.get("error"):
        raise wrong(content.file, place, f"fio reports error {job['error']} for this job")
    for side in SIDES.get(conditions.rw, ("read", "write")):
        part = job.get(side)
        value = part.get("bw_bytes") if isinstance(part, dict) else None
        if value is None and isinstance(part, dict) and isinstance(part.get("bw"), (int, float)):
            value = part["bw"] * 1024
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
            raise wrong(content.file, place, f"{side}.bw_bytes is missing or not a number")
        total += value
    if total <= 0:
        raise wrong(content.file, place, f"moved nothing ({conditions.rw}); was it another direction?")
    return total / 1e9


def _drives(options: list[Job], content: Content) -> int:
    """How many drives the jobs used; 0 if they do not say."""
    names = {name for option in options for name in str(option.get("filename", "")).split(":") if name}
    return min(len(names), content.server.drives) if names else 0


def _with_drives(conditions: Conditions, drives: int, content: Content) -> Conditions:
    from dataclasses import replace

    return replace(conditions, drives=0 if drives == content.server.drives else drives)
