//! Virtual memory of a network core.

use super::region::Region;
use crate::params::{NET_KERNEL_BYTES, NET_SEND_BYTES, NET_USER_BYTES};
use serde::{Deserialize, Serialize};

/// Virtual memory of a network core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetFootprint {
    /// Buffer that segments are sent from: the applications' data is copied there.
    pub send: Region,
    /// Buffers of the applications of the core.
    pub user: Region,
    /// Other data of the kernel.
    pub kernel: Region,
}

impl NetFootprint {
    /// Creates the regions, one after the other from `base` on, a multiple of 4096. They take
    /// [`NET_CORE_BYTES`](crate::params::NET_CORE_BYTES).
    #[must_use]
    pub fn at(base: u64) -> Self {
        let send = Region { base, bytes: NET_SEND_BYTES };
        let user = Region { base: base + NET_SEND_BYTES, bytes: NET_USER_BYTES };
        let kernel = Region { base: user.base + NET_USER_BYTES, bytes: NET_KERNEL_BYTES };
        Self { send, user, kernel }
    }
}
