//! Buffers of a network core, and the stores to them.

use crate::line::{Evictions, Pages, Walk};
use crate::params::{AccessPattern, CoreParams};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Buffer in virtual memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// First address, a multiple of 4096.
    pub base: u64,
    /// Size in bytes, a multiple of 4096.
    pub bytes: u64,
}

/// Lines that are stored to, and dirty lines that are evicted for them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stores {
    pub(super) walk: Walk,
    pub(super) evictions: Evictions,
}

impl Stores {
    pub(super) fn new(
        region: Region,
        pattern: AccessPattern,
        params: &CoreParams,
        pages: &Pages,
        rng: &mut Rng,
    ) -> Self {
        let walk = Walk::new(region.base, region.bytes, pattern, rng);
        let evictions = Evictions::new(walk.opposite(), params.dirty_pool_lines, pages, rng);
        Self { walk, evictions }
    }
}
