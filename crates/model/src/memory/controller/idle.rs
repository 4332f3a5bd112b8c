//! Rows that no request has used for long (timeout page policy).

use super::{bits, Controller};
use crate::params::PagePolicy;

impl Controller {
    /// Notes the use of a row at `clock`, which may be idle for long enough from a later clock on.
    #[inline]
    pub(super) fn note_use(&mut self, clock: u64) {
        if self.scheduler.params.page == PagePolicy::Timeout {
            // Only a lower bound: the search for idle rows runs when the clock has passed it.
            self.idle_check = self.idle_check.min(clock + u64::from(self.scheduler.params.idle_close));
        }
    }

    /// Closes the rows whose timeout expired before `clock`. Returns true if there were any. A controller changes only
    /// at its events, so the commands are issued afterwards, each in its own clock.
    #[inline]
    pub(super) fn close_idle_rows(&mut self, clock: u64) -> bool {
        self.idle_check < clock && self.close_rows_idle_before(clock)
    }

    fn close_rows_idle_before(&mut self, clock: u64) -> bool {
        let mut any = false;
        // Strictly before `clock`: the command bus of that clock belongs to the planned command.
        while let Some((at, bank)) = self.next_idle_row().filter(|&(at, _)| at < clock) {
            self.close_row(at, bank);
            any = true;
        }
        let waits = u64::from(self.scheduler.params.idle_close);
        let next =
            bits(self.scheduler.timing.open).map(|bank| (self.scheduler.timing.used(bank) + waits).max(clock)).min();
        self.idle_check = next.unwrap_or(u64::MAX);
        any
    }

    /// Returns the clock and the bank of the first row that may be closed and that no request needs.
    fn next_idle_row(&self) -> Option<(u64, usize)> {
        let wanted = self.scheduler.reads.banks | self.scheduler.writes.banks | self.scheduler.owners.all();
        let unwanted = self.scheduler.timing.open & !wanted & !self.scheduler.refresher.held;
        let closes = |bank: usize| {
            let idle = self.scheduler.timing.used(bank) + u64::from(self.scheduler.params.idle_close);
            idle.max(self.scheduler.timing.earliest_precharge(bank)).max(self.scheduler.buses.row)
        };
        // Ties go to the lowest bank, which makes the order of the precharges deterministic.
        bits(unwanted).map(|bank| (closes(bank), bank)).min()
    }
}
