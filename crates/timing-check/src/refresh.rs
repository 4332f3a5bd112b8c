//! Detects missing refreshes.

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::DramParams;

use crate::organisation::{Organisation, Place};
use crate::rules::{STARVED, STARVED_SAME_BANK};
use crate::violation::{Fault, Violation};

/// Refresh state of one set of banks, those that one REFSB refreshes.
#[derive(Clone, Copy, Debug)]
struct RefreshState {
    /// The last refresh, or the first command of the stream.
    since: CommandRecord,
    /// Last clock at which the next refresh may be issued; `u64::MAX` once its absence has been reported.
    deadline: u64,
}

/// Watches that every bank is refreshed in time: within (postponed_max + 1) tREFI after a REF or the start, and
/// within as many rounds of REFSB after a REFSB.
#[derive(Clone, Debug)]
pub(crate) struct RefreshWatch {
    after_refresh: u64,
    after_same_bank: u64,
    sets: usize,
    /// Refresh state by rank, then by set.
    dues: Vec<RefreshState>,
    /// Earliest deadline.
    next: u64,
}

impl RefreshWatch {
    /// Starts to watch at the command `first`.
    pub(crate) fn new(dram: &DramParams, organisation: &Organisation, enabled: bool, first: CommandRecord) -> Self {
        let sets = organisation.sets();
        // JESD79-4 allows eight postponed refreshes, JESD79-5 four; the one that is due comes on top.
        let owed = u64::from(dram.postponed_max) + 1;
        // A device without a duration of REF needs no refresh.
        let enabled = enabled && dram.timing.rfc > 0;
        let limit = |interval: u64| if enabled && interval > 0 { owed.saturating_mul(interval) } else { u64::MAX };
        let after_refresh = limit(dram.timing.refi.into());
        let due = RefreshState { since: first, deadline: first.clock.saturating_add(after_refresh) };
        RefreshWatch {
            after_refresh,
            // A REFSB reaches one set, so a bank waits for a round over all sets.
            after_same_bank: limit(u64::from(dram.timing.refi_sb) * sets as u64),
            sets,
            dues: vec![due; sets * organisation.ranks],
            next: due.deadline,
        }
    }

    /// Reports the ranks whose refresh was due before this command, each only once until it is refreshed.
    pub(crate) fn check(&mut self, record: &CommandRecord, report: &mut dyn FnMut(Violation)) {
        // Fast path: no deadline has passed.
        if record.clock <= self.next {
            return;
        }
        for (rank, dues) in (0..).zip(self.dues.chunks_mut(self.sets)) {
            let late = dues.iter().copied().filter(|due| due.deadline < record.clock).min_by_key(|due| due.deadline);
            if let Some(due) = late {
                report(starved(rank, &due, record));
            }
            // Reported once: later commands would repeat the same violation.
            dues.iter_mut().filter(|due| due.deadline < record.clock).for_each(|due| due.deadline = u64::MAX);
        }
        self.find_next();
    }

    /// Records a REF or a REFSB.
    pub(crate) fn refreshed(&mut self, record: &CommandRecord, place: &Place) {
        let start = place.rank * self.sets;
        let (range, limit) = match record.kind {
            CommandKind::RefreshSameBank => (start + place.set..start + place.set + 1, self.after_same_bank),
            _ => (start..start + self.sets, self.after_refresh),
        };
        self.dues[range].fill(RefreshState { since: *record, deadline: record.clock.saturating_add(limit) });
        self.find_next();
    }

    fn find_next(&mut self) {
        self.next = self.dues.iter().map(|due| due.deadline).min().unwrap_or(u64::MAX);
    }
}

fn starved(rank: u8, due: &RefreshState, record: &CommandRecord) -> Violation {
    let rule = match due.since.kind {
        CommandKind::RefreshSameBank => STARVED_SAME_BANK,
        _ => STARVED,
    };
    Violation {
        needed: due.deadline - due.since.clock,
        have: record.clock - due.since.clock,
        off_by_clocks: record.clock - due.deadline,
        ..Violation::state(rule, Fault::TooLate { rank }, due.since, *record)
    }
}
