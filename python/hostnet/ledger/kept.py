"""Keeps the summaries of operating points in the cache of the user.

A summary is found under a hash of all that it depends on: the configuration, the files that the configuration names,
and the version of what computes it.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostnet import _core

if TYPE_CHECKING:
    from hostnet.ledger.runner import Progress, Simulate, Summary

PACKAGE = Path(__file__).resolve().parent.parent

COMPUTES = (
    "ledger/*_runs.py",
    "ledger/runner.py",
    "ledger/parallel.py",
    "chips/**/*.py",
    "curves/**/*.py",
    "running/**/*.py",
    "*.py",
)
"""Modules that compute summaries, with those that they use. What reads summaries is left out."""


GROUP = 16
"""Configurations that run together. The summaries of a group are kept when all of its runs have ended, so that a study
that is interrupted keeps the groups before."""

COUNTS = ("done", "points", "events", "requests", "packets", "bytes", "simulated_ps", "target_ps")
"""Counts in a status, which those of the groups before are added to."""


class KeptPoints:
    """Runs only those configurations of which no summary is kept."""

    def __init__(self, simulate: Simulate, engine: str, *, fresh: bool = False) -> None:
        """Keeps what `simulate` returns, which is the function of an engine.

        `fresh` runs what is kept again, and replaces it.
        """
        self.simulate = simulate
        self.engine = engine
        self.fresh = fresh
        self.known: list[bool] = []
        """For each configuration of the latest call, True if its summary was kept already."""

    def __call__(
        self, configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
    ) -> list[Summary]:
        """Returns the summaries of configurations, in the same order; a `Simulate`.

        Raises:
            KeyboardInterrupt: The progress callback stopped the runs.
            HostnetError: As the engine raises it.
        """
        keys = [self.key(config, configs, base_dir) for config in configs]
        found = [None if key is None or self.fresh else read_summary(key) for key in keys]
        self.known = [summary is not None for summary in found]
        missing = [place for place, is_known in enumerate(self.known) if not is_known]
        groups = GroupProgress(progress, len(missing))
        # A curve is one sweep of all its points.
        size = max(len(missing), 1) if self.engine == "curves" else GROUP
        for begin in range(0, len(missing), size):
            group = missing[begin : begin + size]
            fresh = self.simulate([configs[place] for place in group], base_dir, threads, groups.of(len(group)))
            for place, summary in zip(group, fresh, strict=True):
                found[place] = summary
                if (key := keys[place]) is not None:
                    write_summary(key, summary)
        return [summary for summary in found if summary is not None]

    def key(self, config: dict[str, Any], all_configs: Sequence[dict[str, Any]], base_dir: Path) -> str | None:
        """Returns the key of a summary; None if it measures time, which differs from run to run."""
        if config.get("ledger", {}).get("again"):
            return None
        # The points of a curve are read from one sweep, whose loads depend on all of them.
        described: Any = [config, all_configs] if self.engine == "curves" else config
        parts = (self.engine, version(), json.dumps(described, sort_keys=True), *contents_of(config, base_dir))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class GroupProgress:
    """Progress of all groups together, from that of each."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        """Reports to `progress`, for `total` configurations in all groups."""
        self.progress = progress
        self.total = total
        self.before = 0
        self.group = 0
        self.latest: dict[str, Any] = {}
        self.counted: dict[str, int] = {}

    def of(self, group: int) -> Progress | None:
        """Returns the progress callback of the next group, which has `group` configurations."""
        self.before += self.group
        self.group = group
        self.counted = {key: self.counted.get(key, 0) + self.latest.get(key, 0) for key in COUNTS}
        self.counted["done"] = self.before
        self.latest = {}
        return self.report if self.progress else None

    def report(self, status: dict[str, Any]) -> bool | None:
        """Passes a status of the group on, with the groups before."""
        assert self.progress is not None
        self.latest = status
        counts = {key: status[key] + self.counted[key] for key in COUNTS if key in status}
        share = (self.before + float(status.get("progress", 0)) * self.group) / self.total
        total = {"total": self.total} if "total" in status else {}
        return self.progress({**status, **counts, **total, "progress": share})


def read_summary(key: str) -> Summary | None:
    """Returns a summary that is kept; None if there is none, or if its file is damaged."""
    content = _core.kept_point(key)
    if content is None:
        return None
    try:
        found = json.loads(zlib.decompress(content))
    except (zlib.error, ValueError):
        return None
    # A file that was renamed is of another point.
    return found["summary"] if isinstance(found, dict) and found.get("key") == key else None


def write_summary(key: str, summary: Summary) -> None:
    """Keeps a summary."""
    _core.keep_point(key, zlib.compress(json.dumps({"key": key, "summary": summary}).encode()))


@cache
def version() -> str:
    """Returns a hash of what computes summaries: the compiled simulator, and the modules that call it."""
    hasher = hashlib.sha256()
    files = {file for pattern in COMPUTES for file in PACKAGE.glob(pattern)}
    for file in [Path(_core.__file__), *sorted(files)]:
        hasher.update(hashlib.sha256(file.read_bytes()).digest())
    return hasher.hexdigest()


def contents_of(config: Any, base_dir: Path) -> Iterator[str]:
    """Yields the hashes of all files that a configuration names, in its order."""
    if isinstance(config, dict):
        for value in config.values():
            yield from contents_of(value, base_dir)
    elif isinstance(config, list):
        for value in config:
            yield from contents_of(value, base_dir)
    elif isinstance(config, str) and len(config) < 256 and "\n" not in config:
        yield from file_hashes(base_dir / config)


def file_hashes(path: Path) -> Iterator[str]:
    """Yields the hash of a file, or those of the files of a folder; nothing for other names."""
    if path.is_file():
        yield hashlib.sha256(path.read_bytes()).hexdigest()
    elif path.is_dir():
        for file in sorted(path.glob("*")):
            if file.is_file():
                yield hashlib.sha256(file.read_bytes()).hexdigest()
