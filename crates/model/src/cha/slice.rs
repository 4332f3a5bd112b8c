//! The request buffer of a slice, and what waits for it.

use crate::line::{Fifo, Request};
use serde::{Deserialize, Serialize};

/// A slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Slice {
    pub(super) used: u32,
    pub(super) core_writes: u32,
    /// Of those in use: what waits for another socket.
    pub(super) abroad: u32,
    /// What waits for an entry, by where it comes from; see [`Way`].
    pub(super) queues: [Fifo<Request>; 5],
    pub(super) waiting: u32,
    /// The queue that comes first next time.
    pub(super) turn: u8,
}

/// Where requests come from. Each has a queue of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// The cores of the socket, and those of others of which there is nothing else.
    Core,
    /// The IIO.
    Io,
    /// Other sockets.
    Socket,
    /// The cores and the IIO again, with lines that are at home in other sockets: what waits for one of the entries
    /// that such lines may hold is retried, and lets others pass.
    CoreAbroad,
    IoAbroad,
}

impl Slice {
    /// Whether nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting == 0
    }
}
