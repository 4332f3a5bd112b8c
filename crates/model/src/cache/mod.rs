//! The caches of a socket: what they hold, without time. The parts that use them give it its time.

pub mod array;
mod counts;
mod replacement;

pub use array::{Array, Slot};
pub use counts::{CacheCounts, ClassCounts};

use crate::params::CacheParams;
use serde::{Deserialize, Serialize};

/// A line that leaves an L2 for the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Victim {
    /// The physical line.
    pub line: u64,
    /// The workload that it belongs to.
    pub class: u8,
    /// Whether memory does not have its data yet.
    pub dirty: bool,
}

/// A dirty line that leaves the caches for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evicted {
    /// The physical line.
    pub line: u64,
    /// The workload that it belongs to.
    pub class: u8,
    /// Whether a device wrote it, and no core since.
    pub io: bool,
}

/// What an L2 says to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It has the line; `prefetched` at the first use of a line that a prefetch brought.
    Hit {
        /// First use of a prefetched line.
        prefetched: bool,
    },
    /// It has not.
    Miss,
}

/// What the LLC says to a read of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Whether it has the line, and whether that is dirty: then the reader's copy is.
    pub hit: Option<bool>,
    /// A dirty line that has to leave a core, because the snoop filter needs the place.
    pub evicted: Option<Evicted>,
}

/// What the LLC says to a write of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoWrite {
    /// Whether it had the line already, or a core had.
    pub hit: bool,
    /// A dirty line that has to leave first.
    pub evicted: Option<Evicted>,
}

/// The caches of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Caches {
    params: CacheParams,
    counts: CacheCounts,
}

impl Caches {
    /// Empty caches of `cores` cores and `slices` slices, for `classes` workloads.
    #[must_use]
    pub fn new(params: &CacheParams, cores: u32, slices: u32, classes: usize, seed: u64) -> Self {
        let _ = (cores, slices, seed);
        Self { params: params.clone(), counts: CacheCounts::new(classes) }
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &CacheParams {
        &self.params
    }

    /// What has happened since the last reset.
    #[must_use]
    pub fn counts(&self) -> &CacheCounts {
        &self.counts
    }

    /// Starts a new measuring window; what the caches hold stays.
    pub fn reset_counts(&mut self) {
        self.counts.reset();
    }

    /// A core loads from or stores to a line: looks it up in its L2. A store makes a line dirty.
    pub fn access(&mut self, core: u32, line: u64, class: u8, store: bool) -> Access {
        let _ = (core, line, class, store);
        Access::Miss
    }

    /// Whether the L2 of a core has a line; changes nothing.
    #[must_use]
    pub fn holds(&self, core: u32, line: u64) -> bool {
        let _ = (core, line);
        false
    }

    /// Puts a line into the L2 of a core; the line that leaves for it has to go to the LLC.
    pub fn fill(&mut self, core: u32, line: u64, class: u8, dirty: bool, prefetched: bool) -> Option<Victim> {
        let _ = (core, line, class, dirty, prefetched);
        None
    }

    /// A core reads a line that its L2 has not. A victim LLC gives its copy away; the snoop filter notes who has it.
    pub fn read(&mut self, core: u32, line: u64, class: u8) -> Read {
        let _ = (core, line, class);
        Read { hit: None, evicted: None }
    }

    /// The data of a read is back from memory: an inclusive LLC keeps it. Returns a dirty line that leaves for it.
    pub fn fetched(&mut self, line: u64, class: u8) -> Option<Evicted> {
        let _ = (line, class);
        None
    }

    /// A line that left the L2 of a core reaches the LLC. Returns a dirty line that leaves for it.
    pub fn put(&mut self, core: u32, victim: Victim) -> Option<Evicted> {
        let _ = (core, victim);
        None
    }

    /// A device writes a whole line by way of the LLC (DDIO).
    pub fn io_write(&mut self, line: u64, class: u8) -> IoWrite {
        let _ = (line, class);
        IoWrite { hit: false, evicted: None }
    }

    /// A device without DDIO writes a whole line to memory: no cache keeps a copy.
    pub fn io_invalidate(&mut self, line: u64) {
        let _ = line;
    }

    /// A device reads a line; true when a cache has it. A line that no cache has is read from memory and not kept.
    pub fn io_read(&mut self, line: u64, class: u8) -> bool {
        let _ = (line, class);
        false
    }
}
