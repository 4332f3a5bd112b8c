//! Direction of a controller: it serves reads, or drains writes.

use super::queue::PendingQueue;
use super::{CommandPlan, Counters};
use crate::params::{IdleDrain, MemoryControllerParams};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Write modes that may begin while the same read is the oldest that waits (assumed: far beyond what happens where the
/// limits of the modes leave time to open a row for it).
const MODES_PER_READ: u32 = 64;

/// Mode of a controller: the kind of requests that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Read,
    Write,
}

/// Direction of a controller, with the state that decides when it changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Direction {
    mode: Mode,
    since: Time,
    /// Lines served since the last change of mode.
    served: u32,
    /// Key of the oldest waiting read when the last write mode began; `u64::MAX` without one.
    oldest_read: u64,
    /// Write modes that have begun while that read waited.
    modes_of_oldest: u32,
    /// True while an empty RPQ lets writes pass in read mode.
    idle_drain: bool,
    /// Clock at which the first read arrived at an empty RPQ; while writes pass, clock of the oldest waiting read.
    reads_since: u64,
    /// Clock at which the last write arrived.
    last_write: u64,
}

impl Direction {
    /// Creates the state of a controller in read mode.
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Read,
            since: Time::ZERO,
            served: 0,
            oldest_read: u64::MAX,
            modes_of_oldest: 0,
            idle_drain: false,
            reads_since: 0,
            last_write: 0,
        }
    }

    /// Returns true if queued writes are served and not reads.
    #[inline]
    pub(super) fn writes(&self) -> bool {
        self.mode == Mode::Write || self.idle_drain
    }

    /// Notes a request that arrives in clock `clock`, before it is queued.
    #[inline]
    pub(super) fn note_arrival(&mut self, read: bool, reads: &PendingQueue, clock: u64) {
        if !read {
            self.last_write = clock;
        // While writes pass no read is served, so the read that found the queue empty stays the oldest.
        } else if reads.len() == 0 {
            self.reads_since = clock;
        }
    }

    /// Counts a line that has been served.
    #[inline]
    pub(super) fn note_served(&mut self, write: bool) {
        // Writes that pass in read mode, and owned reads in write mode, do not count towards the limits of the mode.
        self.served += u32::from(write == (self.mode == Mode::Write));
    }

    /// Returns the time in write mode up to `now` that is not counted yet, in ps.
    pub(super) fn writing_ps(&self, now: Time) -> u64 {
        if self.mode == Mode::Write {
            now.since(self.since)
        } else {
            0
        }
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.since = now;
    }

    /// Enters or leaves write mode. Returns true if the direction has changed.
    #[inline]
    pub(super) fn choose_mode(
        &mut self,
        now: Time,
        clock: u64,
        [reads, writes]: [&PendingQueue; 2],
        params: &MemoryControllerParams,
        counters: &mut Counters,
    ) -> bool {
        !self.mode_stays(reads, writes, params)
            && !self.idles(writes, params)
            && self.change(now, clock, [reads, writes], params, counters)
    }

    /// Returns true if so few writes wait in read mode that even without reads none of them is served.
    #[inline(never)]
    fn idles(&self, writes: &PendingQueue, params: &MemoryControllerParams) -> bool {
        self.mode == Mode::Read
            && !self.idle_drain
            && writes.len() < params.idle_writes.min(params.write_high)
            && params.idle_flush == u32::MAX
    }

    /// Returns true if the mode plainly stays, which is the common case.
    #[inline]
    fn mode_stays(&self, reads: &PendingQueue, writes: &PendingQueue, params: &MemoryControllerParams) -> bool {
        match self.mode {
            Mode::Read => reads.len() > 0 && writes.len() < params.write_high && !self.idle_drain,
            Mode::Write => writes.len() > params.write_low && self.served < params.writes_per_mode,
        }
    }

    fn change(
        &mut self,
        now: Time,
        clock: u64,
        [reads, writes]: [&PendingQueue; 2],
        params: &MemoryControllerParams,
        counters: &mut Counters,
    ) -> bool {
        let before = (self.mode, self.idle_drain);
        match self.mode {
            Mode::Read if self.starts_writing(reads, writes, params, clock) => {
                self.note_oldest(reads);
                *self = Self { mode: Mode::Write, since: now, served: 0, idle_drain: false, ..*self };
                counters.write_modes += 1;
            }
            Mode::Write if self.stops_writing(reads, writes, params) => {
                counters.write_mode_ps += now.since(self.since);
                (self.mode, self.served) = (Mode::Read, 0);
            }
            _ => {}
        }
        // Decided after the mode, so that a write mode that ends without reads may go on as an idle drain.
        if self.mode == Mode::Read && params.idle_drain == IdleDrain::Yield {
            self.idle_drain = if self.idle_drain {
                writes.len() > 0 && !self.reads_end_drain(reads, params, clock)
            } else {
                reads.len() == 0 && self.enough_idle_writes(writes, params, clock)
            };
        }
        before != (self.mode, self.idle_drain)
    }

    /// Returns true if reads end the writes that an empty read queue let pass: by the number of reads, by the number
    /// that would hit an open row, or by age.
    fn reads_end_drain(&self, reads: &PendingQueue, params: &MemoryControllerParams, clock: u64) -> bool {
        // Calibrated against figures 7a, 8a and 3 (quadrant 3); see docs/models/memory.md, Sources.
        reads.len() > params.idle_reads
            || reads.len() > params.idle_hits && reads.hitting() > params.idle_hits
            || clock >= self.read_timeout_at(reads, params)
    }

    /// Returns the clock at which the oldest read has waited long enough for writes that an empty read queue let pass.
    #[inline]
    fn read_timeout_at(&self, reads: &PendingQueue, params: &MemoryControllerParams) -> u64 {
        // `u32::MAX` stands for `idle_age = "off"`.
        if reads.len() == 0 || params.idle_age == u32::MAX {
            return u64::MAX;
        }
        self.reads_since + u64::from(params.idle_age)
    }

    /// Returns `plan`, or a plan to decide anew once a read has waited long enough, whichever is first.
    #[inline]
    pub(super) fn or_read_timeout(
        &self,
        plan: CommandPlan,
        reads: &PendingQueue,
        params: &MemoryControllerParams,
    ) -> CommandPlan {
        // No command or arrival need coincide with the age limit, so the plan itself must contain that clock.
        if self.idle_drain {
            plan.or(CommandPlan::nothing(self.read_timeout_at(reads, params)))
        } else {
            plan
        }
    }

    /// Returns true if enough writes wait for an idle read queue to let them pass.
    fn enough_idle_writes(&self, writes: &PendingQueue, params: &MemoryControllerParams, clock: u64) -> bool {
        writes.len() >= params.idle_writes || clock >= self.flush_at(writes, params)
    }

    /// Returns the clock at which the last write has waited long enough for further writes.
    #[inline]
    fn flush_at(&self, writes: &PendingQueue, params: &MemoryControllerParams) -> u64 {
        if writes.len() == 0 || params.idle_flush == u32::MAX {
            return u64::MAX;
        }
        self.last_write + u64::from(params.idle_flush)
    }

    /// Returns `plan` of read mode, or a plan to decide anew once writes have waited long enough for others, whichever
    /// is first.
    #[inline]
    pub(super) fn or_flush(
        &self,
        plan: CommandPlan,
        reads: &PendingQueue,
        writes: &PendingQueue,
        params: &MemoryControllerParams,
    ) -> CommandPlan {
        // While reads wait, writes pass only in a mode or in spare slots, so their age sets no deadline.
        if params.idle_flush == u32::MAX || reads.len() > 0 {
            plan
        } else {
            plan.or(CommandPlan::nothing(self.flush_at(writes, params)))
        }
    }

    fn starts_writing(
        &self,
        reads: &PendingQueue,
        writes: &PendingQueue,
        params: &MemoryControllerParams,
        clock: u64,
    ) -> bool {
        let idle =
            params.idle_drain == IdleDrain::Mode && reads.len() == 0 && self.enough_idle_writes(writes, params, clock);
        // A minimum of reads between write modes keeps a full WPQ from starving them (figures 3, quadrant 3, and 6b).
        let few_reads = self.served >= params.reads_per_mode || reads.len() <= params.reads_few && !self.starve(reads);
        idle || writes.len() >= params.write_high && few_reads
    }

    /// Counts a write mode that begins while `reads` wait.
    fn note_oldest(&mut self, reads: &PendingQueue) {
        let oldest = reads.oldest_key();
        self.modes_of_oldest = if oldest == self.oldest_read { self.modes_of_oldest + 1 } else { 0 };
        self.oldest_read = oldest;
    }

    /// Returns true if the oldest read has waited through as many write modes as it may.
    fn starve(&self, reads: &PendingQueue) -> bool {
        self.modes_of_oldest >= MODES_PER_READ && reads.len() > 0 && reads.oldest_key() == self.oldest_read
    }

    fn stops_writing(&self, reads: &PendingQueue, writes: &PendingQueue, params: &MemoryControllerParams) -> bool {
        // A mode that began for lack of reads empties the WPQ, since nothing else would use the bus.
        if params.idle_drain == IdleDrain::Mode && reads.len() == 0 {
            return writes.len() == 0;
        }
        writes.len() <= params.write_low || self.served >= params.writes_per_mode && reads.len() > 0
    }
}
