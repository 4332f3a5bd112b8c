"""Determines the drives that fio's jobs were spread over, and thereby the load of each drive."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from hostnet.calibration.measurement import error_at, set_condition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from hostnet.calibration.measurement import Conditions
    from hostnet.calibration.readers.data_file import DataFile
    from hostnet.calibration.readers.fio_jobs import Entry

NVME = re.compile(r"/dev/(?:nvme|ng)(\d+)(?:c\d+)?n\d+(?:p\d+)?")
"""Matches a namespace or partition of an NVMe drive; the group is the number of the drive."""

PCI = re.compile(r".*traddr=([0-9a-fA-F.:]+).*")
"""Matches a drive in SPDK."""

NAMES = re.compile(r"(?<!\\):")
"""Separates the names of several files; a colon inside a name is escaped."""


def distribute(content: DataFile, batch: Sequence[Entry], disks: AbstractSet[str]) -> Conditions:
    """Returns the load of each drive during identical concurrent jobs.

    Raises:
        DataError: The number of drives is not known, or they had different loads.
    """
    first = batch[0].conditions
    jobs = sum(entry.jobs for entry in batch)
    if "numjobs" in content.given:
        jobs = set_condition(first, "numjobs", content.given["numjobs"]).numjobs
    loads = _loads(batch)
    if loads and len(set(loads.values())) > 1:
        raise error_at(
            content.file, batch[0].place, "filename: the drives had different loads; give one result per drive"
        )
    drives = _count(content, batch[0], len(loads), disks)
    widths = {len(_drives_of(entry)) for entry in batch}
    wide = min(widths.pop(), drives) if loads and len(widths) == 1 else 1 if jobs % drives == 0 else drives
    if first.iodepth % wide and jobs % drives == 0:
        wide = 1  # jobs that cycle through the drives load all of them equally at any time
    each, rest = divmod(jobs * wide, drives)
    depth, left = divmod(first.iodepth, wide)
    if rest or left:
        total = Fraction(jobs * first.iodepth, drives)
        if total.denominator > 1:
            message = f"{jobs * first.iodepth} commands in flight are not spread evenly over {drives} drives"
            raise error_at(content.file, batch[0].place, f"{message}; run one job per drive")
        each, depth = 1, int(total)
    full = replace(first, iodepth=depth, numjobs=each)
    return replace(full, drives=0 if drives == content.server.drives else drives)


def _count(content: DataFile, entry: Entry, named: int, disks: AbstractSet[str]) -> int:
    """Counts the drives at work: as given by the user, named by the jobs, or seen by fio."""
    if "drives" in content.given:
        return set_condition(entry.conditions, "drives", content.given["drives"]).drives
    seen = {match[1] for disk in disks if (match := NVME.fullmatch(f"/dev/{disk}"))}
    found = named or len(seen) or (1 if content.server.drives == 1 else 0)
    if not found:
        name = f'filename "{_names_of(entry)[0]}"' if _names_of(entry) else "filename is missing, so it"
        message = f"job options: {name} does not tell how many of the {content.server.drives} drives were used"
        raise error_at(content.file, entry.place, f"{message}; give it: {content.file}@drives=1")
    return found


def _loads(batch: Sequence[Entry]) -> dict[str, Fraction]:
    """Returns the jobs on each drive; {} if a name is not that of a drive."""
    loads: dict[str, Fraction] = {}
    for entry in batch:
        drives = _drives_of(entry)
        if not drives:
            return {}
        for drive in drives:
            loads[drive] = loads.get(drive, Fraction(0)) + Fraction(entry.jobs, len(drives))
    return loads


def _drives_of(entry: Entry) -> frozenset[str]:
    """Returns the drives of an entry; none if a name is not that of a drive."""
    found = set()
    for name in _names_of(entry):
        match = NVME.fullmatch(name) or PCI.fullmatch(name)
        if match is None:
            return frozenset()
        found.add(match[1])
    return frozenset(found)


def _names_of(entry: Entry) -> list[str]:
    """Returns the names of the files; without any, fio uses the job's own name if that is a device."""
    own = str(entry.job.get("jobname") or "")
    if "filename" not in entry.options and own.startswith("/dev/"):
        return [own]
    return [name for name in NAMES.split(str(entry.options.get("filename") or "")) if name]
