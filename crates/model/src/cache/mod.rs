//! The caches of a socket: what they hold, without time. The parts that use them give it its time.

pub mod array;
mod clean;
mod counts;
mod ddio;
#[cfg(test)]
mod edge_tests;
mod foresight;
mod holder;
mod llc;
mod peers;
#[cfg(test)]
mod plain_tests;
mod private;
mod replacement;
mod sockets;
#[cfg(test)]
mod tests;

pub use array::{Array, Data, Slot};
pub use counts::{CacheCounts, ClassCounts};
pub use sockets::SocketCaches;

use crate::line::slice_of;
use crate::params::{CacheParams, Inclusion};
use foresight::Foresight;
use holder::Holder;
use hostnet_kernel::Rng;
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
    /// Whether the LLC takes it; otherwise the snoop filter forgets it.
    pub taken: bool,
}

/// A dirty line that leaves the caches for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evicted {
    /// The physical line.
    pub line: u64,
    /// The workload that it belongs to.
    pub class: u8,
    /// Whether a device wrote it, and no core has read it since.
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

/// A line in an L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Private {
    class: u8,
    dirty: bool,
    /// A prefetch brought it, and nothing has used it.
    prefetched: bool,
    /// Another core may have it as well.
    shared: bool,
}

impl Data for Private {
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

/// A line in the LLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shared {
    class: u8,
    dirty: bool,
    /// A device wrote it, and no core has read it.
    io: bool,
    /// Of a device's line: a device has read it.
    read: bool,
    /// The cores that may have it; of an inclusive LLC only.
    holder: Holder,
}

impl Data for Shared {
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

/// The caches of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Caches {
    params: CacheParams,
    inclusive: bool,
    /// Slices that a line may lie in: all, or those of its cluster.
    slices: u32,
    /// Per class: the ways that its cores may allocate in.
    masks: Vec<u32>,
    counts: CacheCounts,
    /// Per core.
    l2: Vec<Array<Private>>,
    /// Per core: whether the LLC will have what it gives up when it asks again.
    foresight: Vec<Foresight>,
    /// Per slice.
    llc: Vec<Array<Shared>>,
    /// Per slice; none beside an inclusive LLC, which notes the holders itself.
    filter: Vec<Array<Holder>>,
}

/// The arrays of random numbers draw from streams of their own: the kind of array above 2^32, its index below.
fn stream(kind: u64, index: u32) -> u64 {
    kind << 32 | u64::from(index)
}

impl Caches {
    /// Empty caches of `cores` cores and `slices` slices, for `classes` workloads. A class without a mask may allocate
    /// in all ways. The snoop filter replaces as the LLC does.
    ///
    /// # Panics
    /// If a number of sets is not a power of two, a number of ways not 1 to 32, a mask without a way of the LLC, or
    /// there are no slices, more than 256, or more than 65 534 cores.
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
        let filters = if inclusive { 0 } else { slices };
        let filter = |index| Array::new(llc.filter_sets, llc.filter_ways, llc.replacement, rng(3, index));
        Self {
            inclusive,
            masks,
            counts: CacheCounts::new(classes),
            l2: (0..cores).map(|index| Array::new(l2.sets, l2.ways, l2.replacement, rng(1, index))).collect(),
            foresight: vec![Foresight::default(); cores as usize],
            llc: (0..slices).map(|index| Array::new(llc.sets, llc.ways, llc.replacement, rng(2, index))).collect(),
            filter: (0..filters).map(filter).collect(),
            slices,
            params: params.clone(),
        }
    }

    /// Shares the slices out to `clusters` clusters.
    #[must_use]
    pub fn with_clusters(self, clusters: u32) -> Self {
        Self { slices: self.llc.len() as u32 / clusters, ..self }
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

    /// Whether the LLC has a line; this is no use of it.
    #[must_use]
    pub fn llc_has(&self, line: u64) -> bool {
        self.llc[self.slice(line)].find(line).is_some()
    }

    /// Says that the LLC will soon be asked for a line: the processor that this runs on fetches what that takes.
    #[inline]
    pub fn expect(&self, line: u64) {
        let slice = self.slice(line);
        self.llc[slice].expect(line);
        if let Some(filter) = self.filter.get(slice) {
            filter.expect(line);
        }
    }

    /// Says that a core will soon ask for a line, which may miss the L2 and displace another; see [`Caches::expect`].
    #[inline]
    pub fn expect_access(&self, core: u32, line: u64) {
        let l2 = &self.l2[core as usize];
        if l2.find(line).is_none() {
            self.expect(line);
            l2.leaving(line).into_iter().for_each(|leaving| self.expect(leaving));
        }
    }

    /// Starts a new measuring window; what the caches hold stays.
    pub fn reset_counts(&mut self) {
        self.counts.reset();
    }

    #[inline]
    fn slice(&self, line: u64) -> usize {
        usize::from(slice_of(line, self.slices))
    }
}
