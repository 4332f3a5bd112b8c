//! Jobs: programs whose ranks compute and send each other messages.

use serde::{Deserialize, Serialize};

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobParams {
    /// The user's name for it.
    pub name: String,
    /// What it does, as the user calls it.
    pub kind: String,
    /// The host of each rank.
    pub hosts: Vec<u16>,
    /// How often its ranks do the same.
    pub iterations: u32,
    /// When it is launched, and when its ranks begin, in ps.
    pub launch_ps: u64,
    /// See `launch_ps`.
    pub start_ps: u64,
    /// A message from one rank of a host to another: bytes per second, and what comes on top, in ps.
    pub copy_bytes_per_s: u64,
    /// See `copy_bytes_per_s`.
    pub copy_ps: u64,
    /// What the core of a rank at an endpoint copies from sockets per second, and to them; nothing if it takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_bytes_per_s: Option<[u64; 2]>,
    /// What its steps are called; steps have numbers of these.
    pub phases: Vec<String>,
    /// What its ranks do, one block after the other.
    pub blocks: Vec<BlockParams>,
    /// The core of each rank, if any rank is at a server; without meaning at endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<RankCore>,
    /// What cores execute for steps, which have numbers of these, from 1 on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<WorkParams>,
    /// Switches that sum up its vectors. Steps and channels know them by numbers after those of the ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reducers: Vec<ReducerParams>,
}

impl JobParams {
    /// The host of a rank, or of a switch that sums up, by its number.
    #[must_use]
    pub fn host_of(&self, number: u32) -> u16 {
        let number = number as usize;
        match number.checked_sub(self.hosts.len()) {
            None => self.hosts[number],
            Some(reducer) => self.reducers[reducer].host,
        }
    }

    /// Lines of the memory of a rank that its works walk through, and behind them lines that they read at random.
    #[must_use]
    pub fn rank_lines(&self) -> (u64, u64) {
        let most = |of: fn(&WorkParams) -> u64| self.works.iter().map(of).max().unwrap_or(0);
        (most(|work| work.span_lines), most(|work| work.gather_lines))
    }

    /// The core of a rank; 0 at an endpoint.
    #[must_use]
    pub fn core_of(&self, rank: u32) -> u32 {
        self.cores.get(rank as usize).map_or(0, |seat| seat.core)
    }

    /// Bytes of the largest message between ranks.
    #[must_use]
    pub fn largest_message(&self) -> u64 {
        let steps = self.blocks.iter().flat_map(|block| block.steps.iter().flatten());
        steps.filter_map(|step| step.send).map(|message| message.bytes).max().unwrap_or(0)
    }

    /// Bytes of memory of a rank at a server: a page of its own, its messages, and the lines of its works.
    #[must_use]
    pub fn rank_bytes(&self) -> u64 {
        let (walk, random) = self.rank_lines();
        4096 + (64 << 10) + (walk + random) * 64
    }
}

/// What a switch does for a job whose vectors it sums up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducerParams {
    /// The host that stands for the engine of the switch.
    pub host: u16,
    /// The switch.
    pub switch: u16,
    /// Bytes of a sum per second, of however many inputs.
    pub bytes_per_s: u64,
    /// Data of a packet: what is added at a time at most; at least 1.
    pub packet_bytes: u32,
    /// The number of the reducer that the sums go to; none at the root of the tree.
    pub output: Option<u32>,
    /// The numbers of the ranks and reducers whose vectors are added.
    pub inputs: Vec<u32>,
}

/// The core of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankCore {
    /// Its number in its server.
    pub core: u32,
    /// Time of an instruction when all data is at hand, in fs.
    pub instruction_fs: u64,
}

/// What a core executes for a step of a rank: instructions, and between them accesses that an L1 does not serve, spread
/// evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkParams {
    /// Instructions.
    pub instructions: u64,
    /// Lines read one after the other.
    pub read_lines: u64,
    /// Lines written one after the other, in the same walk.
    pub write_lines: u64,
    /// Lines read at random.
    pub gathers: u64,
    /// Lines of memory that the walk goes through over and over, from the beginning in each step; at least 1 with a
    /// walk.
    pub span_lines: u64,
    /// Lines of memory that are read at random; at least 1 with gathers.
    pub gather_lines: u64,
}

/// Steps that ranks take again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockParams {
    /// How often.
    pub times: u32,
    /// The steps of each rank.
    pub steps: Vec<Vec<StepParams>>,
}

/// A step of a rank: it computes, then it sends and receives at the same time. It is over when what is sent has been
/// written to its connection, and what is received is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepParams {
    /// What it is called, as [`JobParams::phases`] says.
    pub phase: u8,
    /// Time, in ps.
    pub compute_ps: u64,
    /// What the core of a rank at a server executes in place of that time: a number of [`JobParams::works`], from 1 on;
    /// 0 = as many instructions as the time takes.
    pub work: u16,
    /// What it has its accelerator do, and waits for, before it computes itself.
    pub device: DeviceParams,
    /// To which rank how many bytes are sent.
    pub send: Option<MessageParams>,
    /// Where in the vector of a collective these begin, in bytes.
    #[serde(default)]
    pub at: u64,
    /// From which rank how many bytes are received.
    pub receive: Option<MessageParams>,
}

/// What a step has to do with the accelerator of its rank, which does works in their order while the rank goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceParams {
    /// Time of a work that the accelerator is given, in ps; 0 = none.
    pub work_ps: u64,
    /// Works that it may still have to do when the step goes on.
    pub left: u32,
}

impl Default for DeviceParams {
    /// Nothing to do with it.
    fn default() -> Self {
        Self { work_ps: 0, left: u32::MAX }
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageParams {
    /// The other rank.
    pub rank: u32,
    /// Bytes; at least 1.
    pub bytes: u64,
}

/// Two ranks of a job that are at different hosts and talk, or a rank and a switch that sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelParams {
    /// The job.
    pub job: u32,
    /// The rank at [`super::FlowParams::from`], and the one at [`super::FlowParams::to`].
    pub ranks: [u32; 2],
}

impl ChannelParams {
    /// The job, the rank at one end and the one at the other: `initiator` at [`super::FlowParams::from`].
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
