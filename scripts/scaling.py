"""Measures a fat tree of 8 to 4096 endpoints on one thread, two threads and two processes: `make scaling`.

Every host sends flows of the web search distribution to the other hosts at half load. All three results are equal.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SIZES = (8, 64, 256, 1024, 4096)
WAYS = {"1 thread": [], "2 threads": ["--threads", "2"], "2 processes": ["--processes", "2"]}
SHARES = ("work_share", "imbalance_share", "meeting_share")

CLUSTER = """
[host.node]
kind = "endpoint"
count = {count}
[network]
topology = "fat-tree"
rate = "100 Gbps"
switch.ecn = "65 packets"
[flow.web]
kind = "bulk"
from = "node"
to = "node"
sizes = "web-search"
load = 0.5
[run]
warmup = "100 us"
duration = "{duration_us} us"
"""


def manifest_of(folder: Path, way: str, options: list[str]) -> dict[str, Any]:
    """Runs the cluster of a folder. Returns its manifest with the number of data packets sent."""
    out = folder / way.replace(" ", "-")
    command = [sys.executable, "-c", "from hostnet.cli import main; main()", "run", str(folder / "fat-tree.toml")]
    subprocess.run([*command, "--out", str(out), "-q", *options], check=True, stdout=subprocess.DEVNULL)
    summary = json.loads((out / "summary.json").read_text())
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    return {**manifest, "packets": sum(row["sent_packets"] for row in summary["classes"])}


def main() -> None:
    """Prints a row for every size and kind of run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=float, default=4e5, help="packets per run, about")
    packets = parser.parse_args().packets
    print("| endpoints | way | simulated | thousand packets/s | of one thread | work | waiting | meetings |")
    print("|---|---|---|---|---|---|---|---|")
    for count in SIZES:
        duration_us = max(50, round(packets / count / 4.1))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "fat-tree.toml").write_text(CLUSTER.format(count=count, duration_us=duration_us))
            found = {way: manifest_of(folder, way, options) for way, options in WAYS.items()}
        one = found["1 thread"]
        assert all(manifest["result_hash"] == one["result_hash"] for manifest in found.values())
        for way, manifest in found.items():
            shares = manifest.get("shares", {})
            told = [f"{shares[name]:.0%}" if name in shares else "" for name in SHARES]
            rate = manifest["packets"] / manifest["wall_time_s"] / 1e3
            times = one["wall_time_s"] / manifest["wall_time_s"]
            cells = [count, way, f"{duration_us} us", f"{rate:.0f}", f"{times:.2f}", *told]
            print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
