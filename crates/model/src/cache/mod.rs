//! Caches of a socket: their content, without time. The components that use them add the latencies.

pub mod array;
mod copies;
mod counts;
#[cfg(test)]
mod edge_tests;
mod foresight;
mod holder;
mod llc;
mod outside;
mod private;
#[cfg(test)]
mod reference_tests;
mod replacement;
mod slices;
mod sockets;
#[cfg(test)]
mod tests;

pub use array::{ArraySlot, LineData, TagArray};
pub use counts::{CacheCounts, ClassCounts};
pub use sockets::SocketCaches;

use crate::line::Slicing;
use crate::params::{CacheParams, Inclusion, SliceHash};
use copies::PrivateCaches;
use foresight::ReusePredictors;
use holder::Holder;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};
use slices::LlcSlices;

/// Line that leaves an L2 for the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Victim {
    /// Physical line.
    pub line: u64,
    /// Workload that the line belongs to.
    pub class: u8,
    /// True if the line has data that memory does not have yet.
    pub dirty: bool,
    /// True if the LLC takes the line. Otherwise only the snoop filter drops its entry.
    pub taken: bool,
}

/// Dirty line that is evicted from the caches to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvictedLine {
    /// Physical line.
    pub line: u64,
    /// Workload that the line belongs to.
    pub class: u8,
    /// True if a device wrote the line and no core has read it since.
    pub io: bool,
}

/// Result of an access to an L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L2Access {
    /// The L2 has the line.
    Hit {
        /// True at the first use of a line that a prefetch brought in.
        prefetched: bool,
    },
    /// The L2 does not have the line.
    Miss,
}

/// Result of a core's read at the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlcRead {
    /// `None` on a miss. On a hit, true if the line is dirty, and then the reader's copy is dirty.
    pub hit: Option<bool>,
    /// Dirty line evicted from a core because the snoop filter needs its entry.
    pub evicted: Option<EvictedLine>,
}

/// Result of a device's write at the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoWrite {
    /// True if the LLC or a core had the line.
    pub hit: bool,
    /// Dirty line that must be written back first.
    pub evicted: Option<EvictedLine>,
}

/// Line in an L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct L2Line {
    class: u8,
    dirty: bool,
    /// True if a prefetch brought the line in and nothing has used it.
    prefetched: bool,
    /// True if another core may have the line, too.
    shared: bool,
}

impl LineData for L2Line {
    const BITS: u32 = 11;

    #[inline]
    fn to_bits(self) -> u64 {
        let Self { class, dirty, prefetched, shared } = self;
        u64::from(class) | u64::from(dirty) << 8 | u64::from(prefetched) << 9 | u64::from(shared) << 10
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        let flag = |bit: u32| bits >> bit & 1 != 0;
        Self { class: bits as u8, dirty: flag(8), prefetched: flag(9), shared: flag(10) }
    }
}

/// Line in the LLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LlcLine {
    class: u8,
    dirty: bool,
    /// True if a device wrote the line and no core has read it.
    io: bool,
    /// True if a device has read the line since a device wrote it.
    read: bool,
    /// Cores that may have the line. Used by an inclusive LLC only.
    holder: Holder,
}

impl LineData for LlcLine {
    const BITS: u32 = 11 + Holder::BITS;

    #[inline]
    fn to_bits(self) -> u64 {
        let Self { class, dirty, io, read, holder } = self;
        let flags = u64::from(dirty) << 8 | u64::from(io) << 9 | u64::from(read) << 10;
        u64::from(class) | flags | holder.to_bits() << 11
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        let flag = |bit: u32| bits >> bit & 1 != 0;
        let holder = Holder::from_bits(bits >> 11);
        Self { class: bits as u8, dirty: flag(8), io: flag(9), read: flag(10), holder }
    }
}

/// Caches of a socket: L2 per core, LLC slices, and snoop filters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Caches {
    params: CacheParams,
    inclusive: bool,
    /// Number of slices that a line may be homed in: all, or those of its cluster.
    slices_of_line: Slicing,
    /// Mask of ways that the cores of a class may allocate in, by class.
    masks: Vec<u32>,
    counts: CacheCounts,
    l2: PrivateCaches,
    /// Reuse predictors of clean victims.
    foresight: ReusePredictors,
    slices: LlcSlices,
}

/// Returns the random stream of an array: the kind of array in the bits from 32 up, its index below. Each array draws
/// from a private stream.
fn stream(kind: u64, index: u32) -> u64 {
    kind << 32 | u64::from(index)
}

impl Caches {
    /// Creates empty caches of `cores` cores and `slices` slices for `classes` workloads. A class without a mask may
    /// allocate in all ways. The snoop filter uses the replacement policy of the LLC.
    ///
    /// # Panics
    /// Panics if a number of sets is not a power of two, a number of ways is not 1 to 32, a mask has no way of the
    /// LLC, the number of slices is not 1 to 256, or there are more than 65 534 cores.
    #[must_use]
    pub fn new(params: &CacheParams, cores: u32, slices: u32, classes: usize, seed: u64) -> Self {
        assert!((1..=256).contains(&slices), "{slices} slices are not 1 to 256");
        assert!(cores <= Holder::CORES_MAX, "{cores} cores are too many");
        let CacheParams { l2, llc, ddio, .. } = params;
        let rng = |kind, index| Rng::new(seed, stream(kind, index));
        let all = u32::MAX >> (u32::BITS - llc.ways.clamp(1, u32::BITS));
        let masks: Vec<u32> =
            (0..classes).map(|class| params.masks.get(class).map_or(all, |mask| mask & all)).collect();
        assert!(ddio.ways & all != 0 && masks.iter().all(|&mask| mask != 0), "a mask has no way of the LLC");
        let inclusive = llc.inclusion == Inclusion::Inclusive;
        // An inclusive LLC has directory bits and needs no snoop filter.
        let filters = if inclusive { 0 } else { slices };
        let filter = |index| TagArray::new(llc.filter_sets, llc.filter_ways, llc.replacement, rng(3, index));
        Self {
            inclusive,
            masks,
            counts: CacheCounts::new(classes),
            l2: PrivateCaches::new(
                (0..cores).map(|index| TagArray::new(l2.sets, l2.ways, l2.replacement, rng(1, index))).collect(),
            ),
            foresight: ReusePredictors::new(cores),
            slices: LlcSlices {
                llc: (0..slices)
                    .map(|index| TagArray::new(llc.sets, llc.ways, llc.replacement, rng(2, index)))
                    .collect(),
                filter: (0..filters).map(filter).collect(),
            },
            slices_of_line: Slicing::even(slices),
            params: params.clone(),
        }
    }

    /// Divides the slices among `clusters` clusters.
    #[must_use]
    pub fn with_clusters(self, clusters: u32) -> Self {
        let slices = self.slices.llc.len() as u32 / clusters;
        Self { slices_of_line: Slicing { slices, ..self.slices_of_line }, ..self }
    }

    /// Assigns lines to slices by another hash.
    #[must_use]
    pub fn with_hash(self, hash: SliceHash) -> Self {
        Self { slices_of_line: Slicing { hash, ..self.slices_of_line }, ..self }
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &CacheParams {
        &self.params
    }

    /// Returns the counters since the last reset.
    #[must_use]
    pub fn counts(&self) -> &CacheCounts {
        &self.counts
    }

    /// Returns true if the LLC has a line. Does not count as a use.
    #[must_use]
    pub fn llc_has(&self, line: u64) -> bool {
        self.slices.llc[self.slice(line)].find(line).is_some()
    }

    /// Prefetches the LLC state of a line into the host processor's cache, before an expected lookup. Simulated state
    /// does not change.
    #[inline]
    pub fn expect(&self, line: u64) {
        self.slices.expect(self.slice(line), line);
    }

    /// Prefetches the LLC state that an expected access of a core may need: that of the line, and that of the line it
    /// would displace from the L2. See [`Caches::expect`].
    #[inline]
    pub fn expect_access(&self, core: u32, line: u64) {
        let l2 = self.l2.of(core);
        if l2.find(line).is_none() {
            self.expect(line);
            l2.leaving(line).into_iter().for_each(|leaving| self.expect(leaving));
        }
    }

    /// Starts a new measurement window. The content of the caches stays.
    pub fn reset_counts(&mut self) {
        self.counts.reset();
    }

    #[inline]
    fn slice(&self, line: u64) -> usize {
        usize::from(self.slices_of_line.of(line))
    }
}
