//! Next commands that the queued requests need, as sets of banks.

use super::queue::PendingQueue;
use super::{bits, CommandScheduler};
use crate::params::{RowProtection, SchedulingPolicy};

impl CommandScheduler {
    /// Returns the banks among `among` for which the requests of a direction need, and may have, a column access, an
    /// activation or a precharge, when a command may be issued from clock `clock` on.
    #[inline]
    pub(super) fn wanted(&self, write: bool, among: u64, clock: u64) -> [u64; 3] {
        let queue = self.queue(write);
        if self.params.scheduler == SchedulingPolicy::Fcfs {
            // Strict order: while a request of this direction owns a bank, no younger one gets a command.
            let waits = self.owners.banks[usize::from(write)] != 0;
            return if waits { [0; 3] } else { self.wanted_by_oldest(queue, among & !self.owned()) };
        }
        let overdue = self.overdue(queue, among & !self.owned(), clock);
        let columns = queue.hits & among & !overdue;
        [columns, self.wanted_opens(write, among), self.wanted_closes(write, among) | overdue]
    }

    /// Returns the banks among `among` that requests of a direction need opened.
    #[inline]
    pub(super) fn wanted_opens(&self, write: bool, among: u64) -> u64 {
        self.queue(write).banks & !self.timing.open & among
    }

    /// Returns the banks among `among` that requests of a direction may have closed, regardless of the limits of row
    /// protection.
    #[inline]
    pub(super) fn wanted_closes(&self, write: bool, among: u64) -> u64 {
        let queue = self.queue(write);
        let rivals = queue.rivals & self.timing.open & among & !self.owned();
        match self.params.protect {
            RowProtection::Nothing => rivals,
            RowProtection::OlderHits => rivals & !queue.older_hits,
            RowProtection::AllHits => rivals & !queue.hits,
        }
    }

    #[inline]
    pub(super) fn queue(&self, write: bool) -> &PendingQueue {
        if write {
            &self.writes
        } else {
            &self.reads
        }
    }

    /// Returns the bank of the next command of the oldest request, as a column access, an activation or a precharge.
    /// No other request overtakes it; a bank with an owner is excluded.
    fn wanted_by_oldest(&self, queue: &PendingQueue, among: u64) -> [u64; 3] {
        let bank = queue.oldest_bank().map_or(0, |bank| 1 << bank) & among;
        let hits = bank & queue.older_hits;
        let opens = bank & !self.timing.open;
        [hits, opens, bank & !opens & !hits]
    }

    /// Returns the banks among `among` whose open row has reached a limit of row protection, so that a request for
    /// another row is next, when a command may be issued from clock `clock` on.
    #[inline]
    pub(super) fn overdue(&self, queue: &PendingQueue, among: u64, clock: u64) -> u64 {
        if !self.candidates.rows_limited {
            return 0;
        }
        let contested = queue.hits & queue.rivals & among;
        // Without a limit on hits only the age of an older rival ends the protection.
        let contested = if self.params.row_hits == 0 { contested & !queue.older_hits } else { contested };
        if contested == 0 {
            0
        } else {
            self.overdue_of(queue, contested, self.floor(clock))
        }
    }

    /// Returns the banks among the `contested` ones whose open row has reached a limit of row protection.
    #[inline(never)]
    fn overdue_of(&self, queue: &PendingQueue, contested: u64, clock: u64) -> u64 {
        let (hold, most) = (self.params.row_hold, self.params.row_hits);
        let is_overdue = |&bank: &usize| {
            let older = queue.rival_key(bank) < queue.hit_key(bank);
            let waited = older && clock >= queue.rival_arrived(bank) + u64::from(hold);
            waited || most > 0 && self.timing.hits(bank) >= most
        };
        bits(contested).filter(is_overdue).fold(0, |all, bank| all | 1 << bank)
    }
}
