//! Virtual memory of a network core.

use super::region::Region;
use serde::{Deserialize, Serialize};

/// Bytes of the buffer that segments of a core are sent from: more than the NIC ever holds at a time.
const SEND_BYTES: u64 = 4 << 20;
/// Bytes of the buffers of the applications of a core.
const USER_BYTES: u64 = 64 << 20;
/// Bytes of the other data of the kernel of a core.
const KERNEL_BYTES: u64 = 16 << 20;

/// Bytes of a file that is sent repeatedly. Devices leave nothing of it in caches, so that its size hardly matters.
pub const FILE_BYTES: u64 = 4 << 20;
/// Bytes after a file that are read by a segment which begins before its end: the largest segment, 1 MiB.
pub const FILE_END_BYTES: u64 = 1 << 20;

/// Virtual memory of a network core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetFootprint {
    /// Buffer that segments are sent from: the applications' data is copied there.
    pub send: Region,
    /// Buffers of its applications.
    pub user: Region,
    /// Other data of the kernel.
    pub kernel: Region,
}

impl NetFootprint {
    /// Size of all regions, in bytes.
    pub const BYTES: u64 = SEND_BYTES + USER_BYTES + KERNEL_BYTES;

    /// Creates the regions, one after the other from `base` on, a multiple of 4096.
    #[must_use]
    pub fn at(base: u64) -> Self {
        let send = Region { base, bytes: SEND_BYTES };
        let user = Region { base: base + SEND_BYTES, bytes: USER_BYTES };
        let kernel = Region { base: user.base + USER_BYTES, bytes: KERNEL_BYTES };
        Self { send, user, kernel }
    }
}
