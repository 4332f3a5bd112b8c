//! The lines that the kernel touches beside the data of packets: headers, completions, descriptors, what it keeps of
//! pages.

use super::books::StackCounts;
use super::fetch::{Purpose, Wish};
use super::lines::Pace;
use super::region::Region;
use crate::line::{Evictions, Pages, Walk};
use crate::params::{AccessPattern, CoreParams, LineSize, StackParams};
use crate::part::Context;
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Lines of the kernel that prefetchers have on their way at a time, and those that may be owed before the softirq
/// waits (assumed).
const PREFETCHED: u32 = 4;
const PREFETCHED_OWED: u64 = 256 * LINE;
/// A whole line, in the units of what is owed.
const LINE: u64 = 1 << 16;

/// Lines of the kernel that are to be read and to be stored to, in units of 2^-16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owed {
    pub(super) read: u64,
    pub(super) stored: u64,
}

impl Owed {
    /// Those of a packet with so many bytes, of whose lines to read so many are at known places.
    pub(super) fn of_packet(stack: &StackParams, bytes: u32, known: u64) -> Self {
        Self {
            read: stack.extra_lines.saturating_sub(known * LINE),
            stored: (stack.page_lines * u64::from(bytes)) >> 12,
        }
    }

    /// Whether there is a whole line.
    fn is_line(self) -> bool {
        self.read.max(self.stored) >= LINE
    }

    /// Takes a whole line out: whether it is stored to.
    fn take(&mut self) -> Option<bool> {
        let store = self.read < LINE;
        let of_kind = if store { &mut self.stored } else { &mut self.read };
        *of_kind = of_kind.checked_sub(LINE)?;
        Some(store)
    }
}

/// A line at a known place: a completion, a header, a descriptor.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    /// The physical line.
    pub(super) line: u64,
    /// Whether it is stored to.
    pub(super) store: bool,
    pub(super) class: u8,
    /// Whether nothing asks for it before the core has come to it.
    pub(super) in_turn: bool,
    /// Whether the other line of its pair is worth a prefetch: what is to be read there has been written.
    pub(super) pair: bool,
}

/// The lines of the kernel. One leads to the next, so that the core waits for each unless prefetchers know before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kernel {
    walk: Walk,
    evictions: Evictions,
    class: u8,
    /// Lines at places that are known, one of which is read after the other; and whether one is on its way.
    known: VecDeque<Known>,
    led: bool,
    /// Lines anywhere.
    owed: Owed,
    prefetched: bool,
    /// How many are on their way, and since when the last.
    coming: u32,
    since: Time,
    /// Until when the core waits for the other lines of a burst that has come.
    until: Time,
    line_size: LineSize,
}

impl Kernel {
    pub(super) fn new(region: Region, core: &CoreParams, stack: &StackParams, pages: &Pages, rng: &mut Rng) -> Self {
        let walk = Walk::new(region.base, region.bytes, AccessPattern::Random, rng);
        // What leaves draws by itself: whether it does changes nothing else.
        let evictions = Evictions::new(walk.opposite(), core.dirty_pool_lines, pages, &mut rng.clone());
        let StackParams { prefetched, line_size, .. } = *stack;
        Self {
            walk,
            evictions,
            class: 0,
            known: VecDeque::new(),
            led: false,
            owed: Owed::default(),
            prefetched,
            coming: 0,
            since: Time::ZERO,
            until: Time::ZERO,
            line_size,
        }
    }

    /// Whether the next may be asked for. Prefetchers do not know before what a device has written.
    fn is_ready(&self, now: Time) -> bool {
        let most = if self.prefetched && self.known.is_empty() && !self.led { PREFETCHED } else { 1 };
        self.coming < most && self.until <= now
    }

    /// Whether its lines stand for several each.
    pub(super) fn is_burst(&self) -> bool {
        self.line_size.is_burst()
    }

    /// A line is to be touched for which the core waits.
    pub(super) fn know(&mut self, known: Known) {
        self.known.push_back(known);
    }

    /// Whether the core waits, or will wait, for a line at a known place.
    pub(super) fn leads(&self) -> bool {
        self.led || !self.known.is_empty()
    }

    /// One that was asked for is there. Without prefetchers the lines that a burst stands for come one after the other.
    pub(super) fn arrive(&mut self, now: Time) {
        self.coming -= 1;
        self.led = false;
        if !self.prefetched {
            self.until = now + now.since(self.since) * (self.line_size.expand(1) - 1);
        }
    }

    /// What the core waits for.
    pub(super) fn pace(&self, now: Time) -> Pace {
        let waits = if self.prefetched {
            self.owed.read + self.owed.stored > PREFETCHED_OWED
        } else {
            self.coming > 0 || self.owed.is_line()
        };
        let waits = waits || self.leads();
        if self.until > now {
            Pace::Until(self.until)
        } else if waits {
            Pace::Waiting
        } else {
            Pace::Done
        }
    }

    /// So many more are to be touched.
    pub(super) fn owe(&mut self, lines: Owed, class: u8) {
        self.owed = Owed { read: self.owed.read + lines.read, stored: self.owed.stored + lines.stored };
        self.class = class;
    }

    /// Counts them as traffic of a memory of rates, whose rates have their time in them.
    pub(super) fn count(&mut self, counts: &mut StackCounts, context: &mut Context) {
        let Some(memory) = context.fluid.as_deref_mut() else { return };
        while let Some(store) = self.owed.take() {
            counts.extra_lines += 1;
            memory.count(self.class, 1, u64::from(store));
        }
    }

    /// The next one to ask for, if it is time, and whether the other of its pair is asked for with it. `here` says
    /// whether the core has come to it.
    pub(super) fn next(&mut self, here: bool, pages: &Pages, rng: &mut Rng, now: Time) -> Option<(Wish, bool)> {
        if !self.is_ready(now) || (!here && self.known.front().is_some_and(|known| known.in_turn)) {
            return None;
        }
        if let Some(Known { line, store, class, pair, .. }) = self.known.pop_front() {
            self.led = true;
            return Some((Wish { line, store, purpose: Purpose::Extra, class }, pair));
        }
        let store = self.owed.take()?;
        let line = self.walk.next(pages, rng);
        Some((Wish { line, store, purpose: Purpose::Extra, class: self.class }, false))
    }

    /// It has been asked for; whether it is on its way or there.
    pub(super) fn asked(&mut self, coming: bool, now: Time) {
        if coming {
            self.coming += 1;
            self.since = now;
        } else {
            self.led = false;
        }
    }

    /// The dirty line that leaves for one that is stored to.
    pub(super) fn leaves(&mut self, pages: &Pages, rng: &mut Rng) -> u64 {
        self.evictions.next(pages, rng)
    }
}
