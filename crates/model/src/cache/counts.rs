//! Counters of the caches.

use super::LlcLine;
use serde::{Deserialize, Serialize};

/// Counters of one workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Accesses of the workload's cores that looked a line up in an L2.
    pub l2_lookups: u64,
    /// L2 lookups that missed.
    pub l2_misses: u64,
    /// Accesses that were the first use of a prefetched line.
    pub prefetch_used: u64,
    /// Lines that prefetchers brought into an L2.
    pub prefetch_filled: u64,
    /// Reads of the workload's cores, demand and prefetch, that looked a line up in the LLC.
    pub llc_lookups: u64,
    /// LLC lookups that missed.
    pub llc_misses: u64,
    /// Lines written by the workload's devices to the LLC that it had (update).
    pub ddio_updates: u64,
    /// Lines written by the workload's devices to the LLC that it did not have (allocate).
    pub ddio_allocations: u64,
    /// Allocations of lines that an L2 had.
    pub ddio_core_hits: u64,
    /// Leaks: lines written by the workload's devices that left the LLC for memory before any core or device read
    /// them.
    pub ddio_leaks: u64,
    /// Lines written by the workload's devices that left the LLC for memory, read or not.
    pub ddio_evictions: u64,
    /// Lines that the workload's devices looked up in the caches to read.
    pub io_reads: u64,
    /// Device reads that hit a cache.
    pub io_read_hits: u64,
    /// Dirty lines evicted to memory that the workload's cores wrote, or that a device wrote and a core has read
    /// since.
    pub core_evictions: u64,
    /// Lines that cores lost because the snoop filter or an inclusive LLC needed the entry.
    pub back_invalidations: u64,
    /// Lines in the LLC at present that the workload's cores inserted or read.
    pub core_lines: u64,
    /// Lines in the LLC at present that the workload's devices wrote and no core has read.
    pub io_lines: u64,
    /// Dirty lines now in the LLC, whether written by cores or devices.
    pub dirty_lines: u64,
}

impl ClassCounts {
    /// Returns the sum of both counters.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            l2_lookups: self.l2_lookups + other.l2_lookups,
            l2_misses: self.l2_misses + other.l2_misses,
            prefetch_used: self.prefetch_used + other.prefetch_used,
            prefetch_filled: self.prefetch_filled + other.prefetch_filled,
            llc_lookups: self.llc_lookups + other.llc_lookups,
            llc_misses: self.llc_misses + other.llc_misses,
            ddio_updates: self.ddio_updates + other.ddio_updates,
            ddio_allocations: self.ddio_allocations + other.ddio_allocations,
            ddio_core_hits: self.ddio_core_hits + other.ddio_core_hits,
            ddio_leaks: self.ddio_leaks + other.ddio_leaks,
            ddio_evictions: self.ddio_evictions + other.ddio_evictions,
            io_reads: self.io_reads + other.io_reads,
            io_read_hits: self.io_read_hits + other.io_read_hits,
            core_evictions: self.core_evictions + other.core_evictions,
            back_invalidations: self.back_invalidations + other.back_invalidations,
            core_lines: self.core_lines + other.core_lines,
            io_lines: self.io_lines + other.io_lines,
            dirty_lines: self.dirty_lines + other.dirty_lines,
        }
    }
}

/// Counters of the caches since the last reset, and the number of lines in the LLC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCounts {
    classes: Vec<ClassCounts>,
}

impl CacheCounts {
    /// Creates counters for `classes` workloads, all 0.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self { classes: vec![ClassCounts::default(); classes] }
    }

    /// Returns the counters, by workload.
    #[must_use]
    pub fn classes(&self) -> &[ClassCounts] {
        &self.classes
    }

    /// Resets the counters. The numbers of lines in the LLC stay.
    pub fn reset(&mut self) {
        for counts in &mut self.classes {
            let ClassCounts { core_lines, io_lines, dirty_lines, .. } = *counts;
            *counts = ClassCounts { core_lines, io_lines, dirty_lines, ..ClassCounts::default() };
        }
    }

    #[inline]
    pub(super) fn class(&mut self, class: u8) -> &mut ClassCounts {
        &mut self.classes[usize::from(class)]
    }

    /// Counts a line that has entered the LLC.
    #[inline]
    pub(super) fn enter(&mut self, line: LlcLine) {
        *self.lines(line) += 1;
        self.class(line.class).dirty_lines += u64::from(line.dirty);
    }

    /// Counts a line that has left the LLC.
    #[inline]
    pub(super) fn leave(&mut self, line: LlcLine) {
        *self.lines(line) -= 1;
        self.class(line.class).dirty_lines -= u64::from(line.dirty);
    }

    #[inline]
    fn lines(&mut self, line: LlcLine) -> &mut u64 {
        let counts = self.class(line.class);
        if line.io {
            &mut counts.io_lines
        } else {
            &mut counts.core_lines
        }
    }

    /// Counts a dirty line that leaves the LLC for memory.
    #[inline]
    pub(super) fn write_back(&mut self, line: LlcLine) {
        let counts = self.class(line.class);
        if line.io {
            counts.ddio_evictions += 1;
            counts.ddio_leaks += u64::from(!line.read);
        } else {
            counts.core_evictions += 1;
        }
    }
}
