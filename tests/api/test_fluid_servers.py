"""What is told of servers whose memory has rates."""

from __future__ import annotations

from hostnet.running import simulate
from hostnet.running.results import Source

TEXT = """
[host.a]
preset = "cascade-lake-hostcc"
fidelity = "fluid"
[host.a.workload.c]
kind = "stream"
cores = "0-3"
[host.b]
kind = "endpoint"
[flow.f]
kind = "bulk"
from = "b"
to = "a"
[run]
warmup = "100 us"
duration = "200 us"
"""


def test_workloads_of_a_fluid_server_have_the_rates_of_its_memory() -> None:
    source = Source(TEXT, "toml", "fluid.toml", ".", ())
    results = simulate.run_plan(simulate.resolve(source), source)
    rows = results.summary["servers"]["a"]["workloads"]
    moved = {row["workload"]: row for row in results.summary["memory"]}
    for row in rows:
        rates = ("read_gb_per_s", "write_gb_per_s")
        assert [row[name] for name in rates] == [moved[row["workload"]][name] for name in rates]
        measured_by_lines = ("throughput_gb_per_s", "throughput_ci95", "lines", "limited_by", "latency_mean_ns")
        assert [row[name] for name in measured_by_lines] == [None] * len(measured_by_lines)
    assert moved["c"]["read_gb_per_s"] > 10
    assert results.summary["servers"]["a"]["channels"] == []
    assert "lines" not in results.summary["servers"]["a"]
