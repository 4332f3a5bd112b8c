"""What a run's counter file is explained by is what the run itself is explained by."""

from __future__ import annotations

from pathlib import Path

import pytest

import hostnet
from hostnet import counters
from hostnet.explain import explain_results
from hostnet.explain.page import explain_counters

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PARTS = ("mean_ns", "unloaded_ns", "switching_ns", "write_hol_ns", "read_hol_ns", "top_of_queue_ns", "cha_admission_ns")


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
