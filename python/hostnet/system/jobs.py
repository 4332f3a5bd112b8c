# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Programs of ranks that run on the hosts of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class JobStep(Description):
    """Step of a rank: the rank computes, then sends and receives at the same time."""

    rank: int | None = None
    """Rank that executes the step; every rank when absent, each with ranks relative to its own. Range: 0 to 16383."""
    name: str | None = None
    """Name of the step in the results; "step" when absent."""
    compute: str | None = None
    """Time that the rank computes (time); none when absent. Range: at most "1000 s"."""
    instructions: int | None = None
    """Instructions that the core of a rank at a server executes, at the job's `ipc`; not together with `compute`.

    Range: 1 to 1000000000000.
    """
    reads: str | None = None
    """Memory that the core reads meanwhile, line by line in order (size). Range: "64 B" to "1 TB"."""
    writes: str | None = None
    """Memory that the core writes in the same pass (size). Range: "64 B" to "1 TB"."""
    working_set: str | None = None
    """Memory that the pass covers repeatedly, from its beginning in each step (size); as much as is read and written
    when absent.

    Range: "64 B" to "1 TB".
    """
    gathers: int | None = None
    """Lines that the core reads at random (count). Range: 1 to 1000000000000."""
    gather_set: str | None = None
    """Memory from which these lines are drawn (size). Range: "64 B" to "1 TB"."""
    to: int | None = None
    """Destination rank of `send`; without `rank`, its distance in ranks, modulo the number of ranks.

    Range: 0 to 16383.
    """
    send: str | None = None
    """Data that the rank sends (size). Range: "1 B" to "1000 TB"."""
    from_: int | None = None
    """Source rank of `receive`; without `rank`, its distance backward in ranks, modulo the number of ranks.

    Its key in files is `from`. Range: 0 to 16383.
    """
    receive: str | None = None
    """Data that the rank receives (size). Range: "1 B" to "1000 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class JobCompute(Description):
    """Computation of a rank in an iteration of training."""

    forward: str | None = None
    """Forward pass, on the rank's accelerator (time); none when absent. Range: at most "1000 s"."""
    backward: str | None = None
    """Backward pass, on the rank's accelerator, during which the vector is produced at a constant rate (time); none
    when absent.

    Range: at most "1000 s".
    """
    copy: str | None = None
    """Copy of the vector from the accelerator by the rank, before the exchange (time); none when absent.

    Range: at most "1000 s".
    """
    update: str | None = None
    """Application of the sum by the rank, after the exchange (time); with "aggregator" only by the rank that sums up,
    before it sends; none when absent.

    Range: at most "1000 s".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Transformer(Description):
    """For "transformer": the model, and how its training is divided among the ranks."""

    batch: int
    """Sequences of an iteration, of all ranks together; a multiple of `dp` times `microbatch`. Range: 1 to 1048576."""
    dp: int | None = None
    """Data parallelism: replicas of the model, which share the batch; as many as there are ranks for when absent.

    Range: 1 to 16384.
    """
    ep: int | None = None
    """Expert parallelism: replicas of the model that share the experts of a layer; a divisor of `dp` and of `experts`;
    1 when absent.

    Range: 1 to 16384.
    """
    experts: int | None = None
    """Experts of each layer (mixture of experts), each a feed-forward network; none when absent. Range: 2 to 16384."""
    experts_per_token: int | None = None
    """Experts that the router chooses for each token; 2 when absent. Range: 1 to 16384."""
    feed_forward: int | None = None
    """Numbers of a token between the two matrices of a feed-forward network; a multiple of `tp`; four times `width`
    when absent.

    Range: 1 to 4194304.
    """
    layers: int
    """Number of layers; a multiple of `pp`. Range: 1 to 4096."""
    microbatch: int | None = None
    """Sequences that a rank processes at a time; 1 when absent. Range: 1 to 1048576."""
    number: str | None = None
    """Size of a number: a parameter, a gradient or an activation (size); "2 B" when absent. Range: "1 B" to "8 B"."""
    pp: int | None = None
    """Pipeline parallelism: stages of consecutive layers; 1 when absent. Range: 1 to 4096."""
    schedule: str | None = None
    """Order of the passes of a pipeline: "1f1b" (after a warm-up, one forward and one backward pass in turn) or "gpipe"
    (all forward passes, then all backward passes); "1f1b" when absent.
    """
    sequence: int
    """Tokens of a sequence. Range: 1 to 16777216."""
    skew: float | None = None
    """Skew of the router: expert n, counted from 1, gets tokens in proportion to n to the power of minus this (Zipf);
    0, the same for all, when absent.

    Range: 0 to 10.
    """
    tp: int | None = None
    """Tensor parallelism: ranks that share each matrix; 1 when absent. Range: 1 to 16384."""
    width: int
    """Width of the model: numbers of a token between two layers; a multiple of `tp`. Range: 1 to 1048576."""
    zero: int | None = None
    """Stage of ZeRO: what the replicas share instead of each having it, 0 (nothing), 1 (the state of the optimizer), 2
    (also gradients) or 3 (also parameters); 0 when absent.

    Range: 0 to 3.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Job(Description):
    """Job: a program whose ranks run at endpoints, or on cores of servers."""

    kind: str
    """Program that the ranks run: "allreduce" (the vectors of all ranks are summed up, and every rank gets the sum),
    "allgather" (every rank gets the data of all others), "reducescatter" (the vectors of all ranks are summed up, and
    every rank gets a part of the sum), "alltoall" (every rank sends different data to every other one), "broadcast"
    (every rank gets the data of rank 0), "barrier" (no rank continues before all have arrived), "program" (the steps
    that you list), "chakra" (replay of execution traces of MLCommons Chakra), "transformer" (training of a transformer
    model), "npb-cg" (the conjugate gradient benchmark of NPB), "npb-ep" (the embarrassingly parallel benchmark of NPB),
    "npb-is" (the integer sort of NPB), "npb-mg" (the multigrid benchmark of NPB), "npb-ft" (the 3-D fast Fourier
    transform of NPB), "npb-lu" (the lower-upper Gauss-Seidel solver of NPB), "streaming" (an archetype: accesses memory
    sequentially, with sums over all ranks), "irregular" (an archetype: reads memory at random, with small messages to
    all ranks), "compute" (an archetype: computes in its caches, with sums over all ranks) or "shuffle" (an archetype:
    accesses memory sequentially, and sends all of its data to other ranks).
    """
    hosts: str | Sequence[str]
    """Hosts of the ranks: a name or a list."""
    ranks: int | None = None
    """Number of ranks; rank r runs at host r modulo the number of hosts. One at each host when this and
    `ranks_per_host` are absent.

    Range: 1 to 16384.
    """
    ranks_per_host: int | Sequence[int] | None = None
    """Ranks at each host; the first ranks run at the first host. A list has a count for each entry of `hosts`. Not
    together with `ranks`.

    Range: 1 to 1024.
    """
    cores: str | Sequence[int] | None = None
    """Cores of the ranks at a server, one each in this order; from 0 on when absent. Range: 0 to 1023."""
    ipc: float | None = None
    """Instructions per cycle of ranks at servers when no access misses the L1; 1 when absent. Range: 0.1 to 10."""
    data: str | None = None
    """For "streaming", "irregular", "compute" and "shuffle": size of the problem, as the memory of the data that all
    ranks together work on (size); 64 MiB when absent.

    Range: "64 KiB" to "1 TB".
    """
    bytes: str | None = None
    """For the collectives other than "barrier" (size): vector of "allreduce", "reducescatter" and "broadcast",
    contribution of each rank to "allgather", message from each rank to each other in "alltoall".

    Range: "1 B" to "1000 TB".
    """
    algorithm: str | None = None
    """Algorithm of a collective: "ring" (each rank sends to the next one), "recursive-doubling" (ranks exchange their
    data at distances that double), "halving-doubling" (ranks exchange halves of their data at distances that halve,
    then the sums at distances that double), "tree" (along a binomial tree), "pairwise" (each pair of ranks exchanges
    data), "direct" (each rank sends to all others at once), "aggregator" (one rank receives all vectors, and sends the
    sum back), "hierarchical" (trees within groups, and a ring of one rank per group), "double-binary-tree" (along two
    binary trees, half of the data each), "2d-ring" (rings within groups, and rings across them for the parts of the
    data), "in-network" (switches sum up) or "auto" (the fastest by closed forms); when absent, "ring" for "allreduce",
    "allgather" and "reducescatter", "pairwise" for "alltoall", "tree" for "broadcast", "recursive-doubling" for
    "barrier".
    """
    aggregator: str | None = None
    """For "aggregator": host that sums up and has no vector: it runs one additional rank, the last one; rank 0 sums up
    when absent.
    """
    answer: str | None = None
    """For "aggregator": distribution of the sum: "each" (to one rank after the other) or "tree" (along a binomial tree
    of all ranks, as MPI libraries broadcast); "each" when absent.
    """
    group: int | None = None
    """For "hierarchical": ranks of a group, the first of which represents the group. When absent the ranks of a host,
    if all hosts have the same number of ranks; with one rank per host, the largest power of two up to the square root
    of their number. For "2d-ring": ranks of a group, which divide the number of ranks. When absent the ranks of a host;
    with one rank per host, those at a switch, if all switches have the same number; at one switch, the largest divisor
    up to the square root.

    Range: 1 to 16384.
    """
    blocking: bool | None = None
    """For "ring" of "allreduce" and "allgather": true if a rank sends and receives one after the other, as with
    `MPI_Send` and `MPI_Recv` (even ranks send first, odd ones receive first), and not both at once, as with
    `MPI_Sendrecv`. For "chakra" and "transformer": true if a rank executes one communication after the other, and waits
    for each; true when absent with ranks at servers, `socket_rate` or `compress`. False when absent otherwise.
    """
    sum: str | None = None
    """For "allreduce" and "reducescatter": rate at which a rank adds received data to its own (bandwidth); adding takes
    no time when absent. At servers the core executes as many instructions as take that time, and also reads and writes
    memory.

    Range: "1 Mbps" to "10 TB/s".
    """
    bucket: str | None = None
    """For "allreduce": data that is exchanged at a time, while the rest of the backward pass still runs (size); the
    whole vector when absent.

    Range: "1 B" to "1000 TB".
    """
    trace: str | None = None
    """For "chakra": execution traces of the ranks, relative to the configuration, without suffixes: "dir/name" for
    dir/name.0.et and so on; or with "%d" in place of the rank: "dir/rank_%d.et".
    """
    groups: str | None = None
    """For "chakra": JSON file with the groups of ranks that the traces name, relative to the configuration: an object
    with a list of ranks for each name.
    """
    peak: float | None = None
    """For "chakra" and "transformer": operations per second of a rank's accelerator, for computations that have
    operations and no duration.

    Range: 1 to 1e+18.
    """
    memory_rate: str | None = None
    """For "chakra" and "transformer": bandwidth of the accelerator's memory, for computations that have bytes and no
    duration (bandwidth); when absent only operations take time.

    Range: "1 Mbps" to "100 TB/s".
    """
    iterations: int | None = None
    """Number of iterations; 1 when absent, the number of the benchmark for NPB. Range: 1 to 1000000."""
    compute: str | JobCompute | None = None
    """Time that each rank computes before each iteration (time), or for "allreduce" a table of the work around the
    exchange; none when absent. Not for NPB.

    Range: at most "1000 s".
    """
    steps: Sequence[JobStep] | None = None
    """For "program": steps of the ranks in each iteration, in order, as a list of at most 65536 tables."""
    problem: str | None = None
    """For NPB: class of the problem: "S" (sample), "W" (workstation), "A" (the smallest of the standard problems), "B"
    (about four times A) or "C" (about four times B); "S" when absent.
    """
    ops_per_s: float | None = None
    """For NPB: operations per second of a rank, as NPB counts them; 1e9 when absent. Range: 1 to 1e+15."""
    transport: str | None = None
    """Transport of messages between hosts, by name, over TCP or RoCE ("roce", "dcqcn"); "dctcp" when absent."""
    compress: bool | None = None
    """True if the engines of NICs compress data between hosts, with "aggregator" only data sent to the rank that sums
    up; false when absent. Not over RoCE.
    """
    gro: str | None = None
    """Between endpoints and servers over TCP: data per acknowledgement of a host that merges packets (size), or less
    after 20 us; "64 KiB" when absent. If it is less than two packets, every other packet is acknowledged.

    Range: "1 B" to "1 GiB".
    """
    socket_rate: str | None = None
    """At endpoints: rate at which the core of a rank copies data to and from sockets, one copy at a time, and not while
    it computes (bandwidth); when absent copies take no time. Not over RoCE.

    Range: "1 Mbps" to "10 TB/s".
    """
    socket_send_rate: str | None = None
    """With `socket_rate`: rate of copies of sent data, which cost a core less than those of received data (bandwidth);
    as `socket_rate` when absent.

    Range: "1 Mbps" to "10 TB/s".
    """
    copy_rate: str | None = None
    """Rate at which a message is copied between two ranks of the same host (bandwidth); "10 GB/s" when absent.

    Range: "1 Mbps" to "10 TB/s".
    """
    copy_latency: str | None = None
    """Latency of such a message beyond its copy (time); "500 ns" when absent. Range: at most "1 s"."""
    start: str | None = None
    """Time of the launch of the job, from the start of the run (time); at once when absent. Range: at most "1000 s"."""
    launch: str | None = None
    """Time in which a running host launches another one, which then launches others too, as mpirun does: after log2 of
    the number of hosts such times the last host runs, and all ranks start (time); none when absent.

    Range: at most "1000 s".
    """
    alltoall: str | None = None
    """For "chakra" and for experts of "transformer" without `skew`: algorithm of each `ALL_TO_ALL`; when absent,
    "direct" for "transformer" without `blocking`, "pairwise" otherwise. "direct" not with `blocking`.
    """
    order: str | None = None
    """For "chakra" and "transformer": operation that a stream of a rank executes next, of those that are ready: "id"
    (the one with the smallest id) or "ready" (the one that became ready first); "id" when absent. Not with `blocking`.
    """
    chunk: str | None = None
    """For "ring", "2d-ring" and "double-binary-tree": largest part of a message that is sent on as soon as it has
    arrived (size), at most 65536 in a message; messages are sent on as a whole when absent. Not with `blocking`.

    Range: "1 B" to "1000 TB".
    """
    model: Transformer | None = None
    """For "transformer": the model, and how its training is divided among the ranks."""
