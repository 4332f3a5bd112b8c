//! What the queued requests want of their banks.

use super::queue::Queue;
use super::{bits, Controller};
use crate::params::{Protect, Scheduler};

/// The banks that the requests of one direction want something of, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// A line of the open row.
    pub(super) columns: u64,
    /// Another row, and none is open.
    pub(super) opens: u64,
    /// Another row than the open one, which may be closed.
    pub(super) closes: u64,
    /// The direction.
    pub(super) write: bool,
}

impl Wanted {
    pub(super) const NOTHING: Self = Self { columns: 0, opens: 0, closes: 0, write: false };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.columns | self.opens | self.closes == 0
    }
}

impl Controller {
    /// What the requests of a direction want of the banks `among` and may have, as seen in clock `clock`.
    #[inline]
    pub(super) fn wanted(&self, write: bool, among: u64, clock: u64) -> Wanted {
        let queue = if write { &self.writes } else { &self.reads };
        let owned = self.active_banks[0] | self.active_banks[1];
        if self.params.scheduler == Scheduler::Fcfs {
            return self.wanted_by_oldest(queue, write, among & !owned);
        }
        let overdue = self.overdue(queue, among & !owned, clock);
        let open = self.timing.open;
        let rivals = queue.rivals & open & among & !owned;
        let closes = match self.params.protect {
            Protect::Nothing => rivals,
            Protect::OlderHits => rivals & !queue.with_older_hits(rivals),
            Protect::AllHits => rivals & !queue.hits,
        };
        Wanted {
            columns: queue.hits & among & !overdue,
            opens: queue.banks & !open & among,
            closes: closes | overdue,
            write,
        }
    }

    /// The next command of the oldest request, which nobody overtakes.
    fn wanted_by_oldest(&self, queue: &Queue, write: bool, among: u64) -> Wanted {
        let bank = queue.oldest_bank().map_or(0, |bank| 1 << bank) & among;
        let hits = bank & queue.hits & queue.with_older_hits(bank);
        let opens = bank & !self.timing.open;
        Wanted { columns: hits, opens, closes: bank & !opens & !hits, write }
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
