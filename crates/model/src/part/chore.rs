//! Work of cores for the requests that a server serves.

use serde::{Deserialize, Serialize};

/// Work item: CPU work that a request needs on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chore {
    /// Index of the core that the request arrived at, among those that serve the NIC.
    pub home: u16,
    /// Reads of storage that the request still makes after this piece of work.
    pub reads: u8,
    /// Index of the service among those of the server.
    pub service: u8,
    /// Slot of the request at its home core.
    pub slot: u32,
    /// Length of the work, in ns at the reference clock.
    pub work_ns: u32,
}
