"""Files of counters as users and programs write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hostnet
from hostnet import counters
from hostnet.counters import FLOWS, SCALARS, CounterFile

SERVER = "cascade-lake-6234"

CHANNEL_TICKS = 1_466_500_000
"""Clocks of a channel of DDR4-2933 per second."""

CHA_TICKS = 2_400_000_000
IRP_TICKS = 500_000_000


def perf(*rows: str, stamp: str = "1.000000000", group: str = "") -> str:
    """Returns an interval of `perf stat -I -x,` with one row per event and count."""
    lines = []
    for row in rows:
        event, _, count = row.rpartition("=")
        lines.append(f"{stamp},{group}{count},,{event},1000000000,100.00,,\n")
    return "".join(lines)


BASIC = (
    f"UNC_M_CLOCKTICKS [uncore_imc_0]={CHANNEL_TICKS}",
    f"UNC_M_CLOCKTICKS [uncore_imc_1]={CHANNEL_TICKS}",
    "UNC_M_CAS_COUNT.RD [uncore_imc_0]=100000000",
    "UNC_M_CAS_COUNT.RD [uncore_imc_1]=120000000",
    "UNC_M_RPQ_OCCUPANCY [uncore_imc_0]=2933000000",
    "UNC_M_RPQ_OCCUPANCY [uncore_imc_1]=5866000000",
)
"""Two channels: 220 million lines read per second, 2 and 4 entries of the RPQ in use."""


def file(folder: Path, *parts: str, name: str = "counters.csv") -> Path:
    """Writes a file with these parts in order."""
    path = folder / name
    path.write_bytes("".join(parts).encode())
    return path


def read(folder: Path, *parts: str, **options: Any) -> CounterFile:
    """Reads a file with these parts."""
    return counters.read(file(folder, *parts), **options)


def quantities(values: dict[str, Any]) -> dict[str, float | None]:
    """Returns the quantities of a window, with flows split in two."""
    flat = {name: values[name] for name in ("window_ns", "channels", *SCALARS)}
    for flow in FLOWS:
        flat |= {f"{flow}.{part}": values[flow][part] for part in ("occupancy", "lines")}
    return flat


def summary_of(results: hostnet.Results) -> dict[str, Any]:
    """Returns the entry `counters` of the summary of a run."""
    found: dict[str, Any] = json.loads(results.native.summary_json)["counters"]
    return found
