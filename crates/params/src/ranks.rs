//! Parameters of the ranks of a training job.

use super::program::StepBlockParams;
use super::transport::RDMA_REGION_BYTES;
use serde::{Deserialize, Serialize};

/// Job of several ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobParams {
    /// Name that the user gave the job.
    pub name: String,
    /// Kind of the job, as the user wrote it.
    pub kind: String,
    /// Host of each rank.
    pub hosts: Vec<u16>,
    /// Number of times that the ranks run all blocks.
    pub iterations: u32,
    /// Launch of the job, in ps.
    pub launch_ps: u64,
    /// Start of the ranks, in ps.
    pub start_ps: u64,
    /// Bandwidth of messages between ranks of one host, in bytes per second.
    pub copy_bytes_per_s: u64,
    /// Latency of messages between ranks of one host beyond that, in ps.
    pub copy_ps: u64,
    /// Bandwidths at which the core of a rank at an endpoint copies from sockets, and to sockets, in bytes per second;
    /// `None` = copies take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_bytes_per_s: Option<[u64; 2]>,
    /// Names of the phases; steps refer to them by index.
    pub phases: Vec<String>,
    /// Blocks that the ranks run one after the other.
    pub blocks: Vec<StepBlockParams>,
    /// Core of each rank, if any rank is at a server; ignored at endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<RankCore>,
    /// Works that the cores execute for steps; steps refer to them by number, from 1 on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<StepWorkParams>,
    /// Switches that reduce the vectors of the job. Steps and channels number them after the ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reducers: Vec<ReducerParams>,
    /// True if a stream executes its operations in the order in which they become ready; otherwise the one with the
    /// smallest id is next.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_ready: bool,
}

impl JobParams {
    /// Returns the host of a rank, or of a switch that reduces vectors, by its number.
    #[must_use]
    pub fn host_of(&self, number: u32) -> u16 {
        let number = number as usize;
        match number.checked_sub(self.hosts.len()) {
            None => self.hosts[number],
            Some(reducer) => self.reducers[reducer].host,
        }
    }

    /// Returns the core of a rank; 0 at an endpoint.
    #[must_use]
    pub fn core_of(&self, rank: u32) -> u32 {
        self.cores.get(rank as usize).map_or(0, |seat| seat.core)
    }

    /// Returns the layout of the memory of a rank at a server.
    #[must_use]
    pub fn rank_layout(&self) -> RankLayout {
        let most = |of: fn(&StepWorkParams) -> u64| self.works.iter().map(of).max().unwrap_or(0);
        // A rank has one page for its own line.
        let messages = 4096;
        let walk = messages + RANK_SLOT_BYTES;
        let gather = walk + most(|work| work.span_lines) * 64;
        RankLayout { messages, walk, gather, bytes: gather + most(|work| work.gather_lines) * 64 }
    }

    /// Returns the bytes of the memory region of an end of an RDMA flow between ranks: every message of the job fits,
    /// up to [`RDMA_REGION_BYTES`].
    #[must_use]
    pub fn rdma_region_bytes(&self) -> u64 {
        // Whole pages, as the base of a region is a multiple of 4096.
        self.largest_message().next_multiple_of(4096).clamp(4096, RDMA_REGION_BYTES)
    }
}

/// Switch that reduces the vectors of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducerParams {
    /// Host that stands for the reduction engine of the switch.
    pub host: u16,
    /// Switch that the engine belongs to.
    pub switch: u16,
    /// Rate of the engine in bytes of the sum per second, for any number of inputs.
    pub bytes_per_s: u64,
    /// Data of a packet in bytes, at least 1: the largest unit of the reduction.
    pub packet_bytes: u32,
    /// Number of the reducer that receives the sums; `None` at the root of the tree.
    pub output: Option<u32>,
    /// Numbers of the ranks and reducers that send vectors to this one.
    pub inputs: Vec<u32>,
}

/// Core that a rank runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankCore {
    /// Number of the core in its server.
    pub core: u32,
    /// Time per instruction when no access misses the L1, in fs.
    pub instruction_fs: u64,
}

/// Work of a core for a step of a rank: instructions, evenly interspersed with accesses that miss the L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepWorkParams {
    /// Instructions.
    pub instructions: u64,
    /// Lines read sequentially.
    pub read_lines: u64,
    /// Lines written sequentially, in the same walk.
    pub write_lines: u64,
    /// Lines read at random.
    pub gathers: u64,
    /// Lines of memory that the walk cycles through, starting over in each step; at least 1 with a walk.
    pub span_lines: u64,
    /// Lines of memory that gathers select from; at least 1 with gathers.
    pub gather_lines: u64,
}

/// Step of a rank: it computes, then it sends and receives at the same time. The step is over when the sent data has
/// been written to its connection and the received data has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankStepParams {
    /// Phase of the step, as an index into [`JobParams::phases`].
    pub phase: u8,
    /// Computing time, in ps.
    pub compute_ps: u64,
    /// Work that the core of a rank at a server executes in place of that time: a number of [`JobParams::works`], from
    /// 1 on; 0 = as many instructions as fill the time.
    pub work: u16,
    /// Work of the rank's accelerator that the step submits and waits for, before it computes.
    pub device: AcceleratorParams,
    /// Message to send: destination rank and bytes.
    pub send: Option<RankMessageParams>,
    /// Offset of the sent data in the vector of a collective, in bytes.
    #[serde(default)]
    pub at: u64,
    /// Message to receive: source rank and bytes.
    pub receive: Option<RankMessageParams>,
    /// True if the step does not wait until its message is written to the connection, as `MPI_Isend` does not. A copy
    /// to a rank of the same host is waited for.
    #[serde(default)]
    pub posts: bool,
}

/// Interaction of a step with the accelerator of its rank, which executes works in order while the rank goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceleratorParams {
    /// Time of the work that the step submits to the accelerator, in ps; 0 = none.
    pub work_ps: u64,
    /// Works that may be left in the accelerator when the step goes on.
    pub left: u32,
}

impl Default for AcceleratorParams {
    /// No interaction.
    fn default() -> Self {
        Self { work_ps: 0, left: u32::MAX }
    }
}

/// Message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankMessageParams {
    /// The other rank.
    pub rank: u32,
    /// Bytes; at least 1.
    pub bytes: u64,
}

/// Channel between two ranks of a job at different hosts, or between a rank and a switch that reduces vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankChannelParams {
    /// Job that the channel belongs to.
    pub job: u32,
    /// Rank at [`super::FlowParams::from`], and rank at [`super::FlowParams::to`].
    pub ranks: [u32; 2],
    /// Number of the connection among those between the two ranks: 0 for messages, and from 1 on for the collectives
    /// of each group that operations name.
    pub lane: u32,
}

impl RankChannelParams {
    /// Returns the job, the rank at one end and the rank at the other; `initiator` selects the end at
    /// [`super::FlowParams::from`] as the first.
    #[must_use]
    pub fn at(self, initiator: bool) -> (u32, u32, u32) {
        let [from, to] = self.ranks;
        if initiator {
            (self.job, from, to)
        } else {
            (self.job, to, from)
        }
    }
}

/// Bytes of the buffer of what a rank sends and receives, and of a slot for messages between two ranks of a server.
/// Larger messages reuse it.
pub const RANK_SLOT_BYTES: u64 = 64 << 10;

/// Returns the bytes of memory that `ranks` ranks of a job on one server share: a slot for each pair and direction.
#[must_use]
pub const fn shared_rank_bytes(ranks: u64) -> u64 {
    ranks * ranks * RANK_SLOT_BYTES
}

/// Layout of the memory of a rank at a server, which begins with the rank's own page. Offsets and sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankLayout {
    /// Offset of the buffer of what the rank sends and receives: [`RANK_SLOT_BYTES`].
    pub messages: u64,
    /// Offset of the lines that works read and write sequentially.
    pub walk: u64,
    /// Offset of the lines that works read at random.
    pub gather: u64,
    /// Size of the memory.
    pub bytes: u64,
}
