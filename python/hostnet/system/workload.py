# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Workloads of the server."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Stream(Description):
    """Loads and stores of cores over a buffer per core."""

    cores: str | Sequence[int]
    """The cores it runs on: "0-3", "0,2,4-5" or a list of numbers. Range: 0 to 1023."""
    pattern: str | None = None
    """The order of its accesses: "sequential" (line after line), "strided" (every so many bytes, see `stride`) or
    "random" (uniform over the buffer).

    Default: "sequential".
    """
    stride: str | None = None
    """Distance of two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.

    Range: "64 B" to "1 TiB".
    """
    reads: float | None = None
    """Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back. Default: 1."""
    working_set: str | None = None
    """Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.

    Range: "64 B" to "64 TiB". Default: "1 GiB".
    """
    gap: str | None = None
    """Least time between two accesses of one core (time). Range: at most "1 ms". Default: "0 ps"."""
    llc_ways: str | Sequence[int] | None = None
    """Ways of the LLC that its cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    contiguous; all when absent.

    Range: 0 to 63.
    """
    memory: str | None = None
    """Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    socket, "interleave" in that of all sockets in turn; "local" when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class FioJob(Description):
    """One job on one drive."""

    rw: str
    """Direction and order, as fio's `rw`: "read" (storage reads in order: P2M-Write), "write" (storage writes in order:
    P2M-Read), "randread" (storage reads at random), "randwrite" (storage writes at random), "rw" (both, in order) or
    "randrw" (both, at random); the order of blocks on the drive has no effect.
    """
    bs: str
    """Bytes per command (size); a multiple of 512 B. Range: "512 B" to "1 GiB"."""
    iodepth: int
    """Commands in flight. Range: 1 to 65536."""
    size: str
    """Bytes of the file (size), at least a block; nothing depends on it. Range: "512 B" to "64 TiB"."""
    rwmixread: int | None = None
    """Share of reads in percent for `rw` and `randrw`; 50 when absent. Range: 0 to 100."""
    ssd: int
    """The drive, from 0; below `ssd.count`. Range: 0 to 63."""
    core: int | None = None
    """The core that submits and completes; one of the workload's when absent. Range: 0 to 1023."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Fio(Description):
    """Storage IO in the manner of fio: `job` names a job file, or `jobs` gives the jobs."""

    job: str | None = None
    """A fio job file, relative to the configuration. Not together with `jobs`."""
    jobs: Sequence[FioJob] | None = None
    """The jobs themselves, 1 to 1024 tables. Not together with `job`."""
    rate: str | None = None
    """Cap on the rate of all jobs together, shared out evenly among its drives (bandwidth); none when absent.

    Range: "1 MB/s" to "100 TB/s".
    """
    cores: str | Sequence[int] | None = None
    """The cores that submit and complete, in turn; the last free cores of the socket when neither this nor the job says
    which.

    Range: 0 to 1023.
    """
    consume: bool | None = None
    """Whether the cores read the data of finished storage reads; needs caches. Default: False."""
    llc_ways: str | Sequence[int] | None = None
    """Ways of the LLC that its cores may allocate in (CAT), as of a stream; all when absent. Range: 0 to 63."""
    memory: str | None = None
    """Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    socket, "interleave" in that of all sockets in turn; "local" when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class AppLayout(Description):
    """redis: sizes of its structures, as the allocator hands them out."""

    entry: str | None = None
    """redis: an entry of the hash table, as the allocator hands it out (size). Range: "1 B" to "1 MiB"."""
    key: str | None = None
    """redis: a key with its header (size). Range: "1 B" to "1 MiB"."""
    object: str | None = None
    """redis: the object that leads to a value (size). Range: "1 B" to "1 MiB"."""
    header: str | None = None
    """redis: the header and end of a value, beside its data (size). Range: at most "1 MiB"."""
    request: str | None = None
    """redis: a request without a value (size). Range: "1 B" to "1 MiB"."""
    reply: str | None = None
    """redis: what stands around the data of a reply (size). Range: at most "1 MiB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AppInstructions(Description):
    """Instructions of its work, accesses that hit the L1 included."""

    request: int | None = None
    """redis: from the beginning of a request to the look at the hash table. Accesses that hit the L1 are part of all
    these counts.

    Range: 0 to 1000000.
    """
    entry: int | None = None
    """redis: per visited entry of a bucket. Range: 0 to 1000000."""
    reply: int | None = None
    """redis: of a GET, from the object to the first byte of its value. Range: 0 to 1000000."""
    set: int | None = None
    """redis: of a SET, from the object to the first byte of the new value. Range: 0 to 1000000."""
    finish: int | None = None
    """redis: what is left of an operation after its reply. Range: 0 to 1000000."""
    kernel: int | None = None
    """redis: the kernel's part of an operation, without the copy. Range: 0 to 1000000."""
    client: int | None = None
    """redis: a client's part of an operation. Range: 0 to 1000000."""
    line: int | None = None
    """redis: per line of a copy; stream: per line of the result; mlc, chase: per access. Range: 0 to 1000000."""
    node: int | None = None
    """pagerank, bc: per visit of a node. Range: 0 to 1000000."""
    edge: int | None = None
    """pagerank, bc: per neighbour of a visited node. Range: 0 to 1000000."""
    successor: int | None = None
    """bc: per neighbour that lies one level further from the source, in the search, beside `edge`.

    Range: 0 to 1000000.
    """
    dependency: int | None = None
    """bc: the same on the way back. Range: 0 to 1000000."""


@dataclass(frozen=True, kw_only=True, repr=False)
class App(Description):
    """An application. What it does not set comes from the profile of the application."""

    app: str
    """Which application: "redis" (a key-value server per core in the manner of Redis), "pagerank" (PageRank in the
    manner of GAPBS, one graph shared by all cores), "bc" (betweenness centrality in the manner of GAPBS, one graph
    shared by all cores), "stream" (a kernel of STREAM over three arrays shared by all cores, a part for each), "mlc"
    (loads and stores with a pause between them, in the manner of the Memory Latency Checker, MLC), "chase" (a pointer
    chase: a random cycle over the lines of a buffer per core) or "trace" (the trace of a program, which every core
    replays in memory of its own).
    """
    cores: str | Sequence[int]
    """The cores of its threads, one each: "0-3", "0,2,4-5" or a list of numbers. Range: 0 to 1023."""
    llc_ways: str | Sequence[int] | None = None
    """Ways of the LLC that its cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    contiguous; all when absent.

    Range: 0 to 63.
    """
    ipc: float | None = None
    """Instructions per clock of a thread when all data is at hand (0.01 to 16)."""
    in_flight: int | None = None
    """Operations that the clients of one thread keep in flight; 0 when it needs no clients. Range: 0 to 65536."""
    think: str | None = None
    """From the end of an operation to the next one of the same client (time); without clients it is nothing.

    Range: at most "1 s".
    """
    page_walks: bool | None = None
    """Whether its random accesses walk the page table when a page is not in the second-level TLB."""
    tlb_pages: int | None = None
    """Pages of `memory.page` whose translations the second-level TLB of a core holds. Range: 0 to 1048576."""
    keys: int | None = None
    """redis: keys of the server of one core. Range: 1 to 4294967296."""
    value: str | None = None
    """redis: bytes of a value (size). Range: "1 B" to "1 GiB"."""
    sets: float | None = None
    """redis: share of SET (0 to 1); the rest is GET."""
    clients: str | Sequence[int] | None = None
    """redis: the cores of its clients, as many as `cores`, each for the server at the same place; none when absent.
    Without them clients are think time alone.

    Range: 0 to 1023.
    """
    connections: int | None = None
    """redis: connections of the server of one core. Range: 1 to 65536."""
    pipeline: int | None = None
    """redis: requests that a connection sends at a time. Range: 1 to 65536."""
    socket: str | None = None
    """redis: kernel memory through which replies pass before it is used again, and as much for requests (size).

    Range: "64 B" to "1 GiB".
    """
    layout: AppLayout = AppLayout()
    """redis: sizes of its structures, as the allocator hands them out."""
    scale: int | None = None
    """pagerank, bc: nodes of the graph as a power of two: 25 is 2^25. Range: 4 to 32."""
    degree: int | None = None
    """pagerank, bc: edges per node, each of which joins two nodes. Range: 1 to 1024."""
    rounds: int | None = None
    """pagerank, bc: times that every node is visited in a whole run: iterations, sources. Range: 1 to 1000000."""
    kernel: str | None = None
    """stream: which kernel: "copy" (`c = a`), "scale" (`b = s * c`), "add" (`c = a + b`) or "triad" (`a = b + s * c`).
    """
    array: str | None = None
    """stream: bytes of one of its three arrays (size); a multiple of 64 B. Range: "64 B" to "16 TiB"."""
    working_set: str | None = None
    """mlc, chase: buffer of each core (size); a multiple of 64 B. Range: "64 B" to "64 TiB"."""
    reads: float | None = None
    """mlc: share of loads (0 to 1); the rest are stores."""
    pattern: str | None = None
    """mlc: the order of its accesses: "sequential" (line after line) or "random" (uniform over the buffer)."""
    delay: str | None = None
    """mlc: pause before every access (time). Range: at most "1 ms"."""
    file: str | None = None
    """trace: the file, relative to the configuration; plain, or compressed with gzip, xz or zstd. Every core replays
    all of it in memory of its own.
    """
    format: str | None = None
    """trace: how it is written: "lackey" (valgrind: `--tool=lackey --trace-mem=yes`), "drmemtrace" (DynamoRIO: the
    listing of drmemtrace's tool `view`), "ramulator-cpu" (ramulator, traces of a processor: "3 20734016"), "ramulator"
    (ramulator 2: "LD 0x1000" or "ST 4096"), "ramulator1" (ramulator 1: "0x1000 R" or "0x1000 W") or "dramsim3" ("0x1000
    READ 17": address, operation and clock); told by its first line when absent.
    """
    repeat: bool | None = None
    """trace: whether it begins again at its end. Otherwise it begins with the run, caches empty of it, and the thread
    ends with it.
    """
    instructions: AppInstructions = AppInstructions()
    """Instructions of its work, accesses that hit the L1 included."""
    memory: str | None = None
    """Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    socket, "interleave" in that of all sockets in turn; "local" when absent.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class RemoteStream(Description):
    """Loads and stores of cores of other sockets, over a buffer per core in the memory of this one."""

    sockets: str | Sequence[int]
    """The other sockets that it runs on, from 0: "0-2", "0,2" or a list of numbers. Range: 0 to 1023."""
    cores: int | None = None
    """Cores on each of them. Range: 1 to 256. Default: 1."""
    pattern: str | None = None
    """The order of its accesses: "sequential" (line after line), "strided" (every so many bytes, see `stride`) or
    "random" (uniform over the buffer).

    Default: "sequential".
    """
    stride: str | None = None
    """Distance of two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.

    Range: "64 B" to "1 TiB".
    """
    reads: float | None = None
    """Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back. Default: 1."""
    working_set: str | None = None
    """Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.

    Range: "64 B" to "64 TiB". Default: "1 GiB".
    """
    gap: str | None = None
    """Least time between two accesses of one core (time). Range: at most "1 ms". Default: "0 ps"."""


Workload = Stream | Fio | App | RemoteStream

KINDS = {Stream: "stream", Fio: "fio", App: "app", RemoteStream: "remote"}
"""What the key `kind` of a workload says, by class."""
