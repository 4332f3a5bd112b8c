"""Prints how far cores and drives slow each other down (alone / together), by number of cores."""

from pathlib import Path

from hostnet import Config, Fio, Results, Run, Server, Stream, run_many

CORES = range(1, 7)
DISK = Fio(job="quadrant.fio", cores="6-7")


def config(**workloads: Stream | Fio) -> Config:
    """Returns a short run of these workloads."""
    return Config(
        server=Server(preset="cascade-lake-6234"),
        workload=workloads,
        run=Run(warmup="40 us", duration="200 us"),
        base_dir=str(Path(__file__).parent),
    )


def stream(cores: int) -> Stream:
    """Returns cores that store to memory (C2M-ReadWrite)."""
    return Stream(cores=f"0-{cores - 1}", reads=0.0)


def rate(results: Results, workload: str) -> float:
    """Returns the throughput of the workload's application, in GB/s."""
    return float(results.workloads[workload]["app_gb_per_s"])


disk_alone, *runs = run_many(
    [
        config(disk=DISK),
        *(config(stream=stream(cores)) for cores in CORES),
        *(config(stream=stream(cores), disk=DISK) for cores in CORES),
    ]
)
streams_alone, together = runs[: len(CORES)], runs[len(CORES) :]

print("cores  stream slower  disk slower")
for cores, alone, both in zip(CORES, streams_alone, together, strict=True):
    stream_slower = rate(alone, "stream") / rate(both, "stream")
    disk_slower = rate(disk_alone, "disk") / rate(both, "disk")
    print(f"{cores:5}{stream_slower:14.2f}x{disk_slower:12.2f}x")
