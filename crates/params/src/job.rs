//! Jobs: programs of ranks that compute and send each other messages.

use super::lists::{CoreList, Names, RanksPerHost};
use super::training::ComputeSpec;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program whose ranks run at endpoints, or on cores of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// What its ranks do.
    pub kind: JobKindSpec,
    /// The hosts that its ranks are at: a name or a list.
    pub hosts: Names,
    /// Ranks in all; rank r is at host r modulo their number. One at each host when this and `ranks_per_host` are
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub ranks: Option<u32>,
    /// Ranks at each host: the first ones are at the first host. A list has a count for each entry of `hosts`. Not
    /// together with `ranks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks_per_host: Option<RanksPerHost>,
    /// Cores that ranks at a server have, one each in this order; from 0 on when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// Instructions per cycle of ranks at servers when all data is at hand; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 10.0))]
    pub ipc: Option<f64>,
    /// Of "streaming", "irregular", "compute" and "shuffle": what the whole problem takes of all ranks together, as the
    /// memory of the data that it works on (size); 64 MiB when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "1 TB"))]
    pub data: Option<Size>,
    /// Of the collectives but "barrier" (size): the vector of "allreduce" and "broadcast", what each rank gives in
    /// "allgather", what each sends to each other in "alltoall".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub bytes: Option<Size>,
    /// How a collective is done; when absent, "ring" for "allreduce" and "allgather", "pairwise" for "alltoall", "tree"
    /// for "broadcast", "recursive-doubling" for "barrier".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<AlgorithmSpec>,
    /// Of "aggregator": a host that sums up and has no vector of its own: it has one more rank, the last one. Rank 0
    /// sums up when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<String>,
    /// Of "aggregator": how the sum goes back: "each" (to one rank after the other) or "tree" (along a binomial tree of
    /// them all, as MPI libraries broadcast); "each" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSpec>,
    /// Of "hierarchical": ranks of a group, the first of which stands for it. When absent the ranks of a host, if all
    /// hosts have as many; with one at each the largest power of two up to the root of their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub group: Option<u32>,
    /// Of "allreduce": rate at which a rank adds what it has received to what it has (bandwidth); nothing is taken for
    /// that when absent. At servers the core executes as many instructions as that takes, and reads and writes memory
    /// beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub sum: Option<Bandwidth>,
    /// Of "allreduce": what is exchanged at a time, while the rest of the backward pass still runs (size); all of it
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub bucket: Option<Size>,
    /// Of "chakra": the execution traces of the ranks, relative to the configuration, without their ends: "dir/name" of
    /// dir/name.0.et and so on; or with "%d" in place of the rank: "dir/rank_%d.et".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Of "chakra": a JSON file of the groups of ranks that the traces name, relative to the configuration: an object
    /// with a list of ranks for each name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// Of "chakra": operations per second of a rank's accelerator, for works that have operations and no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1e18))]
    pub peak: Option<f64>,
    /// Of "chakra": rate of the accelerator's memory, for works that have bytes and no duration (bandwidth); when
    /// absent only operations take time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "100 TB/s"))]
    pub memory_rate: Option<Bandwidth>,
    /// How often it is done; 1 when absent, as many times as the benchmark says for those of NPB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: Option<u32>,
    /// Time that each rank computes before each iteration (time), or of "allreduce" a table of what it does around the
    /// exchange; none when absent. Not of those of NPB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeSpec>,
    /// Of "program": what the ranks do in each iteration, in order, as a list of at most 65536 tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 65536))]
    pub steps: Vec<JobStepSpec>,
    /// Of those of NPB: the class of the problem; "S" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemSpec>,
    /// Of those of NPB: operations per second of a rank, as NPB counts them; 1e9 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1e15))]
    pub ops_per_s: Option<f64>,
    /// How messages between hosts are carried: a transport by name, over TCP or RoCE ("roce", "dcqcn"); "dctcp" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Whether the engines of NICs make what it sends between hosts smaller, with "aggregator" only what goes to the
    /// one that sums up; false when absent. Not over RoCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress: Option<bool>,
    /// Rate at which a message is copied from one rank to another of the same host (bandwidth); "10 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub copy_rate: Option<Bandwidth>,
    /// What such a message takes on top (time); "500 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub copy_latency: Option<Time>,
    /// Between endpoints and servers over TCP: what hosts that merge packets acknowledge at a time (size), or less
    /// after 20 us; "64 KiB" when absent. With less than two packets every other one is acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub gro: Option<Size>,
    /// At endpoints: rate at which the core of a rank copies what it sends to sockets and what it receives, one
    /// thing at a time, and while it computes none (bandwidth); when absent that takes no time. Not over RoCE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub socket_rate: Option<Bandwidth>,
    /// With `socket_rate`: the same of what it sends alone, which takes less of a core than what comes (bandwidth); as
    /// `socket_rate` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub socket_send_rate: Option<Bandwidth>,
    /// When it is launched, from the start of the run (time); at once when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub start: Time,
    /// Time in which a host that runs launches another one, which then helps, as mpirun does it: log2 of the hosts such
    /// times until the last runs, and all begin (time); none when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub launch: Time,
}

/// What the ranks of a job do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobKindSpec {
    /// A vector of every rank is summed up, and every rank gets the sum.
    Allreduce,
    /// Every rank gets what all others have.
    Allgather,
    /// Every rank sends something else to every other one.
    Alltoall,
    /// Every rank gets what rank 0 has.
    Broadcast,
    /// No rank goes on before all have come.
    Barrier,
    /// What the steps say.
    Program,
    /// What execution traces of MLCommons Chakra say.
    Chakra,
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
    /// An archetype: walks through memory, with sums over all ranks.
    Streaming,
    /// An archetype: reads memory at random, with small messages to all ranks.
    Irregular,
    /// An archetype: computes in its caches, with sums over all ranks.
    Compute,
    /// An archetype: walks through memory, and all of it goes to other ranks.
    Shuffle,
}

/// How a collective is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmSpec {
    /// Everything goes from each rank to the next one.
    Ring,
    /// Ranks whose distance doubles exchange what they have.
    RecursiveDoubling,
    /// Along a binomial tree.
    Tree,
    /// Every two ranks exchange.
    Pairwise,
    /// One rank gets everything, and sends the sum back.
    Aggregator,
    /// Trees within groups, and a ring of one rank of each.
    Hierarchical,
    /// Switches sum up.
    InNetwork,
}

/// How a sum goes back from the rank that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerSpec {
    /// To one rank after the other.
    #[default]
    Each,
    /// Along a binomial tree.
    Tree,
}

/// The class of a problem of NPB.
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

/// A step of a rank: it computes, then it sends and receives at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobStepSpec {
    /// The rank that takes it; every rank when absent, each with ranks relative to its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16383))]
    pub rank: Option<u32>,
    /// What it is called in the results; "step" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time that it computes (time); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub compute: Option<Time>,
    /// Instructions that the core of a rank at a server executes, at the job's `ipc`; not together with `compute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub instructions: Option<u64>,
    /// Memory that the core reads meanwhile, one line after the other (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub reads: Option<Size>,
    /// Memory that it writes in the same walk (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub writes: Option<Size>,
    /// Memory that the walk goes through, over and over, from its beginning in each step (size); as much as is read and
    /// written when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub working_set: Option<Size>,
    /// Lines that it reads at random (count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub gathers: Option<u64>,
    /// Memory of these (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TB"))]
    pub gather_set: Option<Size>,
    /// The rank that `send` goes to. Without `rank`: how many ranks further that is, around the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16383))]
    pub to: Option<u32>,
    /// What is sent (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub send: Option<Size>,
    /// The rank that `receive` comes from. Without `rank`: how many ranks before that is, around the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16383))]
    pub from: Option<u32>,
    /// What is received (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1000 TB"))]
    pub receive: Option<Size>,
}

impl JobStepSpec {
    /// A key that is given and needs a core.
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
