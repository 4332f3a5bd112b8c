"""Studies of clusters: their data are consistent, every target has a row, and each statement can fail."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from hostnet.ledger import Ledger, LedgerError, load_study, validate
from hostnet.ledger.cluster_runs import is_fluid, run_clusters, size_of, source_of
from hostnet.ledger.clusters import ClusterFamily, parse_clusters
from hostnet.ledger.dependencies import dependencies_of, extreme, quantity_of, rank_correlation, series_of
from hostnet.ledger.panels import Series
from hostnet.ledger.parallel import Job, JobTracker
from hostnet.ledger.plots import write_plots
from hostnet.ledger.quantities import Estimate
from hostnet.ledger.rows import error_of
from hostnet.ledger.study import expand
from tests.support import raises_code

Summary = dict[str, Any]

STUDIES = ("hostcc", "dctcp", "host_network_tcp")
ALL_STUDIES = (*STUDIES, "ddio", "inceptionn", "ioctopus", "mcn", "ncap", "netdimm", "netdimm_traces", "netsdm")

DROPS = {"full": 30, "ring": 0, "other": 0}


def summary_of(config: dict[str, Any]) -> Summary:
    """Returns the summary of a fabricated cluster, which depends on its number of flows."""
    flows = config["flow"]["bulk"].get("count", 1)
    control = {f"level_{level}_share": 0.2 for level in range(5)}
    signals = {"occupancy_smoothed_lines": 80.0, "bandwidth_smoothed_gbps": 60.0}
    return {
        "config_hash": "0",
        "events": 1000,
        "window_ns": 1e6,
        "classes": [
            {
                "class": "bulk",
                "goodput_gbps": 40.0 + flows,
                "goodput_ci95": 1.0,
                "sent_packets": 10_000,
                "nic_received": 10_000,
                "fabric_dropped": 0,
                "timeouts": 0,
                **{f"nic_dropped_{reason}": count for reason, count in DROPS.items()},
            },
            {"class": "rpc", "timeouts": 3},
        ],
        "latencies": [{"class": "rpc", "p50_us": 50.0, "p99_us": 60.0, "p99_9_us": 80.0}],
        "flows": [{"class": "bulk", "goodput_gbps": rate} for rate in (1.0, 3.0)],
        "hosts": [
            {
                "iio_write_occupancy": 64.0,
                "iio_write_latency_ns": 320.0,
                "iio_write_gbps": 102.4,
                "nic_buffered_p99_us": 90.0,
                "nic_credit_wait_share": 0.5,
                **{f"core_{kind}_share": 0.19 for kind in ("softirq", "call", "copy", "stalled", "send")},
            }
        ],
        "memory": [
            {"workload": "mapp", "read_gb_per_s": 10.0, "write_gb_per_s": 10.0, "gb_per_s": 20.0},
            {"workload": "bulk", "read_gb_per_s": 5.0, "write_gb_per_s": 5.0, "gb_per_s": 10.0},
        ],
        "queues": [
            {
                "place": "left",
                "marked_packets": 100,
                "sent_packets": 1000,
                "queue_max_packets": 67,
                "queue_mean_packets": 60.0,
                "queue_sd_packets": 4.0,
            }
        ],
        "control": [{**control, "level_3_4_switches": 4, "occupancy_samples": 1999, "occupancy_discarded": 1}],
        "series": [
            {
                "time_us": float(step),
                "iio_write_occupancy": 93.0 if step % 2 else 60.0,
                "iio_write_gbps": 80.0,
                "nic_buffer_bytes": 1000,
                "nic_dropped": 1,
                "goodput_gbps": 78.0,
                "level": 4 if step >= 50 else 3,
                **signals,
            }
            for step in range(60)
        ],
    }


def made_up(name: str, figures: Sequence[str] = (), **changes: Any) -> Ledger:
    """Returns the ledger of a study, or of some figures, for fabricated runs with some summary tables replaced."""

    def simulate(configs: Any, base_dir: Path, threads: int, progress: Any) -> list[Summary]:
        del base_dir, threads, progress
        return [{**summary_of(config), **changes} for config in configs]

    return validate(name, figures=figures, simulate=simulate)


@pytest.fixture(scope="module")
def hostcc() -> Ledger:
    """Returns the ledger of hostCC."""
    return made_up("hostcc")


def value(ledger: Ledger, row: str) -> float:
    """Returns the simulated value of a row."""
    found = next(entry for entry in ledger.rows if entry.id == row).simulated
    assert found is not None
    return found


@pytest.mark.parametrize("name", ALL_STUDIES)
def test_every_row_can_be_computed(name: str) -> None:
    study = load_study(name)
    for panel in study.panels:
        for published in panel.rows():
            series = series_of(panel, published)
            assert quantity_of(series) is not None
            assert dependencies_of(study, series, published.x) is not None
    full = {point.name for point in study.selections["full"].points}
    assert {point.name for point in study.selections["quick"].points} < full
    for panel in study.panels:
        for published in panel.rows():
            need = dependencies_of(study, series_of(panel, published), published.x)
            assert need is not None
            assert need.names() <= full


def test_every_target_of_the_publication_has_a_row(hostcc: Ledger) -> None:
    with (hostcc.study.root / "targets.csv").open(encoding="utf-8") as lines:
        targets = {row["id"] for row in csv.DictReader(lines) if row["role"] == "target"}
    scored = {row.id for row in hostcc.rows if row.verdict != "context"}
    assert len(targets) == 92
    assert targets - scored == set()


@pytest.mark.parametrize("name", STUDIES)
def test_ids_of_rows_are_unique(name: str) -> None:
    ids = [row.id for row in made_up(name).rows]
    assert len(ids) == len(set(ids))


def test_published_values_and_tolerances_are_those_of_the_publication(hostcc: Ledger) -> None:
    """A tolerance is never wider than the values of the publication suggest."""
    with (hostcc.study.root / "targets.csv").open(encoding="utf-8") as lines:
        targets = {row["id"]: row for row in csv.DictReader(lines)}
    judged = 0
    for row in hostcc.rows:
        target = targets.get(row.id, {})
        kind, _, size = target.get("tolerance", "").partition(" ")
        if row.tolerance is None or not size or row.kind == "relation":
            continue
        allowed = {"rel": float(size), "abs": float(size), "factor": float(size) - 1}[kind]
        assert row.tolerance <= allowed + 1e-9, row.id
        if target["value"] and not target["to"] and row.kind == "relative":
            assert row.published == float(target["value"]) * (1000 if target["unit"] == "ms" else 1), row.id
        judged += 1
    assert judged > 40


def test_every_cluster_is_a_configuration() -> None:
    for name in ALL_STUDIES:
        study = load_study(name)
        from hostnet.running.simulate import resolve

        for selection in study.selections.values():
            for point in selection.points:
                assert resolve(source_of(selection.config(point, study.preset, study.seed), Path())) is not None


def test_quantities_follow_from_tables(hostcc: Ledger) -> None:
    assert value(hostcc, "hostcc.fig2.0x.tput.ddio_off") == 44
    assert value(hostcc, "hostcc.fig2.drop") == pytest.approx(0.3)
    assert value(hostcc, "hostcc.fig10.3x.drops") == pytest.approx(1)
    assert value(hostcc, "hostcc.fig8.is_idle") == 64
    assert value(hostcc, "hostcc.eq.iio/law") == pytest.approx(1)
    assert value(hostcc, "hostcc.fig8.is_max") == 93
    assert value(hostcc, "hostcc.pcie_overhead") == pytest.approx(100 * (102.4 / 44 - 1))
    assert value(hostcc, "hostcc.fig9.amp_net") == pytest.approx(80 / 44)
    assert value(hostcc, "hostcc.fig9.amp_mapp") == pytest.approx(4 / 3)
    assert value(hostcc, "hostcc.fig10.mapp_not_starved") == 20
    assert value(hostcc, "hostcc.fig7.indep/time") == pytest.approx(500)
    assert value(hostcc, "hostcc.fig18.local_only/full") == pytest.approx(50)
    assert value(hostcc, "hostcc.fig19.levels/time") == pytest.approx(40)
    assert value(hostcc, "hostcc.fig19.trigger") == 100
    assert value(hostcc, "hostcc.fig4.cause_p99") == 60
    assert value(hostcc, "hostcc.fig4.cause_p999/timeouts") == 3
    assert value(hostcc, "hostcc.fig12.no_timeouts") == 80
    assert value(hostcc, "target.throughput.40") == 44
    assert value(hostcc, "hostcc.fig16.tracks") == pytest.approx(44 / 20)


def test_statements_can_fail(hostcc: Ledger) -> None:
    failing = {row.id for row in hostcc.failing}
    assert {"hostcc.fig3.flows_drop.ddio_off", "hostcc.fig9.mono", "hostcc.fig10.3x.drops"} <= failing


def test_no_drop_counts_as_one() -> None:
    calm, requests = summary_of({"flow": {"bulk": {}}})["classes"]
    ledger = made_up("hostcc", classes=[{**calm, "nic_dropped_full": 0}, requests])
    assert value(ledger, "hostcc.fig10.3x.drops") == 0
    assert value(ledger, "hostcc.fig2.0x.drops.ddio_off") == 0


def test_rows_of_points_that_are_skipped_neither_pass_nor_fail() -> None:
    def simulate(configs: Any, base_dir: Path, threads: int, progress: Any) -> list[Summary]:
        del base_dir, threads, progress
        return [
            {"skipped": "later"} if config["run"]["name"].startswith("alone") else summary_of(config)
            for config in configs
        ]

    ledger = validate("hostcc", figures=("2",), simulate=simulate)
    skipped = {row.id for row in ledger.rows if row.verdict == "skipped"}
    assert skipped == {f"hostcc.mapp_alone.{times}x" for times in (1, 2, 3)}


def test_a_run_that_nothing_watches_has_no_levels() -> None:
    ledger = made_up("hostcc", control=[])
    row = next(entry for entry in ledger.rows if entry.id == "hostcc.fig19.levels")
    assert (row.simulated, row.verdict) == (None, "fail")


def test_a_change_that_the_signals_do_not_explain_is_seen(hostcc: Ledger) -> None:
    steps = summary_of({"flow": {"bulk": {}}})["series"]
    ledger = made_up("hostcc", series=[{**step, "occupancy_smoothed_lines": 60.0} for step in steps])
    assert value(ledger, "hostcc.fig19.trigger") == 0
    assert value(hostcc, "hostcc.fig19.trigger") == 100


def test_the_dumbbell_is_measured_at_its_queue() -> None:
    ledger = made_up("dctcp")
    assert value(ledger, "dctcp.g10.n2.peak") == 67
    assert value(ledger, "dctcp.g10.n2.marks") == pytest.approx(0.1)
    assert value(ledger, "dctcp.g10.n2.jain") == pytest.approx(0.8)
    assert value(ledger, "dctcp.g10.n2.law") == pytest.approx(0.1 / math.sqrt(2 / 58.5))


@pytest.mark.parametrize(("simulated", "error"), [(0.3, 0.0), (0.6, 1.0), (0.15, -1.0), (0.0, None), (0.45, 0.5)])
def test_a_factor_counts_in_both_directions(simulated: float, error: float | None) -> None:
    assert error_of(0.3, simulated, "factor") == (None if error is None else pytest.approx(error))


def test_a_value_inside_of_bounds_at_zero_has_no_error() -> None:
    assert error_of(0.1, 0.0, "relation", relation="<") == 0
    assert error_of(0.0, 0.2, "relation", relation="<") is None


@pytest.mark.parametrize(
    ("values", "tau"), [([1, 2, 3], 1.0), ([3, 2, 1], -1.0), ([1, 3, 2], 1 / 3), ([1, 1, 1], 0.0), ([1, 2, 2], 2 / 3)]
)
def test_a_trend_is_a_rank_correlation(values: list[float], tau: float) -> None:
    assert rank_correlation(values) == pytest.approx(tau)


def test_what_counts_of_several_points() -> None:
    estimates = [Estimate(value, None) for value in (70.0, 96.0, 99.0)]
    names = ["cores:3", "cores:4", "cores:5"]
    first = Series("s", over="first", constant=95.0)
    assert extreme(first, estimates, names).value == 4
    assert math.isnan(extreme(Series("s", over="first", constant=100.0), estimates, names).value)
    assert extreme(Series("s", over="farthest"), estimates, names, 80.0).value == 99
    assert extreme(Series("s", over="farthest"), estimates, names, 90.0).value == 70


def test_points_of_a_family_can_be_chosen(hostcc: Ledger) -> None:
    families = hostcc.study.families
    assert [point.name for point in expand("dctcp:2,3", families)] == ["dctcp:2", "dctcp:3"]
    with pytest.raises(ValueError, match="no operating point '7'"):
        expand("dctcp:2,7", families)


def test_fragments_are_filled_in() -> None:
    fragments = {"a-3": {"n": "{x}", "text": "0-{last}, {x} B"}, "b": {"list": ["{preset}", 1, True]}}
    family = ClusterFamily("f", "", ("a-{x}", "b"), fragments, (3,))
    (point,) = family.points()
    config = point.config("machine", {"seed": 1})
    assert config == {
        "run": {"name": "f:3", "seed": 1},
        "ledger": {"series": None, "skip": None, "again": []},
        "n": 3,
        "text": "0-2, 3 B",
        "list": ["machine", 1, True],
    }


def test_unknown_fragments_and_panels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text("id,panel,series,x,y,y_to,relation,tolerance,group,unit,source\n")
    with pytest.raises(ValueError, match="no fragment 'b'"):
        parse_clusters({"fragments": {"a": {}}, "points": {"p": {"title": "", "config": ["a", "b"]}}}, tmp_path)
    (tmp_path / "claims.csv").write_text(
        "id,panel,series,x,y,y_to,relation,tolerance,group,unit,source\ni,nowhere,s,1,1,,,,g,,\n"
    )
    with pytest.raises(ValueError, match="no panel 'nowhere'"):
        parse_clusters({"points": {}, "panels": []}, tmp_path)


def test_a_figure_is_drawn(tmp_path: Path) -> None:
    ledger = made_up("hostcc", figures=["2"])
    names = {path.name for path in write_plots(tmp_path / "plots", ledger)}
    assert {"fig02.png", "fig02.svg"} <= names
    assert "fig03.png" not in names
    assert all((tmp_path / "plots" / name).stat().st_size > 1000 for name in names)


@pytest.mark.long
def test_every_figure_is_drawn(tmp_path: Path, hostcc: Ledger) -> None:
    names = {path.name for path in write_plots(tmp_path / "plots", hostcc) if path.suffix == ".png"}
    figures = {f"fig{number:02}.png" for number in (2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)}
    assert figures <= names
    assert {"fig19_levels.png", "fig08a.png", "fig08b.png", "fig18b.png", "fig18c.png", "fig18d.png"} <= names
    assert all((tmp_path / "plots" / name).stat().st_size > 1000 for name in names)


def tiny(name: str, **run: Any) -> Summary:
    """Returns a cluster of two endpoints."""
    return {
        "host": {name: {"kind": "endpoint"} for name in ("a", "b")},
        "flow": {"bulk": {"kind": "bulk", "from": "a", "to": "b"}},
        "run": {"name": name, "seed": 1, "warmup": "100 us", "duration": "1 ms", **run},
        "ledger": {"series": None, "skip": None, "again": []},
    }


def test_runs_come_in_order_and_skipped_ones_say_why() -> None:
    skipped = {**tiny("two"), "ledger": {"series": None, "skip": "later", "again": []}}
    found = run_clusters([tiny("one"), skipped, tiny("three", duration="2 ms")], Path(), 2, None)
    assert [summary.get("name") for summary in found] == ["one", None, "three"]
    assert found[1] == {"skipped": "later"}
    assert found[0]["flows"][0]["goodput_gbps"] > 50


def test_equal_runs_are_made_once() -> None:
    totals: list[int] = []
    configs = [tiny("one"), tiny("two"), tiny("three", seed=2)]
    found = run_clusters(configs, Path(), 1, lambda status: totals.append(status["total"]))
    assert set(totals) == {2}
    assert [summary["name"] for summary in found] == ["one", "two", "three"]
    assert found[0]["classes"] == found[1]["classes"]


def test_simulated_time_of_a_memory_of_rates_is_less_work() -> None:
    line, fluid = tiny("line", duration="10 ms"), tiny("fluid", duration="300 ms")
    fluid["host"]["a"]["fidelity"] = "fluid"
    jobs = [Job(lambda _: None, size_of(config), 1 / 60 if is_fluid(config) else 1.0) for config in (line, fluid)]
    desk = JobTracker(jobs, "simulated_ps", "events")
    desk.last[1] = {"simulated_ps": jobs[1].size}
    assert desk.status([Future(), Future()])["progress"] == pytest.approx(1 / 3, rel=0.02)


def test_told_to_stop_no_cluster_is_left_running() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_clusters([tiny("one", duration="100 s")], Path(), 1, lambda _: False)


def test_a_wrong_cluster_is_refused_before_anything_runs() -> None:
    with raises_code("out-of-range | run.duration"):
        run_clusters([tiny("one", duration="-1 s")], Path(), 1, None)


def test_a_study_of_clusters_is_not_predicted() -> None:
    with raises_code("not-supported | not predicted", LedgerError):
        validate("hostcc", engine="predict")


KNOWN_TO_FAIL: set[str] = set()


def test_the_uncontended_receiver_gets_no_worse() -> None:
    """A row that begins to fail, or passes again, is a change of the model to explain."""
    ledger = validate("hostcc", selection="smoke")
    assert {row.id for row in ledger.failing} == KNOWN_TO_FAIL
    assert len({row.id for row in ledger.rows if row.verdict != "context"}) > 10


def test_the_dumbbell_gets_no_worse() -> None:
    ledger = validate("dctcp", selection="quick")
    assert {row.id for row in ledger.failing} == set()
    assert len(ledger.rows) > 20
