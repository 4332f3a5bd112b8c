"""Run directories with hostile names in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.report.browser import Browser, find_browser

HOSTILE = "<script>alert('x')</script>&\"$\\frac{1}{2}$"
"""A name that a page must not execute and matplotlib must not typeset."""

Summary = dict[str, Any]


def domain(name: str, part: str, workload: str, capacity: int | None, latency_ns: float | None) -> Summary:
    return {
        "domain": name,
        "part": part,
        "workload": workload,
        "capacity": capacity,
        "in_use_mean": 46.1,
        "in_use_max": 72,
        "full_share": 0.125,
        "over_threshold_share": None,
        "latency_mean_ns": latency_ns,
        "latency_ci95": None if latency_ns is None else 1.5,
        "latency_p50_ns": latency_ns,
        "latency_p99_ns": latency_ns,
        "throughput_gb_per_s": 13.75,
        "lines": 1000,
        "shares_capacity_with": "LFB" if name == "C2M-Read" else "",
    }


def workload(name: str, kind: str, io: int) -> Summary:
    return {
        "workload": name,
        "kind": kind,
        "throughput_gb_per_s": 27.5,
        "throughput_ci95": 0.14,
        "read_gb_per_s": 13.75,
        "write_gb_per_s": 13.75,
        "app_gb_per_s": 27.5,
        "latency_mean_ns": 302.9,
        "latency_ci95": None,
        "latency_p50_ns": 290.0,
        "latency_p99_ns": None,
        "lines": 430_000,
        "io_completed": io,
        "io_latency_mean_ns": 1.2e6 if io else None,
        "io_latency_p50_ns": None,
        "io_latency_p99_ns": None,
        "limited_by": "LFB",
    }


def channel(number: int) -> Summary:
    shares = ("row_miss_ratio", "row_conflict_ratio", "wpq_full_share", "write_mode_share", "bus_busy_share")
    rates = ("read_gb_per_s", "write_gb_per_s", "rpq_mean", "wpq_mean")
    return {
        "channel": number,
        "sources": f"stream 13.7, {HOSTILE} 4.1",
        **dict.fromkeys(shares, 0.458),
        **dict.fromkeys(rates, 12.5),
    }


def run_summary() -> Summary:
    return {
        "format": 1,
        "name": f"quadrant {HOSTILE}",
        "config_hash": "ab" * 32,
        "seed": 1,
        "complete": True,
        "warm_up_ns": 50_000.0,
        "window_ns": 1_000_000.0,
        "events": 8_123_456,
        "lines": 546_000,
        "workloads": [workload("stream", "stream", 0), workload(HOSTILE, "fio", 133)],
        "domains": [
            domain("C2M-Read", "all", "all", 72, 212.3),
            domain("C2M-Read", "all", HOSTILE, 72, 212.3),
            domain("P2M-Read", "all", "all", 200, None),
            domain("PCIe non-posted", "all", "all", None, None),
        ],
        "channels": [channel(-1), channel(0), channel(1)],
        "limits": ["stream is limited by LFB: 65.3 of 72 credits in use", f"{HOSTILE} is limited by P2M-Write"],
        "no_effect": ["ssd.streams"],
        "ignored": [f"{HOSTILE}.fio: ioengine=libaio has no effect in the model"],
        "unvalidated": None,
    }


SERIES = [
    {"time_ns": 1000.0 * step, "subject": subject, "quantity": quantity, "value": None if step == 7 else 10.0 + step}
    for quantity in ("throughput_gb_per_s", "in_use_mean", "latency_mean_ns")
    for subject in ("stream", HOSTILE, "IIO", "channel 0", "channel 1")
    for step in range(20)
]


def application(name: str) -> Summary:
    """Returns the row of an application in table workloads."""
    return {
        **workload(name, "app", 0),
        "io_completed": None,
        "operations": 123_456,
        "operations_per_s": 123_456_000.0,
        "operations_ci95": 1234.5,
        "operation_latency_mean_ns": 8100.0,
        "operation_latency_p50_ns": 7900.0,
        "operation_latency_p99_ns": 12_000.0,
    }


def cached(name: str, *, devices: bool) -> Summary:
    """Returns a row of table caches, of cores or of devices."""
    of_cores, of_devices = (0, 400_000) if devices else (900_000, 0)
    return {
        "workload": name,
        "l2_lookups": of_cores,
        "l2_misses": of_cores // 2,
        "l2_miss_ratio": None if devices else 0.5,
        "prefetch_filled": of_cores // 9,
        "prefetch_used": of_cores // 10,
        "llc_lookups": of_cores // 2,
        "llc_misses": of_cores // 3,
        "llc_miss_ratio": None if devices else 2 / 3,
        "llc_mib_core": 0.0 if devices else 15.5,
        "llc_mib_io": 3.25 if devices else 0.0,
        "core_evictions": 17,
        "back_invalidations": 0,
        "ddio_updates": of_devices // 4,
        "ddio_allocations": of_devices * 3 // 4,
        "ddio_hit_ratio": 0.25 if devices else None,
        "ddio_leaks": of_devices // 2,
        "ddio_leak_ratio": 0.5 if devices else None,
        "ddio_evictions": of_devices * 5 // 8,
        "io_reads": 0,
        "io_read_hits": 0,
    }


def cache_series(owners: int = 2) -> list[Summary]:
    """Returns a time series of applications, beside a device with a hostile name that takes over a part of the LLC."""
    rows = []
    for step in range(20):
        at = {"time_ns": 1000.0 * (step + 1)}
        for number in range(owners):
            subject = {**at, "subject": f"redis{number or ''}"}
            rows.append({**subject, "quantity": "llc_mib_core", "value": (20.0 - 0.2 * step) / owners})
            rows.append({**subject, "quantity": "llc_miss_ratio", "value": 0.9 + 0.005 * step})
            rows.append({**subject, "quantity": "operations_per_s", "value": 1.5e6 - 1e4 * step})
        device = {**at, "subject": HOSTILE}
        rows.append({**device, "quantity": "llc_mib_core", "value": 0.0})
        rows.append({**device, "quantity": "llc_miss_ratio", "value": None})
        rows.append({**device, "quantity": "llc_mib_io", "value": 0.15 * step})
        rows.append({**device, "quantity": "ddio_hit_ratio", "value": 0.02 * step})
        rows.append({**device, "quantity": "ddio_leak_ratio", "value": None if step == 0 else 0.3 + 0.02 * step})
    return rows


CACHES = {
    "workloads": [application("redis"), workload(HOSTILE, "fio", 133)],
    "llc": {"mib": 24.75, "ddio_mib": 4.5},
    "caches": [
        cached("all", devices=False) | {"ddio_hit_ratio": 0.25, "ddio_leak_ratio": 0.5},
        cached("redis", devices=False),
        cached(HOSTILE, devices=True),
    ],
}
"""Entries of the summary of a run with caches."""


@pytest.fixture
def cached_run(make_run: Callable[..., Path]) -> Callable[..., Path]:
    """Writes a run directory of an application beside a device, with caches."""

    def make(*, owners: int = 2, **changes: Any) -> Path:
        directory = make_run(**{**CACHES, **changes})
        pq.write_table(pa.Table.from_pylist([*SERIES, *cache_series(owners)]), directory / "series.parquet")
        return directory

    return make


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run directory; keyword arguments replace entries of its summary."""

    def make(*, series: bool = True, **changes: Any) -> Path:
        directory = tmp_path / "run-1"
        directory.mkdir(exist_ok=True)
        summary = {**run_summary(), **changes}
        (directory / "summary.json").write_text(json.dumps(summary))
        manifest = {
            "version": "0.1.0",
            "started": "2026-01-02T03:04:05+00:00",
            "wall_time_s": 2.31,
            "events_per_s": 3.5e6,
        }
        manifest["config"] = {"workload": {HOSTILE: {"kind": "fio"}}}
        (directory / "manifest.json").write_text(json.dumps(manifest))
        (directory / "config.toml").write_text(f'# see https://example.org\n[workload."{HOSTILE}"]\nkind = "fio"\n')
        domains = [*summary["domains"], domain("LFB", "core 0", "all", 12, 303.0)]
        pq.write_table(pa.Table.from_pylist(domains), directory / "domains.parquet")
        if series:
            pq.write_table(pa.Table.from_pylist(SERIES), directory / "series.parquet")
        return directory

    return make


def ledger_row(panel: str, series: str, x: str, published: float, simulated: float | None, verdict: str) -> Summary:
    error = None if simulated is None else (simulated - published) / published
    return {
        "id": f"study/{panel}/{series}/{x}",
        "study": "study",
        "figure": "3",
        "panel": panel,
        "series": series,
        "x": x,
        "engine": "simulation",
        "unit": "GB/s",
        "published": published,
        "simulated": simulated,
        "ci95": None if simulated is None else 0.9,
        "error": error,
        "tolerance": None if verdict == "context" else 0.08,
        "kind": "relative",
        "verdict": verdict,
    }


def panel(name: str, figure: str, unit: str, *series: str) -> Summary:
    labels = {"x_label": "C2M cores", "y_label": "Bandwidth", "unit": unit}
    return {"name": name, "title": f"Quadrant 1: {HOSTILE}", "figure": figure, **labels, "series": list(series)}


def study_summary() -> Summary:
    pair = ("C2M traffic", "P2M traffic")
    rows = []
    for name in ("fig03_q1_degradation", "fig03_q1_membw", "fig07a_c2m_latency"):
        for series in pair:
            rows += [ledger_row(name, series, str(cores), 10.0 * cores, 10.1 * cores, "pass") for cores in (1, 2, 3)]
    rows.append(ledger_row("fig07a_c2m_latency", "P2M traffic", "4", 10.0, 30.0, "excluded"))
    rows.append(ledger_row("fig07a_c2m_latency", "P2M traffic", "5", 10.0, 30.0, "fail"))
    rows.append(ledger_row("fig07a_c2m_latency", "C2M traffic", "6", 10.0, None, "fail"))
    rows.append(ledger_row("fig03_q1_membw", "Theoretical Max", "all", 46.9, None, "context"))
    rows.append(ledger_row("fig07d_bank_deviation_cdf", HOSTILE, "1.5", 0.3, None, "context"))
    return {
        "format": 1,
        "kind": "study",
        "name": "A study",
        "study": {"name": "study", "title": f"Study {HOSTILE}", "source": "a journal", "preset": "preset"},
        "groups": [
            {
                "name": "bandwidth",
                "title": "Bandwidth",
                "kind": kind,
                "rows": 20,
                "passed": 18,
                "mean_error": mean,
                "mean_target": 0.03,
                "max_error": mean,
                "tolerance": 0.08,
                "on_target": False,
            }
            for kind, mean in (("relative", 0.1), ("absolute", None))
        ],
        "excluded": [{"panel": "fig07a_c2m_latency", "series": "P2M traffic", "x": ["4"], "reason": HOSTILE}],
        "panels": [
            panel("fig03_q1_degradation", "3", "x", *pair),
            panel("fig03_q1_membw", "3", "GB/s", *pair, "Theoretical Max"),
            panel("fig07a_c2m_latency", "7a", "ns", *pair),
            panel("fig07d_bank_deviation_cdf", "7d", "fraction", HOSTILE),
        ],
        "curves": {"fig07d_bank_deviation_cdf": {HOSTILE: [[1.0, 0.0], [1.5, 0.3], [2.2, 1.0]]}},
        "rows": rows,
    }


@pytest.fixture
def study_run(tmp_path: Path) -> Path:
    """Returns the run directory of a recomputed study."""
    directory = tmp_path / "demo-1"
    directory.mkdir()
    (directory / "summary.json").write_text(json.dumps(study_summary()))
    manifest = {"version": "0.1.0", "points": 38, "duration": "200 us", "seed": 1, "wall_time_s": 12.0}
    (directory / "manifest.json").write_text(json.dumps(manifest))
    return directory


@pytest.fixture
def hostile() -> str:
    return HOSTILE


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    path = find_browser()
    assert path is not None
    folder = tmp_path / "browser"
    folder.mkdir()
    return Browser(path, folder)
