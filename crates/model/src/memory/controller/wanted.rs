//! What the queued requests want of their banks.

use super::queue::Queue;
use super::{bits, Controller};
use crate::memory::calendar::Ready;
use crate::params::{Protect, Scheduler};

impl Controller {
    /// What a request that comes must change to matter for what goes next.
    #[inline]
    pub(super) fn wishes(&self, read: bool) -> [u64; 3] {
        let queue = if read { &self.reads } else { &self.writes };
        [queue.banks, queue.hits, queue.rivals]
    }

    /// The banks among `among` of which the requests of a direction want a column access, an activation or a precharge, and
    /// may have it, as seen in clock `clock`.
    #[inline]
    pub(super) fn wanted(&self, write: bool, among: u64, clock: u64) -> Ready {
        let queue = if write { &self.writes } else { &self.reads };
        let owned = self.owned();
        if self.params.scheduler == Scheduler::Fcfs {
            let waits = self.active_banks[usize::from(write)] != 0;
            return if waits { [0; 3] } else { self.wanted_by_oldest(queue, among & !owned) };
        }
        let overdue = self.overdue(queue, among & !owned, clock);
        let open = self.timing.open;
        let rivals = queue.rivals & open & among & !owned;
        let closes = match self.params.protect {
            Protect::Nothing => rivals,
            Protect::OlderHits => rivals & !queue.with_older_hits(rivals),
            Protect::AllHits => rivals & !queue.hits,
        };
        [queue.hits & among & !overdue, queue.banks & !open & among, closes | overdue]
    }

    /// The next command of the oldest request, which nobody overtakes, nor one that owns a row.
    fn wanted_by_oldest(&self, queue: &Queue, among: u64) -> Ready {
        let bank = queue.oldest_bank().map_or(0, |bank| 1 << bank) & among;
        let hits = bank & queue.hits & queue.with_older_hits(bank);
        let opens = bank & !self.timing.open;
        [hits, opens, bank & !opens & !hits]
    }

    /// The banks among `among` whose open row has had its share, so that a request for another one comes next.
    #[inline]
    fn overdue(&self, queue: &Queue, among: u64, clock: u64) -> u64 {
        let (hold, most) = (self.params.row_hold, self.params.row_hits);
        if hold == u32::MAX && most == 0 {
            return 0;
        }
        let contested = queue.hits & queue.rivals & among;
        let is_overdue = |&bank: &usize| {
            let older = queue.rival_keys[bank] < queue.hit_keys[bank];
            let waited = older && clock >= queue.rival_arrived(bank) + u64::from(hold);
            waited || most > 0 && self.timing.hits(bank) >= most
        };
        bits(contested).filter(is_overdue).fold(0, |all, bank| all | 1 << bank)
    }
}
