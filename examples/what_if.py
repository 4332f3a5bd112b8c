"""Raises one limit of a server at a time, and prints throughput and limit of each workload."""

from dataclasses import replace
from pathlib import Path

from hostnet import Config, Core, Iio, Lfb, Memory, Run, run_many

HERE = Path(__file__).parent

config = Config.from_toml(HERE / "quadrant3.toml")
config = replace(config, run=Run(warmup="40 us", duration="200 us"))

changes = {
    "as it is": config,
    "4 memory channels": replace(config, memory=Memory(channels=4)),
    "DDR4-3200": replace(config, memory=Memory(device="DDR4_3200")),
    "16 LFB entries": replace(config, core=Core(lfb=Lfb(entries=16))),
    "184 IIO entries": replace(config, iio=Iio(write_credits=184)),
}

for name, results in zip(changes, run_many(list(changes.values())), strict=True):
    print(name)
    for workload, row in results.workloads.items():
        print(f"  {workload:8}{row['app_gb_per_s']:6.1f} GB/s, limited by {row['limited_by']}")
