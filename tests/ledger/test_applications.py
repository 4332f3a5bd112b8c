"""The study of applications: its data are consistent, and each of its statements can fail."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hostnet.ledger import Ledger, load_study, validate
from hostnet.ledger.archive import write_study_to
from hostnet.ledger.dependencies import dependencies_of, points_needed, series_of
from hostnet.ledger.runner import Progress
from hostnet.ledger.study import Study

Summary = dict[str, Any]

CORES = {
    "icl-redis": [1, 3, 5, 7, 9, 11, 13, 15],
    "icl-pagerank": [1, 5, 9, 13, 17, 21, 25, 28],
    "cl-redis": [1, 2, 3],
    "cl-pagerank": [1, 2, 3, 4, 5, 6],
}

EXPERIMENTS = ("-ways", "-lru", "-random")
"""Suffixes of families that change the server to find causes."""

FIO = {"ice-lake-8362": {"read": 26.0, "write": 16.27}, "cascade-lake-6234": {"read": 13.9, "write": 7.0}}
"""Throughput of drives alone in GB/s, by direction of storage."""


@dataclass(frozen=True)
class Machine:
    """A simulated machine that meets the publication except for the given changes.

    Slowdowns are by number of cores; shares of traffic in GB/s.
    """

    redis: dict[int, float] = field(default_factory=lambda: {cores: 1.25 + 0.005 * (cores - 1) for cores in range(16)})
    pagerank: dict[int, float] = field(
        default_factory=lambda: {cores: 1.28 + 0.7 * (cores - 1) / 27 for cores in range(29)}
    )
    redis_traffic: dict[int, float] = field(
        default_factory=lambda: {cores: 5.8 + 1.46 * (cores - 1) for cores in range(16)}
    )
    pagerank_traffic: float = 4.0
    without_ddio: float = 0.9
    fio: float = 1.0
    fio_alone: float = 1.0
    fio_traffic_with_ddio: float = 1.0
    prefetch: float = 1.02
    stream_prefetch: float = 1.2
    stream_slower: float = 1.3
    miss: float = 0.99
    leak: float = 0.97

    def summary(self, config: dict[str, Any]) -> Summary:
        """Returns the summary of a run of this configuration."""
        jobs, preset = config["workload"], config["server"]["preset"]
        ddio, prefetch = config.get("ddio", {}).get("enabled", True), "prefetch" not in config
        slow = self.without_ddio if not ddio else 1.0
        rows, caches = [], []
        for name, job in jobs.items():
            together = len(jobs) > 1
            cores = 0 if name == "fio" else int(job["cores"].removeprefix("0-")) + 1
            if name == "fio":
                rate = FIO[preset]["write" if "write" in job["job"] else "read"] * self.fio_alone
                rate /= self.fio if together else 1.0
                rows.append(row(name, rate, 1.08 * rate * (self.fio_traffic_with_ddio if ddio else 1.0)))
            elif name == "stream":
                rate = 9.0 * cores * (self.stream_prefetch if prefetch else 1.0)
                rows.append(row(name, rate / (self.stream_slower if together else 1.0)))
            else:
                factor = getattr(self, name)[cores] * slow if together else 1.0
                speed = cores / factor * (self.prefetch if prefetch else 1.0)
                traffic = self.redis_traffic[cores] if name == "redis" else self.pagerank_traffic * cores
                rows.append(
                    {
                        **row(name, traffic),
                        "operations_per_s": 2e5 * speed,
                        "operations_ci95": 2e3 * speed,
                        "execution_time_s": 10.0 / speed if name == "pagerank" else None,
                    }
                )
            caches.append(
                {
                    "workload": name,
                    "llc_miss_ratio": self.miss,
                    "ddio_hit_ratio": 1 - self.leak,
                    "ddio_leak_ratio": self.leak,
                }
            )
        return self.whole(config, rows, caches)

    def whole(self, config: dict[str, Any], rows: list[Summary], caches: list[Summary]) -> Summary:
        """Returns the summary with the tables of the machine."""
        channel = {
            "read_gb_per_s": sum(entry["read_gb_per_s"] for entry in rows),
            "write_gb_per_s": sum(entry["write_gb_per_s"] for entry in rows),
            "row_miss_ratio": 0.2,
            "write_row_miss_ratio": 0.3,
            "activations": 1000,
            **dict.fromkeys(("rpq_mean", "wpq_mean", "wpq_full_share", "bus_busy_share"), 0.1),
        }
        alone = len(rows) == 1
        domains = [
            {
                "domain": "P2M-Write" if entry["workload"] == "fio" else "LFB",
                "part": "all",
                "workload": "all" if alone else entry["workload"],
                "latency_mean_ns": 300.0,
            }
            for entry in rows
        ]
        domains.append({"domain": "WPQ", "part": "all", "workload": "all", "over_threshold_share": 0.1})
        return {
            "name": config["run"]["name"],
            "config_hash": "0" * 64,
            "events": 1000,
            "window_ns": 1e6,
            "workloads": rows,
            "domains": domains,
            "channels": [{"channel": number, **channel} for number in (-1, 0)],
            "caches": caches,
        }

    def __call__(
        self, configs: Sequence[dict[str, Any]], base_dir: Path, threads: int, progress: Progress | None
    ) -> list[Summary]:
        """Answers runs."""
        del base_dir, threads, progress
        return [self.summary(config) for config in configs]


def row(name: str, rate: float, traffic: float | None = None) -> Summary:
    """Returns the row of a workload whose traffic is all reads."""
    return {
        "workload": name,
        "kind": name,
        "throughput_gb_per_s": rate,
        "throughput_ci95": rate / 100,
        "app_gb_per_s": rate,
        "read_gb_per_s": rate if traffic is None else traffic,
        "write_gb_per_s": 0.0,
        "latency_mean_ns": 100.0,
        "latency_ci95": None,
        "latency_p50_ns": 90.0,
        "latency_p99_ns": 200.0,
        "limited_by": "LFB",
    }


@pytest.fixture(scope="module")
def applications() -> Study:
    return load_study("applications")


def ledger_of(machine: Machine, selection: str = "full") -> Ledger:
    return validate("applications", selection=selection, simulate=machine)


def failing(machine: Machine) -> dict[str, list[str]]:
    """Returns the panels and series of a machine that fail, with their x."""
    found: dict[str, list[str]] = {}
    for entry in ledger_of(machine).failing:
        found.setdefault(f"{entry.panel}, {entry.series}", []).append(entry.x)
    return found


def test_a_machine_as_published_passes_everywhere() -> None:
    ledger = ledger_of(Machine())
    assert failing(Machine()) == {}
    assert {score.group.name for score in ledger.scores} == set(ledger.study.groups)
    assert all(score.on_target for score in ledger.scores)
    assert {row.kind for row in ledger.rows} == {"relative", "range", "relation", "context"}
    count = Counter(row.verdict for row in ledger.rows)
    assert count["pass"] > 130
    assert count["excluded"] == 0


def test_every_row_has_a_value(applications: Study) -> None:
    for entry in ledger_of(Machine()).rows:
        if entry.simulated is None:
            assert (entry.series, entry.x) == ("Theoretical Maximum", "all")
    for panel in applications.panels:
        for value in panel.rows():
            assert value.x == "all" or dependencies_of(applications, series_of(panel, value), value.x) is not None


def test_exactly_what_is_needed_is_run(applications: Study) -> None:
    full = {point.name for point in applications.selections["full"].points}
    assert points_needed(applications, applications.panels) == full
    assert {point.name for point in applications.selections["quick"].points} < full


@pytest.mark.parametrize(("family", "cores"), CORES.items())
def test_every_core_count_of_the_figures_is_a_row(applications: Study, family: str, cores: list[int]) -> None:
    assert [int(point.x) for point in applications.families[f"{family}-fio"].points()] == cores
    degradations = [
        [value.x for value in panel.rows() if value.series == series.name]
        for panel in applications.panels
        for series in panel.series
        if panel.name.startswith("fig")
        and panel.chart == "bars"
        and (series.point, series.baseline) == (f"{family}-fio", family)
    ]
    assert degradations == [[str(count) for count in cores]]


def test_no_point_has_parameters_of_its_own(applications: Study) -> None:
    """The servers are presets with caches; points only switch prefetch and DDIO and set numbers of cores."""
    selection = applications.selections["full"]
    for point in selection.points:
        if point.name.partition(":")[0].endswith(EXPERIMENTS):
            continue
        config = selection.config(point, applications.preset, applications.seed)
        assert set(config) <= {"server", "run", "cache", "workload", "prefetch", "ddio"}
        assert set(config["server"]) == {"preset"}
        assert config["cache"] == {"enabled": True}
        assert config["run"]["duration"] == selection.duration
        for job in config["workload"].values():
            assert set(job) <= {"kind", "app", "cores", "sets", "scale", "degree", "reads", "job"}
        assert config.get("ddio", {"enabled": False}) == {"enabled": False}


def test_the_job_files_have_the_drives_of_their_server(applications: Study) -> None:
    examples = applications.root.parents[1] / "examples"
    for file, drives in {"eight-drives": 8, "quadrant": 4}.items():
        for rw, name in (("read", file), ("write", f"{file}-write")):
            text = (examples / f"{name}.fio").read_text()
            assert f"rw={rw}\n" in text
            assert text.count("filename=") == drives


REDIS, PAGERANK = Machine().redis, Machine().pagerank

BROKEN: dict[str, tuple[Machine, dict[str, list[str]]]] = {
    "one core count beyond the range": (
        Machine(redis={**REDIS, 7: 1.46}),
        {"fig01a_redis_degradation, Redis (C2M)": ["7"], "fig01a_redis_ends, Redis, most": ["1-15"]},
    ),
    "one below it, where it is the least": (
        Machine(redis={**REDIS, 1: 1.1}),
        {
            "fig01a_redis_degradation, Redis (C2M)": ["1"],
            "fig01a_redis_ends, Redis, least": ["1-15"],
        },
    ),
    "many cores of GAPBS do not suffer": (
        Machine(pagerank={**PAGERANK, 28: 1.5, 25: 1.5, 21: 1.5}),
        {"fig01b_pagerank_ends, GAPBS, most": ["1-28"]},
    ),
    "Redis suffers as much as GAPBS": (
        Machine(redis={**REDIS, 5: PAGERANK[5]}),
        {"fig01b_pagerank_over_redis, GAPBS / Redis": ["5"]},
    ),
    "drives suffer": (
        Machine(fio=1.06),
        {
            "fig01a_redis_degradation, FIO (P2M)": [str(cores) for cores in CORES["icl-redis"]],
            "fig01b_pagerank_degradation, FIO (P2M)": [str(cores) for cores in CORES["icl-pagerank"]],
            "fig02a_redis_degradation, FIO (P2M), DDIO on": [str(cores) for cores in CORES["cl-redis"]],
            "fig02b_pagerank_degradation, FIO (P2M), DDIO on": [str(cores) for cores in CORES["cl-pagerank"]],
        },
    ),
    "DDIO makes no difference": (
        Machine(without_ddio=1.0),
        {
            "fig02a_redis_ddio, Redis (C2M)": [str(cores) for cores in CORES["cl-redis"]],
            "fig02b_pagerank_ddio, GAPBS (C2M)": [str(cores) for cores in CORES["cl-pagerank"]],
        },
    ),
    "the utilization does not grow": (
        Machine(redis_traffic={**Machine().redis_traffic, 9: Machine().redis_traffic[7]}),
        {"fig01c_redis_utilization, Growth": ["9"]},
    ),
    "GAPBS saturates the memory early": (
        Machine(pagerank_traffic=5.0),
        {"fig01d_pagerank_utilization, Utilization": ["13"]},
    ),
    "DDIO keeps the data of drives in the LLC": (
        Machine(fio_traffic_with_ddio=0.9, leak=0.85),
        {
            "alone_fio, DDIO on / off, memory bandwidth": ["read"],
            **{
                f"alone_{server}_ddio, {series}": ["read"] for server in ("icl", "cl") for series in ("Misses", "Leaks")
            },
        },
    ),
    "the working set of Redis fits": (
        Machine(miss=0.94),
        {
            "alone_icl_llc_misses, Redis alone": [str(cores) for cores in CORES["icl-redis"]],
            "alone_cl_llc_misses, Redis alone": [str(cores) for cores in CORES["cl-redis"]],
        },
    ),
    "prefetching matters": (
        Machine(prefetch=1.06),
        {
            f"prefetch_{app}, {series}": few
            for app, few in (("redis", ["1", "7", "15"]), ("pagerank", ["1", "13", "28"]))
            for series in ("Alone", "Beside FIO")
        },
    ),
    "prefetching gains nothing": (
        Machine(stream_prefetch=1.0),
        {f"prefetch_stream, {series}": ["1", "2"] for series in ("Alone", "Beside FIO")},
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_statement_that_does_not_hold_fails(name: str) -> None:
    machine, expected = BROKEN[name]
    assert failing(machine) == expected


def test_slow_drives_fail() -> None:
    assert "alone_fio, Ice Lake" in failing(Machine(fio_alone=0.9))


def test_a_quick_run_has_rows_of_both_figures() -> None:
    ledger = ledger_of(Machine(), "quick")
    scored = {row.figure for row in ledger.rows if row.verdict == "pass"}
    assert scored >= {"1a", "1b", "1d", "2a", "2b", "alone", "prefetch"}
    assert not ledger.failing


def test_the_run_directory(tmp_path: Path) -> None:
    place = write_study_to(tmp_path / "run", "full", ledger_of(replace(Machine(), fio=1.06)))
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["preset"] == "ice-lake-8362, cascade-lake-6234"
    points = pq.read_table(place / "points.parquet").to_pylist()
    redis = next(point for point in points if (point["point"], point["workload"]) == ("cl-redis:2", "redis"))
    assert (redis["operations_per_s"], redis["execution_time_s"]) == (pytest.approx(2e5 * 2 * 1.02), None)
    assert (redis["llc_miss_ratio"], redis["ddio_leak_ratio"], redis["write_row_miss_ratio"]) == (0.99, 0.97, 0.3)
    page = re.sub(r"</?dfn[^>]*>", "", (place / "report.html").read_text(encoding="utf-8"))
    for expected in (
        "Figure 1: Ice Lake",
        "Figure 2: Cascade Lake, DDIO on and off",
        "Write-heavy variants",
        "1.250 to 1.320",
        "&lt;= 1.000",
        "Published 1.25",
        "as its text states them",
    ):
        assert expected in page
    assert "The four quadrants" not in page
