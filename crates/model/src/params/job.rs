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
    /// What its steps are called; steps have numbers of these.
    pub phases: Vec<String>,
    /// What its ranks do, one block after the other.
    pub blocks: Vec<BlockParams>,
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
    /// To which rank how many bytes are sent.
    pub send: Option<MessageParams>,
    /// From which rank how many bytes are received.
    pub receive: Option<MessageParams>,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageParams {
    /// The other rank.
    pub rank: u32,
    /// Bytes; at least 1.
    pub bytes: u64,
}

/// Two ranks of a job that are at different hosts and talk.
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
