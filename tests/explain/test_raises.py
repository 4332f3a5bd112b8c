"""Limits are raised to judge them: one at a time, by the same step everywhere, and to useful values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostnet import _core
from hostnet._core import Plan
from hostnet.explanation import explain_results
from hostnet.explanation.page import Page
from hostnet.explanation.raises import limits
from hostnet.explanation.steps import candidates
from hostnet.explanation.trials import FULL, LFB, OF_CORES, limit_proximity
from hostnet.running import simulate
from hostnet.running.results import Source
from tests.planted import moved
from tests.planted import simulate as summaries_of
from tests.support import QUADRANT

QUARTER = 1.25


def drives(rw: str, count: int = 4, depth: int = 32) -> dict[str, Any]:
    job = {"rw": rw, "bs": "128 KiB", "iodepth": depth, "size": "1 GiB"}
    return {"kind": "fio", "jobs": [{**job, "ssd": drive} for drive in range(count)]}


def server(*overrides: str, preset: str = "cascade-lake-6234", **workloads: dict[str, Any]) -> Source:
    run = {"warmup": "20 us", "duration": "100 us"}
    content = {"server": {"preset": preset}, "workload": workloads, "run": run}
    return Source(json.dumps(content), "json", "server.json", ".", overrides)


def explained(source: Source, *, trials: bool = False) -> Page:
    page = explain_results(simulate.run_plan(simulate.resolve(source), source))
    return page.with_steps(try_limits=True) if trials else page


def row_of(page: Page, workload: str) -> dict[str, Any]:
    (row,) = (row for row in page.explanation["workloads"] if row["workload"] == workload)
    return dict(row)


def raised(plan: Plan, limit: str) -> tuple[float, Plan]:
    ((factor, changed),) = ((factor, changed) for name, _, _, factor, changed in plan.raises(QUARTER) if name == limit)
    return factor, changed


def stream(reads: float, pattern: str) -> dict[str, Any]:
    return {"kind": "stream", "cores": "0-5", "reads": reads, "pattern": pattern}


@pytest.mark.parametrize(
    ("lines", "packet", "factor"),
    [(4, "256 B", 2.0), (8, "256 B", 1.5), (10, "256 B", 1.5), (64, "256 B", 1.25), (3, "128 B", 2.0), (8, "512 B", 2)],
)
def test_credits_are_raised_to_whole_packets(lines: int, packet: str, factor: float) -> None:
    overrides = (f"pcie.posted_lines={lines}", f"pcie.mps={packet}", f"pcie.nonposted_lines={lines}")
    plan = simulate.resolve(server(*overrides, f"pcie.mrrs={packet}", disk=drives("read")))
    assert raised(plan, "PCIe posted")[0] == raised(plan, "PCIe non-posted")[0] == pytest.approx(factor)


def test_no_raise_comes_to_less_than_a_quarter_and_each_says_how_far_it_goes() -> None:
    overrides = ("core.lfb.entries=3", "iio.write_credits=5", "memory.controller.wpq.entries=6")
    plan = simulate.resolve(server(*overrides, db=stream(0.5, "random"), disk=drives("read", depth=1)))
    found = {key: (words, factor) for _, key, words, factor, _ in plan.raises(QUARTER)}
    assert all(factor >= QUARTER for _, factor in found.values())
    words, factor = found["core.lfb.entries"]
    assert words == "33 % more LFB entries"
    assert factor == pytest.approx(4 / 3)
    assert found["iodepth"] == ("100 % more commands in flight", 2.0)
    assert found["iio.read_credits"] == ("a quarter more IIO read credits", 1.25)


def test_a_raised_plan_is_no_plan_of_its_configuration() -> None:
    plan = simulate.resolve(server(db=stream(1.0, "random")))
    _, changed = raised(plan, "RPQ")
    assert changed.hash != plan.hash
    with pytest.raises(ValueError, match="cannot be made from its configuration"):
        changed.with_seed(2)


def test_no_two_limits_are_called_by_one_word() -> None:
    called: dict[str, set[str]] = {}
    for limit in limits():
        called.setdefault(limit.what, set()).add(limit.limit)
    assert all(len(names) == 1 for names in called.values()), called
    plan = simulate.resolve(server("workload.db.gap=2 us", db=stream(1.0, "random")))
    words = [words for *_, words, _, _ in plan.raises(QUARTER)]
    assert len(words) == len(set(words))
    assert not {"pace", "cores"}.intersection(" ".join(word for word in words if "gap" in word).split())


def test_a_faster_bus_has_no_more_queue_entries() -> None:
    queues = ("memory.controller.rpq.entries=4", "memory.controller.rpq.full_threshold=4")
    plan = simulate.resolve(server(*queues, stream=stream(1.0, "random"), disk=drives("write")))
    now, bus, entries = summaries_of([plan, raised(plan, "DRAM channel")[1], raised(plan, "RPQ")[1]])
    gains = [moved(then, "stream") / moved(now, "stream") - 1 for then in (bus, entries)]
    assert gains[0] < 0.1 < gains[1], gains


@pytest.mark.parametrize("seed", [1, 4])
def test_short_queues_limit_cores_whatever_the_seed(seed: int) -> None:
    queues = ("memory.controller.wpq.entries=6", f"run.seed={seed}")
    row = row_of(
        explained(server(*queues, stream=stream(0.5, "sequential"), disk=drives("read")), trials=True), "stream"
    )
    assert (row["binding"], row["doubtful"]) == (["WPQ"], False), row["limited"]


def test_a_pool_without_a_free_credit_is_raised_before_anything_else_is_sure() -> None:
    page = explained(server("pcie.posted_lines=8", stream=stream(0.5, "sequential"), disk=drives("read")), trials=True)
    row = row_of(page, "disk")
    assert page.steps is not None
    raised_limits = {step.limit for step in page.steps.steps if step.reach is not None}
    full = {LFB if name in OF_CORES else name for name, share in limit_proximity(row).items() if share >= FULL}
    assert full
    assert full <= raised_limits
    assert (row["binding"], row["doubtful"]) == (["PCIe posted"], False), row["limited"]


@pytest.mark.parametrize("entries", [3, 12])
def test_storage_that_gets_all_it_offers_is_limited_by_that_with_caches_too(entries: int) -> None:
    overrides = (f"core.lfb.entries={entries}", "cache.enabled=true", "cache.llc.sets=64", "cache.l2.sets=64")
    row = row_of(explained(server(*overrides, disk=drives("read"))), "disk")
    assert row["app_gb_per_s"] >= 0.98 * row["offered_gb_per_s"]
    assert (row["binding"], row["doubtful"]) == (["offered load"], False), row["limited"]
    assert "bandwidth of its drives" in row["limited"]


def test_links_that_are_slower_than_their_drives_are_the_limit() -> None:
    overrides = ("pcie.lanes=8", "cache.enabled=true", "cache.llc.sets=64", "cache.l2.sets=64")
    row = row_of(explained(server(*overrides, disk=drives("read"))), "disk")
    assert row["binding"] == ["PCIe link"]


def test_the_way_to_the_memory_of_another_socket_is_there_without_load() -> None:
    added: dict[tuple[int, int], float] = {}
    for core, memory in ((0, 0), (0, 1), (24, 0), (24, 1)):
        lone = {"kind": "stream", "cores": str(core), "memory": f"node:{memory}", "gap": "500 ns", "reads": 1.0}
        row = row_of(explained(server(preset="skylake-8160", db=lone)), "db")
        assert row["binding"] == ["offered load"]
        added[core, memory] = row["latency"]["mean_ns"] - row["latency"]["unloaded_ns"]
    # Rows are opened on the local socket as on the remote one.
    assert max(added.values()) - min(added.values()) < 6, added


def test_what_a_lone_core_asks_for_limits_it_wherever_its_memory_is() -> None:
    for memory in (0, 1):
        lone = {"kind": "stream", "cores": "24", "memory": f"node:{memory}", "gap": "2 us", "reads": 1.0}
        row = row_of(explained(server(preset="skylake-8160", db=lone), trials=True), "db")
        assert (row["binding"], row["doubtful"]) == (["offered load"], False), row["limited"]


def test_every_limit_has_a_raise() -> None:
    named = {way["limit"] for way in json.loads(_core.limits())}
    plan = simulate.resolve(server("cache.enabled=true", db=stream(0.5, "random"), disk=drives("read")))
    absent = {
        "mesh",
        "CCD",
        "CCD link",
        "IOMMU walk",
        "CHA->CXL",
        "CXL read",
        "CXL write",
        "CXL link",
        "CXL DRAM",
        "UPI request",
        "UPI data",
        "UPI link",
        "CHA->UPI",
    }
    assert named - absent <= {name for name, *_ in plan.raises(QUARTER)}


@pytest.mark.parametrize(("app", "is_raised"), [("redis", True), (None, False)])
def test_the_clock_is_raised_where_applications_run(app: str | None, is_raised: bool) -> None:
    text = QUADRANT if app is None else _core.app_template(app)
    plan = simulate.resolve(Source(text, "toml", "app.toml", "examples", ()))
    paths = {step.path for step, _ in candidates(json.loads(plan.effective_json()), {})}
    assert ("core.frequency" in paths) == is_raised
