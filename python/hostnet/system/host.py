# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The server, its cores and its home agents."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Server(Description):
    """Which server the values start from."""

    preset: str | None = None
    """The server that every other value starts from: a preset by name, as `hostnet list presets` has them; none when
    absent.
    """
    sockets: int | None = None
    """Sockets, each with the cores, caches, memory and drives that the tables say, or its own table "socket.N"; 1 when
    neither this nor the preset says.

    Range: 1 to 8.
    """
    description: str | None = None
    """What the server is, in words."""
    unvalidated: str | None = None
    """Why results of this server are not checked against measurements; shown with every result."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Lfb(Description):
    """The line fill buffer of each core: the credits of C2M-Read and C2M-Write."""

    entries: int | None = None
    """LFB entries per core: the credits of C2M-Read and C2M-Write together. Range: 1 to 1024."""
    refill: str | None = None
    """Mean time between the release of an LFB entry and its next allocation (time). Range: at most "100 us"."""
    refill_jitter: float | None = None
    """Half the range of that time as a share of it: 0.3 is +-30 %, uniform (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Core(Description):
    """The cores and their line fill buffers."""

    count: int | None = None
    """Cores of the socket. Range: 1 to 1024."""
    lfb: Lfb = Lfb()
    """The line fill buffer of each core: the credits of C2M-Read and C2M-Write."""
    issue: str | None = None
    """Least time between two allocations of one core (time). Range: at most "1 us"."""
    to_cha: str | None = None
    """From the core to the CHA (time). Range: "1 ps" to "100 us"."""
    from_cha: str | None = None
    """From the CHA to the core (time). Range: "1 ps" to "100 us"."""
    write_ack: str | None = None
    """From the CHA's admission of a write-back to the release of the LFB entry (time). Range: "1 ps" to "100 us"."""
    dirty_pool: int | None = None
    """Dirty lines of one core that wait for eviction; one of them, drawn at random, leaves per store miss (lines).
    Without meaning when there are caches.

    Range: 1 to 16384.
    """
    rob: int | None = None
    """Instructions in flight (reorder buffer): how far a core runs ahead of an access without data.

    Range: 1 to 65536.
    """
    frequency: str | None = None
    """Clock of the cores (frequency): an instruction of an application takes 1 / (frequency x `ipc`).

    Range: "100 MHz" to "10 GHz".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Tor(Description):
    """The request buffer of each slice."""

    entries: int | None = None
    """Request buffer (TOR) entries per slice, shared by reads and writes of cores and devices. Range: 1 to 4096."""
    write_entries: int | None = None
    """Of those, entries that write-backs of cores may hold at most; all when absent. Range: 1 to 4096."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cha(Description):
    """The caching and home agents."""

    slices: int | None = None
    """Slices; a line belongs to one by a hash of its address. Range: 1 to 256."""
    tor: Tor = Tor()
    """The request buffer of each slice."""
    read_to_mc: str | None = None
    """From admission of a read to its arrival at the memory controller (time). Range: "1 ps" to "100 us"."""
    from_mc: str | None = None
    """From the last data beat on the channel to the CHA (time). Range: at most "100 us"."""
    core_write_to_mc: str | None = None
    """From admission of a core's write-back to its arrival at the memory controller (time).

    Range: "1 ps" to "100 us".
    """
    io_write_to_mc: str | None = None
    """From admission of an IIO write to its arrival at the memory controller (time). Range: "1 ps" to "100 us"."""
    write_ack: str | None = None
    """From the memory controller's acceptance of a write to the CHA (time). Range: "1 ps" to "100 us"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(Description):
    """How long to simulate."""

    name: str | None = None
    """Name of the run and of its run directory, 1 to 100 characters without a slash; the file's name without its ending
    when absent. It does not change the results.
    """
    seed: int | None = None
    """Seed of every random stream, 0 to 2^64 - 1; 1 when absent. Range: at least 0."""
    duration: str | None = None
    """Simulated time that is measured, after the warm-up (time); "1 ms" when absent. Not together with `precision`.

    Range: "1 us" to "1000 s".
    """
    precision: float | None = None
    """Measure until the 95 % confidence interval of every workload's throughput is narrower than this share of it, on
    each side (0.0001 to 0.5); off when absent. Not together with `duration`.
    """
    duration_max: str | None = None
    """Longest time that is measured to reach `precision`, or until jobs are done (time); "100 ms" when absent, "10 s"
    with `until`. Only with `precision` or `until`.

    Range: "1 us" to "1000 s".
    """
    until: str | None = None
    """Measure from the start of the run until all jobs of a cluster are done: "jobs" (when all jobs are done). Not
    together with `duration`, `precision` and `warmup`.
    """
    warmup: str | None = None
    """Simulated time before the measurement begins (time), or "auto": until the throughput of every workload has
    settled; "auto" when absent.

    Range: at most "1000 s".
    """
    memory: str | None = None
    """Most memory that the simulation may take, as estimated before it begins (size); "8 GiB" when absent. It does not
    change the results.

    Range: "1 MiB" to "64 TiB".
    """
