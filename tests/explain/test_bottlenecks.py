"""Servers with one known bottleneck each, which must be named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.explanation import explain_results
from hostnet.running import simulate
from hostnet.running.results import Source

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

STREAM = '[workload.w]\nkind = "stream"\ncores = "0-3"\n'
READING = '[workload.w]\nkind = "fio"\njob = "quadrant.fio"\ncores = "6-7"\n'
WRITING = '[workload.w]\nkind = "fio"\njob = "quadrant-write.fio"\ncores = "6-7"\n'


def run(workload: str, *changes: str) -> hostnet.Results:
    text = f'[server]\npreset = "cascade-lake-6234"\n[run]\nwarmup = "60 us"\nduration = "100 us"\n{workload}'
    source = Source(text, "toml", "test.toml", str(EXAMPLES), changes)
    return simulate.run_plan(simulate.resolve(source), source)


@pytest.mark.parametrize(
    ("workload", "changes", "name"),
    [
        (STREAM, ["core.lfb.entries=2"], "C2M-Read"),
        (STREAM, ["core.lfb.refill=1ps"], "C2M-Read"),
        (STREAM, [], "C2M-Read"),
        (STREAM, ["core.lfb.refill=1us"], "core"),
        (STREAM, ["workload.w.gap=200ns"], "offered load"),
        (STREAM, ["workload.w.gap=40ns"], "offered load"),
        (READING, [], "offered load"),
        (READING, ["workload.w.rate=2GB/s"], "offered load"),
        (READING, ["iio.write_credits=30"], "P2M-Write / PCIe posted"),
        (READING, ["iio.write_credits=30", "pcie.posted_lines=4096"], "P2M-Write"),
        (READING, ["pcie.posted_lines=8"], "PCIe posted"),
        (READING, ["pcie.posted_lines=10"], "PCIe posted"),
        (WRITING, [], "offered load"),
        (WRITING, ["iio.read_credits=30", "pcie.nonposted_lines=4096"], "P2M-Read"),
        (WRITING, ["pcie.nonposted_lines=16"], "PCIe non-posted"),
        (WRITING, ["pcie.nonposted_lines=18"], "PCIe non-posted"),
    ],
)
def test_the_bottleneck_gets_its_name(workload: str, changes: list[str], name: str) -> None:
    results = run(workload, *changes)
    bound = set(results.workloads["w"]["limited_by"].removesuffix(" ?").split(" / "))
    assert bound & set(name.split(" / ")), f"{bound} is not {name}"
    assert (name == "offered load") == (bound == {"offered load"})


@pytest.mark.parametrize(
    ("workload", "changes", "cause"),
    [
        (STREAM, ["cha.tor.entries=1", "cha.tor.write_entries=1"], "CHA admission"),
        (STREAM, ["core.lfb.entries=48", "memory.channels=1"], "read head-of-line"),
        (STREAM.replace("0-3", "0"), ["workload.w.pattern=random"], "top-of-queue"),
    ],
)
def test_the_cause_of_latency_gets_its_name(workload: str, changes: list[str], cause: str) -> None:
    page = explain_results(run(workload, *changes))
    latency: dict[str, Any] = page.explanation["workloads"][0]["latency"]
    assert latency["cause"] == cause, latency


def test_what_drives_offer_is_what_they_move_where_nothing_holds_them_back() -> None:
    for workload, changes in (
        (READING, []),
        (WRITING, []),
        (READING, ["workload.w.rate=2GB/s"]),
        (READING, ["ssd.count=4", "pcie.lanes=8", "pcie.posted_lines=256"]),
        (READING.replace("quadrant", "probe"), []),
    ):
        found = run(workload, *changes).summary["binding"][0]
        assert found["app_gb_per_s"] == pytest.approx(found["offered_gb_per_s"], rel=0.05, abs=0.06)
