"""The counter file of a run gives the same explanation as the run itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import hostnet
from hostnet import FormulaConstants, counters
from hostnet.explanation import explain_results, page_text
from hostnet.explanation.counter_server import resolve_server
from hostnet.explanation.page import explain_counters, explain_window

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PARTS = ("mean_ns", "unloaded_ns", "switching_ns", "write_hol_ns", "read_hol_ns", "top_of_queue_ns", "cha_admission_ns")


@pytest.mark.parametrize(
    ("queue_ns", "conclusion"),
    [
        (1.0, "What load adds most is not known"),
        (90.0, "The largest part of the added latency is read head-of-line"),
    ],
)
def test_a_cause_is_named_only_where_a_missing_counter_cannot_refute_it(
    queue_ns: float, conclusion: str, tmp_path: Path
) -> None:
    """Counters of an Ice Lake server, whose switches between read and write mode cannot be counted."""
    plan, _ = resolve_server("ice-lake-8362", {}, 8)
    t_trans_ns = FormulaConstants.of(config_of("ice-lake-8362", tmp_path)).t_trans_ns
    window = {
        "window_ns": 1000.0,
        "channels": 4,
        "lines_read": 600,
        "lines_written": 60,
        "read_activations": 60,
        "read_conflicts": 60,
        "rpq_occupancy": 1 + queue_ns / t_trans_ns,
        "lfb": {"occupancy": 90.0, "lines": 400},
        "core_read": {"occupancy": 85.0, "lines": 400},
        "core_write": {"occupancy": 1.0, "lines": 0},
    }
    page = explain_window(window, plan, name="counters.csv")
    page = replace(page, events={"mode_switches": "UNC_M_WMM_TO_RMM.STARVE"})
    latency = page.explanation["workloads"][0]["latency"]
    assert latency["switching_ns"] is None
    assert None not in [latency[part] for part in PARTS if part != "switching_ns"]
    words = " ".join(page_text(page).split())
    assert conclusion in words
    assert ("To determine switching, the counters lack mode_switches (UNC_M_WMM_TO_RMM.STARVE)" in words) == (
        queue_ns < 2
    )


def test_a_file_without_an_event_names_it_on_the_page(tmp_path: Path) -> None:
    run = hostnet.run(config_of("ice-lake-8362", tmp_path), counters="100 us")
    file = tmp_path / "counters.csv"
    counters.write(run, file, form="perf")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "WMM_TO_RMM" not in line))
    page = explain_counters(file, "ice-lake-8362")
    assert "WMM_TO_RMM" in page.events["mode_switches"]
    of_run = explain_results(run).explanation["workloads"][0]["latency"]
    of_file = page.explanation["workloads"][0]["latency"]
    assert of_file["switching_ns"] is None
    for part in ("write_hol_ns", "read_hol_ns", "top_of_queue_ns"):
        assert of_file[part] == pytest.approx(of_run[part], rel=0.005, abs=0.1), part
    assert of_file["cause"] in (None, of_run["cause"])


def config_of(preset: str, folder: Path) -> Path:
    file = folder / f"{preset}.toml"
    file.write_text(
        f'[server]\npreset = "{preset}"\n[run]\nduration = "100 us"\n'
        '[workload.s]\nkind = "stream"\ncores = "0-11"\nreads = 0.5\n'
    )
    return file


@pytest.mark.parametrize("form", ["perf", "pcm"])
@pytest.mark.parametrize("example", ["quadrant1.toml", "quadrant3.toml"])
def test_a_counter_file_tells_what_the_run_tells(example: str, form: str, tmp_path: Path) -> None:
    text = (EXAMPLES / example).read_text().replace('"1 ms"', '"200 us"')
    for job in EXAMPLES.glob("*.fio"):
        (tmp_path / job.name).write_text(job.read_text())
    config = tmp_path / example
    config.write_text(text)
    run = hostnet.run(config, counters="100 us")
    file = tmp_path / "counters.csv"
    counters.write(run, file, form=form)
    of_run, of_file = explain_results(run).explanation, explain_counters(file, config).explanation
    assert of_file["regime"]["name"] == of_run["regime"]["name"]
    rows = {row["workload"]: row for row in of_file["workloads"]}
    for told in of_run["workloads"]:
        found = rows[told["workload"]]
        assert set(found["binding"]) & set(told["binding"])
        assert found["latency"]["cause"] == told["latency"]["cause"]
        if not found["estimated"]:
            assert found["full_share"] == pytest.approx(told["full_share"], abs=0.001)
        for part in PARTS:  # kernel work shares the LFB counters with the stream
            assert found["latency"][part] == pytest.approx(told["latency"][part], rel=0.005, abs=0.1), part
