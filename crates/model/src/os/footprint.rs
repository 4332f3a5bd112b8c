//! The virtual memory of a network core.

use super::region::Region;
use serde::{Deserialize, Serialize};

/// Bytes of the buffer that the segments of a core are sent from: more than the NIC is ever given at a time.
const SEND_BYTES: u64 = 4 << 20;
/// Bytes of the buffers of the applications of a core.
const USER_BYTES: u64 = 64 << 20;
/// Bytes of what else the kernel of a core keeps.
const KERNEL_BYTES: u64 = 16 << 20;

/// Bytes of a file that is sent over and over. Devices leave nothing of it in caches, so that its size matters little.
pub const FILE_BYTES: u64 = 4 << 20;
/// Bytes behind a file that a segment which begins before its end reads: the largest segment, 1 MiB.
pub const FILE_END_BYTES: u64 = 1 << 20;

/// The virtual memory of a network core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetFootprint {
    /// What segments are sent from: the applications' data is copied there.
    pub send: Region,
    /// The buffers of its applications.
    pub user: Region,
    /// What else the kernel keeps.
    pub kernel: Region,
}

impl NetFootprint {
    /// Bytes that it takes.
    pub const BYTES: u64 = SEND_BYTES + USER_BYTES + KERNEL_BYTES;

    /// The regions one after the other from `base` on, a multiple of 4096.
    #[must_use]
    pub fn at(base: u64) -> Self {
        let send = Region { base, bytes: SEND_BYTES };
        let user = Region { base: base + SEND_BYTES, bytes: USER_BYTES };
        let kernel = Region { base: user.base + USER_BYTES, bytes: KERNEL_BYTES };
        Self { send, user, kernel }
    }
}
