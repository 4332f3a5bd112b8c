//! Jobs: programs of ranks that compute and send each other messages.

use super::lists::{CoreList, Names, RanksPerHost};
use super::training::ComputeSpec;
use super::transformer::TransformerSpec;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Job: a program whose ranks run at endpoints, or on cores of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Program that the ranks run.
    pub kind: JobKindSpec,
    /// Hosts of the ranks: a name or a list.
    pub hosts: Names,
    /// Number of ranks; rank r runs at host r modulo the number of hosts. One at each host when this and
    /// `ranks_per_host` are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub ranks: Option<u32>,
    /// Ranks at each host; the first ranks run at the first host. A list has a count for each entry of `hosts`. Not
    /// together with `ranks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks_per_host: Option<RanksPerHost>,
    /// Cores of the ranks at a server, one each in this order; from 0 on when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// Instructions per cycle of ranks at servers when no access misses the L1; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 10.0))]
    pub ipc: Option<f64>,
    /// For "streaming", "irregular", "compute" and "shuffle": size of the problem, as the memory of the data that all
    /// ranks together work on (size); 64 MiB when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "1 TB"))]
    pub data: Option<Size>,
    /// For the collectives other than "barrier" (size): vector of "allreduce", "reducescatter" and "broadcast",
    /// contribution of each rank to "allgather", message from each rank to each other in "alltoall".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub bytes: Option<Size>,
    /// Algorithm of a collective; when absent, "ring" for "allreduce", "allgather" and "reducescatter", "pairwise" for
    /// "alltoall", "tree" for "broadcast", "recursive-doubling" for "barrier".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<AlgorithmSpec>,
    /// For "aggregator": host that sums up and has no vector: it runs one additional rank, the last one; rank 0 sums up
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<String>,
    /// For "aggregator": distribution of the sum: "each" (to one rank after the other) or "tree" (along a binomial tree
    /// of all ranks, as MPI libraries broadcast); "each" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSpec>,
    /// For "hierarchical": ranks of a group, the first of which represents the group. When absent the ranks of a host,
    /// if all hosts have the same number of ranks; with one rank per host, the largest power of two up to the square
    /// root of their number. For "2d-ring": ranks of a group, which divide the number of ranks. When absent the ranks
    /// of a host; with one rank per host, those at a switch, if all switches have the same number; at one switch, the
    /// largest divisor up to the square root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub group: Option<u32>,
    /// For "ring", "2d-ring" and "double-binary-tree": largest part of a message that is sent on as soon as it has
    /// arrived (size), at most 65536 in a message; messages are sent on as a whole when absent. Not with `blocking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub chunk: Option<Size>,
    /// For "ring" of "allreduce" and "allgather": true if a rank sends and receives one after the other, as with
    /// `MPI_Send` and `MPI_Recv` (even ranks send first, odd ones receive first), and not both at once, as with
    /// `MPI_Sendrecv`. For "chakra" and "transformer": true if a rank executes one communication after the other, and
    /// waits for each; true when absent with ranks at servers, `socket_rate` or `compress`. False when absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    /// For "allreduce" and "reducescatter": rate at which a rank adds received data to its own (bandwidth); adding
    /// takes no time when absent. At servers the core executes as many instructions as take that time, and also reads
    /// and writes memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub sum: Option<Bandwidth>,
    /// For "allreduce": data that is exchanged at a time, while the rest of the backward pass still runs (size); the
    /// whole vector when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub bucket: Option<Size>,
    /// For "chakra": execution traces of the ranks, relative to the configuration, without suffixes: "dir/name" for
    /// dir/name.0.et and so on; or with "%d" in place of the rank: "dir/rank_%d.et".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// For "chakra": JSON file with the groups of ranks that the traces name, relative to the configuration: an object
    /// with a list of ranks for each name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// For "chakra" and "transformer": operations per second of a rank's accelerator, for computations that have
    /// operations and no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1e18))]
    pub peak: Option<f64>,
    /// For "chakra" and "transformer": bandwidth of the accelerator's memory, for computations that have bytes and no
    /// duration (bandwidth); when absent only operations take time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "100 TB/s"))]
    pub memory_rate: Option<Bandwidth>,
    /// For "chakra" and for experts of "transformer" without `skew`: algorithm of each `ALL_TO_ALL`; when absent,
    /// "direct" for "transformer" without `blocking`, "pairwise" otherwise. "direct" not with `blocking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alltoall: Option<AlltoallSpec>,
    /// For "chakra" and "transformer": operation that a stream of a rank executes next, of those that are ready; "id"
    /// when absent. Not with `blocking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<ReadyOrderSpec>,
    /// For "transformer": the model, and how its training is divided among the ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<TransformerSpec>,
    /// Number of iterations; 1 when absent, the number of the benchmark for NPB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: Option<u32>,
    /// Time that each rank computes before each iteration (time), or for "allreduce" a table of the work around the
    /// exchange; none when absent. Not for NPB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeSpec>,
    /// For "program": steps of the ranks in each iteration, in order, as a list of at most 65536 tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 65536))]
    pub steps: Vec<JobStepSpec>,
    /// For NPB: class of the problem; "S" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemSpec>,
    /// For NPB: operations per second of a rank, as NPB counts them; 1e9 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1e15))]
    pub ops_per_s: Option<f64>,
    /// Transport of messages between hosts, by name, over TCP or RoCE ("roce", "dcqcn"); "dctcp" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// True if the engines of NICs compress data between hosts, with "aggregator" only data sent to the rank that sums
    /// up; false when absent. Not over RoCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<bool>,
    /// Rate at which a message is copied between two ranks of the same host (bandwidth); "10 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub copy_rate: Option<Bandwidth>,
    /// Latency of such a message beyond its copy (time); "500 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub copy_latency: Option<Time>,
    /// Between endpoints and servers over TCP: data per acknowledgement of a host that merges packets (size), or less
    /// after 20 us; "64 KiB" when absent. If it is less than two packets, every other packet is acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub gro: Option<Size>,
    /// At endpoints: rate at which the core of a rank copies data to and from sockets, one copy at a time, and not
    /// while it computes (bandwidth); when absent copies take no time. Not over RoCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub socket_rate: Option<Bandwidth>,
    /// With `socket_rate`: rate of copies of sent data, which cost a core less than those of received data (bandwidth);
    /// as `socket_rate` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub socket_send_rate: Option<Bandwidth>,
    /// Time of the launch of the job, from the start of the run (time); at once when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub start: Time,
    /// Time in which a running host launches another one, which then launches others too, as mpirun does: after log2 of
    /// the number of hosts such times the last host runs, and all ranks start (time); none when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub launch: Time,
}

/// Program that the ranks of a job run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobKindSpec {
    /// The vectors of all ranks are summed up, and every rank gets the sum.
    Allreduce,
    /// Every rank gets the data of all others.
    Allgather,
    /// The vectors of all ranks are summed up, and every rank gets a part of the sum.
    Reducescatter,
    /// Every rank sends different data to every other one.
    Alltoall,
    /// Every rank gets the data of rank 0.
    Broadcast,
    /// No rank continues before all have arrived.
    Barrier,
    /// The steps that you list.
    Program,
    /// Replay of execution traces of MLCommons Chakra.
    Chakra,
    /// Training of a transformer model.
    Transformer,
    /// The conjugate gradient benchmark of NPB.
    NpbCg,
    /// The embarrassingly parallel benchmark of NPB.
    NpbEp,
    /// The integer sort of NPB.
    NpbIs,
    /// The multigrid benchmark of NPB.
    NpbMg,
    /// The 3-D fast Fourier transform of NPB.
    NpbFt,
    /// The lower-upper Gauss-Seidel solver of NPB.
    NpbLu,
    /// An archetype: accesses memory sequentially, with sums over all ranks.
    Streaming,
    /// An archetype: reads memory at random, with small messages to all ranks.
    Irregular,
    /// An archetype: computes in its caches, with sums over all ranks.
    Compute,
    /// An archetype: accesses memory sequentially, and sends all of its data to other ranks.
    Shuffle,
}

/// Algorithm of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmSpec {
    /// Each rank sends to the next one.
    Ring,
    /// Ranks exchange their data at distances that double.
    RecursiveDoubling,
    /// Ranks exchange halves of their data at distances that halve, then the sums at distances that double.
    HalvingDoubling,
    /// Along a binomial tree.
    Tree,
    /// Each pair of ranks exchanges data.
    Pairwise,
    /// Each rank sends to all others at once.
    Direct,
    /// One rank receives all vectors, and sends the sum back.
    Aggregator,
    /// Trees within groups, and a ring of one rank per group.
    Hierarchical,
    /// Along two binary trees, half of the data each.
    DoubleBinaryTree,
    /// Rings within groups, and rings across them for the parts of the data.
    #[serde(rename = "2d-ring")]
    TwoDimensionalRing,
    /// Switches sum up.
    InNetwork,
    /// The fastest by closed forms.
    Auto,
}

/// Distribution of a sum by the rank that computed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerSpec {
    /// To one rank after the other.
    #[default]
    Each,
    /// Along a binomial tree.
    Tree,
}

/// Algorithm of an all-to-all in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlltoallSpec {
    /// Each pair of ranks exchanges data, one pair after the other.
    #[default]
    Pairwise,
    /// Each rank sends to all others at once.
    Direct,
}

/// Operation that a stream of a rank executes next, of those that are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadyOrderSpec {
    /// The one with the smallest id.
    #[default]
    Id,
    /// The one that became ready first.
    Ready,
}

/// Class of a problem of NPB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProblemSpec {
    /// Sample.
    #[default]
    S,
    /// Workstation.
    W,
    /// The smallest of the standard problems.
    A,
    /// About four times A.
    B,
    /// About four times B.
    C,
}

/// Step of a rank: the rank computes, then sends and receives at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobStepSpec {
    /// Rank that executes the step; every rank when absent, each with ranks relative to its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16383))]
    pub rank: Option<u32>,
    /// Name of the step in the results; "step" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time that the rank computes (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub compute: Option<Time>,
    /// Instructions that the core of a rank at a server executes, at the job's `ipc`; not together with `compute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub instructions: Option<u64>,
    /// Memory that the core reads meanwhile, line by line in order (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub reads: Option<Size>,
    /// Memory that the core writes in the same pass (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub writes: Option<Size>,
    /// Memory that the pass covers repeatedly, from its beginning in each step (size); as much as is read and written
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub working_set: Option<Size>,
    /// Lines that the core reads at random (count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub gathers: Option<u64>,
    /// Memory from which these lines are drawn (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub gather_set: Option<Size>,
    /// Destination rank of `send`; without `rank`, its distance in ranks, modulo the number of ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16383))]
    pub to: Option<u32>,
    /// Data that the rank sends (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub send: Option<Size>,
    /// Source rank of `receive`; without `rank`, its distance backward in ranks, modulo the number of ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16383))]
    pub from: Option<u32>,
    /// Data that the rank receives (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub receive: Option<Size>,
}

impl JobStepSpec {
    /// Returns the first given key that needs a core, if any.
    pub fn key_of_servers(&self) -> Option<&'static str> {
        let keys = [
            ("instructions", self.instructions.is_some()),
            ("reads", self.reads.is_some()),
            ("writes", self.writes.is_some()),
            ("working_set", self.working_set.is_some()),
            ("gathers", self.gathers.is_some()),
            ("gather_set", self.gather_set.is_some()),
        ];
        keys.into_iter().find(|(_, given)| *given).map(|(key, _)| key)
    }
}

fn no_time() -> Time {
    Time(0)
}
