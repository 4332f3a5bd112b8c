//! Datagrams of different sizes in an open loop, and hosts that send on what comes.

use super::Draw;
use serde::{Deserialize, Serialize};

/// Datagrams that a sender sends whether or not anything comes of those before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketsParams {
    /// Drawn one after the other.
    Drawn {
        /// Data of a datagram, in bytes.
        bytes: Draw,
        /// Time from one to the next, in ps; none = as fast as the sender can.
        interval_ps: Option<Draw>,
        /// What both are drawn from.
        seed: u64,
    },
    /// Given from outside: time from the start of the flow in ps, and data in bytes, in order of time.
    Given(Vec<(u64, u32)>),
}

/// What a host does with packets that it sends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardParams {
    /// The flow by which they come, as numbered in [`super::ClusterParams::flows`].
    pub flow: u32,
    /// What it reads of each.
    pub function: Function,
    /// Work of a core on each beside that of its driver and what it reads, in ps.
    pub work_ps: u64,
}

/// What is read of a packet before it is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Function {
    /// Its first line, where the headers are.
    Header,
    /// All of it.
    Whole,
}
