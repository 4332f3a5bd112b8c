"""Governors written in Python decide on the frequencies of cores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import Look
from hostnet.running import simulate
from tests.support import raises_code

pytestmark = pytest.mark.usefixtures("rate_tables")

CLUSTER = """
[host.client]
kind = "endpoint"
count = 3
[host.server]
preset = "i7-3770-gem5"
fidelity = "fluid"
power = { governor = { kind = "KIND", period = "1 ms" }, idle = "menu" }
nic = { queues = 1, mitt = "50 us", icr = "2 us" }
[network]
rate = "10 Gbps"
latency = "1 us"
[flow.load]
kind = "service"
from = "client"
to = "server"
to_cores = "0-3"
count = 10
transport = "reno"
request = "100 B"
response = "12 KiB"
service = { rate = 800, burst = 20, arrivals = "constant", phase = "random", cycles = 120000, workers = 1024 }
[run]
warmup = "5 ms"
duration = "15 ms"
"""
UP_PERCENT, AIM_PERCENT = 95, 92


def written(folder: Path, kind: str, *, name: str = "cluster.toml") -> Path:
    path = folder / name
    path.write_text(CLUSTER.replace("KIND", kind), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, "user")


def ondemand(look: Look) -> int:
    """The rule of Linux 2.6.38 with waits for storage as load, implemented from the governors page alone."""
    shares = [busy + waiting for busy, waiting in zip(look.busy, look.waiting, strict=True)]
    load = int(100 * min(max(shares), 1.0) + 1e-9)
    if load > UP_PERCENT:
        return len(look.ghz) - 1
    if load >= AIM_PERCENT:
        return look.pstate
    return look.at_least(load * look.ghz[look.pstate] / AIM_PERCENT)


class Counting:
    """Governor that goes one P-state down at each sample, and wraps around."""

    def __init__(self) -> None:
        self.asked, self.seen = 0, list[Look]()

    def decide(self, look: Look) -> int:
        self.asked += 1
        self.seen.append(look)
        return -self.asked % len(look.ghz)

    def state(self) -> bytes:
        return self.asked.to_bytes(8, "little")

    def restore(self, state: bytes) -> None:
        self.asked = int.from_bytes(state, "little")


def measured(results: hostnet.Results) -> dict[str, Any]:
    return {name: results.summary[name] for name in ("classes", "services", "power", "power_states", "frequencies")}


def test_ondemand_written_anew_does_what_ondemand_does(tmp_path: Path, file: Path) -> None:
    own = hostnet.run_cluster(file, governors={"server": ondemand})
    built_in = hostnet.run_cluster(written(tmp_path, "ondemand", name="ondemand.toml"))
    assert measured(own) == measured(built_in)
    assert len(own.summary["frequencies"]) > 3


def test_a_governor_that_leaves_everything_is_performance(file: Path) -> None:
    free = ["host.server.power.governor.cost=0 us"]
    left = hostnet.run_cluster(file, governors={"server": lambda _: None}, overrides=free)
    always = hostnet.run_cluster(file, overrides=['host.server.power.governor="performance"'])
    assert left.summary["frequencies"] == always.summary["frequencies"]
    assert all(row["ghz_mean"] == pytest.approx(3.1) for row in left.summary["power"])


def test_looks_come_in_and_p_states_go_out(file: Path) -> None:
    governor = Counting()
    results = hostnet.run_cluster(file, governors={"server": governor})
    assert 18 <= governor.asked <= 21
    last = governor.seen[-1]
    assert last.window_ns == pytest.approx(1e6, rel=0.01)
    assert last.ghz == sorted(last.ghz)
    assert 0 <= last.pstate < len(last.ghz)
    assert last.domain == 0
    for shares in (last.busy, last.waiting, last.util):
        assert len(shares) == 4
        assert all(0 <= share <= 1 for share in shares)
    assert any(max(look.busy) > 0 for look in governor.seen)
    assert "busy=[" in repr(last)
    assert len({row["ghz"] for row in results.summary["frequencies"]}) > 8


def test_a_frequency_becomes_a_place(file: Path) -> None:
    found = dict[float, int]()

    def look_up(look: Look) -> None:
        for ghz in (*look.ghz, -1.0, 0.0, 99.0, look.ghz[2] + 1e-6):
            found[ghz] = look.at_least(ghz)
        assert [found[ghz] for ghz in look.ghz] == list(range(len(look.ghz)))
        assert (found[-1.0], found[0.0], found[99.0]) == (0, 0, len(look.ghz) - 1)
        assert found[look.ghz[2] + 1e-6] == 3
        with pytest.raises(ValueError, match="not a number"):
            look.at_least(float("nan"))

    hostnet.run_cluster(file, governors={"server": look_up})
    assert found


def test_results_do_not_depend_on_threads(file: Path) -> None:
    one, two = (hostnet.run_cluster(file, governors={"server": Counting()}, threads=n) for n in (1, 2))
    assert one.result_hash == two.result_hash


def test_cores_with_frequencies_of_their_own_are_told_apart(file: Path) -> None:
    seen = list[tuple[int, int]]()

    def by_domain(look: Look) -> int:
        seen.append((look.domain, len(look.busy)))
        return look.domain

    own = ['host.server.power.domain="core"']
    results = hostnet.run_cluster(file, governors={"server": by_domain}, overrides=own)
    assert set(seen) == {(core, 1) for core in range(4)}
    means = [row["ghz_mean"] for row in results.summary["power"]]
    assert means == sorted(means)
    assert means[0] < means[-1]


def test_a_server_alone_is_called_server() -> None:
    config = {
        "server": {"preset": "cascade-lake-6234"},
        "power": {"governor": {"kind": "user", "period": "10 us"}},
        "workload": {"stream": {"kind": "stream", "cores": "0-1"}},
        "run": {"warmup": "5 us", "duration": "45 us"},
    }
    seen = list[Look]()
    hostnet.run(config, governors={"server": seen.append})
    assert 5 <= len(seen) <= 6
    assert seen[0].busy == [1, 1, *[0] * 6]
    with raises_code('requires-key | power.governor | "user" | "server"'):
        hostnet.run(config)
    config["power"] = {"governor": "performance"}
    with raises_code('requires-key | power.governor | "user"'):
        hostnet.run(config, governors={"server": print})


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (99, ValueError, "P-state 99; it must be 0 to 14"),
        (-1, ValueError, "P-state -1"),
        (2**70, ValueError, "P-state 1180591620717411303424"),
        (2.4, TypeError, r"returned 2.4; it must return None or the index of a P-state.*look.at_least\(2.4\)"),
        ("fast", TypeError, "returned 'fast'"),
        (True, TypeError, "returned True"),
    ],
)
def test_a_wrong_answer_ends_the_run(file: Path, answer: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        hostnet.run_cluster(file, governors={"server": lambda _: answer})


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_ends_the_run(file: Path, threads: int) -> None:
    asked = 0

    def fail(_look: Look) -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise ZeroDivisionError("as planned")

    with pytest.raises(ZeroDivisionError, match="as planned"):
        hostnet.run_cluster(file, governors={"server": fail}, threads=threads)
    assert asked == 3


@pytest.mark.parametrize(
    ("governors", "says"),
    [
        ({}, 'requires-key | power.governor | "user" | "server"'),
        ({"sever": print}, 'does-not-exist | "server"'),
        ({"client-0": print}, "wrong-host-kind | is an endpoint"),
        ([print], "wrong-type"),
        ({1: print}, "wrong-type"),
    ],
)
def test_a_governor_that_fits_no_host_is_refused(file: Path, governors: Any, says: str) -> None:
    with raises_code(says):
        hostnet.run_cluster(file, governors=governors)


@pytest.mark.parametrize("kind", ["ondemand", "schedutil"])
def test_a_host_with_another_governor_takes_none(tmp_path: Path, kind: str) -> None:
    with raises_code('requires-key | "user" | host.server.power'):
        hostnet.run_cluster(written(tmp_path, kind), governors={"server": print})


def test_what_cannot_be_called_is_refused(file: Path) -> None:
    with pytest.raises(TypeError, match="int is neither a function nor has it a method decide"):
        hostnet.run_cluster(file, governors={"server": 3})


def run(file: Path, governor: Any, **options: Any) -> hostnet.Results:
    source = simulate.source_of(file)
    return simulate.run_plan(simulate.resolve(source), source, governors={"server": governor}, **options)


def test_a_run_goes_on_from_a_checkpoint_with_the_state(file: Path) -> None:
    whole, later = Counting(), Counting()
    first = run(file, whole, checkpoint_at_ps=8_000_000_000)
    assert first.native.checkpoint is not None
    second = run(file, later, checkpoint=first.native.checkpoint)
    assert second.result_hash == first.result_hash
    assert later.asked == whole.asked
    assert 0 < len(later.seen) < whole.asked


def kept_once(file: Path) -> None:
    run(file, lambda _: None, checkpoint_at_ps=8_000_000_000)


def kept_again(file: Path) -> None:
    run(file, lambda _: None, checkpoint_every_ps=8_000_000_000, on_checkpoint=lambda *_: None)


@pytest.mark.parametrize("keep", [kept_once, kept_again])
def test_without_state_there_is_no_checkpoint(file: Path, keep: Callable[[Path], None]) -> None:
    with raises_code('bad-checkpoint | "user"'):
        keep(file)


def test_runs_with_it_are_compared_but_not_made_again(file: Path, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, governor in zip(folders, (Counting(), ondemand), strict=True):
        hostnet.run_cluster(file, governors={"server": governor}).save(folder)
    found = hostnet.compare(*folders).events
    assert found is not None
    assert found["outcome"] == "impossible"
    assert 'power.governor is "user"' in found["reason"]
    with raises_code('requires-key | power.governor | "user"'):
        hostnet.run_many([file, file])
