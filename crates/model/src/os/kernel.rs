//! Lines that the kernel accesses besides the data of packets: headers, completions, descriptors, metadata of pages.

use super::counters::StackCounts;
use super::fetch::{FetchPurpose, LineFetch};
use super::region::Region;
use crate::line::{Evictions, Pages, Walk};
use crate::params::{AccessPattern, CoreParams, LineSize, StackParams};
use crate::part::Context;
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Lines of the kernel that prefetchers keep in flight at a time, and lines that may be pending before the softirq
/// waits (assumed).
const PREFETCHED: u32 = 4;
const PREFETCHED_OWED: u64 = 256 * LINE;
/// A whole line, in the units of pending lines.
const LINE: u64 = 1 << 16;

/// State of a copy, or of the lines of the kernel, as the core sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::os) enum LineProgress {
    /// All lines are done.
    Done,
    /// The core is busy until this time.
    Until(Time),
    /// The core waits for a line in flight.
    Waiting,
}

/// Lines of the kernel to be read and to be stored to, in units of 2^-16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingLines {
    pub(super) read: u64,
    pub(super) stored: u64,
}

impl PendingLines {
    /// Returns the lines of a packet of `bytes` bytes; `known` of the lines to read have known addresses and are not
    /// counted.
    pub(super) fn of_packet(stack: &StackParams, bytes: u32, known: u64) -> Self {
        Self {
            read: stack.extra_lines.saturating_sub(known * LINE),
            // `page_lines` is per 4096 B of packets and in units of 2^-16.
            stored: (stack.page_lines * u64::from(bytes)) >> 12,
        }
    }

    /// Returns true if there is at least one whole line.
    fn is_line(self) -> bool {
        self.read.max(self.stored) >= LINE
    }

    /// Takes out a whole line, reads first. Returns true if it is stored to, `None` if there is no whole line.
    fn take(&mut self) -> Option<bool> {
        // Reads first, as a header is read before metadata is stored.
        let store = self.read < LINE;
        let of_kind = if store { &mut self.stored } else { &mut self.read };
        *of_kind = of_kind.checked_sub(LINE)?;
        Some(store)
    }
}

/// Line with a known address: a completion, a header or a descriptor.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct KnownLine {
    /// Physical line (address / 64).
    pub(super) line: u64,
    /// True if the line is stored to.
    pub(super) store: bool,
    pub(super) class: u8,
    /// True if the line must not be requested before the core needs it.
    pub(super) when_needed: bool,
    /// True if the other line of its pair is worth a prefetch, because it holds data that will be read.
    pub(super) pair: bool,
}

/// Lines of the kernel. Each leads to the next, so that the core waits for each of them, unless prefetchers request
/// them in time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kernel {
    walk: Walk,
    evictions: Evictions,
    class: u8,
    /// Lines with known addresses, which are accessed one after the other; and true while one is in flight.
    known: VecDeque<KnownLine>,
    known_in_flight: bool,
    /// Lines with random addresses.
    pending: PendingLines,
    prefetched: bool,
    /// Lines in flight, and the time of the last request.
    in_flight: u32,
    since: Time,
    /// Time until which the core waits for the other lines of a burst that has arrived.
    until: Time,
    line_size: LineSize,
}

impl Kernel {
    pub(super) fn new(region: Region, core: &CoreParams, stack: &StackParams, pages: &Pages, rng: &mut Rng) -> Self {
        let walk = Walk::new(region.base, region.bytes, AccessPattern::Random, rng);
        // Evictions have a private random sequence, so that their number changes nothing else.
        let evictions = Evictions::new(walk.opposite(), core.dirty_pool_lines, pages, &mut rng.clone());
        let StackParams { prefetched, line_size, .. } = *stack;
        Self {
            walk,
            evictions,
            class: 0,
            known: VecDeque::new(),
            known_in_flight: false,
            pending: PendingLines::default(),
            prefetched,
            in_flight: 0,
            since: Time::ZERO,
            until: Time::ZERO,
            line_size,
        }
    }

    /// Returns true if the next line may be requested. Prefetchers cannot predict lines that a device has written.
    fn is_ready(&self, now: Time) -> bool {
        // Only one line with a known address is in flight: the next depends on it.
        let most = if self.prefetched && self.known.is_empty() && !self.known_in_flight { PREFETCHED } else { 1 };
        self.in_flight < most && self.until <= now
    }

    /// Returns true if each simulated line stands for several.
    pub(super) fn is_burst(&self) -> bool {
        self.line_size.is_burst()
    }

    /// Queues a line that the core will wait for.
    pub(super) fn access_line(&mut self, known: KnownLine) {
        self.known.push_back(known);
    }

    /// Returns true if the core waits, or will wait, for a line with a known address.
    pub(super) fn has_known_lines(&self) -> bool {
        self.known_in_flight || !self.known.is_empty()
    }

    /// Notes the arrival of a requested line. Without prefetchers the lines that a burst stands for arrive one after
    /// the other.
    pub(super) fn on_arrival(&mut self, now: Time) {
        self.in_flight -= 1;
        self.known_in_flight = false;
        if !self.prefetched {
            // The lines of a burst arrive one after the other, each as late as the first.
            self.until = now + now.since(self.since) * (self.line_size.expand(1) - 1);
        }
    }

    /// Returns how the core may proceed.
    pub(super) fn progress(&self, now: Time) -> LineProgress {
        let waits = if self.prefetched {
            // Prefetched lines overlap with other work until too many are due.
            self.pending.read + self.pending.stored > PREFETCHED_OWED
        } else {
            self.in_flight > 0 || self.pending.is_line()
        };
        let waits = waits || self.has_known_lines();
        if self.until > now {
            LineProgress::Until(self.until)
        } else if waits {
            LineProgress::Waiting
        } else {
            LineProgress::Done
        }
    }

    /// Adds lines to be accessed.
    pub(super) fn add_kernel_lines(&mut self, lines: PendingLines, class: u8) {
        self.pending =
            PendingLines { read: self.pending.read + lines.read, stored: self.pending.stored + lines.stored };
        self.class = class;
    }

    /// Counts pending lines as traffic of a fluid memory, whose rates include their time.
    pub(super) fn count(&mut self, counts: &mut StackCounts, context: &mut Context) {
        let Some(memory) = context.fluid.as_deref_mut() else { return };
        while let Some(store) = self.pending.take() {
            counts.extra_lines += 1;
            memory.count(self.class, 1, u64::from(store));
        }
    }

    /// Returns the next line to request, if it is time, and true if the other line of its pair is requested as well.
    /// `here` is true if the core needs the line now.
    pub(super) fn next(&mut self, here: bool, pages: &Pages, rng: &mut Rng, now: Time) -> Option<(LineFetch, bool)> {
        if !self.is_ready(now) || (!here && self.known.front().is_some_and(|known| known.when_needed)) {
            return None;
        }
        if let Some(KnownLine { line, store, class, pair, .. }) = self.known.pop_front() {
            self.known_in_flight = true;
            return Some((LineFetch { line, store, purpose: FetchPurpose::KernelLine, class }, pair));
        }
        let store = self.pending.take()?;
        let line = self.walk.next(pages, rng);
        Some((LineFetch { line, store, purpose: FetchPurpose::KernelLine, class: self.class }, false))
    }

    /// Notes that a line was requested: it is in flight if `in_flight`, else in a cache.
    pub(super) fn asked(&mut self, in_flight: bool, now: Time) {
        if in_flight {
            self.in_flight += 1;
            self.since = now;
        } else {
            self.known_in_flight = false;
        }
    }

    /// Returns the dirty line that is evicted for a line that is stored to.
    pub(super) fn evicted_line(&mut self, pages: &Pages, rng: &mut Rng) -> u64 {
        self.evictions.next(pages, rng)
    }
}
