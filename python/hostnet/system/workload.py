"""What runs on the server."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Loads and stores of cores over a buffer per core."""

    cores: str | Sequence[int]
    """The cores it runs on: "0-3", "0,2,4-5" or a list of numbers."""
    pattern: str | None = None
    """The order of its accesses: "sequential", "strided" or "random"; "sequential" when absent."""
    stride: str | None = None
    """Distance of two accesses of the strided pattern (size); a multiple of 64 B. Range: "64 B" to "1 TiB"."""
    reads: float | None = None
    """Share of loads (0 to 1); the rest are stores. 1 when absent."""
    working_set: str | None = None
    """Buffer of each core (size); a multiple of 64 B; "1 GiB" when absent. Range: "64 B" to "64 TiB"."""
    gap: str | None = None
    """Least time between two accesses of one core (time); none when absent. Range: at most "1 ms"."""


@dataclass(frozen=True, kw_only=True)
class FioJob:
    """One job on one drive."""

    rw: str
    """Direction and order as in fio: "read", "write", "randread", "randwrite", "rw" or "randrw"."""
    bs: str
    """Bytes per command (size); a multiple of 512 B. Range: "512 B" to "1 GiB"."""
    iodepth: int
    """Commands in flight. Range: 1 to 65536."""
    size: str
    """Bytes of the file (size), at least a block. Range: "512 B" to "64 TiB"."""
    rwmixread: int | None = None
    """Share of reads in percent for `rw` and `randrw`; 50 when absent. Range: 0 to 100."""
    ssd: int
    """The drive. Range: 0 to 63."""
    core: int | None = None
    """The core that submits and completes; one of the workload's when absent. Range: 0 to 1023."""


@dataclass(frozen=True, kw_only=True)
class Fio:
    """Storage IO in the manner of fio: `job` names a job file, or `jobs` gives the jobs."""

    job: str | None = None
    """A fio job file, relative to the configuration. Not together with `jobs`."""
    jobs: Sequence[FioJob] | None = None
    """The jobs themselves. Not together with `job`."""
    rate: str | None = None
    """Cap on the rate of all jobs together (bandwidth); none when absent. Range: "1 MB/s" to "100 TB/s"."""
    cores: str | Sequence[int] | None = None
    """The cores that submit and complete, in turn; the last free cores of the socket when neither this nor the job says
    which.
    """
