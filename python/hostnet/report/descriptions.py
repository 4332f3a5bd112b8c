"""Sentences about the configuration of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hostnet.report.host import config_value
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import time_from_ns
from hostnet.units import format_percent

ENGINES = {"run": ("Simulated", "simulation"), "predict": ("Predicted", "prediction by formula, without events")}
"""Verb and description of an engine, by its name in the summary."""


def engine_of(run: RunFiles) -> str:
    """Returns the engine of the results; older results without this key are simulated."""
    return str(run.summary.get("engine") or "run")


def run_text(run: RunFiles) -> str:
    """Describes the run in one sentence: duration, server and workloads."""
    verb = ENGINES.get(engine_of(run), ("Made by " + engine_of(run), ""))[0]
    config = run.manifest.get("config") or {}
    window, warm_up = run.summary.get("window_ns"), run.summary.get("warm_up_ns")
    length = f" for {time_from_ns(window)}" if window else ""
    length += f" after {time_from_ns(warm_up)} of warm-up" if window and warm_up else ""
    server = server_text(config)
    workloads = "; ".join(workload_text(config, row) for row in run.summary.get("workloads", []))
    return f"{verb}{length}{f' on {server}' if server else ''}: {workloads}."


def server_text(config: Row) -> str:
    """Describes the server; empty if the configuration is unknown."""
    cores, channels, drives = (config_value(config, part) for part in ("core.count", "memory.channels", "ssd.count"))
    if not isinstance(cores, int) or not isinstance(channels, int):
        return ""
    parts = [count_text(cores, "core"), f"{count_text(channels, 'channel')} of {device_text(config)}"]
    if isinstance(drives, int):
        parts.append(f"{count_text(drives, 'drive')} on {pcie_text(config)}")
    preset = config_value(config, "server.preset")
    sockets = config_value(config, "server.sockets")
    if isinstance(sockets, int) and sockets > 1:
        but = " unless a table [socket] says otherwise" if config.get("socket") else ""
        return f"a server of {sockets} sockets with {list_text(parts)} each{but}" + (
            f" (preset {preset})" if preset else ""
        )
    return f"a server with {list_text(parts)}" + (f" (preset {preset})" if preset else "")


def device_text(config: Row) -> str:
    """Names the DRAM device; a user-defined one is a file."""
    device = str(config_value(config, "memory.device") or "DRAM")
    return f"DRAM as in {device}" if "/" in device else device.replace("_", "-")


def pcie_text(config: Row) -> str:
    """Describes generation and lanes of the links to the drives."""
    generation, lanes = config_value(config, "pcie.generation"), config_value(config, "pcie.lanes")
    return f"PCIe {generation}.0 x{lanes}" if generation and lanes else "PCIe"


def workload_text(config: Row, row: Row) -> str:
    """Describes a workload."""
    name = f"\u201c{row['workload']}\u201d"
    settings = (config.get("workload") or {}).get(row["workload"]) or {}
    if row["kind"] == "stream" and "cores" in settings:
        return f"{name} {stream_text(settings)}"
    if row["kind"] == "app" and "app" in settings:
        cores = str(settings.get("cores", ""))
        return f"{name} runs {settings['app']} on {'core' if cores.isdecimal() else 'cores'} {cores}"
    if settings.get("jobs"):
        return f"{name} (fio) {jobs_text(settings['jobs'])}"
    return f"{name} ({row['kind']})"


def stream_text(settings: Row) -> str:
    """Describes loads and stores, their pattern, and the cores."""
    reads = float(settings.get("reads", 1.0))
    verb = "loads" if reads == 1 else "stores" if reads == 0 else f"loads ({format_percent(reads)}) and stores"
    orders = {
        "sequential": "line after line",
        "random": "lines at random",
        "strided": f"lines {settings.get('stride')} apart",
    }
    order = orders.get(str(settings.get("pattern", "sequential")), str(settings.get("pattern")))
    cores = str(settings["cores"])
    return f"{verb} {order} on {'core' if cores.isdecimal() else 'cores'} {cores}"


def jobs_text(jobs: Sequence[Row]) -> str:
    """Describes the jobs of a fio workload, in detail if they are equal."""
    drives = len({job.get("ssd") for job in jobs})
    alike = {(str(job.get("rw")), str(job.get("bs")), job.get("iodepth")) for job in jobs}
    place = f"on {count_text(drives, 'drive')}"
    if len(alike) > 1:
        directions = list_text(sorted({rw for rw, _, _ in alike}))
        return f"runs {count_text(len(jobs), 'job')} of {directions} {place}"
    rw, block, depth = alike.pop()
    return f"runs {count_text(len(jobs), 'job')} of {rw}, blocks of {block}, {depth} in flight, {place}"


def count_text(count: int, noun: str) -> str:
    """Formats a number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def list_text(items: Sequence[str]) -> str:
    """Lists items with commas and "and"."""
    return " and ".join(part for part in (", ".join(items[:-1]), items[-1]) if part)


def text_or_none(value: Any) -> str | None:
    """Returns a value as text; None if it is absent."""
    return None if value is None or value == "" else str(value)
