"""Reads the output of `fio --output-format=json`: the bandwidth of jobs that ran at the same time."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hostnet.calibration.measurement import DataError, Measurement, error_at
from hostnet.calibration.readers.data_file import ParsedData
from hostnet.calibration.readers.fio_drives import distribute
from hostnet.calibration.readers.fio_jobs import Entry, check_alike, entry_of
from hostnet.calibration.readers.fio_options import is_on, remarks_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostnet.calibration.readers.data_file import DataFile

    Tree = dict[str, Any]

OVERRIDABLE = ("rw", "bs", "iodepth", "numjobs", "drives", "rwmixread")
"""Conditions after the @ that override options of the jobs."""

ALL_CLIENTS = "All clients"
"""fio's name for the sum over its clients."""


def matches(content: DataFile) -> bool:
    """Returns True if the text looks like JSON. fio may print messages before it."""
    start = content.text.lstrip()
    return start.startswith("{") or ('"fio version"' in content.text and "{" in content.text)


def read(content: DataFile) -> ParsedData:
    """Reads the bandwidth of the jobs; identical concurrent jobs are added up.

    Raises:
        DataError: The text is not fio's JSON, a value is missing, or an option changes what was measured.
    """
    tree = _tree(content)
    found = ParsedData()
    for batch in _batches(content, tree):
        check_alike(content, batch)
        conditions = distribute(content, batch, _disks(tree))
        full = content.conditions(conditions, but=OVERRIDABLE)
        value = sum(entry.gb_per_s for entry in batch)
        found.measurements.append(Measurement("io_bandwidth", value, full, content.file, batch[0].place))
        for entry in batch:
            remarks = (*entry.remarks, *remarks_on(entry.options))
            found.notes += [note for text in remarks if (note := f"{content.file}: {text}") not in found.notes]
    return found


def _tree(content: DataFile) -> Tree:
    """Returns the only result in the text. fio may print the same in words before and after it."""
    start = re.search(r"^\s*\{", content.text, re.M)
    first = start.end() - 1 if start else content.text.index("{")
    try:
        tree, end = json.JSONDecoder().raw_decode(content.text, first)
    except RecursionError:
        raise error_at(content.file, 1, "invalid JSON (nested too deeply)") from None
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise error_at(content.file, line, f"invalid JSON ({error}); is the file truncated?") from None
    rest = content.text[end:]
    if '"fio version"' in rest:
        line = content.text.count("\n", 0, end + rest.index('"fio version"')) + 1
        raise error_at(content.file, line, "a second result begins here; give one file per result")
    if "\n" not in rest.partition("{")[0] and rest.strip():
        line = content.text.count("\n", 0, end) + 1
        raise error_at(content.file, line, f'invalid JSON (followed by "{rest.strip()[:20]}"); is the file truncated?')
    return tree if isinstance(tree, dict) else {}


def _jobs(content: DataFile, tree: Tree) -> Iterator[tuple[str, Tree]]:
    """Yields every job with its place. Results of several clients are refused."""
    key = "jobs" if "jobs" in tree else "client_stats"
    jobs = tree.get(key)
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise DataError(
            "malformed-file", f'{content.file}: not the output of fio --output-format=json: it has no list "jobs"'
        )
    known = ([job.get(key) for key in ("hostname", "port")] for job in jobs if "hostname" in job)
    hosts = {":".join(str(part) for part in parts if part is not None) for parts in known}
    if len(hosts) > 1:
        names = ", ".join(sorted(hosts))[:100]
        raise DataError(
            "wrong-count", f"{content.file}: {key}: {len(hosts)} clients ({names}); give the result of a single client"
        )
    for index, job in enumerate(jobs):
        if key == "jobs" or job.get("jobname") != ALL_CLIENTS:
            yield f"{key}[{index}]", job


def _batches(content: DataFile, tree: Tree) -> list[list[Entry]]:
    """Groups the jobs into batches that ran at the same time."""
    common = tree.get("global options")
    batches: list[list[Entry]] = []
    for place, job in _jobs(content, tree):
        own = job.get("job options")
        options = {**(common if isinstance(common, dict) else {}), **(own if isinstance(own, dict) else {})}
        entry = entry_of(content, place, job, options)
        last = batches[-1][-1] if batches else None
        is_new_group = last is not None and entry.group != last.group
        waits = is_on(options, "stonewall") or is_on(options, "wait_for_previous")
        if last is None or (waits and (is_new_group or entry.group is None)):
            batches.append([entry])
        elif is_new_group and "new_group" not in options:
            message = f"groupid changes from {last.group} to {entry.group} without stonewall or new_group"
            raise error_at(
                content.file, place, f"{message}: did the groups run concurrently or in turn? Give one file per group"
            )
        else:
            batches[-1].append(entry)
    return batches


def _disks(tree: Tree) -> set[str]:
    """Returns the block devices that fio saw at work."""
    disks = tree.get("disk_util")
    return {
        str(disk.get("name"))
        for disk in (disks if isinstance(disks, list) else [])
        if isinstance(disk, dict) and (disk.get("read_ios") or disk.get("write_ios"))
    }
