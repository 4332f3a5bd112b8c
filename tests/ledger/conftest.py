"""A simulator that returns the published values, each multiplied by a factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hostnet.ledger.runner import Progress, Simulate
from hostnet.ledger.study import Study, load_study

Summary = dict[str, Any]

LINE_BYTES = 64

COLOCATED = {
    "q1": ("fig07", ("a", "b", "c", "e", "f", "g")),
    "q3": ("fig08", ("a", "b", "c", "d", "e", "f")),
}


class Published:
    """The published values by panel, series and x."""

    def __init__(self, study: Study) -> None:
        self.values = {
            (panel.name.split("_")[0] if panel.figure != "3" else panel.name, value.series, value.x): value.y
            for panel in study.panels
            for value in panel.published
            if value.y is not None
        }

    def __call__(self, panel: str, series: str, x: str, default: float) -> float:
        return self.values.get((panel, series, x), default)


def fake_domain(domain: str, workload: str, in_use: float, latency_ns: float, full: float = 0.1) -> Summary:
    return {
        "domain": domain,
        "part": "all",
        "workload": workload,
        "capacity": 92,
        "in_use_mean": in_use,
        "in_use_ci95": in_use * 0.01,
        "in_use_max": 92,
        "full_share": full,
        "over_threshold_share": full,
        "over_threshold_ci95": full * 0.01,
        "latency_mean_ns": latency_ns,
        "latency_ci95": latency_ns * 0.01,
        "latency_p99_ns": latency_ns * 2,
        "throughput_gb_per_s": in_use * LINE_BYTES / latency_ns,
        "shares_capacity_with": "",
    }


def of_present(rows: list[Summary], names: list[str]) -> list[Summary]:
    """Returns the rows of workloads that run; for a single workload, under the name "all"."""
    if len(names) == 1:
        return [{**row, "workload": "all"} for row in rows if row["workload"] == names[0]]
    return rows


def fake_workload(name: str, throughput: float, traffic: float, app: float) -> Summary:
    row: Summary = {
        "workload": name,
        "kind": name,
        "throughput_gb_per_s": throughput,
        "throughput_ci95": throughput * 0.01,
        "read_gb_per_s": traffic / 2,
        "write_gb_per_s": traffic / 2,
        "app_gb_per_s": app,
        "latency_mean_ns": 100.0,
        "latency_ci95": None,
        "latency_p50_ns": 90.0,
        "latency_p99_ns": 200.0,
        "lines": 1000,
        "io_completed": 0,
        "io_latency_mean_ns": None,
        "io_latency_p50_ns": None,
        "io_latency_p99_ns": None,
        "limited_by": "C2M-Read",
    }
    return row


def answer(published: Published, name: str, factor: float) -> Summary:
    """Returns the summary of an operating point."""
    family, _, cores = name.partition(":")
    figure, letters = COLOCATED.get(family, ("fig06", ("", "", "", "", "", "")))
    alone, other = {
        "c2m-read": ("fig06a", "fig07"),
        "c2m-readwrite": ("fig06b", "fig08"),
        "probe": ("fig06c", "none"),
    }.get(family, ("none", "none"))
    panel = dict(
        zip(("latency", "rpq", "row", "p2m", "wpq", "iio"), (figure + letter for letter in letters), strict=True)
    )
    with_p2m = family in COLOCATED

    def colocated(which: str, series: str, default: float) -> float:
        return published(panel[which], series, cores, default) if with_p2m else default

    quadrant = {"c2m-read": "q1", "c2m-readwrite": "q3"}.get(family, family)
    membw, slower = f"fig03_{quadrant}_membw", f"fig03_{quadrant}_degradation"
    c2m = published(membw, "C2M traffic", cores, 20.0)
    if family.startswith("c2m"):
        c2m *= published(slower, "C2M traffic", cores, 1.0)
    p2m = published(membw, "P2M traffic", cores, 15.3)
    lfb = colocated("latency", "With P2M", published(alone, "LFB latency", cores, 100.0))
    occupancy = colocated("iio", "Observed", 69.0)
    p2m_latency = colocated("p2m", "With C2M", 315.0)
    write = published(alone, "CHA->MC write latency", cores, 57.0)
    rpq = colocated("rpq", "With P2M", published(f"{other}b", "Without P2M", cores, 1.0))
    row_miss = colocated("row", "With P2M", published(f"{other}c", "Without P2M", cores, 10.0))
    channel = {
        "row_miss_ratio": factor * row_miss / 100,
        "row_miss_ci95": row_miss / 10000,
        "rpq_mean": factor * rpq,
        "wpq_mean": 5.0,
        "wpq_full_share": factor * colocated("wpq", "With P2M", 0.0) / 100,
        "bus_busy_share": 0.5,
    }
    iio_latency = factor * published(alone, "IIO latency", cores, p2m_latency)
    names = ["fio"] if not cores else ["stream"] if family.startswith("c2m") else ["stream", "fio"]
    workloads = [
        fake_workload("stream", factor * c2m, factor * c2m, factor * c2m),
        fake_workload("fio", factor * p2m, factor * p2m, occupancy * LINE_BYTES / p2m_latency),
    ]
    domains = [
        fake_domain("LFB", "stream", 10.0, factor * lfb),
        fake_domain("CHA->DRAM read", "stream", 10.0, factor * published(alone, "CHA->DRAM read latency", cores, lfb)),
        fake_domain("CHA->MC write", "stream", 10.0, factor * write),
        fake_domain("CHA->MC write", "fio", 10.0, factor * write),
        fake_domain("P2M-Write", "fio", factor * occupancy, iio_latency),
        fake_domain("P2M-Write", "all", factor * occupancy, iio_latency),
    ]
    return {
        "name": name,
        "config_hash": "0" * 64,
        "complete": True,
        "events": 1000,
        "workloads": [row for row in workloads if row["workload"] in names],
        "domains": [
            *of_present(domains, names),
            fake_domain("RPQ", "all", 2 * channel["rpq_mean"], 50.0),
            fake_domain("WPQ", "all", 10.0, 50.0, channel["wpq_full_share"]),
        ],
        "channels": [{"channel": -1, **channel}, {"channel": 0, **channel}, {"channel": 1, **channel}],
    }


@pytest.fixture
def study() -> Study:
    return load_study("host_network")


@pytest.fixture
def simulator(study: Study) -> Callable[[float], Simulate]:
    """Returns a simulator whose loads and occupancies, but not ratios, are `factor` times the published values."""
    published = Published(study)

    def make(factor: float = 1.0) -> Simulate:
        def simulate(
            configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
        ) -> list[Summary]:
            del base_dir, threads
            total = len(configs)
            if progress is not None:
                progress(
                    {"done": total, "total": total, "simulated_ps": 10**9, "events": 1000 * total, "progress": 1.0}
                )
            return [answer(published, config["run"]["name"], factor) for config in configs]

        return simulate

    return make
