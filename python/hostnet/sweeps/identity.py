"""Identity of a sweep, so that only the same sweep is continued."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from hostnet import _core
from hostnet._core import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.sweeps.job import Job

    Identity = dict[str, Any]

LISTED_MAX = 6
"""Maximum number of values that a message lists."""


def identity_of(job: Job) -> Identity:
    """Returns everything that the results of a sweep depend on."""
    source = job.grid.source
    return {
        "hostnet": _core.version(),
        "name": job.checked.name,
        "engine": job.engine,
        "over": [{"path": axis.path, "values": [value.text for value in axis.values]} for axis in job.grid.axes],
        "set": list(source.overrides),
        "seeds": list(job.grid.seeds),
        "points": len(job.grid),
        "configuration": hashlib.sha256(f"{source.format}\n{source.text}".encode()).hexdigest(),
        "configurations": job.checked.digest,
    }


def compare(path: Path, before: Identity, now: Identity) -> None:
    """Checks that a directory belongs to the sweep that is to be continued.

    Raises:
        ConfigError: It does not; the message lists the differences.
    """
    differences = list(_differences(before, now))
    if differences:
        raise ConfigError("other-configuration", f"{path}: belongs to another sweep: {'; '.join(differences)}")


def _differences(before: Identity, now: Identity) -> list[str]:
    """Lists the differences between two sweeps."""
    found = []
    for key, what in (("hostnet", "made by hostnet"), ("engine", "--engine"), ("name", "its name is")):
        if before.get(key) != now[key]:
            found.append(f"{what} {before.get(key)}, now {now[key]}")
    if before.get("over") != now["over"]:
        found += _other_axes(before.get("over", []), now["over"])
    if before.get("set") != now["set"]:
        found.append(f"--set {_listed(before.get('set', []))}, now {_listed(now['set'])}")
    if before.get("seeds") != now["seeds"]:
        found.append(f"seeds {_listed(before.get('seeds', []))}, now {_listed(now['seeds'])}")
    if found:
        return found
    if before.get("configuration") != now["configuration"]:
        return ["the configuration file has changed"]
    if before.get("configurations") != now["configurations"]:
        return ["a file that the configuration names has changed"]
    return []


def _other_axes(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """Lists the differences between the axes of two sweeps."""
    old, new = ({axis["path"]: axis["values"] for axis in axes} for axes in (before, now))
    found = [f"--over {path} is gone" for path in old if path not in new]
    found += [f"--over {path} is new" for path in new if path not in old]
    for path in old:
        if path in new and old[path] != new[path]:
            found.append(f"--over {path}={_listed(old[path])}, now {_listed(new[path])}")
    return found or ["the order of --over"]


def _listed(values: list[Any]) -> str:
    """Lists values."""
    if not values:
        return "none"
    listed = ",".join(map(str, values[:LISTED_MAX]))
    return listed if len(values) <= LISTED_MAX else f"{listed},... ({len(values)} values)"
