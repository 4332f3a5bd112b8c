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
    /// Direct cache access of devices.
    pub ddio: DdioParams,
    /// Per workload: the ways of the LLC that its cores may allocate in (CAT), bit 0 = way 0; contiguous, never 0.
    pub masks: Vec<u32>,
}

/// A private L2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct L2Params {
    /// Sets, a power of two.
    pub sets: u32,
    /// Ways.
    pub ways: u32,
    /// Which line of a set leaves.
    pub replacement: Replacement,
    /// From an access to its data when it hits, in ps.
    pub hit_ps: u64,
}

/// The last-level cache and its snoop filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlcParams {
    /// Sets of a slice, a power of two.
    pub sets: u32,
    /// Ways, at most 32.
    pub ways: u32,
    /// Which line of a set leaves.
    pub replacement: Replacement,
    /// What it holds of what the cores hold.
    pub inclusion: Inclusion,
    /// Which clean lines it takes from the cores; without meaning when it is inclusive.
    pub clean_victims: CleanVictims,
    /// From admission at the CHA to the data of a line that it holds leaving the CHA, in ps.
    pub hit_ps: u64,
    /// Sets of a slice of the snoop filter, a power of two; without meaning when the LLC is inclusive.
    pub filter_sets: u32,
    /// Ways of the snoop filter; a line that leaves the filter leaves the cores.
    pub filter_ways: u32,
}

/// Which line of a set leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// The one used longest ago.
    Lru,
    /// A line drawn at random.
    Random,
    /// The first whose two-bit age is the oldest; a use makes a line young, and all grow older when none is oldest
    /// (quad-age LRU).
    Qlru,
}

/// What the LLC holds of what the cores hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inclusion {
    /// All of it: a line that leaves the LLC leaves the cores (to Broadwell).
    Inclusive,
    /// Lines enter it when they leave a core, and leave it when a core takes them (from Skylake-SP).
    Victim,
}

/// Which clean lines that leave a core a victim LLC takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CleanVictims {
    /// All.
    All,
    /// Those of cores whose reads the LLC serves in most cases, as lines of its observed sets tell.
    Foreseen,
    /// None.
    None,
}

/// The L2 prefetchers of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrefetchParams {
    /// The streamer: runs ahead of ascending or descending accesses within a page.
    pub stream: bool,
    /// The adjacent-line prefetcher: completes pairs of lines of 128 B.
    pub adjacent: bool,
    /// Lines that a core may have on their way for its prefetchers, beside its LFB.
    pub credits: u32,
    /// Pages that the streamer tracks.
    pub pages: u32,
    /// How far the streamer runs ahead of the accesses, in lines.
    pub distance_lines: u32,
}

/// Direct cache access of devices (DDIO).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DdioParams {
    /// Per drive: whether its writes go to the LLC.
    pub drives: Vec<bool>,
    /// The ways of the LLC that device writes may allocate in, bit 0 = way 0; contiguous, never 0.
    pub ways: u32,
    /// From admission of a device write at the CHA to its acknowledgement, once there is room in the LLC, in ps.
    pub write_ps: u64,
}
