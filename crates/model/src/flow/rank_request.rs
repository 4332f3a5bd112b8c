//! Connections between the ranks of a job, and the requests of a rank to its environment.

use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Connection to another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankLink {
    /// The end of a flow at this host.
    End(u32),
    /// Another rank of this host, by its number here: messages are copied.
    Local(u32),
    /// Another rank of this server, on a core of its own: messages pass through shared memory.
    Core(ComponentId),
}

/// Work of a rank for its core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoreWork {
    /// Computes: a work of the job, or for a time.
    Compute {
        /// Number of the work, from 1 on; 0 = none.
        work: u16,
        /// Time that the instructions take if there is no work, in ps.
        ps: u64,
    },
    /// Copies a message to the memory shared with another rank of the server.
    CopyIn {
        /// The other rank.
        rank: u32,
        /// Length of the message, in bytes.
        bytes: u64,
    },
    /// Copies a message of another rank out of the shared memory.
    CopyOut {
        /// The other rank.
        rank: u32,
        /// Length of the message, in bytes.
        bytes: u64,
    },
}

/// Message that has been copied to another rank of the same host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalMessage {
    /// Number of the receiver at this host.
    pub to: u32,
    /// Rank that sent the message, and the number of the connection.
    pub from: (u32, u32),
    /// Length of the message, in bytes.
    pub bytes: u64,
    /// Repetition of the program and number of the message, if the sender executes operations and the message is no
    /// part of a collective.
    pub message: Option<(u32, u32)>,
}

/// Request from a rank to its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankRequest {
    /// Call [`super::Rank::next`] again at this time.
    Wake(Time),
    /// Send a message by the end of a flow, given the end and the bytes, and report when it has been written.
    Send(u32, u64),
    /// Tell the rank at the other end of a flow, given the end, that a message follows: the repetition of the program
    /// and the number of the message.
    Announce(u32, (u32, u32)),
    /// Have the core work, and report when it is done.
    CoreWork(CoreWork),
    /// Nothing until data arrives.
    Nothing,
}
