"""What was run, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hostnet.report.host import config_value
from hostnet.report.load import Row, RunFiles
from hostnet.report.numbers import time_from_ns
from hostnet.units import format_percent

ENGINES = {"run": ("Simulated", "simulation"), "predict": ("Predicted", "prediction by formula, without events")}
"""What an engine does and what it is, by the name in the summary."""


def engine_of(run: RunFiles) -> str:
    """The engine that made the results; runs of before there were several are simulated."""
    return str(run.summary.get("engine") or "run")


def what_was_run(run: RunFiles) -> str:
    """One sentence: how long, which server, which workloads."""
    verb = ENGINES.get(engine_of(run), ("Made by " + engine_of(run), ""))[0]
    config = run.manifest.get("config") or {}
    window, warm_up = run.summary.get("window_ns"), run.summary.get("warm_up_ns")
    length = f" for {time_from_ns(window)}" if window else ""
    length += f" after {time_from_ns(warm_up)} of warm-up" if window and warm_up else ""
    server = server_words(config)
    workloads = "; ".join(workload_words(config, row) for row in run.summary.get("workloads", []))
    return f"{verb}{length}{f' on {server}' if server else ''}: {workloads}."


def server_words(config: Row) -> str:
    """The server in a few words; empty when the configuration is not known."""
    cores, channels, drives = (config_value(config, part) for part in ("core.count", "memory.channels", "ssd.count"))
    if not isinstance(cores, int) or not isinstance(channels, int):
        return ""
    parts = [counted(cores, "core"), f"{counted(channels, 'channel')} of {device_words(config)}"]
    if isinstance(drives, int):
        parts.append(f"{counted(drives, 'drive')} on {pcie_words(config)}")
    preset = config_value(config, "server.preset")
    sockets = config_value(config, "server.sockets")
    if isinstance(sockets, int) and sockets > 1:
        but = " unless a table [socket] says otherwise" if config.get("socket") else ""
        return f"a server of {sockets} sockets with {listed(parts)} each{but}" + (
            f" (preset {preset})" if preset else ""
        )
    return f"a server with {listed(parts)}" + (f" (preset {preset})" if preset else "")


def device_words(config: Row) -> str:
    """The DRAM device; one of the user's own is a file."""
    device = str(config_value(config, "memory.device") or "DRAM")
    return f"DRAM as in {device}" if "/" in device else device.replace("_", "-")


def pcie_words(config: Row) -> str:
    """Generation and lanes of the links to the drives."""
    generation, lanes = config_value(config, "pcie.generation"), config_value(config, "pcie.lanes")
    return f"PCIe {generation}.0 x{lanes}" if generation and lanes else "PCIe"


def workload_words(config: Row, row: Row) -> str:
    """What a workload does."""
    name = f"\u201c{row['workload']}\u201d"
    settings = (config.get("workload") or {}).get(row["workload"]) or {}
    if row["kind"] == "stream" and "cores" in settings:
        return f"{name} {stream_words(settings)}"
    if row["kind"] == "app" and "app" in settings:
        cores = str(settings.get("cores", ""))
        return f"{name} runs {settings['app']} on {'core' if cores.isdecimal() else 'cores'} {cores}"
    if settings.get("jobs"):
        return f"{name} (fio) {jobs_words(settings['jobs'])}"
    return f"{name} ({row['kind']})"


def stream_words(settings: Row) -> str:
    """Loads and stores, their order, and the cores."""
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


def jobs_words(jobs: Sequence[Row]) -> str:
    """The jobs of a fio workload; in detail when they are alike."""
    drives = len({job.get("ssd") for job in jobs})
    alike = {(str(job.get("rw")), str(job.get("bs")), job.get("iodepth")) for job in jobs}
    place = f"on {counted(drives, 'drive')}"
    if len(alike) > 1:
        directions = listed(sorted({rw for rw, _, _ in alike}))
        return f"runs {counted(len(jobs), 'job')} of {directions} {place}"
    rw, block, depth = alike.pop()
    return f"runs {counted(len(jobs), 'job')} of {rw}, blocks of {block}, {depth} in flight, {place}"


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(items: Sequence[str]) -> str:
    """Items with commas and an "and"."""
    return " and ".join(part for part in (", ".join(items[:-1]), items[-1]) if part)


def text_or_none(value: Any) -> str | None:
    """A value as text; None for what is absent."""
    return None if value is None or value == "" else str(value)
