# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The server, its cores and its home agents."""

from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Server(Description):
    """Preset and sockets of the server."""

    preset: str | None = None
    """Preset that provides all absent values, by name as `hostnet list presets` shows it; none when absent."""
    sockets: int | None = None
    """Number of sockets, each with the cores, caches, memory and drives of the tables of the server, or of its table
    "socket.N"; 1 when neither this key nor the preset sets it.

    Range: 1 to 8.
    """
    description: str | None = None
    """Description of the server, in words."""
    unvalidated: str | None = None
    """Reason why results of this server are not validated against measurements; shown with every result."""
    fidelity: str | None = None
    """Level of detail at which the server is simulated, where "fluid" is for servers on a network only: "line" (every
    line), "burst" (several lines at a time, as many as a TLP carries) or "fluid" (packets, over a memory system of
    rates); "line" when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Lfb(Description):
    """Line fill buffer (LFB) of each core, which holds the credits of C2M-Read and C2M-Write."""

    entries: int | None = None
    """LFB entries per core, shared by C2M-Read and C2M-Write as their credits. Range: 1 to 1024."""
    refill: str | None = None
    """Mean time between the release of an LFB entry and its next allocation (time). Range: at most "100 us"."""
    refill_jitter: float | None = None
    """Half the range of `refill`, as a share of its mean: 0.3 means +-30 %, uniform (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Core(Description):
    """Cores and their line fill buffers."""

    count: int | None = None
    """Cores of the socket. Range: 1 to 1024."""
    lfb: Lfb = Lfb()
    """Line fill buffer (LFB) of each core, which holds the credits of C2M-Read and C2M-Write."""
    issue: str | None = None
    """Least time between two allocations of one core (time). Range: at most "1 us"."""
    to_cha: str | None = None
    """Latency from the core to the CHA (time). Range: "1 ps" to "100 us"."""
    from_cha: str | None = None
    """Latency from the CHA to the core (time). Range: "1 ps" to "100 us"."""
    write_ack: str | None = None
    """Time from the CHA's admission of a write-back to the release of the LFB entry (time).

    Range: "1 ps" to "100 us".
    """
    dirty_pool: int | None = None
    """Dirty lines of one core that wait for eviction (lines). Each store miss evicts one of them, drawn at random.
    Ignored if there are caches.

    Range: 1 to 16384.
    """
    rob: int | None = None
    """Instructions that a core may have in flight (reorder buffer). They bound how far the core runs ahead of an access
    without data.

    Range: 1 to 65536.
    """
    frequency: str | None = None
    """Clock of the cores (frequency): an instruction of an application takes 1 / (frequency x `ipc`).

    Range: "100 MHz" to "10 GHz".
    """
    write_until: str | None = None
    """Event that ends a write-back of a core and frees its entry: "admission" (its admission by the CHA) or
    "acceptance" (its acceptance by the memory controller, as where the LLC first has to evict another dirty line, which
    takes `cache.llc.hit` without caches).
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Tor(Description):
    """Request buffer (TOR) of each slice."""

    entries: int | None = None
    """Request buffer (TOR) entries per slice, shared by reads and writes of cores and devices. Range: 1 to 4096."""
    write_entries: int | None = None
    """Maximum number of these entries that write-backs of cores may hold; all when absent. Range: 1 to 4096."""
    expander_entries: int | None = None
    """Maximum number of these entries that lines behind a CXL link may hold, whose requests then wait in queues of
    their own; all when absent.

    Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Cha(Description):
    """Caching and home agents."""

    slices: int | None = None
    """Slices of the CHA; a hash of its address assigns a line to a slice. Range: 1 to 256."""
    tor: Tor = Tor()
    """Request buffer (TOR) of each slice."""
    read_to_mc: str | None = None
    """Time from admission of a read to its arrival at the memory controller (time). Range: "1 ps" to "100 us"."""
    from_mc: str | None = None
    """Time from the last data beat on the channel to the CHA (time). Range: at most "100 us"."""
    core_write_to_mc: str | None = None
    """Time from admission of a core's write-back to its arrival at the memory controller (time).

    Range: "1 ps" to "100 us".
    """
    io_write_to_mc: str | None = None
    """Time from admission of an IIO write to its arrival at the memory controller (time). Range: "1 ps" to "100 us"."""
    write_ack: str | None = None
    """Time from the memory controller's acceptance of a write to the CHA (time). Range: "1 ps" to "100 us"."""
    hash: str | None = None
    """Hash that assigns a line to a slice: "even" (multiples of the golden ratio: lines at equal distances are spread
    as evenly as possible) or "mixed" (all bits of the address are mixed, so that lines are spread as if at random).

    Default: "even".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(Description):
    """Name, seed, length and memory of the run."""

    name: str | None = None
    """Name of the run and of its run directory, 1 to 100 characters without a slash; the file's name without its
    extension when absent. It does not change the results.
    """
    seed: int | None = None
    """Seed of every random stream, 0 to 2^64 - 1; 1 when absent. Range: at least 0."""
    duration: str | None = None
    """Simulated time that is measured, after the warm-up (time); "1 ms" when absent. Not together with `precision`.

    Range: "1 us" to "1000 s".
    """
    precision: float | None = None
    """Relative half-width of the 95 % confidence interval of every workload's throughput at which the measurement ends
    (0.0001 to 0.5); off when absent. Not together with `duration`.
    """
    duration_max: str | None = None
    """Longest simulated time that is measured until `precision` is reached or the jobs are done (time); "100 ms" when
    absent, "10 s" with `until`. Only with `precision` or `until`.

    Range: "1 us" to "1000 s".
    """
    until: str | None = None
    """Event that ends the measurement, which then starts with the run: "jobs" (the end of all jobs of the cluster). Not
    together with `duration`, `precision` and `warmup`.
    """
    warmup: str | None = None
    """Simulated time before the measurement (time), or "auto": until the throughput of every workload has settled;
    "auto" when absent.

    Range: at most "1000 s".
    """
    memory: str | None = None
    """Maximum memory of the simulation, as estimated before it begins (size); "8 GiB" when absent. It does not change
    the results.

    Range: "1 MiB" to "64 TiB".
    """
    forward: str | None = None
    """Fast-forward: "off" (the whole measurement is simulated) or "auto" (the measurement ends once its state is
    certified as stationary, and repetitions of jobs that are alike are skipped); "off" when absent. Not together with
    `precision`.
    """
