"""Controllers written in Python decide on the response to host congestion."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import Actions, Signals, _core
from hostnet.running import simulate
from tests.support import raises_code

TEMPLATE = re.sub(r'(duration|warmup) = ".*"', r'\1 = "150 us"', _core.cluster_template("hostcc"))
USER = TEMPLATE.replace('rule = "hostcc"', 'rule = "user"').replace('target = "80 Gbps"', "")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.toml"
    path.write_text(USER, encoding="utf-8")
    return path


class Counting:
    """Controller that sets a level once, always marks, and counts its calls."""

    def __init__(self, level: int = 2) -> None:
        self.level, self.asked, self.seen = level, 0, list[Signals]()

    def on_sample(self, signals: Signals) -> Actions:
        self.asked += 1
        self.seen.append(signals)
        return Actions(self.level, echo=True)

    def state(self) -> bytes:
        return self.asked.to_bytes(8, "little")

    def restore(self, state: bytes) -> None:
        self.asked = int.from_bytes(state, "little")


def test_signals_come_in_and_actions_go_out(file: Path) -> None:
    controller = Counting()
    row = hostnet.run_cluster(file, controllers={"receiver": controller}).control["receiver"]
    assert (row["rule"], row["level_end"]) == ("user", 2)
    assert row["echo_share"] == pytest.approx(1.0)
    assert controller.asked >= row["occupancy_samples"] + row["bandwidth_samples"]
    times = [signals.time_ns for signals in controller.seen]
    assert times == sorted(times)
    assert {signals.sampled for signals in controller.seen} == {"occupancy", "bandwidth"}
    last = controller.seen[-1]
    assert 0 < last.occupancy_smoothed < 200
    assert 0 < last.bandwidth_smoothed_gbps < 200
    assert last.level == 2


def test_a_mapping_is_a_configuration() -> None:
    config = {
        "host": {"a": {"kind": "endpoint"}, "b": {"kind": "endpoint"}},
        "flow": {"bulk": {"kind": "bulk", "from": "a", "to": "b"}},
        "run": {"warmup": "0 us", "duration": "200 us"},
    }
    results = hostnet.run_cluster(config)
    assert results.classes["bulk"]["goodput_gbps"] > 0
    with raises_code("unknown-key"):
        hostnet.run_cluster({**config, "fow": {}})
    with raises_code("wrong-type | config: "):
        hostnet.run_cluster({"host": object()})


def test_a_function_and_a_tuple_do_too(file: Path) -> None:
    def stop(signals: Signals) -> tuple[int | None, bool | None]:
        return (4 if signals.sampled == "bandwidth" else None), None

    row = hostnet.run_cluster(file, controllers={"receiver": stop}).control["receiver"]
    assert (row["level_end"], row["echo_share"]) == (4, 0.0)


def test_results_do_not_depend_on_threads(file: Path) -> None:
    one, two = (hostnet.run_cluster(file, controllers={"receiver": Counting()}, threads=n) for n in (1, 2))
    assert one.result_hash == two.result_hash


def test_nothing_done_is_as_watching(file: Path) -> None:
    idle = hostnet.run_cluster(file, controllers={"receiver": lambda _: None})
    file.write_text(USER.replace('"user"', '"watch"'), encoding="utf-8")
    watched = hostnet.run_cluster(file)
    assert idle.classes == watched.classes
    assert idle.hosts == watched.hosts


def test_targets_make_regimes_count(file: Path) -> None:
    class Aiming(Counting):
        occupancy_target = 1.0
        bandwidth_target_gbps = 1.0

    row = hostnet.run_cluster(file, controllers={"receiver": Aiming()}).control["receiver"]
    assert sum(row[f"regime_{regime}_share"] for regime in range(1, 5)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        ((5, None), ValueError, "level 5; it must be 0 to 4"),
        ((-1, None), ValueError, "level -1"),
        ("up", TypeError, "must return None or Actions"),
        (3, TypeError, "must return None or Actions"),
    ],
)
def test_a_wrong_answer_ends_the_run(file: Path, answer: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        hostnet.run_cluster(file, controllers={"receiver": lambda _: answer})


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_ends_the_run(file: Path, threads: int) -> None:
    asked = 0

    def fail(_signals: Signals) -> None:
        nonlocal asked
        asked += 1
        if asked == 5:
            raise ZeroDivisionError("as planned")

    with pytest.raises(ZeroDivisionError, match="as planned"):
        hostnet.run_cluster(file, controllers={"receiver": fail}, threads=threads)
    assert asked == 5


@pytest.mark.parametrize(
    ("controllers", "says"),
    [
        ({}, 'requires-key | control.rule | "user"'),
        ({"recevier": print}, 'does-not-exist | "receiver"'),
        ({"sender": print}, "wrong-host-kind | is an endpoint"),
    ],
)
def test_a_controller_that_fits_no_host_is_refused(file: Path, controllers: dict[str, Any], says: str) -> None:
    with raises_code(says):
        hostnet.run_cluster(file, controllers=controllers)


def test_a_host_with_a_rule_of_its_own_takes_none(file: Path) -> None:
    file.write_text(TEMPLATE, encoding="utf-8")
    with raises_code('requires-key | "user"'):
        hostnet.run_cluster(file, controllers={"receiver": print})


def test_what_cannot_be_called_is_refused(file: Path) -> None:
    with pytest.raises(TypeError, match="int is neither a function nor has it a method on_sample"):
        hostnet.run_cluster(file, controllers={"receiver": 3})


@pytest.mark.parametrize("attribute", ["occupancy_shift", "bandwidth_shift", "occupancy_target"])
def test_attributes_out_of_range_are_refused(file: Path, attribute: str) -> None:
    controller = Counting()
    setattr(controller, attribute, -1)
    with pytest.raises(ValueError, match=f"{attribute}: -1 must be"):
        hostnet.run_cluster(file, controllers={"receiver": controller})


def run(file: Path, controller: Any, at_ps: int, checkpoint: bytes | None = None) -> hostnet.Results:
    source = simulate.source_of(file)
    plan = simulate.resolve(source)
    controllers = {"receiver": controller}
    return simulate.run_plan(plan, source, checkpoint_at_ps=at_ps, checkpoint=checkpoint, controllers=controllers)


def test_a_run_goes_on_from_a_checkpoint_with_the_state(file: Path) -> None:
    whole, later = Counting(), Counting()
    first = run(file, whole, 100_000_000)
    assert first.native.checkpoint is not None
    second = run(file, later, 0, first.native.checkpoint)
    assert second.result_hash == first.result_hash
    assert later.asked == whole.asked
    assert 0 < len(later.seen) < whole.asked


def test_without_state_there_is_no_checkpoint(file: Path) -> None:
    with raises_code("bad-checkpoint"):
        run(file, lambda _: None, 100_000_000)


TIERING = {
    "server": {"preset": "cascade-lake-6234"},
    "memory": {"run": "4 KiB"},
    "expander": {"lanes": 16},
    "workload": {
        "hot": {"kind": "stream", "cores": "0-1", "working_set": "64 KiB", "pattern": "random", "memory": "node:1"},
        "pages": {"kind": "tiering", "cores": "7", "workloads": ["hot"], "local": "128 KiB", "period": "5 us"},
    },
    "run": {"warmup": "200 us", "duration": "20 us"},
}


class Promote:
    """Moves every page to the memory of the socket."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def on_pages(self, pages: hostnet.Pages) -> list[tuple[int, int]]:
        self.seen.append((len(pages.nodes), sum(pages.samples)))
        return [(page, 0) for page, node in enumerate(pages.nodes) if node == 1]


def test_a_policy_sees_pages_and_moves_them() -> None:
    policy = Promote()
    results = hostnet.run(TIERING, controllers={"server": policy})
    count, samples = policy.seen[0]
    assert (count, samples > 0) == (32, True)
    assert results.summary["tiering"][0]["local_pages_end"] == 32
    page = results.explain()
    assert any("tiering policy" in note for note in page.notes), "trials would need the policy"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [([(0, 2)], ValueError), ([(32, 0)], ValueError), ([(-1, 0)], ValueError), ([0], TypeError), ("ab", TypeError)],
)
def test_a_wrong_move_ends_the_run(answer: Any, kind: type[Exception]) -> None:
    class Wrong:
        def on_pages(self, _pages: hostnet.Pages) -> Any:
            return answer

    with pytest.raises(kind):
        hostnet.run(TIERING, controllers={"server": Wrong()})


def test_a_policy_is_needed_where_the_workload_says_so_and_nowhere_else() -> None:
    with pytest.raises(hostnet.ConfigError, match=r"workload\.pages\.policy"):
        hostnet.run(TIERING)
    with pytest.raises(hostnet.ConfigError, match="on_pages"):
        hostnet.run(TIERING, controllers={"server": lambda _: None})
    stays = hostnet.run(TIERING, overrides=["workload.pages.policy=none"])
    assert stays.summary["tiering"][0]["local_pages_end"] == 0
    with pytest.raises(hostnet.ConfigError, match="policy"):
        hostnet.run(TIERING, overrides=["workload.pages.policy=none"], controllers={"server": Promote()})
