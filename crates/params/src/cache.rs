//! Parameters of the caches, the prefetcher and DDIO.

use serde::{Deserialize, Serialize};

/// The caches of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheParams {
    /// The private L2 of every core.
    pub l2: L2Params,
    /// The shared last-level cache (LLC), in as many slices as the CHA has.
    pub llc: LlcParams,
    /// The hardware prefetchers of every core.
    pub prefetch: PrefetchParams,
    /// Direct cache access of devices (DDIO).
    pub ddio: DdioParams,
    /// Way mask of the LLC for the cores of each workload (CAT), bit 0 = way 0; contiguous, never 0.
    pub masks: Vec<u32>,
}

/// Private L2 of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct L2Params {
    /// Sets, a power of two.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Time from an access that hits to its data, in ps.
    pub hit_ps: u64,
}

/// The last-level cache and its snoop filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlcParams {
    /// Sets of a slice, a power of two.
    pub sets: u32,
    /// Ways, at most 32.
    pub ways: u32,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Inclusion policy of the LLC towards the L2s.
    pub inclusion: Inclusion,
    /// Clean victims of the cores that the LLC takes in; ignored by an inclusive LLC.
    pub clean_victims: CleanVictims,
    /// Time from admission at the CHA until the data of a hit leaves the CHA, in ps.
    pub hit_ps: u64,
    /// Sets of a slice of the snoop filter, a power of two; ignored if the LLC is inclusive.
    pub filter_sets: u32,
    /// Ways of the snoop filter; a line evicted from the filter is invalidated in the cores.
    pub filter_ways: u32,
}

/// Replacement policy: the choice of the victim in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// The least recently used line.
    Lru,
    /// A line drawn at random.
    Random,
    /// The first line with the oldest two-bit age; a use makes a line young, and all lines age if none has the oldest
    /// age (quad-age LRU).
    Qlru,
}

/// Inclusion policy of an LLC towards the L2s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inclusion {
    /// The LLC holds every line of the cores; a line evicted from the LLC is invalidated in the cores (up to
    /// Broadwell).
    Inclusive,
    /// A line enters the LLC when a core evicts it, and leaves the LLC when a core reads it (from Skylake-SP).
    Victim,
}

/// Clean lines evicted by a core that a victim LLC takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CleanVictims {
    /// All clean lines.
    All,
    /// Lines of cores whose reads the LLC mostly serves, judged by the lines of its observed sets.
    Foreseen,
    /// No clean line.
    None,
}

/// The L2 prefetchers of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrefetchParams {
    /// True if the streamer is on: it runs ahead of ascending or descending accesses within a page.
    pub stream: bool,
    /// True if the adjacent-line prefetcher is on: it completes pairs of lines of 128 B.
    pub adjacent: bool,
    /// Lines that the prefetchers of a core may have in flight, beside the LFB.
    pub credits: u32,
    /// Pages that the streamer tracks.
    pub pages: u32,
    /// Distance that the streamer runs ahead of the accesses, in lines.
    pub distance_lines: u32,
}

/// Direct cache access of devices (DDIO).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DdioParams {
    /// Per drive: true if its writes go to the LLC.
    pub drives: Vec<bool>,
    /// Way mask of the LLC for device writes, bit 0 = way 0; contiguous, never 0.
    pub ways: u32,
    /// Time from admission of a device write at the CHA to its acknowledgement, once the LLC has room, in ps.
    pub write_ps: u64,
}
