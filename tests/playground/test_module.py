"""The simulator in WebAssembly: its results are those of native runs, and its errors name their place."""

from __future__ import annotations

import gzip
import json
import lzma
import math
from typing import Any

import pytest

from hostnet import _core
from hostnet.running import simulate
from hostnet.running.results import Source
from tests.playground.conftest import EXAMPLES, Calls, native

QUICK = ("noc.toml", "datagrams.toml", "quadrant3.toml")
"""Examples of each kind that take a second or two."""

QUADRANT3 = (EXAMPLES / "quadrant3.toml").read_text(encoding="utf-8")
JOB_LINE = 1 + QUADRANT3.splitlines().index('job = "quadrant.fio"')


def offered(calls: Calls) -> list[dict[str, Any]]:
    (answer,) = calls([["examples"]])
    return list(answer["result"])


def request(example: dict[str, Any]) -> dict[str, Any]:
    return {"text": example["text"], "file": example["name"], "noc": example["noc"]}


def assert_same(found: Any, expected: Any) -> None:
    """Compares two summaries; predictions in them depend on the last digits of the system's `exp` and `log`."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9), (found, expected)
    else:
        assert found == expected


def assert_equals_native(calls: Calls, names: set[str]) -> None:
    examples = [example for example in offered(calls) if example["name"] in names]
    assert {example["name"] for example in examples} == names
    for example, answer in zip(examples, calls([["simulate", request(example)] for example in examples]), strict=True):
        result_hash, summary = native(example["name"])
        assert "problem" not in answer, (example["name"], answer["problem"])
        assert answer["result"]["result_hash"] == result_hash, example["name"]
        assert answer["result"]["complete"]
        assert_same(answer["result"]["summary"], summary)


def test_quick_examples_have_the_results_of_native_runs(calls: Calls) -> None:
    assert_equals_native(calls, set(QUICK))


@pytest.mark.long
def test_every_example_has_the_results_of_a_native_run(calls: Calls) -> None:
    assert_equals_native(calls, {example["name"] for example in offered(calls)})


def test_examples_that_are_not_offered_are_known(calls: Calls) -> None:
    left = {file.name for file in EXAMPLES.glob("*.toml")} - {example["name"] for example in offered(calls)}
    assert left == {"trace.toml", "allreduce-congested.toml", "allreduce-one-of-many.toml"}


def test_configurations_and_predictions_are_those_of_python(calls: Calls) -> None:
    overrides = ["core.lfb.entries=12"]
    wanted = {"text": QUADRANT3, "file": "quadrant3.toml", "overrides": overrides}
    checked, hashed, predicted, remedies = calls(
        [["check", wanted], ["hash", wanted], ["predict", wanted], ["remedies", wanted, "stream"]]
    )
    plan = simulate.resolve(Source(QUADRANT3, "toml", "quadrant3.toml", str(EXAMPLES), tuple(overrides)))
    assert checked["result"]["errors"] == []
    assert checked["result"]["config_hash"] == hashed["result"] == plan.hash
    assert checked["result"]["config"] == json.loads(plan.effective_json())
    summary = json.loads(_core.predict(plan).summary_json)
    assert_same(predicted["result"]["summary"], summary)
    steps = json.loads(_core.find_remedies(plan, "stream", json.dumps(summary["offered_gb_per_s"])))
    assert_same(remedies["result"]["steps"], steps)
    assert steps[0]["gains"]["stream"] > 0.1


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "key", "nearest"),
    [
        ("[server]\nprest = 1", "unknown-key", 2, 1, "server.prest", "preset"),
        ("[run]\n  seed = -1", "out-of-range", 2, 3, "run.seed", None),
        ("[server]\npreset = \n", "syntax", 2, 10, "", None),
        ("x" * 10_000_000, "syntax", None, None, "", None),
        (QUADRANT3.replace("quadrant.fio", "other.fio"), "file-not-found", JOB_LINE, 1, "workload.disk.job", None),
    ],
)
def test_a_mistake_has_its_place(
    calls: Calls, text: str, code: str, line: int | None, column: int | None, key: str, nearest: str | None
) -> None:
    checked, thrown = calls([["check", text], ["hash", text]])
    (error,) = checked["result"]["errors"]
    assert error == thrown["problem"]
    assert [error[part] for part in ("code", "line", "column", "key", "nearest")] == [code, line, column, key, nearest]


def test_files_are_those_that_a_page_mounts_and_xz_is_left_out(calls: Calls) -> None:
    text = (EXAMPLES / "trace.toml").read_text(encoding="utf-8")
    name = "traces/redis-get.lackey.xz"
    compressed = (EXAMPLES / name).read_bytes()
    plain = lzma.decompress(compressed)[: 1 << 20].rpartition(b"\n")[0] + b"\n"
    missing, *_, refused, _, gzipped, _, read = calls(
        [
            ["check", text],
            ["mount", name, list(compressed)],
            ["check", text],
            ["mount", name, list(gzip.compress(plain))],
            ["check", text],
            ["mount", name, list(plain)],
            ["check", text],
        ]
    )
    assert [answer["result"]["errors"][0]["code"] for answer in (missing, refused)] == [
        "file-not-found",
        "malformed-file",
    ]
    assert "xz -d" in refused["result"]["errors"][0]["text"]
    assert gzipped["result"]["errors"] == read["result"]["errors"] == []


def test_a_run_that_is_stopped_has_the_results_so_far(calls: Calls) -> None:
    wanted = {"text": QUADRANT3, "overrides": ["run.duration=1 s"], "series": "10 us"}
    (answer,) = calls([["simulate", wanted, {"stop": True}]])
    assert answer["calls"] == 1
    assert not answer["result"]["complete"]
    assert len(answer["result"]["tables"]["workloads"]["workload"]) == 2
