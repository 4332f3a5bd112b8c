//! Request buffer (TOR) of a slice, and its input queues.

use crate::line::{Fifo, Request};
use serde::{Deserialize, Serialize};

/// Entries and queues of a slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ChaSlice {
    /// Entries in use.
    pub(super) used: u32,
    /// Entries in use by writes of cores.
    pub(super) core_writes: u32,
    /// Entries in use by requests to remote sockets.
    pub(super) remote_sockets: u32,
    /// Requests that wait for an entry, by input queue (see [`InputQueue`]).
    pub(super) queues: [Fifo<Request>; 5],
    /// Requests in all queues.
    pub(super) waiting: u32,
    /// Queue that is tried first next time.
    pub(super) turn: u8,
}

/// Input queue of a slice, by the origin of its requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InputQueue {
    /// Cores of this socket, and cores of remote sockets of which nothing else is simulated.
    Core,
    /// The IIO of this socket.
    Io,
    /// Remote sockets.
    Socket,
    /// Cores of this socket, with lines homed on another socket. Separate, because these requests also wait for one of
    /// the entries that such lines may hold, and must not block the others.
    CoreRemote,
    /// The IIO of this socket, with lines homed on another socket.
    IoRemote,
}

impl ChaSlice {
    /// Returns true if no request waits.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting == 0
    }
}
