# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Workloads of the server."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Stream(Description):
    """Loads and stores of cores over a buffer per core."""

    cores: str | Sequence[int]
    """Cores that run the stream: "0-3", "0,2,4-5" or a list of numbers. Range: 0 to 1023."""
    pattern: str | None = None
    """Order of the accesses: "sequential" (consecutive lines), "strided" (a constant stride, see `stride`) or "random"
    (uniform over the buffer).

    Default: "sequential".
    """
    stride: str | None = None
    """Distance between two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.

    Range: "64 B" to "1 TiB".
    """
    reads: float | None = None
    """Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back. Default: 1."""
    working_set: str | None = None
    """Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.

    Range: "64 B" to "64 TiB". Default: "1 GiB".
    """
    gap: str | None = None
    """Minimum time between two accesses of one core (time). Range: at most "1 ms". Default: "0 ps"."""
    llc_ways: str | Sequence[int] | None = None
    """Ways of the LLC that the cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    contiguous; all when absent.

    Range: 0 to 63.
    """
    memory: str | None = None
    """Placement of the buffers: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    NUMA node (a socket, or with `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local" when
    absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class FioJob(Description):
    """Job on one drive, or the same job on each of several drives."""

    rw: str
    """Direction and order, as fio's `rw`: "read" (sequential storage reads: P2M-Write), "write" (sequential storage
    writes: P2M-Read), "randread" (random storage reads), "randwrite" (random storage writes), "rw" (sequential storage
    reads and writes) or "randrw" (random storage reads and writes); the order of blocks on the drive has no effect.
    """
    bs: str
    """Bytes per command (size); a multiple of 512 B. Range: "512 B" to "1 GiB"."""
    iodepth: int
    """Commands that the job keeps in flight. Range: 1 to 65536."""
    size: str | None = None
    """Size of the file (size), at least a block; it has no effect. A block when absent. Range: "512 B" to "64 TiB"."""
    rwmixread: int | None = None
    """Share of reads in percent for `rw` and `randrw`; 50 when absent. Range: 0 to 100."""
    ssd: int | str | Sequence[int]
    """Drive, numbered from 0; below `ssd.count`. With a list such as "0-3", each of these drives has the job.

    Range: 0 to 63.
    """
    core: int | None = None
    """Core that submits and completes the commands; one of the workload's when absent. Range: 0 to 1023."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Fio(Description):
    """Storage IO as fio generates it: `job` names a job file, or `jobs` gives the jobs."""

    job: str | None = None
    """Path of a fio job file, relative to the configuration. Not together with `jobs`."""
    jobs: Sequence[FioJob] | None = None
    """Jobs, 1 to 1024 tables. Not together with `job`."""
    rate: str | None = None
    """Limit on the rate of all jobs together, divided evenly among the drives (bandwidth); none when absent.

    Range: "1 MB/s" to "100 TB/s".
    """
    cores: str | Sequence[int] | None = None
    """Cores that submit and complete commands, assigned to the jobs round robin; the last free cores of the socket if
    neither this key nor the job gives them.

    Range: 0 to 1023.
    """
    consume: bool | None = None
    """True if the cores read the data of completed storage reads; needs caches. Default: False."""
    llc_ways: str | Sequence[int] | None = None
    """Ways of the LLC that the cores of the workload may allocate in (CAT), as for a stream; all when absent.

    Range: 0 to 63.
    """
    memory: str | None = None
    """Placement of the buffers: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    NUMA node (a socket, or with `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local" when
    absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class AppLayout(Description):
    """redis: sizes of the server's data structures, as rounded up by the allocator."""

    entry: str | None = None
    """redis: entry of the hash table, as rounded up by the allocator (size). Range: "1 B" to "1 MiB"."""
    key: str | None = None
    """redis: key with its header (size). Range: "1 B" to "1 MiB"."""
    object: str | None = None
    """redis: object that points to a value (size). Range: "1 B" to "1 MiB"."""
    header: str | None = None
    """redis: header and terminator of a value, beside its data (size). Range: at most "1 MiB"."""
    request: str | None = None
    """redis: request without a value (size). Range: "1 B" to "1 MiB"."""
    reply: str | None = None
    """redis: protocol overhead around the data of a reply (size). Range: at most "1 MiB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AppInstructions(Description):
    """Instruction counts, accesses that hit the L1 included."""

    request: int | None = None
    """redis: from the start of a request to the hash table lookup. All these counts include accesses that hit the L1.

    Range: 0 to 1000000.
    """
    entry: int | None = None
    """redis: per visited entry of a bucket. Range: 0 to 1000000."""
    reply: int | None = None
    """redis: in a GET, from the object to the first byte of its value. Range: 0 to 1000000."""
    set: int | None = None
    """redis: in a SET, from the object to the first byte of the new value. Range: 0 to 1000000."""
    finish: int | None = None
    """redis: remainder of an operation after its reply. Range: 0 to 1000000."""
    kernel: int | None = None
    """redis: in the kernel per operation, without the copy. Range: 0 to 1000000."""
    client: int | None = None
    """redis: in the client per operation. Range: 0 to 1000000."""
    line: int | None = None
    """redis: per line of a copy; stream: per line of the result; mlc, chase: per access. Range: 0 to 1000000."""
    node: int | None = None
    """pagerank, bc: per visit of a node. Range: 0 to 1000000."""
    edge: int | None = None
    """pagerank, bc: per neighbour of a visited node. Range: 0 to 1000000."""
    successor: int | None = None
    """bc: in the forward search, per neighbour that is one level further from the source, beside `edge`.

    Range: 0 to 1000000.
    """
    dependency: int | None = None
    """bc: in the backward pass, per such neighbour, beside `edge`. Range: 0 to 1000000."""


@dataclass(frozen=True, kw_only=True, repr=False)
class App(Description):
    """Application. Absent values come from its profile."""

    app: str
    """Name of the application: "redis" (key-value servers modelled on Redis, one per core), "pagerank" (PageRank
    modelled on GAPBS, over one graph shared by all cores), "bc" (betweenness centrality modelled on GAPBS, over one
    graph shared by all cores), "stream" (one kernel of STREAM over three arrays shared by all cores, each of which
    processes a part), "mlc" (loads and stores separated by delays, modelled on the Memory Latency Checker, MLC, with a
    buffer per core), "chase" (pointer chase: a random cycle over the lines of a buffer per core) or "trace" (trace of a
    program, which every core replays in private memory).
    """
    cores: str | Sequence[int]
    """Cores of the threads, one each: "0-3", "0,2,4-5" or a list of numbers. Range: 0 to 1023."""
    llc_ways: str | Sequence[int] | None = None
    """Ways of the LLC that the cores of the application may allocate in (CAT): "0-8", a list of numbers or a mask such
    as "0x1ff"; contiguous; all when absent.

    Range: 0 to 63.
    """
    ipc: float | None = None
    """Instructions per clock of a thread when no access misses the L1 (0.01 to 16)."""
    in_flight: int | None = None
    """Operations that the clients of one thread keep in flight; 0 if the application needs no clients.

    Range: 0 to 65536.
    """
    think: str | None = None
    """Think time: time between the end of an operation and the next one of the same client (time); unused without
    clients.

    Range: at most "1 s".
    """
    page_walks: bool | None = None
    """True if random accesses walk the page table when their page is not in the second-level TLB."""
    tlb_pages: int | None = None
    """Reach of a core's second-level TLB, in pages of `memory.page`. Range: 0 to 1048576."""
    keys: int | None = None
    """redis: keys that the server of one core stores. Range: 1 to 4294967296."""
    value: str | None = None
    """redis: size of a value (size). Range: "1 B" to "1 GiB"."""
    sets: float | None = None
    """redis: share of SET commands (0 to 1); the rest are GET commands."""
    clients: str | Sequence[int] | None = None
    """redis: cores of the clients, as many as `cores`; each client uses the server at its position in that list; none
    when absent. Without them a client is only a think time.

    Range: 0 to 1023.
    """
    connections: int | None = None
    """redis: connections of the server of one core. Range: 1 to 65536."""
    pipeline: int | None = None
    """redis: requests that a connection sends at a time (pipelining). Range: 1 to 65536."""
    socket: str | None = None
    """redis: kernel socket memory that replies cycle through before it is reused, and as much for requests (size).

    Range: "64 B" to "1 GiB".
    """
    layout: AppLayout = AppLayout()
    """redis: sizes of the server's data structures, as rounded up by the allocator."""
    scale: int | None = None
    """pagerank, bc: binary logarithm of the number of nodes of the graph: 25 means 2^25 nodes. Range: 4 to 32."""
    degree: int | None = None
    """pagerank, bc: edges per node; each edge joins two nodes. Range: 1 to 1024."""
    rounds: int | None = None
    """pagerank, bc: visits of every node in a complete run: iterations of PageRank, sources of betweenness centrality.

    Range: 1 to 1000000.
    """
    kernel: str | None = None
    """stream: kernel to run: "copy" (`c = a`), "scale" (`b = s * c`), "add" (`c = a + b`) or "triad" (`a = b + s * c`).
    """
    array: str | None = None
    """stream: size of each of the three arrays (size); a multiple of 64 B. Range: "64 B" to "16 TiB"."""
    working_set: str | None = None
    """mlc, chase: buffer of each core (size); a multiple of 64 B. Range: "64 B" to "64 TiB"."""
    reads: float | None = None
    """mlc: share of loads (0 to 1); the rest are stores."""
    pattern: str | None = None
    """mlc: order of the accesses: "sequential" (consecutive lines) or "random" (uniform over the buffer)."""
    delay: str | None = None
    """mlc: delay before every access (time). Range: at most "1 ms"."""
    file: str | None = None
    """trace: path of the trace, relative to the configuration; plain, or compressed with gzip, xz or zstd. Every core
    replays the whole trace in private memory.
    """
    format: str | None = None
    """trace: format of the file: "lackey" (valgrind: `--tool=lackey --trace-mem=yes`), "drmemtrace" (DynamoRIO: output
    of the tool `view` of drmemtrace), "ramulator-cpu" (ramulator, CPU traces: "3 20734016"), "ramulator" (ramulator 2:
    "LD 0x1000" or "ST 4096"), "ramulator1" (ramulator 1: "0x1000 R" or "0x1000 W") or "dramsim3" ("0x1000 READ 17":
    address, operation and clock); detected from its first line when absent.
    """
    repeat: bool | None = None
    """trace: true if the trace restarts at its end. Otherwise it starts with the run, in caches that hold none of its
    lines, and the thread ends with it.
    """
    instructions: AppInstructions = AppInstructions()
    """Instruction counts, accesses that hit the L1 included."""
    memory: str | None = None
    """Placement of the buffers: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    NUMA node (a socket, or with `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local" when
    absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class RemoteStream(Description):
    """Loads and stores of cores of other sockets, over a buffer per core in the memory of this one."""

    sockets: str | Sequence[int]
    """Other sockets that the stream runs on, from 0: "0-2", "0,2" or a list of numbers. Range: 0 to 1023."""
    cores: int | None = None
    """Cores on each of these sockets. Range: 1 to 256. Default: 1."""
    pattern: str | None = None
    """Order of the accesses: "sequential" (consecutive lines), "strided" (a constant stride, see `stride`) or "random"
    (uniform over the buffer).

    Default: "sequential".
    """
    stride: str | None = None
    """Distance between two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.

    Range: "64 B" to "1 TiB".
    """
    reads: float | None = None
    """Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back. Default: 1."""
    working_set: str | None = None
    """Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.

    Range: "64 B" to "64 TiB". Default: "1 GiB".
    """
    gap: str | None = None
    """Minimum time between two accesses of one core (time). Range: at most "1 ms". Default: "0 ps"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Dma(Description):
    """DMA that a device generates over a window of memory."""

    memory: str | None = None
    """Placement of the window: "local" to the device, "node:1" in the memory of a NUMA node (a socket, or with
    `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local" when absent.
    """
    operation: str
    """Direction: "read" reads memory, "write" writes it."""
    outstanding: int
    """Commands in flight; 1 measures the latency. Range: 1 to 65536."""
    pattern: str | None = None
    """Order of the commands in the window: "random" or "sequential". Default: "random"."""
    size: str
    """Bytes per command (size); a multiple of 64 B. Range: "64 B" to "1 MiB"."""
    window: str
    """Memory that the commands access (size), at least `size`. Range: "64 B" to "64 TiB"."""
    warm: bool | None = None
    """True if the LLC holds the window when the run begins, dirty, as after a core has written it; needs caches.

    Default: False.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Tiering(Description):
    """Migration of pages between the memory of the socket and memory behind a link."""

    cores: str | Sequence[int]
    """Cores that copy pages, each one page at a time: "31", "30-31" or a list of numbers. Range: 0 to 1023."""
    local: str
    """Memory of the socket that their pages may take (size); a page is a run of `memory.run`.

    Range: "4 KiB" to "64 TiB".
    """
    period: str | None = None
    """Time between two decisions of the policy (time). Range: "1 us" to "1 s". Default: "20 us"."""
    sample: int | None = None
    """Loads of a core for each one that is sampled, with its page and its latency. Range: 1 to 1000000. Default: 16."""
    shootdown: str | None = None
    """Time for which each core of the workloads does nothing but invalidate its translation of a page that migrates
    (time).

    Range: at most "1 ms". Default: "2 us".
    """
    workloads: Sequence[str]
    """Streams whose pages migrate, by the names of their workloads."""
    policy: str | None = None
    """Policy that decides which pages migrate: "user" for one that is given to the run, "none" for pages that stay.

    Default: "user".
    """


Workload = Stream | Fio | App | RemoteStream | Dma | Tiering

KINDS = {Stream: "stream", Fio: "fio", App: "app", RemoteStream: "remote", Dma: "dma", Tiering: "tiering"}
"""Value of the key `kind` of a workload, by class."""
