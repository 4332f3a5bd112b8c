"""Planted causes of missed promises of services are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet.explanation.slo import microseconds, parse_slo
from hostnet.explanation.tail import Tails, asked_of_file, asked_of_run, explain_slos
from hostnet.explanation.tail_text import tails_text
from tests.support import Cli, assert_tells, raises_code

pytestmark = pytest.mark.usefixtures("rate_tables")

SERVER: dict[str, Any] = {
    "preset": "i7-3770-gem5",
    "fidelity": "fluid",
    "nic": {"queues": 1, "mitt": "5 us", "icr": "0 us"},
    "power": {"governor": "performance", "idle": "poll"},
}
LOAD: dict[str, Any] = {
    "kind": "service",
    "from": "client",
    "to": "server",
    "to_cores": "0-3",
    "count": 4,
    "transport": "reno",
    "request": "100 B",
    "response": "1 KiB",
    "service": {"rate": 1000, "cycles": 30000, "workers": 1024},
}


def cluster(power: Any = None, nic: Any = None, service: Any = None, **of_flow: Any) -> dict[str, Any]:
    """Returns a lightly loaded server that polls at its highest frequency with short moderation, and changes to it."""
    server = {**SERVER, "power": {**SERVER["power"], **(power or {})}, "nic": {**SERVER["nic"], **(nic or {})}}
    return {
        "host": {"client": {"kind": "endpoint"}, "server": server},
        "network": {"rate": "10 Gbps", "latency": "5 us"},
        "flow": {"load": {**LOAD, "service": {**LOAD["service"], **(service or {})}, **of_flow}},
        "run": {"name": "planted", "warmup": "10 ms", "duration": "50 ms"},
    }


def written(folder: Path, config: dict[str, Any]) -> Path:
    file = folder / "planted.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    return file


def explained(folder: Path, config: dict[str, Any], slo: str = "p99 < 1 ms") -> Tails:
    found = explain_slos(asked_of_file(written(folder, config)), [parse_slo(slo)])
    print(tails_text(found))
    return found


DEEP = {
    "idle": "ladder",
    "cstate": {
        "C1": {"disable": True},
        "C3": {"disable": True},
        "C6": {"exit": "800 us", "residency": "800 us"},
    },
}
PLANTED = {
    "exit latency of C-states": cluster(power=DEEP, service={"rate": 100}),
    "frequency": cluster(power={"governor": "powersave"}, service={"cycles": 1_000_000, "rate": 50}),
    "interrupt moderation": cluster(nic={"mitt": "1 ms"}),
    "queueing": cluster(service={"rate": 33_000, "cycles": 100_000}),
    "storage": cluster(service={"io": {"reads": 2, "latency": "1 ms"}, "rate": 50}),
    "network": cluster(service={"cycles": 1000, "rate": 50}, response="1 MiB")
    | {"network": {"rate": "1 Gbps", "latency": "5 us"}},
}


@pytest.mark.long
@pytest.mark.parametrize("cause", PLANTED)
def test_a_planted_cause_is_named(tmp_path: Path, cause: str) -> None:
    (tail,) = explained(tmp_path, PLANTED[cause]).tails
    assert tail.named == (cause,)
    assert tail.removed[0].cause == cause
    assert tail.removed[0].gain is not None
    assert tail.removed[0].gain > 0.3
    assert tail.together is not None
    assert tail.together.value_us is not None
    assert tail.removed[0].value_us is not None
    assert tail.together.value_us < 1.1 * tail.removed[0].value_us
    assert not tail.promise.met


def test_where_nothing_helps_no_cause_is_named(tmp_path: Path) -> None:
    """Only work remains, which no lever removes."""
    found = explained(tmp_path, cluster(service={"cycles": 6_000_000, "rate": 25, "arrivals": "constant"}))
    (tail,) = found.tails
    assert tail.named == ()
    assert "is not known: removing any of these" in tails_text(found)
    assert {"frequency", "exit latency of C-states", "storage", "memory"} == set(found.absent)


def test_of_a_run_directory_without_any_simulation(tmp_path: Path) -> None:
    place = tmp_path / "run"
    results = hostnet.run_cluster(cluster())
    results.save(place)
    row = results.summary["services"][0]
    slos = [parse_slo(text) for text in ("mean < 1 s", "load: p99.9 <= 1 us", "max < 1 us")]
    found = explain_slos(asked_of_run(place), slos, brief=True)
    values = [tail.promise.value_us for tail in found.tails]
    assert values == [row["mean_us"], row["p99_9_us"], row["max_us"]]
    assert [tail.promise.met for tail in found.tails] == [True, False, False]
    assert found.tails[0].promise.margin_us == pytest.approx(1e6 - row["mean_us"])
    assert (found.seeds, found.met) == ((), False)


def test_several_services_are_told_apart(tmp_path: Path) -> None:
    config = cluster()
    config["flow"]["slow"] = {**config["flow"]["load"], "service": {"rate": 10, "cycles": 3_000_000}}
    asked = asked_of_file(written(tmp_path, config))
    every = explain_slos(asked, [parse_slo("p50 < 500 us")], brief=True)
    assert {tail.promise.service: tail.promise.met for tail in every.tails} == {"load": True, "slow": False}
    (one,) = explain_slos(asked, [parse_slo("slow: p50 < 500 us")], brief=True).tails
    assert (one.promise.service, one.promise.host) == ("slow", "server")
    with raises_code('does-not-exist | "slwo" | "slow"'):
        explain_slos(asked, [parse_slo("slwo p50 < 1 ms")], brief=True)
    with raises_code('does-not-exist | "other"'):
        explain_slos(asked, [parse_slo("p50 < 1 ms")], host="other", brief=True)


@pytest.mark.parametrize(
    ("text", "service", "quantity", "limit_us"),
    [
        ("p99 < 1 ms", None, "p99", 1000.0),
        ("p99.9<=250us", None, "p99.9", 250.0),
        (" web : mean < 2 s ", "web", "mean", 2e6),
        ("web p50 < 1.5 ms", "web", "p50", 1500.0),
    ],
)
def test_promises_are_read(text: str, service: str | None, quantity: str, limit_us: float) -> None:
    slo = parse_slo(text)
    assert (slo.service, slo.quantity, slo.limit_us) == (service, quantity, limit_us)
    assert slo.inclusive == ("<=" in text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", 'malformed-value | "p99 < 1 ms"'),
        ("p99", 'malformed-value | "p99 < 1 ms"'),
        ("p99 > 1 ms", 'malformed-value | "p99 < 1 ms"'),
        ("p98 < 1 ms", 'unknown-name | "p98"'),
        ("p99 < 1", 'bad-unit | "1"'),
        ("p99 < -1 ms", "bad-unit | -1 ms"),
        ("p99 < 1 mb", "bad-unit | 1 mb"),
    ],
)
def test_bad_promises_are_refused(cli: Cli, text: str, says: str) -> None:
    file = written(cli.folder, cluster())
    assert_tells(cli.fails("explain", file, "--slo", text), says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["quadrant.toml", "--slo", "p99 < 1 ms", "--brief"], "does-not-exist"),
        (["planted.json", "--slo", "p99 < 1 ms", "--confirm"], "conflicting-keys | --slo | --confirm"),
        (["counters.csv", "--slo", "p99 < 1 ms"], "wrong-kind | --slo"),
    ],
)
def test_what_does_not_go_together_is_refused(cli: Cli, arguments: list[str], says: str) -> None:
    written(cli.folder, cluster())
    (cli.folder / "counters.csv").write_text("nothing\n", encoding="utf-8")
    assert_tells(cli.fails("explain", *arguments), says)


def test_the_command_tells_by_its_exit_code(cli: Cli) -> None:
    config = cluster(nic={"mitt": "1 ms"})
    config["run"] |= {"warmup": "2 ms", "duration": "8 ms"}
    file = written(cli.folder, config)
    done = cli("explain", file, "--slo", "p99 < 10 us", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["met"]) == (1, False)
    (slo,) = found["slos"]
    assert slo["margin_us"] == pytest.approx(10 - slo["value_us"])
    assert slo["named"] == ["interrupt moderation"]
    assert {row["cause"] for row in slo["removed"]} == {"interrupt moderation", "queueing", "network"}
    assert len(slo["seeds_us"]) == len(found["seeds"]) == 3
    assert slo["seeds_us"][0] == slo["value_us"]
    done = cli("explain", file, "--slo", "p99 < 10 s", "--brief")
    assert done.returncode == 0
    assert f"p99 < {microseconds(1e7)} is met" in done.stdout
