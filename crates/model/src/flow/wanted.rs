//! What ranks know of each other, and what they want done.

use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// How the messages to another rank go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// Over a connection: the end of a flow here.
    End(u32),
    /// To another rank of this host, by its number here.
    Local(u32),
    /// To another rank of this server, which has a core of its own: through memory that both share.
    Core(ComponentId),
}

/// What a rank has its core do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoreWork {
    /// It computes: a work of its job, or for some time.
    Compute {
        /// Number of the work, from 1 on; 0 = none.
        work: u16,
        /// Time that its instructions take if there is no work, in ps.
        ps: u64,
    },
    /// It copies a message to the memory that it shares with another rank of its server.
    CopyIn {
        /// The other rank.
        rank: u32,
        /// Bytes.
        bytes: u64,
    },
    /// It copies a message of another rank out of that memory.
    CopyOut {
        /// The other rank.
        rank: u32,
        /// Bytes.
        bytes: u64,
    },
}

/// What a rank wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRequest {
    /// To be told when it is this late.
    Wake(Time),
    /// That a message of so many bytes be sent by an end of a flow; then it is told when that is written.
    Send(u32, u64),
    /// That its core does something; then it is told when that is done.
    CoreWork(CoreWork),
    /// Nothing before something comes.
    Nothing,
}
