//! Keys and parameters of caches, prefetchers and DDIO.

use super::lists::{DriveList, WayMask};
use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Caches of a socket, with lines of 64 B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// True if L2, LLC, prefetchers and DDIO are modelled. Without them every access of a stream misses, as in a buffer
    /// much larger than the caches.
    pub enabled: bool,
    /// Private L2 of each core.
    pub l2: L2Spec,
    /// Last-level cache, with one slice per CHA slice.
    pub llc: LlcSpec,
    /// Snoop filter, which tracks the lines in the caches of the cores; ignored if the LLC is inclusive.
    pub filter: FilterSpec,
}

/// Private L2 of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2Spec {
    /// Sets of the L2; a power of two.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub sets: u32,
    /// Ways of the L2.
    #[schemars(range(min = 1, max = 32))]
    pub ways: u32,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Time from an access that hits to its data (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub hit: Time,
}

/// Last-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlcSpec {
    /// Sets of each slice of the LLC; a power of two.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub sets: u32,
    /// Ways of the LLC.
    #[schemars(range(min = 1, max = 32))]
    pub ways: u32,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Inclusion policy of the LLC.
    pub inclusion: Inclusion,
    /// Clean victims of the cores that a victim LLC takes in; the others are dropped. Ignored if the LLC is inclusive.
    pub clean_victims: CleanVictims,
    /// Time from admission at the CHA until the data of a hit leaves the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub hit: Time,
}

/// Snoop filter of the LLC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterSpec {
    /// Sets of a slice of the snoop filter; a power of two. Ignored if the LLC is inclusive.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub sets: u32,
    /// Ways of the snoop filter; a line evicted from the filter is invalidated in the cores.
    #[schemars(range(min = 1, max = 32))]
    pub ways: u32,
}

/// Replacement policy: the choice of the victim in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// The least recently used line.
    Lru,
    /// A line drawn at random.
    Random,
    /// The first line with the oldest two-bit age (quad-age LRU).
    Qlru,
}

/// Inclusion policy of the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Inclusion {
    /// The LLC holds every line of the cores; a line evicted from the LLC is invalidated in the cores.
    Inclusive,
    /// A line enters the LLC when a core evicts it, and leaves the LLC when a core reads it.
    Victim,
}

/// Clean victims of the cores that a victim LLC takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CleanVictims {
    /// All clean lines.
    All,
    /// Lines of cores whose reads the LLC mostly serves.
    Foreseen,
    /// No clean line.
    None,
}

/// L2 prefetchers of each core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrefetchSpec {
    /// True if the streamer is on: it runs ahead of ascending or descending accesses within a page. On network cores it
    /// prefetches lines of the kernel, with or without caches.
    pub stream: bool,
    /// True if the adjacent-line prefetcher is on: it completes pairs of lines of 128 B.
    pub adjacent: bool,
    /// Lines that the prefetchers of a core may have in flight, beside its LFB. Ignored without caches.
    #[schemars(range(min = 1, max = 1024))]
    pub credits: u32,
    /// Lines that the prefetchers of a core keep in flight for its sequential streams, beside its LFB, if caches are
    /// not modelled; 0 if prefetching is off.
    #[serde(default, skip_serializing_if = "super::core::is_zero")]
    #[schemars(range(min = 0, max = 1024))]
    pub stream_credits: u32,
    /// Pages that the streamer of a core tracks.
    #[schemars(range(min = 1, max = 1024))]
    pub pages: u32,
    /// Distance that the streamer runs ahead of the accesses (lines).
    #[schemars(range(min = 1, max = 64))]
    pub distance: u32,
}

/// Direct cache access of the drives (DDIO); used only if the caches are enabled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DdioSpec {
    /// True if writes of drives go to the LLC.
    pub enabled: bool,
    /// Drives whose writes go to memory instead of the LLC: "0-3", "0,2" or a list of numbers; [] for none.
    pub off: DriveList,
    /// Ways of the LLC that writes of drives may allocate in: "9-10", a list of numbers or a mask such as "0x600";
    /// contiguous.
    pub ways: WayMask,
    /// Time from admission of a drive's write at the CHA to its acknowledgement, once the LLC has room (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub write: Time,
}

/// Caches of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheParams {
    /// Private L2 of each core.
    pub l2: L2Params,
    /// Shared last-level cache (LLC), with one slice per CHA slice.
    pub llc: LlcParams,
    /// Hardware prefetchers of each core.
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
    #[serde(with = "super::variant")]
    pub replacement: Replacement,
    /// Time from an access that hits to its data, in ps.
    pub hit_ps: u64,
}

/// Last-level cache and its snoop filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlcParams {
    /// Sets of a slice, a power of two.
    pub sets: u32,
    /// Ways, at most 32.
    pub ways: u32,
    /// Replacement policy.
    #[serde(with = "super::variant")]
    pub replacement: Replacement,
    /// Inclusion policy of the LLC towards the L2s.
    #[serde(with = "super::variant")]
    pub inclusion: Inclusion,
    /// Clean victims of the cores that the LLC takes in; ignored by an inclusive LLC.
    #[serde(with = "super::variant")]
    pub clean_victims: CleanVictims,
    /// Time from admission at the CHA until the data of a hit leaves the CHA, in ps.
    pub hit_ps: u64,
    /// Sets of a slice of the snoop filter, a power of two; ignored if the LLC is inclusive.
    pub filter_sets: u32,
    /// Ways of the snoop filter; a line evicted from the filter is invalidated in the cores.
    pub filter_ways: u32,
}

/// L2 prefetchers of a core.
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
