"""Parses an entry of fio's results: the load of its jobs, checked against its numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hostnet.calibration.measurement import Conditions, error_at, set_condition, size_text
from hostnet.calibration.readers.fio_options import SYNCHRONOUS, engine_of, is_on, refusal_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostnet.calibration.measurement import DataError
    from hostnet.calibration.readers.data_file import DataFile

    Job = dict[str, Any]

SIDES = {"read": ("read",), "randread": ("read",), "write": ("write",), "randwrite": ("write",)}
"""Sections with the bandwidth of a direction; mixed directions have both."""

LEVELS = (1, 2, 4, 8, 16, 32, 64)
"""Lower end of each bucket in fio's histogram of depths."""

DEPTH_PERCENT_MIN = 50.0
"""Minimum percentage of commands submitted at the requested depth."""

IN_FLIGHT = (0.5, 1.3)
"""Tolerance of Little's law against the depth: fio's latencies leave out its own work between two commands."""

BLOCK_MARGIN = 0.01
"""Tolerance of the mean block size: a file may end inside a block."""

MIX_MARGIN = 5
"""Tolerance of the share of reads, in percent."""

RUNTIME_MARGIN = 0.1
"""Maximum relative difference in run time between concurrent jobs."""

RUNTIME_MIN_MS = 100
"""Run time in ms below which its resolution is too coarse to check a bandwidth."""

BANDWIDTH_MARGIN = 0.05
"""Tolerance of a bandwidth against bytes / runtime, which fio rounds to ms and merges over jobs."""

COMMANDS_MIN = 100
"""Number of commands up to which a mean is not meaningful."""


@dataclass(frozen=True)
class Entry:
    """An entry of the results."""

    place: str
    job: Mapping[str, Any]
    options: Mapping[str, Any]
    conditions: Conditions
    """Conditions of a single job; its drives are not known yet."""
    jobs: int
    """Number of jobs that the entry covers."""
    gb_per_s: float
    remarks: tuple[str, ...]

    @property
    def group(self) -> Any:
        """Number of the group; None without one."""
        return self.job.get("groupid")


def entry_of(content: DataFile, place: str, job: Job, options: Job) -> Entry:
    """Parses an entry and checks its numbers against its options.

    Raises:
        DataError: They contradict each other, or an option changes what was measured.
    """
    if job.get("error"):
        raise error_at(content.file, place, f"fio reports error {job['error']} for this job")
    if reason := refusal_of(options, content.given):
        raise error_at(content.file, place, f"job options: {reason}")
    conditions = _conditions(content, place, options)
    depth, remark = _depth(content, place, job, options, conditions.iodepth)
    conditions = _set_condition(content, place, conditions, "iodepth", depth)
    jobs = _set_condition(content, place, conditions, "numjobs", options.get("numjobs", "1")).numjobs
    jobs = jobs if is_on(options, "group_reporting") else 1
    value = _bandwidth(content, place, job, conditions)
    entry = Entry(place, job, options, conditions, jobs, value, (remark,) if remark else ())
    _check_sides(content, entry)
    if "iodepth" not in content.given and "numjobs" not in content.given:
        _check_in_flight(content, entry)
    return entry


def check_alike(content: DataFile, batch: Sequence[Entry]) -> None:
    """Checks that concurrent jobs were identical and overlapped fully.

    Raises:
        DataError: They did not; the message names two of them, or how many are missing.
    """
    first = batch[0]
    for other in batch[1:]:
        if other.conditions != first.conditions:
            message = f"{other.conditions} ran at the same time as {first.conditions} of {first.place}"
            raise error_at(
                content.file, other.place, f"{message}; all jobs of a measurement must be alike: run each kind alone"
            )
    times = [time for entry in batch if (time := _runtime_ms(entry)) > 0]
    if times and max(times) > (1 + RUNTIME_MARGIN) * min(times):
        message = f"jobs ran for {min(times) / 1000:.4g} s to {max(times) / 1000:.4g} s"
        raise error_at(
            content.file, first.place, f"{message}, so they did not overlap fully; use time_based and runtime"
        )
    each = [entry for entry in batch if str(entry.options.get("numjobs", "1")) != "1" and entry.jobs == 1]
    for number in {str(entry.options["numjobs"]) for entry in each}:
        entries = sum(str(entry.options["numjobs"]) == number for entry in each)
        if number.isdigit() and int(number) and entries % int(number) and "numjobs" not in content.given:
            message = f"numjobs={number} without group_reporting prints {number} entries, but there are {entries}"
            hint = f"is the file truncated? If not, give the number of jobs: {content.file}@numjobs={number}"
            raise error_at(content.file, each[0].place, f"job options: {message}; {hint}")


def _conditions(content: DataFile, place: str, options: Job) -> Conditions:
    """Reads the load of a job; fio's own defaults apply to options that are not given."""
    rw = options.get("rw", options.get("readwrite"))
    if rw is None and "rw" not in content.given:
        raise error_at(content.file, place, f"job options: rw is missing; give it: {content.file}@rw=...")
    conditions = _set_condition(content, place, Conditions(), "rw", rw)
    try:
        block = content.given.get("bs") or _block(options, conditions.rw)
    except ValueError as error:
        raise error_at(content.file, place, f"job options: {error}") from None
    conditions = _set_condition(content, place, conditions, "bs", block)
    conditions = _set_condition(content, place, conditions, "iodepth", options.get("iodepth", "1"))
    if conditions.rw in SIDES:
        return conditions
    reads = options.get("rwmixread")
    if "rwmixwrite" in options:
        writes = str(options["rwmixwrite"])
        of_writes = str(100 - int(writes)) if writes.isdigit() else f"100-{writes}"
        if reads is not None and str(reads) != of_writes and "rwmixread" not in content.given:
            raise error_at(
                content.file, place, f"job options: rwmixread={reads} and rwmixwrite={writes} contradict each other"
            )
        reads = of_writes
    return _set_condition(content, place, conditions, "rwmixread", "50" if reads is None else reads)


def _set_condition(content: DataFile, place: str, conditions: Conditions, name: str, word: Any) -> Conditions:
    """Sets a condition to an option of the job, unless the user overrides it for the whole file."""
    try:
        return set_condition(conditions, name, str(content.given.get(name, word)))
    except ValueError as error:
        raise error_at(content.file, place, f"job options: {error}") from None


def _block(options: Job, rw: str) -> str:
    """Returns the block size of a direction: fio lists those of reads, writes and trims, separated by commas."""
    text = str(options.get("bs", options.get("blocksize", "4k")))
    sizes = [size.strip() for size in text.split(",")]
    sizes = [size or sizes[0] for size in sizes]
    of_reads, of_writes = sizes[0], sizes[min(1, len(sizes) - 1)]
    sides = SIDES.get(rw, ("read", "write"))
    sizes_used = {of_reads if side == "read" else of_writes for side in sides}
    if len(sizes_used) > 1:
        raise ValueError(f'bs: "{text}" gives several sizes; the model has a single one for both directions')
    return _as_bytes(sizes_used.pop())


def _as_bytes(text: str) -> str:
    """Converts a size in fio's notation, where kb is 1024 and KiB was once 1000."""
    if re.fullmatch(r"\d+\s*[kmgtp]ib?", text.lower()):
        raise ValueError(f'bs: "{text}" is ambiguous: fio takes this suffix for a power of 1000; write 4k or 4096')
    return re.sub(r"(?<=[kmg])b$", "", text.lower())


def _depth(content: DataFile, place: str, job: Job, options: Job, requested: int) -> tuple[int, str]:
    """Returns the number of commands that a job kept in flight, and a note on it."""
    if requested == 1 or "iodepth" in content.given:
        return requested, ""
    engine = engine_of(options)
    if engine in SYNCHRONOUS:
        return 1, f"ioengine={engine} keeps one command in flight; iodepth={requested} has no effect"
    shares = [_share(job, level) for level in range(len(LEVELS))]
    step = max(level for level, least in enumerate(LEVELS) if least <= requested)
    if not any(shares):
        remark = (
            ""
            if engine
            else f"no ioengine given; iodepth={requested} applies to libaio and io_uring, not to fio's default"
        )
        return requested, remark
    if not engine and shares[0] >= DEPTH_PERCENT_MIN:
        return 1, f"no ioengine given; fio's default keeps one command in flight, so iodepth={requested} has no effect"
    if shares[step] < DEPTH_PERCENT_MIN:
        share = f"{shares[step]:.3g} % of the commands were submitted at a depth of about {LEVELS[step]}"
        busiest = LEVELS[shares.index(max(shares))]
        hint = f"most at {busiest}; if that many are in flight, give {content.file}@iodepth={busiest}"
        raise error_at(
            content.file, place, f"job options: iodepth={requested}, but iodepth_level says that {share}, {hint}"
        )
    return requested, ""


def _share(job: Job, level: int) -> float:
    """Returns the percentage of commands that were submitted in a bucket of depths."""
    levels = job.get("iodepth_level")
    name = f">={LEVELS[level]}" if level == len(LEVELS) - 1 else str(LEVELS[level])
    return _number(levels, name)


def _number(part: Any, name: str) -> float:
    """Returns a number from a table; 0 if it is missing."""
    value = part.get(name) if isinstance(part, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 0.0
    return float(value)


def _bandwidth(content: DataFile, place: str, job: Job, conditions: Conditions) -> float:
    """Returns the bandwidth of an entry in GB/s."""
    total = 0.0
    for side in SIDES.get(conditions.rw, ("read", "write")):
        part = job.get(side)
        value = part.get("bw_bytes") if isinstance(part, dict) else None
        if value is None and isinstance(part, dict) and isinstance(part.get("bw"), (int, float)):
            value = part["bw"] * 1024
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
            raise error_at(content.file, place, f"{side}.bw_bytes is missing or not a number")
        total += value
    if total <= 0:
        raise error_at(content.file, place, f"moved nothing ({conditions.rw}); was it another direction?")
    return total / 1e9


def _check_sides(content: DataFile, entry: Entry) -> None:
    """Rejects directions, block sizes and mixes that contradict the options: the entry covers other jobs too."""
    sides = SIDES.get(entry.conditions.rw, ("read", "write"))
    for side in ("read", "write", "trim"):
        part = entry.job.get(side)
        if side not in sides and _number(part, "bw_bytes") + _number(part, "bw") > 0:
            raise _contradiction(content, entry, f"rw={entry.conditions.rw}, but {side}.bw_bytes is above 0")
        commands, moved = _number(part, "total_ios"), _number(part, "io_bytes")
        block = entry.conditions.bs
        margin = BLOCK_MARGIN + entry.jobs * entry.conditions.iodepth / max(
            commands, 1.0
        )  # commands of the ramp count in only one of the two
        if side in sides:
            _check_bandwidth(content, entry, side)
        if side in sides and commands > COMMANDS_MIN and moved and abs(moved / commands / block - 1) > margin:
            message = f"bs={size_text(block)}, but a {side} moved {moved / commands:.0f} B on average"
            raise _contradiction(content, entry, message)
    reads, writes = (_number(entry.job.get(side), "total_ios") for side in ("read", "write"))
    if len(sides) > 1 and reads + writes > COMMANDS_MIN:
        share = 100 * reads / (reads + writes)
        if abs(share - entry.conditions.rwmixread) > MIX_MARGIN:
            mix = f"rwmixread={entry.conditions.rwmixread}, but {share:.3g} % of the commands were reads"
            raise _contradiction(content, entry, mix)


def _check_bandwidth(content: DataFile, entry: Entry, side: str) -> None:
    """Rejects a bandwidth that differs from bytes / runtime, from which fio computes it."""
    part = entry.job.get(side)
    moved, runtime_ms, stated = (_number(part, name) for name in ("io_bytes", "runtime", "bw_bytes"))
    found = moved / runtime_ms * 1e3 if runtime_ms >= RUNTIME_MIN_MS else stated
    if moved and stated and abs(found / stated - 1) > BANDWIDTH_MARGIN:
        message = f"{side}.bw_bytes is {stated:.0f}, but io_bytes / runtime is {found:.0f} B/s"
        raise error_at(content.file, entry.place, f"{message}; was the file changed by hand?", "implausible-data")
    if moved and isinstance(part, dict) and part.get("total_ios") == 0:
        raise error_at(
            content.file, entry.place, f"{side}.total_ios is 0, but io_bytes is {moved:.0f}", "implausible-data"
        )


def _check_in_flight(content: DataFile, entry: Entry) -> None:
    """Rejects job counts and depths that contradict fio's latencies by Little's law."""
    in_flight = 0.0
    for side in SIDES.get(entry.conditions.rw, ("read", "write")):
        part = entry.job.get(side)
        times = part.get("lat_ns") if isinstance(part, dict) else None
        in_flight += _number(part, "iops") * _number(times, "mean") / 1e9
    expected = entry.jobs * entry.conditions.iodepth
    least, most = (share * expected for share in IN_FLIGHT)
    if in_flight and not least <= in_flight <= most:
        message = f"{entry.jobs} jobs of depth {entry.conditions.iodepth}, but iops x lat_ns.mean = {in_flight:.3g}"
        raise _contradiction(content, entry, f"{message} commands in flight")


def _contradiction(content: DataFile, entry: Entry, message: str) -> DataError:
    hint = "with group_reporting an entry sums all jobs of its group, but shows the options of the first"
    return error_at(
        content.file, entry.place, f"{message}; {hint}: give each kind of job a result of its own", "implausible-data"
    )


def _runtime_ms(entry: Entry) -> float:
    sides = SIDES.get(entry.conditions.rw, ("read", "write"))
    return max(_number(entry.job.get(side), "runtime") for side in sides)
