# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Programs of ranks that run on the hosts of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class JobStep(Description):
    """A step of a rank: it computes, then it sends and receives at the same time."""

    rank: int | None = None
    """The rank that takes it; every rank when absent, each with ranks relative to its own. Range: 0 to 16383."""
    name: str | None = None
    """What it is called in the results; "step" when absent."""
    compute: str | None = None
    """Time that it computes (time); none when absent. Range: at most "1000 s"."""
    instructions: int | None = None
    """Instructions that the core of a rank at a server executes, at the job's `ipc`; not together with `compute`.

    Range: 1 to 1000000000000.
    """
    reads: str | None = None
    """Memory that the core reads meanwhile, one line after the other (size). Range: "64 B" to "1 TB"."""
    writes: str | None = None
    """Memory that it writes in the same walk (size). Range: "64 B" to "1 TB"."""
    working_set: str | None = None
    """Memory that the walk goes through, over and over, from its beginning in each step (size); as much as is read and
    written when absent.

    Range: "64 B" to "1 TB".
    """
    gathers: int | None = None
    """Lines that it reads at random (count). Range: 1 to 1000000000000."""
    gather_set: str | None = None
    """Memory of these (size). Range: "64 B" to "1 TB"."""
    to: int | None = None
    """The rank that `send` goes to. Without `rank`: how many ranks further that is, around the end.

    Range: 0 to 16383.
    """
    send: str | None = None
    """What is sent (size). Range: "1 B" to "1000 TB"."""
    from_: int | None = None
    """The rank that `receive` comes from. Without `rank`: how many ranks before that is, around the end.

    Its key in files is `from`. Range: 0 to 16383.
    """
    receive: str | None = None
    """What is received (size). Range: "1 B" to "1000 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class JobCompute(Description):
    """What a rank computes in an iteration of training."""

    forward: str | None = None
    """Of the rank's accelerator: the forward pass (time); none when absent. Range: at most "1000 s"."""
    backward: str | None = None
    """Of the rank's accelerator: the backward pass, in which the vector comes about evenly (time); none when absent.

    Range: at most "1000 s".
    """
    copy: str | None = None
    """Of the rank: the vector is copied from the accelerator before it is exchanged (time); none when absent.

    Range: at most "1000 s".
    """
    update: str | None = None
    """Of the rank, after the exchange: the sum is put to use (time); with "aggregator" only of the rank that sums up,
    before it sends; none when absent.

    Range: at most "1000 s".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Job(Description):
    """A program whose ranks run at endpoints, or on cores of servers."""

    kind: str
    """What its ranks do: "allreduce" (a vector of every rank is summed up, and every rank gets the sum), "allgather"
    (every rank gets what all others have), "alltoall" (every rank sends something else to every other one), "broadcast"
    (every rank gets what rank 0 has), "barrier" (no rank goes on before all have come), "program" (what the steps say),
    "chakra" (what execution traces of MLCommons Chakra say), "npb-cg" (the conjugate gradient benchmark of NPB),
    "npb-ep" (the embarrassingly parallel benchmark of NPB), "npb-is" (the integer sort of NPB), "npb-mg" (the multigrid
    benchmark of NPB), "npb-ft" (the 3-D fast Fourier transform of NPB), "npb-lu" (the lower-upper Gauss-Seidel solver
    of NPB), "streaming" (an archetype: walks through memory, with sums over all ranks), "irregular" (an archetype:
    reads memory at random, with small messages to all ranks), "compute" (an archetype: computes in its caches, with
    sums over all ranks) or "shuffle" (an archetype: walks through memory, and all of it goes to other ranks).
    """
    hosts: str | Sequence[str]
    """The hosts that its ranks are at: a name or a list."""
    ranks: int | None = None
    """Ranks in all; rank r is at host r modulo their number. One at each host when this and `ranks_per_host` are
    absent.

    Range: 1 to 16384.
    """
    ranks_per_host: int | Sequence[int] | None = None
    """Ranks at each host: the first ones are at the first host. A list has a count for each entry of `hosts`. Not
    together with `ranks`.

    Range: 1 to 1024.
    """
    cores: str | Sequence[int] | None = None
    """Cores that ranks at a server have, one each in this order; from 0 on when absent. Range: 0 to 1023."""
    ipc: float | None = None
    """Instructions per cycle of ranks at servers when all data is at hand; 1 when absent. Range: 0.1 to 10."""
    data: str | None = None
    """Of "streaming", "irregular", "compute" and "shuffle": what the whole problem takes of all ranks together, as the
    memory of the data that it works on (size); 64 MiB when absent.

    Range: "64 KiB" to "1 TB".
    """
    bytes: str | None = None
    """Of the collectives but "barrier" (size): the vector of "allreduce" and "broadcast", what each rank gives in
    "allgather", what each sends to each other in "alltoall".

    Range: "1 B" to "1000 TB".
    """
    algorithm: str | None = None
    """How a collective is done: "ring" (everything goes from each rank to the next one), "recursive-doubling" (ranks
    whose distance doubles exchange what they have), "tree" (along a binomial tree), "pairwise" (every two ranks
    exchange), "aggregator" (one rank gets everything, and sends the sum back), "hierarchical" (trees within groups, and
    a ring of one rank of each) or "in-network" (switches sum up); when absent, "ring" for "allreduce" and "allgather",
    "pairwise" for "alltoall", "tree" for "broadcast", "recursive-doubling" for "barrier".
    """
    aggregator: str | None = None
    """Of "aggregator": a host that sums up and has no vector of its own: it has one more rank, the last one. Rank 0
    sums up when absent.
    """
    answer: str | None = None
    """Of "aggregator": how the sum goes back: "each" (to one rank after the other) or "tree" (along a binomial tree of
    them all, as MPI libraries broadcast); "each" when absent.
    """
    group: int | None = None
    """Of "hierarchical": ranks of a group, the first of which stands for it. When absent the ranks of a host, if all
    hosts have as many; with one at each the largest power of two up to the root of their number.

    Range: 1 to 16384.
    """
    sum: str | None = None
    """Of "allreduce": rate at which a rank adds what it has received to what it has (bandwidth); nothing is taken for
    that when absent. At servers the core executes as many instructions as that takes, and reads and writes memory
    beside.

    Range: "1 Mbps" to "10 TB/s".
    """
    bucket: str | None = None
    """Of "allreduce": what is exchanged at a time, while the rest of the backward pass still runs (size); all of it
    when absent.

    Range: "1 B" to "1000 TB".
    """
    trace: str | None = None
    """Of "chakra": the execution traces of the ranks, relative to the configuration, without their ends: "dir/name" of
    dir/name.0.et and so on; or with "%d" in place of the rank: "dir/rank_%d.et".
    """
    groups: str | None = None
    """Of "chakra": a JSON file of the groups of ranks that the traces name, relative to the configuration: an object
    with a list of ranks for each name.
    """
    peak: float | None = None
    """Of "chakra": operations per second of a rank's accelerator, for works that have operations and no duration.

    Range: 1 to 1e+18.
    """
    memory_rate: str | None = None
    """Of "chakra": rate of the accelerator's memory, for works that have bytes and no duration (bandwidth); when absent
    only operations take time.

    Range: "1 Mbps" to "100 TB/s".
    """
    iterations: int | None = None
    """How often it is done; 1 when absent, as many times as the benchmark says for those of NPB.

    Range: 1 to 1000000.
    """
    compute: str | JobCompute | None = None
    """Time that each rank computes before each iteration (time), or of "allreduce" a table of what it does around the
    exchange; none when absent. Not of those of NPB.

    Range: at most "1000 s".
    """
    steps: Sequence[JobStep] | None = None
    """Of "program": what the ranks do in each iteration, in order, as a list of at most 65536 tables."""
    problem: str | None = None
    """Of those of NPB: the class of the problem: "S" (sample), "W" (workstation), "A" (the smallest of the standard
    problems), "B" (about four times A) or "C" (about four times B); "S" when absent.
    """
    ops_per_s: float | None = None
    """Of those of NPB: operations per second of a rank, as NPB counts them; 1e9 when absent. Range: 1 to 1e+15."""
    transport: str | None = None
    """How messages between hosts are carried: a transport by name, over TCP or RoCE ("roce", "dcqcn"); "dctcp" when
    absent.
    """
    compress: bool | None = None
    """Whether the engines of NICs make what it sends between hosts smaller, with "aggregator" only what goes to the one
    that sums up; false when absent. Not over RoCE.
    """
    gro: str | None = None
    """Between endpoints and servers over TCP: what hosts that merge packets acknowledge at a time (size), or less after
    20 us; "64 KiB" when absent. With less than two packets every other one is acknowledged.

    Range: "1 B" to "1 GiB".
    """
    socket_rate: str | None = None
    """At endpoints: rate at which the core of a rank copies what it sends to sockets and what it receives, one thing at
    a time, and while it computes none (bandwidth); when absent that takes no time. Not over RoCE.

    Range: "1 Mbps" to "10 TB/s".
    """
    socket_send_rate: str | None = None
    """With `socket_rate`: the same of what it sends alone, which takes less of a core than what comes (bandwidth); as
    `socket_rate` when absent.

    Range: "1 Mbps" to "10 TB/s".
    """
    copy_rate: str | None = None
    """Rate at which a message is copied from one rank to another of the same host (bandwidth); "10 GB/s" when absent.

    Range: "1 Mbps" to "10 TB/s".
    """
    copy_latency: str | None = None
    """What such a message takes on top (time); "500 ns" when absent. Range: at most "1 s"."""
    start: str | None = None
    """When it is launched, from the start of the run (time); at once when absent. Range: at most "1000 s"."""
    launch: str | None = None
    """Time in which a host that runs launches another one, which then helps, as mpirun does it: log2 of the hosts such
    times until the last runs, and all begin (time); none when absent.

    Range: at most "1000 s".
    """
