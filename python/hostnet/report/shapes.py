"""Schemas of the files of a run directory. Plots reject a damaged file before drawing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hostnet._core import ConfigError
from hostnet.report.clusters.over_time import OVER_TIME
from hostnet.report.series import PEER_ENGINES

if TYPE_CHECKING:
    from pathlib import Path

    from hostnet.report.load import RunFiles

LARGEST = 1e18
"""Largest plausible number."""

TEXT, NUMBER, MAYBE = "text", "number", "number or null"

SERVER = {
    "name": TEXT,
    "domains": [
        {"domain": TEXT, "workload": TEXT, "capacity": MAYBE, "in_use_mean": MAYBE, "in_use_max": MAYBE},
    ],
}
"""Keys of the summary of a single server that plots require."""

SERVER_SERIES = [{"quantity": TEXT, "subject": TEXT, "time_ns": NUMBER, "value": MAYBE}]

CLUSTER = {"classes": [{"class": TEXT, "goodput_gbps": NUMBER, "goodput_ci95": MAYBE}]}
"""Keys of the summary of a cluster that plots require."""

CLUSTER_SERIES = [{"host": TEXT, "time_us": NUMBER, **dict.fromkeys(OVER_TIME, MAYBE)}]

POWER_SERIES = [
    {
        "host": TEXT,
        "time_us": NUMBER,
        **dict.fromkeys(("received_gbps", "sent_gbps", "ghz_mean", "running_share", "asleep_share", "power_w"), NUMBER),
    }
]

STUDY = {
    "curves": {},
    "panels": [
        {"name": TEXT, "figure": TEXT, "title": TEXT, "x_label": TEXT, "y_label": TEXT, "unit": TEXT, "series": [TEXT]}
    ],
    "rows": [
        {
            **dict.fromkeys(("panel", "series", "x", "verdict", "engine", "kind"), TEXT),
            **dict.fromkeys(("published", "simulated", "ci95"), MAYBE),
        }
    ],
}
"""Keys of the summary of a reproduced study that plots require."""


def check_run(run: RunFiles) -> None:
    """Checks that a run directory has everything that plots require.

    Raises:
        ConfigError: It does not; the message names the file and the place in it.
    """
    summary, series = run.directory / "summary.json", run.directory / "series.parquet"
    if run.is_study:
        check(run.summary, STUDY, summary)
        for index, row in enumerate(run.summary["rows"]):
            _check_place(row, f"{summary}: is damaged: rows[{index}]")
        return
    check(run.summary, CLUSTER if run.is_cluster else SERVER, summary)
    check(run.series, CLUSTER_SERIES if run.is_cluster else SERVER_SERIES, series)
    check(run.power_series, POWER_SERIES, run.directory / "power_series.parquet")
    llc = run.summary.get("llc")
    if llc is not None:
        check(llc, {"mib": NUMBER}, summary, "llc")


def check(value: Any, shape: Any, file: Path, path: str = "") -> None:
    """Checks the schema of a value: a kind, a list of one schema, or an object with at least the given keys.

    Raises:
        ConfigError: The value does not match.
    """
    if isinstance(shape, str):
        if not _is_of(value, shape):
            raise ConfigError("malformed-file", f"{file}: is damaged: {path} must be a {shape}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise ConfigError("malformed-file", f"{file}: is damaged: {path or 'it'} must be a list")
        for index, item in enumerate(value):
            check(item, shape[0], file, f"{path}[{index}]")
    else:
        if not isinstance(value, dict):
            raise ConfigError("malformed-file", f"{file}: is damaged: {path or 'it'} must be an object")
        for key, inner in shape.items():
            check(value.get(key), inner, file, f"{path}.{key}" if path else key)


def _is_of(value: Any, kind: str) -> bool:
    """Returns True if a value is of a kind."""
    if kind == TEXT:
        return isinstance(value, str)
    if value is None:
        return kind == MAYBE
    return isinstance(value, int | float) and abs(value) <= LARGEST


def _check_place(row: dict[str, Any], place: str) -> None:
    """Checks that a row of a study has a position in its chart, and that a bound is valid."""
    stands_for_x = row["engine"] in PEER_ENGINES or row["x"] == "all"
    if row["published"] is None if stands_for_x else not _is_number(row["x"]):
        raise ConfigError("malformed-file", f"{place} has no place in a chart")
    if row.get("other") is not None and not _is_of(row["other"], NUMBER):
        raise ConfigError("malformed-file", f"{place}.other must be a number")


def _is_number(text: str) -> bool:
    """Returns True if a text is a plausible number."""
    try:
        return abs(float(text)) <= LARGEST
    except ValueError:
        return False
