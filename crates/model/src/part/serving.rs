//! What cores do for the requests that a server serves.

use serde::{Deserialize, Serialize};

/// A piece of work for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chore {
    /// The core that the request came to, by its place among those that serve the NIC.
    pub home: u16,
    /// Reads of storage that it makes after this piece of work.
    pub reads: u8,
    /// The service, by its place among those of the server.
    pub service: u8,
    /// The request, by its place at that core.
    pub slot: u32,
    /// The work, in ns at the reference clock.
    pub work_ns: u32,
}
