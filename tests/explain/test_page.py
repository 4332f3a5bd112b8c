"""Pages that explain runs, configurations and counters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import ConfigError, _core
from hostnet.explanation import explain_results, explain_run, page_text
from hostnet.explanation.counter_server import resolve_server
from hostnet.explanation.page import explain_window
from hostnet.explanation.steps import Step, Steps, candidates, cap_by_offered_load, find_remedies
from hostnet.explanation.text import added_text
from hostnet.running import simulate
from hostnet.running.results import Source
from tests.support import QUADRANT, raises_code, with_small_llc

ROOT = Path(__file__).resolve().parents[2]
OTHERS = re.compile(r"^\[(host\.|chip\])", re.MULTILINE)
OF_SERVERS = [path for path in (ROOT / "examples").glob("*.toml") if path.name != "noc.toml"]
EXAMPLES = sorted(path for path in OF_SERVERS if not OTHERS.search(path.read_text()))


def run(text: str, *overrides: str) -> hostnet.Results:
    file = Source(text, "toml", "test.toml", str(ROOT / "examples"), overrides)
    return simulate.run_plan(simulate.resolve(file), file)


@pytest.fixture(scope="module")
def results() -> hostnet.Results:
    return run(QUADRANT)


def fits(text: str) -> bool:
    return all(len(line) <= 80 and line == line.rstrip() for line in text.splitlines())


PARTS = ("switching", "write_hol", "read_hol", "top_of_queue", "cha_admission", "unexplained")
OF_WRITES = {
    "switching": "switching of writes",
    "read_hol": "read head-of-line of writes",
    "top_of_queue": "top-of-queue of writes",
}


def untold(results: hostnet.Results) -> tuple[list[str], set[str]]:
    """Returns the notes on quantities that cannot be computed, and the parts of latencies that they are about."""
    if results.upi:
        return ["CHA admission cannot be computed: no counter of the time that lines take over UPI"], {"cha_admission"}
    if any(row["domain"] == "CXL read" for row in results.rows("domains")):
        said = "CHA admission cannot be computed: no counter of the time that lines take behind the link"
        return [said], {"cha_admission"}
    writes = any(row["kind"] == "fio" for row in results.rows("workloads"))
    if writes and not results.summary["counters"]["lines_written"]:
        said = f"{', '.join(OF_WRITES.values())} cannot be computed: lines_written is zero"
        return [said], set(OF_WRITES)
    return [], set()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_can_be_explained(example: Path) -> None:
    results = run(example.read_text(), "run.duration=50us", "run.warmup=20us", *with_small_llc(example))
    page = explain_results(results)
    text = page_text(page)
    assert fits(text)
    assert len(text.splitlines()) < 60
    said, lacks = untold(results)
    assert page.explanation["missing"] == said
    for row in page.explanation["workloads"]:
        known = "may be limited by" if row["doubtful"] else "is limited by"
        clause = "has no known limit" if row["binding"] == ["not known"] and not row["doubtful"] else known
        assert f"{row['workload']} {clause}" in text
        latency = row["latency"]
        if latency is None:
            assert not row["pools"], "who moves no line has no latency to explain"
            continue
        at_home = not row.get("link_ns")
        known_of = set() if "behind the link" in "".join(said) and at_home else lacks
        assert {part for part in PARTS if latency[f"{part}_ns"] is None} == known_of
        assert latency["unloaded_ns"] + sum(latency[f"{part}_ns"] or 0 for part in PARTS) == pytest.approx(
            latency["mean_ns"]
        )
        assert latency["unloaded_ns"] <= 1.01 * latency["mean_ns"], "no line is quicker under load"
        pool = next(pool for pool in row["pools"] if pool["domain"] == row["domain"])
        assert row["bound_gb_per_s"] == pytest.approx(pool["credits"] * 64 / pool["latency_ns"])
        assert row["bound_gb_per_s"] >= 0.97 * pool["gb_per_s"]


def test_the_binding_domain_is_that_of_the_tables(results: hostnet.Results) -> None:
    for row in results.summary["binding"]:
        assert results.workloads[row["workload"]]["limited_by"] == " / ".join(row["binding"])


def test_one_core_alone_is_limited_by_its_entries_or_by_itself() -> None:
    text = '[server]\npreset = "cascade-lake-6234"\n[workload.s]\nkind = "stream"\ncores = "0"\n'
    slow = run(text, "run.duration=50us", "workload.s.gap=100ns")
    assert slow.workloads["s"]["limited_by"] == "offered load"
    assert run(text, "run.duration=50us").workloads["s"]["limited_by"] == "C2M-Read"
    slow = run(text, "run.duration=50us", "core.lfb.refill=1us")
    assert slow.workloads["s"]["limited_by"] == "C2M-Read / core"


def test_the_regime_of_one_kind_of_workload_needs_no_prediction() -> None:
    alone = run(QUADRANT.partition("[workload.disk]")[0])
    regime = alone.summary["regime"]
    assert (regime["name"], regime["estimated"], regime["evidence"]) == ("uncontended", False, ["no P2M traffic"])


def test_a_run_directory_has_its_explanation(results: hostnet.Results, tmp_path: Path) -> None:
    place = results.save(tmp_path / "run")
    assert (place / "explanation.txt").read_text() == page_text(explain_results(results).with_steps())
    stored = json.loads((place / "explain.json").read_text())
    assert [row["workload"] for row in stored["workloads"]] == ["disk", "stream"]
    again = explain_run(place)
    assert again.explanation == explain_results(results).explanation
    assert stored["regime"] == again.explanation["regime"]


def test_explaining_the_counters_of_a_run_says_the_same(results: hostnet.Results) -> None:
    whole = explain_results(results).explanation
    page = explain_window(results.summary["counters"], results.plan, name="counters.csv")
    rows = {row["workload"]: row for row in page.explanation["workloads"]}
    assert set(rows) == {"stream", "disk"}
    for row in whole["workloads"]:
        other = rows[row["workload"]]
        assert other["latency"]["mean_ns"] == pytest.approx(row["latency"]["mean_ns"], rel=0.05)
        assert other["latency"]["read_hol_ns"] == pytest.approx(row["latency"]["read_hol_ns"])
        assert other["offered_gb_per_s"] == row["offered_gb_per_s"]
    assert "estimated from them" in " ".join(page_text(page).split())


def test_counters_of_a_preset_tell_how_many_cores_are_busy() -> None:
    counters = {"window_ns": 1000, "channels": 2, "lfb": {"occupancy": 47, "lines": 400}}
    plan, known = resolve_server("cascade-lake-6234", counters)
    page = explain_window(counters, plan, name="counters.csv", known=known)
    assert page.explanation["workloads"][0]["pools"][0]["credits"] == 48
    text = page_text(page)
    assert fits(text)
    words = " ".join(text.split())
    assert "cores 0-3 are taken to be busy" in words
    assert "no counter core_read.occupancy, core_read.lines" in words
    assert "not known" in words
    plan, known = resolve_server("cascade-lake-6234", counters, 8)
    page = explain_window(counters, plan, name="a", known=known, cores_given=True)
    assert page.explanation["workloads"][0]["pools"][0]["credits"] == 96
    assert not any("--cores" in note for note in page.notes)


def test_the_server_of_counters_is_checked(tmp_path: Path) -> None:
    with raises_code("too-many-cores | --cores 9"):
        resolve_server("cascade-lake-6234", {}, 9)
    with raises_code("unknown-name | cascade-lake-6234"):
        resolve_server("cascade-lake", {})
    (tmp_path / "server.toml").write_text(QUADRANT)
    assert resolve_server(str(tmp_path / "server.toml"), {})[1]
    with raises_code("no-effect | --cores"):
        resolve_server(str(tmp_path / "server.toml"), {}, 4)


def test_counters_that_tell_nothing_say_so() -> None:
    plan, _ = resolve_server("cascade-lake-6234", {})
    text = page_text(explain_window({}, plan, name="counters.csv", known=False))
    assert "what binds C2M cannot be computed: no counter lfb.occupancy, lfb.lines" in text
    assert fits(text)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "wrong-kind | summary.json"),
        ({"summary.json": "{}"}, "wrong-kind | manifest.json"),
        ({"summary.json": "", "manifest.json": "{}"}, "malformed-file | summary.json"),
        ({"summary.json": '{"name": "a', "manifest.json": "{}"}, "malformed-file | summary.json"),
        ({"summary.json": "[1]", "manifest.json": "{}"}, "malformed-file | summary.json"),
        ({"summary.json": "{}", "manifest.json": "{}"}, "other-version | summary.json"),
        ({"summary.json": '{"kind": "study"}', "manifest.json": "{}"}, "wrong-kind"),
        ({"seeds.json": "{}"}, "wrong-kind"),
        ({"sweep.json": "{}"}, "wrong-kind"),
        ({"sweep.json": "["}, "malformed-file | sweep.json"),
    ],
)
def test_what_is_no_run_directory_is_refused(files: dict[str, str], message: str, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with raises_code(message):
        explain_run(tmp_path)


@pytest.mark.parametrize("key", ["counters", "binding", "regime"])
def test_a_damaged_summary_is_refused(key: str, results: hostnet.Results, tmp_path: Path) -> None:
    place = results.save(tmp_path / "run")
    summary = json.loads((place / "summary.json").read_text())
    for broken, message in (("nonsense", key), (None, key)):
        (place / "summary.json").write_text(json.dumps({**summary, key: broken}))
        with pytest.raises(ConfigError, match=message):
            explain_run(place)


class Counted:
    """An engine that answers with fabricated throughputs computed from the keys of a configuration."""

    def __init__(self) -> None:
        self.configs: list[dict[str, Any]] = []

    def __call__(self, plans: Sequence[Any], progress: object) -> list[Mapping[str, Any]]:
        del progress
        return [self.answer(json.loads(plan.effective_json())) for plan in plans]

    def answer(self, config: dict[str, Any]) -> dict[str, Any]:
        self.configs.append(config)
        credits, channels = config["iio"]["write_credits"], config["memory"]["channels"]
        rates = {"disk": float(credits), "stream": 10.0 * channels}
        rows = [{"workload": name, "app_gb_per_s": rate, "latency_mean_ns": 99.0} for name, rate in rates.items()]
        return {"workloads": [row for row in rows if row["workload"] in config["workload"]]}


def test_steps_are_sorted_by_what_they_do_for_the_workload(results: hostnet.Results) -> None:
    config = json.loads(results.plan.effective_json())
    engine = Counted()
    steps = find_remedies(config, "disk", offered={"disk": 3.4}, engine=engine)
    best = steps.steps[0]
    assert (best.path, best.before, best.after) == ("iio.write_credits", "92", "115")
    assert best.gains == pytest.approx({"disk": 0.25, "stream": 0.0})
    assert find_remedies(config, "stream", offered={}, engine=engine).steps[0].path == "memory.channels"
    assert all(given["run"]["duration"] == "300 us" for given in engine.configs)


def test_no_predicted_gain_goes_beyond_the_offered_load() -> None:
    gains = {"disk": 0.9, "stream": 0.9}
    offers = {"memory.channels": 12.0, "ssd.read_bandwidth": 24.0}
    found = [Step(path, path, "1", "2", 2.0, gains=gains, offered={"disk": offers[path]}) for path in offers]
    rows = [
        {"workload": "disk", "kind": "fio", "app_gb_per_s": 8.0},
        {"workload": "stream", "kind": "stream", "app_gb_per_s": 8.0},
    ]
    told = {step.path: step.gains for step in cap_by_offered_load(Steps("predict", "disk", found), rows).steps}
    assert told == {"memory.channels": {"disk": 0.5, "stream": 0.9}, "ssd.read_bandwidth": gains}


def test_drives_behind_narrow_links_gain_by_faster_ones(tmp_path: Path) -> None:
    """Eight drives with two lanes each: the headline and the table agree that a faster link helps."""
    (tmp_path / "j.fio").write_text("[d]\nrw=read\nbs=1m\nioengine=libaio\niodepth=8\nnumjobs=8\n")
    text = (
        '[server]\npreset = "ice-lake-8362"\n[pcie]\nlanes = 16\n[ssd]\nread_bandwidth = "20 GB/s"\n'
        '[workload.s]\nkind = "fio"\njob = "j.fio"\n[run]\nduration = "100 us"\n'
    )
    file = Source(text, "toml", "narrow.toml", str(tmp_path), ())
    results = simulate.run_plan(simulate.resolve(file), file)
    assert any(note.startswith("pcie.lanes: ") and "pcie.lanes = 128" in note for note in results.plan.ignored)
    (row,) = results.summary["binding"]
    first = row["limits"]["gains"][0]
    assert first["limit"] == "PCIe link"
    assert first["gain"] > 0.1
    steps = explain_results(results).with_steps().steps
    assert steps is not None
    gains = {step.path: step.gains["s"] for step in steps.steps if step.limit == "PCIe link" and step.reach}
    assert gains == {"PCIe link": pytest.approx(first["gain"], abs=0.01)}


def test_steps_are_those_of_the_limits_that_answers_name(results: hostnet.Results) -> None:
    config = json.loads(results.plan.effective_json())
    raised = {step.path: step.limit for step, _ in candidates(config, {}) if step.limit is not None}
    # Parts that the server lacks cannot be raised.
    other = ("prefetch.", "cha.tor.expander", "core.frequency")
    absent = ("noc.", "chiplets.", "iommu.", "upi.", "remote.", "expander.", *other)
    known = {limit["path"]: limit["limit"] for limit in json.loads(_core.limits())}
    assert {path: limit for path, limit in known.items() if not path.startswith(absent)} == raised
    assert known["noc.clock"] == "mesh"
    assert raised["memory.channels"] == raised["memory.device"] == "DRAM channel"
    named = {(gain["limit"], gain["key"]) for row in results.summary["binding"] for gain in row["limits"]["gains"]}
    of_servers = [(limit, key) for limit, key in named if key in raised]
    assert of_servers
    for limit, key in of_servers:
        assert raised[key] == limit or (raised[key], limit) == ("LFB", "C2M-Read"), key


def test_one_step_changes_one_capacity_and_its_thresholds(results: hostnet.Results) -> None:
    config = json.loads(results.plan.effective_json())
    changed = {(step.path, step.factor): after for step, after in candidates(config, {"disk": 3.464})}
    wpq = changed["memory.controller.wpq.entries", 1.25]["memory"]["controller"]
    assert (wpq["wpq"]["entries"], wpq["write_high"]) == (52, 50)
    assert changed["cha.tor.entries", 1.25]["cha"]["tor"] == {"entries": 18}
    assert changed["cha.tor.entries", 4.0]["cha"]["tor"] == {"entries": 56}
    config["cha"]["tor"]["write_entries"] = 8
    both = {(step.path, step.factor): after for step, after in candidates(config, {})}["cha.tor.entries", 2.0]
    assert both["cha"]["tor"] == {"entries": 28, "write_entries": 16}, "of entries that are shared, more for both"
    del config["cha"]["tor"]["write_entries"]
    assert changed["iio.line", 2.0]["iio"]["line"] == "2.195 ns"
    drive = changed["ssd.read_bandwidth", 2.0]["ssd"]
    assert (drive["read_bandwidth"], drive["write_bandwidth"]) == ("6.93 GB/s", "6.93 GB/s")
    assert ("memory.channels", 1.25) not in changed, "there is no quarter of a channel"
    faster = changed["memory.device", 1.0]["memory"]
    assert faster["device"] == "DDR4_3200"
    assert faster["dram"]["timing"]["cl"] > config["memory"]["dram"]["timing"]["cl"]
    assert faster["dram"]["timing"]["rank_switch"] == config["memory"]["dram"]["timing"]["rank_switch"] == 4
    assert changed["rate of storage", 1.0]["workload"]["disk"]["rate"] == "2.598 GB/s"
    assert config == json.loads(results.plan.effective_json()), "the configuration itself stays as it is"


def test_what_the_configuration_does_not_allow_is_left_out(results: hostnet.Results) -> None:
    config = json.loads(results.plan.effective_json())
    config["iio"]["write_credits"] = 100_000_000
    config["memory"]["device"] = "DDR4_3200"
    assert "memory.device" not in {step.path for step, _ in candidates(config, {})}, "there is none faster"
    wide = json.loads(results.plan.effective_json())
    wide["memory"]["channels"] = 64
    steps = find_remedies(wide, "stream", offered={}, engine=Counted())
    assert "memory.channels" not in {step.path for step in steps.steps}


def test_cores_alone_need_no_steps_of_devices() -> None:
    alone = run(QUADRANT.partition("[workload.disk]")[0])
    config = json.loads(alone.plan.effective_json())
    paths = {step.path for step, _ in candidates(config, {})}
    assert not any(path.startswith(("iio.", "pcie.")) for path in paths)
    assert "core.lfb.entries" in paths


def test_confirmed_steps_are_simulated_beside_the_prediction(results: hostnet.Results) -> None:
    page = explain_results(results).with_steps(confirm=True)
    assert page.steps is not None
    assert page.steps.engine == "predict"
    smallest: dict[str, Step] = {}
    for step in page.steps.steps:
        smallest.setdefault(step.path, step)
    gains = [(step.confirmed or {})[page.steps.workload] for step in smallest.values()]
    assert gains == sorted(gains, reverse=True)
    assert all(step.noise is not None for step in smallest.values())
    text = page_text(page)
    assert fits(text)
    assert re.search(r"^ +simulated +[+-]?\d+ % ±\d+", text, re.MULTILINE)
    assert any(line.endswith(" ns alone") for line in page.explanation["regime"]["evidence"])


def test_the_page_with_steps_fits_too(results: hostnet.Results) -> None:
    page = explain_results(results).with_steps(engine=Counted())
    assert isinstance(page.steps, Steps)
    text = page_text(page)
    assert fits(text)
    assert "What would help stream (each change alone, simulated):" in text
    assert re.search(r"memory channels: 2 +\+100 %", text)
    assert "No effect on stream: " in text
    assert json.loads(json.dumps(page.as_dict()))["steps"]["workload"] == "stream"


FOR_ENTRIES = "for TOR entries of their slice or on the way there."


def cha_wait_text(
    gains: list[dict[str, str]], added: float, *, covered: bool = True, doubtful: bool = False, refuted: bool = False
) -> str:
    parts = {f"{part}_ns": 0.0 for part in ("switching", "write_hol", "read_hol", "top_of_queue", "unexplained")}
    whole = {"unloaded_ns": 100.0, "mean_ns": 100.0 + added, "cha_admission_ns": added}
    latency: dict[str, Any] = {**parts, **whole, "domain": "LFB", "cause": "CHA admission"}
    limits = {"gains": gains, "covered": covered}
    row = {"kind": "stream", "limits": limits, "doubtful": doubtful, "refuted": refuted}
    return added_text(row, latency, {}) or ""


@pytest.mark.parametrize(
    ("gains", "added", "told"),
    [
        ([{"key": "cha.tor.entries"}], 60.0, FOR_ENTRIES),
        ([{"key": "core.lfb.entries"}], 60.0, "more of these are not predicted to help."),
        ([], 60.0, "more of these are not predicted to help."),
        ([], 2.0, ""),
    ],
)
def test_the_wait_for_the_cha_is_told_by_what_helps(gains: list[dict[str, str]], added: float, told: str) -> None:
    text = cha_wait_text(gains, added)
    assert text.endswith(told)
    assert ("The largest part" in text) == bool(told)


@pytest.mark.parametrize("known", [{"covered": False}, {"doubtful": True}, {"refuted": True}])
def test_a_doubtful_prediction_does_not_say_what_would_not_help(known: dict[str, bool]) -> None:
    assert cha_wait_text([], 60.0, **known).endswith(FOR_ENTRIES)


def test_hostile_names_stay_text(results: hostnet.Results) -> None:
    page = explain_results(results)
    page.explanation["workloads"][0]["workload"] = "x" * 300 + "\x1b[31m"
    text = page_text(page)
    assert fits(text)
    assert "\x1b" not in text


def test_a_prediction_has_no_counters_to_explain(tmp_path: Path) -> None:
    predicted = hostnet.predict(ROOT / "examples" / "stream.toml").save(tmp_path / "predicted")
    assert not (predicted / "explain.json").exists()
    with raises_code("other-version | has no counters"):
        explain_run(predicted)
