//! The caches, the prefetchers and DDIO.

use super::lists::{DriveList, WayMask};
use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caches of the socket; its lines have 64 B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheSpec {
    /// Whether L2, LLC, prefetchers and DDIO take part. Without them every access of a stream misses, as in a buffer
    /// much larger than the caches.
    pub(crate) enabled: bool,
    /// The private L2 of every core.
    pub(crate) l2: L2Spec,
    /// The last-level cache, a slice beside every slice of the CHA.
    pub(crate) llc: LlcSpec,
    /// The snoop filter: which lines the cores hold. Without meaning when the LLC is inclusive.
    pub(crate) filter: FilterSpec,
}

/// A private L2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct L2Spec {
    /// Sets of the private L2 of a core; a power of two.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub(crate) sets: u32,
    /// Ways of the L2.
    #[schemars(range(min = 1, max = 32))]
    pub(crate) ways: u32,
    /// Which line of a set leaves.
    pub(crate) replacement: ReplacementSpec,
    /// From an access to its data when it hits (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) hit: Time,
}

/// A last-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LlcSpec {
    /// Sets of the slice of the LLC beside each slice of the CHA; a power of two.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub(crate) sets: u32,
    /// Ways of the LLC.
    #[schemars(range(min = 1, max = 32))]
    pub(crate) ways: u32,
    /// Which line of a set leaves.
    pub(crate) replacement: ReplacementSpec,
    /// Inclusion policy of the LLC.
    pub(crate) inclusion: InclusionSpec,
    /// Which clean lines a victim LLC takes from the cores; the others are dropped. Without meaning when it is
    /// inclusive.
    pub(crate) clean_victims: CleanVictimsSpec,
    /// From admission at the CHA to the data of a line that the LLC holds leaving the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) hit: Time,
}

/// A snoop filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterSpec {
    /// Sets of a slice of the snoop filter, which knows the lines of the cores; a power of two. Without meaning when
    /// the LLC is inclusive.
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub(crate) sets: u32,
    /// Ways of the snoop filter; a line that leaves it leaves the cores.
    #[schemars(range(min = 1, max = 32))]
    pub(crate) ways: u32,
}

/// Which line of a set leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReplacementSpec {
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
pub(crate) enum InclusionSpec {
    /// The LLC holds every line that a core holds: a line that leaves the LLC leaves the cores.
    Inclusive,
    /// The LLC takes the lines that cores evict, and gives them up when a core reads them.
    Victim,
}

/// Which clean lines a victim LLC takes from the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CleanVictimsSpec {
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
pub(crate) struct PrefetchSpec {
    /// The streamer: runs ahead of ascending or descending accesses within a page. Network cores have lines of the
    /// kernel ahead by it, with caches and without.
    pub(crate) stream: bool,
    /// The adjacent-line prefetcher: completes pairs of lines of 128 B.
    pub(crate) adjacent: bool,
    /// Lines that a core may have on their way for its prefetchers, beside its LFB.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) credits: u32,
    /// Pages that the streamer of a core tracks.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) pages: u32,
    /// How far the streamer runs ahead of the accesses (lines).
    #[schemars(range(min = 1, max = 64))]
    pub(crate) distance: u32,
}

/// Direct cache access of the drives (DDIO); it takes part when the caches do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DdioSpec {
    /// Whether the writes of drives go to the LLC.
    pub(crate) enabled: bool,
    /// Drives whose writes go to memory all the same: "0-3", "0,2" or a list of numbers; [] for none.
    pub(crate) off: DriveList,
    /// Ways of the LLC that writes of drives may allocate in: "9-10", a list of numbers or a mask such as "0x600";
    /// contiguous.
    pub(crate) ways: WayMask,
    /// From admission of a drive's write at the CHA to its acknowledgement, once there is room in the LLC (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) write: Time,
}
