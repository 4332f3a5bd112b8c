"""Servers with a planted limit, and tests whether raising the named limit helps."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from hostnet import _core
from hostnet._core import ConfigError, Plan
from hostnet.explanation import explain_results
from hostnet.running.results import Source
from hostnet.running.simulate import run_plan

Content = dict[str, Any]

RAISED = 1.5
"""Factor by which a limit is raised to test whether it limits."""

HELPS = 0.02
"""Minimum gain of a limit that limits."""

LFB_NAMES = ("C2M-Read", "C2M-Write")
"""Names of the LFB of a stream, by the phase that occupies it longer."""

DISTANT = ("two sockets, remote", "two sockets, drives far")
"""Kinds of servers whose lines cross sockets."""

BESIDE = "one socket, drives beside"
"""Cores and drives on a socket, of which the cores are judged."""

OF_CORES = ("one socket", "caches", "two sockets", "two sockets, remote", "expander")
OF_DRIVES = ("drives", "drives and caches", "two sockets, drives", "two sockets, drives far")
KINDS = (*OF_CORES, BESIDE, *OF_DRIVES)
"""Kinds of servers, by the source of the traffic."""


@dataclass(frozen=True)
class Plant:
    """A limit: keys that make it low, drawn at random, and the kinds of servers that it applies to."""

    name: str
    keys: Callable[[Random], Content]
    kinds: tuple[str, ...]


def some(path: str, *values: Any) -> Callable[[Random], Content]:
    """Returns one of the values for a key."""
    return lambda random: {path: random.choice(values)}


def _short_rpq(random: Random) -> Content:
    entries = random.choice((2, 3, 4))
    return {
        "memory.controller.rpq.entries": entries,
        "memory.controller.rpq.full_threshold": entries,
        "memory.controller.reads_few": 1,
        "rw": "write",
    }


def _short_wpq(random: Random) -> Content:
    entries = random.choice((2, 4, 6))
    return {
        "memory.controller.wpq.entries": entries,
        "memory.controller.wpq.full_threshold": entries,
        "memory.controller.write_high": max(1, entries - 1),
        "memory.controller.write_low": 0,
        "workload.w.reads": 0.5,
    }


def _slow_mesh(_: Random) -> Content:
    return {"noc.clock": "100 MHz", "noc.die": "cascade-lake-18", "server.preset": "cascade-lake-6234"}


PLANTS = (
    Plant("LFB", some("core.lfb.entries", 2, 3, 4), OF_CORES),
    Plant("CHA TOR", some("cha.tor.entries", 2), ("one socket", "caches", "two sockets", "two sockets, remote")),
    Plant("RPQ", _short_rpq, (*OF_CORES[:4], BESIDE)),
    Plant("WPQ", _short_wpq, ("one socket", "two sockets", BESIDE)),
    Plant("DRAM channel", some("memory.channels", 1), OF_CORES[:4]),
    Plant("core", some("core.lfb.refill", "100 ns", "300 ns"), OF_CORES),
    Plant("offered load", some("workload.w.gap", "60 ns", "200 ns"), ("one socket", "two sockets", "expander")),
    Plant("P2M-Write", some("iio.write_credits", 4, 8, 16), OF_DRIVES),
    Plant("P2M-Read", lambda random: {"iio.read_credits": random.choice((8, 16)), "rw": "write"}, OF_DRIVES),
    Plant("PCIe link", some("pcie.lanes", 4), OF_DRIVES),
    Plant("PCIe posted", some("pcie.posted_lines", 4, 8, 10), OF_DRIVES),
    Plant("PCIe non-posted", lambda random: {"pcie.nonposted_lines": random.choice((8, 16)), "rw": "write"}, OF_DRIVES),
    Plant("IIO line", some("iio.line", "20 ns", "40 ns"), OF_DRIVES),
    Plant("rate", some("workload.f.rate", "0.5 GB/s", "2 GB/s"), OF_DRIVES),
    Plant("UPI request", some("upi.link.request_credits", 2, 4, 8), DISTANT),
    Plant("UPI data", some("upi.link.data_credits", 2, 4, 8), DISTANT),
    Plant("UPI link", some("upi.link.bandwidth", "1 GB/s", "3 GB/s", "6 GB/s"), DISTANT),
    Plant("CHA->UPI", some("upi.tor_entries", 1), ("two sockets, remote",)),
    Plant("CHA->CXL", some("cha.tor.expander_entries", 1), ("expander",)),
    Plant("CXL read", some("expander.read_credits", 2, 4, 8), ("expander",)),
    Plant("CXL link", some("expander.lanes", 1), ("expander",)),
    Plant("CXL DRAM", some("expander.channels", 1), ("expander",)),
    Plant("mesh", _slow_mesh, ("one socket",)),
)
"""Plants for every domain."""


def server(random: Random, kind: str) -> Content:
    """Returns a random server of a kind without a plant."""
    distant = kind.startswith("two sockets")
    preset = random.choice(("cascade-lake-6234", "skylake-8160"))
    content: Content = {"server": {"preset": preset}, "workload": {}}
    content["run"] = {"warmup": "30 us", "duration": "60 us", "seed": random.randrange(1, 1000)}
    if distant:
        content["server"]["sockets"] = 2
    if kind in ("caches", "drives and caches"):
        content["cache"] = {"enabled": True}
    if kind in (*OF_CORES, BESIDE):
        _add_cores(random, content, kind)
    if kind not in OF_CORES:
        _add_drives(random, content, kind)
    return content


def _add_cores(random: Random, content: Content, kind: str) -> None:
    """Adds cores, under the name "w"."""
    cores = random.choice((2, 4, 6))
    pattern, reads = random.choice(("sequential", "random")), random.choice((1.0, 1.0, 0.5))
    stream: Content = {"kind": "stream", "cores": f"0-{cores - 1}", "reads": reads, "pattern": pattern}
    if kind == "caches":
        stream = {"kind": "app", "app": "mlc", "cores": f"0-{cores - 1}"}
    if kind == "two sockets, remote":
        stream["memory"] = "node:1"
    if kind == "expander":
        content["expander"] = {"channels": 2}
        stream["memory"] = "node:1"
    content["workload"]["w"] = stream


def _add_drives(random: Random, content: Content, kind: str) -> None:
    """Adds four drives that are read, under the name "f", and in half of the cases cores beside them."""
    job = {"rw": "randread", "bs": "128 KiB", "iodepth": 32, "size": "1 GiB"}
    fio: Content = {"kind": "fio", "jobs": [{**job, "ssd": drive} for drive in range(4)]}
    if kind.startswith("two sockets"):
        content["ssd"] = {"sockets": 0, "count": 4}
    if kind == "two sockets, drives far":
        fio["memory"] = "node:1"
    content["workload"]["f"] = fio
    if kind != BESIDE and random.random() < 0.5:
        content["workload"]["w"] = {"kind": "stream", "cores": "0-1", "reads": 1.0}


def with_plant(random: Random, content: Content, plant: Plant) -> Content:
    """Returns the server with a planted limit."""
    planted = deepcopy(content)
    for path, value in plant.keys(random).items():
        if path == "rw":
            for job in planted["workload"].get("f", {}).get("jobs", ()):
                job["rw"] = "randwrite"
        elif path.startswith("workload.") and path.split(".")[1] not in planted["workload"]:
            continue
        else:
            *tables, last = path.split(".")
            place = planted
            for table in tables:
                place = place.setdefault(table, {})
            place[last] = value
    return planted


@dataclass(frozen=True)
class Verdict:
    """Limit that was named for a plant, and the gain from raising it."""

    seed: int
    kind: str
    planted: str
    named: str
    doubtful: bool
    gain: float
    could: float
    """Gain from raising the plant itself."""
    text: str = ""
    content: Content | None = None

    @property
    def word(self) -> str:
        """Grade of the answer."""
        if self.named == "not known":
            return "not known"
        if self.gain > HELPS:
            return "right"
        return "wrong with ?" if self.doubtful else "wrong without ?"


def plan_of(content: Content) -> Plan:
    """Returns the plan of a server.

    Raises:
        ConfigError: The configuration is invalid.
    """
    return _core.resolve(json.dumps(content), format="json", file="<planted>", base_dir=".")


def simulate(plans: Sequence[Plan]) -> list[Content]:
    """Returns the summary of each plan."""
    return [json.loads(result.summary_json) for result in _core.run_many(list(plans), progress=None)]


def moved(summary: Content, workload: str) -> float:
    """Returns the throughput of a workload."""
    (row,) = (row for row in summary["workloads"] if row["workload"] == workload)
    return float(row["app_gb_per_s"] or row["throughput_gb_per_s"] or 0.0)


def raises_of(plan: Plan, named: str) -> list[Plan]:
    """Returns the server with the named limit raised by half, and nothing else; one plan for each way to raise it."""
    name = "LFB" if named in LFB_NAMES else named
    return [raised for limit, *_, raised in plan.raises(RAISED) if limit == name]


def named_by_run(summary: Content, workload: str) -> tuple[list[str], bool, str]:
    """Returns the limits that the summary of a run names, true if in doubt, and the sentence."""
    (row,) = (row for row in summary["workloads"] if row["workload"] == workload)
    said = str(row["limited_by"])
    (text,) = (text for text in summary["limits"] if text.startswith(f"{workload} "))
    return said.removesuffix(" ?").split(" / "), said.endswith(" ?"), text


def named_by_trials(content: Content, workload: str) -> tuple[list[str], bool, str]:
    """Returns the limits as `named_by_run`, after raising limits in simulations, as `hostnet explain` does."""
    source = Source(json.dumps(content), "json", "planted.json", ".", ())
    page = explain_results(run_plan(plan_of(content), source)).with_steps(try_limits=True)
    (row,) = (row for row in page.explanation["workloads"] if row["workload"] == workload)
    return row["binding"], row["doubtful"], row["limited"]


def judge(seed: int, kind: str | None = None, plant: Plant | None = None, *, trials: bool = False) -> Verdict | None:
    """Plants a limit in a random server and judges the first named limit; None if the plant does not limit.

    With `trials` the answer is that of `hostnet explain`, else that of the run.
    """
    random = Random(seed)
    plant = plant or PLANTS[seed % len(PLANTS)]
    kind = kind or random.choice(plant.kinds)
    content = with_plant(random, server(random, kind), plant)
    try:
        plan = plan_of(content)
    except ConfigError:
        return None
    workload = "f" if kind in OF_DRIVES else "w"
    now, *others = simulate([plan, *raises_of(plan, "offered load" if plant.name == "rate" else plant.name)])
    base = moved(now, workload)
    if base <= 0 or not others:
        return None
    could = max(moved(other, workload) for other in others) / base - 1
    if could <= HELPS:
        return None
    names, doubtful, text = named_by_trials(content, workload) if trials else named_by_run(now, workload)
    named = names[0]
    gain = could if named == plant.name else 0.0
    if named not in ("not known", plant.name):
        then = simulate(raises_of(plan, named))
        gain = max((moved(summary, workload) / base - 1 for summary in then), default=0.0)
    return Verdict(seed, kind, plant.name, named, doubtful, gain, could, text, content)


def campaign(seeds: Sequence[int], *, show: bool = False, trials: bool = False) -> Counter[str]:
    """Counts the answers that are right, unknown, or wrong with and without a question mark."""
    words: Counter[str] = Counter()
    for seed in seeds:
        verdict = judge(seed, trials=trials)
        if verdict is None:
            continue
        words[verdict.word] += 1
        if show:
            print(
                f"{seed}\t{verdict.word}\t{verdict.kind}\t{verdict.planted}\t{verdict.could:+.3f}\t{verdict.named}"
                f"\t{verdict.gain:+.3f}\t{verdict.text}",
                flush=True,
            )
    return words


if __name__ == "__main__":
    first, count = int(os.environ.get("FIRST", "0")), int(os.environ.get("COUNT", "300"))
    print(campaign(range(first, first + count), show=True, trials="TRIALS" in os.environ))
