//! Keys and parameters of caches, prefetchers and DDIO.

use super::lists::{DriveList, WayMask};
use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caches of the socket; its lines have 64 B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Whether L2, LLC, prefetchers and DDIO take part. Without them every access of a stream misses, as in a buffer
    /// much larger than the caches.
    pub enabled: bool,
    /// The private L2 of every core.
    pub l2: L2Spec,
    /// The last-level cache, a slice beside every slice of the CHA.
    pub llc: LlcSpec,
    /// The snoop filter: which lines the cores hold. Without meaning when the LLC is inclusive.
    pub filter: FilterSpec,
}

/// A private L2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2Spec {
    /// Sets of the private L2 of a core; a power of two.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub sets: u32,
    /// Ways of the L2.
    #[schemars(range(min = 1, max = 32))]
    pub ways: u32,
    /// Which line of a set leaves.
    pub replacement: ReplacementSpec,
    /// From an access to its data when it hits (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub hit: Time,
}

/// A last-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlcSpec {
    /// Sets of the slice of the LLC beside each slice of the CHA; a power of two.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub sets: u32,
    /// Ways of the LLC.
    #[schemars(range(min = 1, max = 32))]
    pub ways: u32,
    /// Which line of a set leaves.
    pub replacement: ReplacementSpec,
    /// Inclusion policy of the LLC.
    pub inclusion: InclusionSpec,
    /// Which clean lines a victim LLC takes from the cores; the others are dropped. Without meaning when it is
    /// inclusive.
    pub clean_victims: CleanVictimsSpec,
    /// From admission at the CHA to the data of a line that the LLC holds leaving the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub hit: Time,
}

/// A snoop filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterSpec {
    /// Sets of a slice of the snoop filter, which knows the lines of the cores; a power of two. Without meaning when
    /// the LLC is inclusive.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub sets: u32,
    /// Ways of the snoop filter; a line that leaves it leaves the cores.
    #[schemars(range(min = 1, max = 32))]
    pub ways: u32,
}

/// Which line of a set leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReplacementSpec {
    /// The one used longest ago.
    Lru,
    /// A line drawn at random.
    Random,
    /// The first whose two-bit age is the oldest (quad-age LRU).
    Qlru,
}

/// Inclusion policy of the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InclusionSpec {
    /// The LLC holds every line that a core holds: a line that leaves the LLC leaves the cores.
    Inclusive,
    /// The LLC takes the lines that cores evict, and gives them up when a core reads them.
    Victim,
}

/// Which clean lines a victim LLC takes from the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CleanVictimsSpec {
    /// All that leave an L2.
    All,
    /// Those of cores whose reads the LLC serves in most cases.
    Foreseen,
    /// None.
    None,
}

/// The L2 prefetchers of every core; they take part when the caches do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrefetchSpec {
    /// The streamer: runs ahead of ascending or descending accesses within a page. Network cores have lines of the
    /// kernel ahead by it, with caches and without.
    pub stream: bool,
    /// The adjacent-line prefetcher: completes pairs of lines of 128 B.
    pub adjacent: bool,
    /// Lines that a core may have on their way for its prefetchers, beside its LFB.
    #[schemars(range(min = 1, max = 1024))]
    pub credits: u32,
    /// Pages that the streamer of a core tracks.
    #[schemars(range(min = 1, max = 1024))]
    pub pages: u32,
    /// How far the streamer runs ahead of the accesses (lines).
    #[schemars(range(min = 1, max = 64))]
    pub distance: u32,
}

/// Direct cache access of the drives (DDIO); it takes part when the caches do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DdioSpec {
    /// Whether the writes of drives go to the LLC.
    pub enabled: bool,
    /// Drives whose writes go to memory all the same: "0-3", "0,2" or a list of numbers; [] for none.
    pub off: DriveList,
    /// Ways of the LLC that writes of drives may allocate in: "9-10", a list of numbers or a mask such as "0x600";
    /// contiguous.
    pub ways: WayMask,
    /// From admission of a drive's write at the CHA to its acknowledgement, once there is room in the LLC (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub write: Time,
}

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
