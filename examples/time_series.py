"""Shows a time series of the memory controllers: writes collect in the WPQ and drain to DRAM while reads wait."""

from dataclasses import replace
from pathlib import Path

from hostnet import Config, Run, run

WIDTH = 30

config = Config.from_toml(Path(__file__).parent / "quadrant1.toml")
config = replace(config, run=Run(warmup="40 us", duration="4 us"))
results = run(config, series="100 ns")

queues = {name: results.domains[name]["capacity"] for name in ("WPQ", "RPQ")}
print("     ns  " + "".join(f"{name:{WIDTH}}" for name in queues).rstrip())
in_use = {
    (row["time_ns"], row["subject"]): row["value"]
    for row in results.tables["series"].to_pylist()
    if row["quantity"] == "in_use_mean"
}
for time_ns in sorted({time_ns for time_ns, _ in in_use}):
    bars = ["#" * round((WIDTH - 2) * in_use[time_ns, name] / capacity) for name, capacity in queues.items()]
    print(f"{time_ns:7.0f}  " + "".join(f"{bar:{WIDTH}}" for bar in bars).rstrip())
