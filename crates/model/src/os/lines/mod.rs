//! Duration of the memory accesses of a network core: lines of copies, and lines of headers and completions.
//!
//! Other modules of the core see only the public interface: a copy begins, continues until some time, waits, or is
//! done. With a fluid memory (rates instead of lines), only this folder behaves differently.

mod ahead;
mod known;
mod stores;

use super::counters::StackCounts;
use super::fetch::{FetchPurpose, FetchResult, LineFetch, LineFetcher};
pub(in crate::os) use super::kernel::LineProgress;
use super::kernel::{Kernel, KnownLine, PendingLines};
use super::region::{Region, Stores};
use crate::cache::Caches;
use crate::lfb::Lfb;
use crate::line::Pages;
use crate::params::{AccessPattern, CoreParams, StackParams};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Stores that retire before their lines arrive: entries of the store buffer (Skylake has 56).
const STORES_MAX: usize = 56;
/// Lines of a copy within the caches, or from a fluid memory, that are processed before the core checks for other
/// work: a page.
const PAGE_LINES: u64 = 64;

/// Copy in progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Copy {
    class: u8,
    lines: u64,
    /// True if the source of the copy is fetched line by line, false if the core's caches have it.
    from_memory: bool,
    /// Lines to request: runs of physical lines.
    runs: VecDeque<(u64, u32)>,
    asked: u64,
    taken: u64,
    /// Lines after the source in its page, for the streamer, and number of these that it has requested.
    beyond: (u64, u32),
    run_past_end: u64,
    /// Time at which the core is done with the lines taken so far.
    front: Time,
    /// True if nothing is copied, because the data is at its destination already.
    in_place: bool,
    /// Next virtual line to store to, if the destination is a buffer of the kernel.
    to: Option<u64>,
    /// True if the source is only inspected, and stored nowhere.
    inspects: bool,
}

/// Lines of a network core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::os) struct Lines {
    fetch: LineFetcher,
    pages: Pages,
    rng: Rng,
    copy_line_ps: u64,
    /// True if applications read and write in place.
    zero_copy: bool,
    /// True if the next copy is in place.
    in_place: bool,
    cached_user: bool,
    /// True if the adjacent-line prefetcher helps with completions.
    pairs: bool,
    copy: Copy,
    /// For each line ahead, true if it has arrived; indexed by its number modulo the length.
    arrived: Vec<bool>,
    user: Stores,
    /// Lines that were stored to and are not requested yet, each with its class.
    stores: VecDeque<(u64, u8)>,
    /// Lines of stores in flight.
    stores_out: u32,
    kernel: Kernel,
    /// Time that copies waited for a fluid memory, in ps.
    waited_ps: u64,
    /// Slot of the line that has arrived for the driver of rings.
    for_ring: Option<u16>,
}

impl Lines {
    #[allow(clippy::too_many_arguments)]
    pub(in crate::os) fn new(
        index: u32,
        cha: ComponentId,
        core: CoreParams,
        stack: &StackParams,
        pages: Pages,
        mut rng: Rng,
        [user, kernel]: [Region; 2],
        classes: usize,
    ) -> Self {
        // A copy cannot have more lines in flight than the LFB has entries.
        let ahead = stack.copy_ahead.clamp(1, core.lfb_entries);
        // Lines beyond `copy_ahead` are those of the streamer (docs/models/os.md, With caches).
        let more = stack.prefetch_ahead.saturating_sub(ahead);
        let prefetch = (more > 0).then(|| Domain::new(more, more, classes));
        let ahead = (ahead + more) as usize;
        // A private sequence, so that refill times do not shift the other random numbers of the core.
        let own = Rng::new(rng.next_u64(), u64::from(index));
        Self {
            user: Stores::new(user, AccessPattern::Sequential, &core, &pages, &mut rng),
            kernel: Kernel::new(kernel, &core, stack, &pages, &mut rng),
            fetch: LineFetcher::new(index, cha, &core, own, prefetch),
            pages,
            rng,
            copy_line_ps: stack.copy_line_ps,
            zero_copy: stack.zero_copy,
            in_place: false,
            cached_user: stack.cached_user,
            pairs: stack.prefetch_pairs && more > 0,
            copy: Copy::default(),
            arrived: vec![false; ahead],
            stores: VecDeque::with_capacity(STORES_MAX),
            stores_out: 0,
            waited_ps: 0,
            for_ring: None,
        }
    }

    /// Sets the work per line of a copy, besides the latency of the line, in ps.
    pub(in crate::os) fn set_copy_line(&mut self, ps: u64) {
        self.copy_line_ps = ps;
    }

    /// Returns the credits of the L2 prefetchers, if they help copies.
    pub(in crate::os) fn prefetch(&self) -> Option<&Domain> {
        self.fetch.prefetch()
    }

    /// Returns the credits of the L2 prefetchers, to settle or to reset them.
    pub(in crate::os) fn prefetch_mut(&mut self) -> Option<&mut Domain> {
        self.fetch.prefetch_mut()
    }

    /// Returns the lines of the copy that the core is done with.
    pub(in crate::os) fn copied(&self) -> u64 {
        self.copy.taken
    }

    /// Returns the remaining lines of the copy.
    pub(in crate::os) fn left(&self) -> u64 {
        self.copy.lines - self.copy.taken
    }

    /// Begins a copy to the buffer of the user. [`Lines::source`] names its source afterwards.
    pub(in crate::os) fn begin_read(&mut self, class: u8) {
        self.begin(class, true);
    }

    /// Begins the inspection of data that a device has written: a copy that stores nothing. [`Lines::source`] names
    /// the data afterwards.
    pub(in crate::os) fn begin_inspection(&mut self, class: u8) {
        self.begin(class, true);
        self.copy = Copy { inspects: true, in_place: false, ..std::mem::take(&mut self.copy) };
    }

    /// Begins a copy of `lines` lines from the buffer of the user to the kernel's buffer at virtual line `to`. Only
    /// caches see its stores.
    pub(in crate::os) fn begin_write(&mut self, class: u8, lines: u64, to: u64, context: &Context) {
        self.begin(class, !self.cached_user && !self.zero_copy && !self.in_place);
        self.copy.to = (context.caches.are_there() && !self.kernel.is_burst()).then_some(to);
        if self.copy.from_memory {
            for _ in 0..lines {
                let line = self.user.walk.next(&self.pages, &mut self.rng);
                self.source_run(line, 1);
            }
        } else {
            self.copy.lines = lines;
        }
    }

    fn begin(&mut self, class: u8, from_memory: bool) {
        debug_assert!(self.copy.taken == self.copy.lines && self.copy.runs.is_empty(), "one copy at a time");
        let runs = std::mem::take(&mut self.copy.runs);
        // The mark is for one copy only.
        let in_place = std::mem::take(&mut self.in_place) || self.zero_copy;
        self.copy = Copy { class, from_memory, runs, in_place, ..Copy::default() };
    }

    /// Adds `lines` virtual lines from `line` on to the source of the copy.
    pub(in crate::os) fn source(&mut self, mut line: u64, mut lines: u32) {
        if self.copy.in_place {
            return;
        }
        // Pages of a run are contiguous in physical memory; the next run lies elsewhere.
        let run_lines = (self.pages.run_bytes() / 64).max(1);
        while lines > 0 {
            let within = u64::from(lines).min(run_lines - line % run_lines) as u32;
            self.source_run(self.pages.physical(line * 64) / 64, within);
            line += u64::from(within);
            lines -= within;
        }
    }

    /// Reads `lines` virtual lines from `line` on before the simulation starts, in `caches` alone.
    pub(in crate::os) fn warm_up(&self, line: u64, lines: u32, class: u8, caches: &mut Caches) {
        for line in line..line + u64::from(lines) {
            self.fetch.warm_up(self.pages.physical(line * 64) / 64, class, caches);
        }
    }

    /// Adds `lines` physical lines from `line` on to the source of the copy.
    fn source_run(&mut self, line: u64, lines: u32) {
        self.copy.runs.push_back((line, lines));
        self.copy.lines += u64::from(lines);
    }

    /// Continues the copy, which has the core now.
    pub(in crate::os) fn advance(
        &mut self,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> LineProgress {
        let now = context.now();
        if self.copy.from_memory && context.fluid.is_some() {
            return self.advance_rated(counts, context);
        }
        loop {
            self.fetch_ahead(lfb, counts, context);
            let Copy { lines, taken, front, from_memory, to, .. } = self.copy;
            // The work on the last line goes on; a line that arrives meanwhile waits for it.
            if front > now {
                return LineProgress::Until(front);
            }
            if taken == lines {
                return LineProgress::Done;
            }
            let room = STORES_MAX - self.stores.len().min(STORES_MAX);
            if !from_memory {
                // Copies within the caches go by pages, so that the softirq need not wait longer.
                let most = if to.is_some() { room as u64 } else { PAGE_LINES };
                let lines = most.min(lines - taken);
                if lines == 0 {
                    return LineProgress::Waiting;
                }
                self.take(lines, now, lfb, counts, context);
                continue;
            }
            let slot = (taken % self.arrived.len() as u64) as usize;
            // Lines are copied in order, and a store needs an entry of the store buffer.
            if !self.arrived[slot] || room == 0 {
                return LineProgress::Waiting;
            }
            self.arrived[slot] = false;
            self.take(1, now, lfb, counts, context);
        }
    }

    /// Copies the next `lines` lines of the source, and stores them.
    fn take(&mut self, lines: u64, now: Time, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        self.copy.taken += lines;
        let Copy { class, inspects, in_place, .. } = self.copy;
        self.copy.front = now + if in_place { 0 } else { lines * self.copy_line_ps };
        match &mut self.copy.to {
            Some(to) => {
                let pages = &self.pages;
                self.stores.extend((*to..*to + lines).map(|line| (pages.physical(line * 64) / 64, class)));
                *to += lines;
            }
            None if self.copy.from_memory && !self.cached_user && !inspects => {
                self.stores.push_back((self.user.walk.next(&self.pages, &mut self.rng), class));
            }
            None => return,
        }
        self.store(lfb, counts, context);
    }

    /// Continues a copy from a fluid memory, as [`Lines::advance`].
    fn advance_rated(&mut self, counts: &mut StackCounts, context: &mut Context) -> LineProgress {
        let now = context.now();
        let Copy { class, lines, taken, front, .. } = self.copy;
        if front > now {
            return LineProgress::Until(front);
        }
        let Some(memory) = context.fluid.as_deref_mut().filter(|_| taken < lines) else {
            self.copy.runs.clear();
            return LineProgress::Done;
        };
        let piece = PAGE_LINES.min(lines - taken);
        // A line takes its own work or the wait for the line, whichever is longer.
        let ps = memory.copy(self.fetch.index(), class, piece, taken == 0, now).max(piece * self.copy_line_ps);
        // A line that is stored to is read first and written back later.
        let stored = if self.cached_user { 0 } else { piece };
        memory.count(class, piece + stored, stored);
        counts.source_lines += piece;
        counts.destination_lines += stored;
        self.waited_ps += ps.saturating_sub(piece * self.copy_line_ps);
        self.copy.taken += piece;
        self.copy.front = now + ps;
        LineProgress::Until(self.copy.front)
    }

    /// Takes the time that copies have waited for lines within their work since the last call, in ps.
    pub(in crate::os) fn take_waited(&mut self) -> u64 {
        std::mem::take(&mut self.waited_ps)
    }

    /// Stores to the line of a virtual address; nothing waits for the store. Only caches see it.
    pub(in crate::os) fn post(&mut self, address: u64, class: u8, context: &Context) {
        if context.caches.are_there() && !self.kernel.is_burst() {
            self.stores.push_back((self.pages.physical(address) / 64, class));
        }
    }

    /// Adds lines that the kernel accesses before it continues.
    pub(in crate::os) fn add_kernel_lines(
        &mut self,
        lines: PendingLines,
        class: u8,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) {
        self.kernel.add_kernel_lines(lines, class);
        if context.fluid.is_some() {
            self.kernel.count(counts, context);
        } else {
            self.touch(false, lfb, counts, context);
        }
    }

    /// Returns true if the core waits, or will wait, for a line with a known address.
    pub(in crate::os) fn has_known_lines(&self) -> bool {
        self.kernel.has_known_lines()
    }

    /// Continues with the lines of the kernel. Returns how the core may proceed.
    pub(in crate::os) fn follow(
        &mut self,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> LineProgress {
        self.touch(true, lfb, counts, context);
        self.kernel.progress(context.now())
    }

    /// Requests lines of the kernel; `here` is true if the core needs them now.
    fn touch(&mut self, here: bool, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        let Self { kernel, fetch, pages, rng, .. } = self;
        // Without an entry the lines stay pending; the next freed entry calls this again.
        while lfb.idle > 0 {
            let Some((line_fetch, pair)) = kernel.next(here, pages, rng, context.now()) else { return };
            let in_flight = fetch.fetch_line(line_fetch, lfb, context) == FetchResult::Requested;
            kernel.asked(in_flight, context.now());
            counts.extra_lines += 1;
            // The adjacent-line prefetcher acts on a miss only.
            if in_flight && pair {
                let _ = fetch.fetch_line(
                    LineFetch { line: line_fetch.line ^ 1, purpose: FetchPurpose::Speculative, ..line_fetch },
                    lfb,
                    context,
                );
            }
        }
    }

    /// Handles an event of a line.
    pub(in crate::os) fn on_event(
        &mut self,
        payload: Payload,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) {
        match payload {
            Payload::Data(id) => {
                let Self { fetch, user, kernel, pages, rng, .. } = self;
                let evicted_line = |purpose| match purpose {
                    FetchPurpose::KernelLine => kernel.evicted_line(pages, rng),
                    _ => user.evictions.next(pages, rng),
                };
                match fetch.on_data(id, evicted_line, lfb, context) {
                    FetchPurpose::Source(slot) | FetchPurpose::Prefetched(slot) => {
                        self.arrived[usize::from(slot)] = true
                    }
                    FetchPurpose::KernelLine => self.kernel.on_arrival(context.now()),
                    FetchPurpose::Destination => self.stores_out -= 1,
                    FetchPurpose::Speculative => {}
                    FetchPurpose::Ring(slot) => self.for_ring = Some(slot),
                }
            }
            Payload::Admitted(id) => self.fetch.on_admitted(id, false, lfb, context),
            Payload::Taken(id) => self.fetch.on_admitted(id, true, lfb, context),
            Payload::Refill => {}
            other => unreachable!("a network core was sent {other:?}"),
        }
        // Stores before kernel lines: the store buffer holds up copies when it is full.
        self.store(lfb, counts, context);
        self.touch(false, lfb, counts, context);
    }
}
