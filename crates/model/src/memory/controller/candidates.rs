//! The best candidates for the next command, one of each kind, remembered from plan to plan.
//!
//! A command or a request changes what its own bank would do, and when the banks beside it may go; seldom more. What is
//! best of a kind stays so while its time has not come, no gate of its kind has moved and its own bank is as it was: then
//! it only competes with the banks that have changed.

use super::plan::{rank, Plan, ACTIVATE, ACTIVE, CAS, FIRST, OWNERS, PRECHARGE, SECOND, THIRD, WRITE};
use super::{bits, Controller};
use crate::params::{ControllerParams, Scheduler};
use serde::{Deserialize, Serialize};

/// Column accesses of requests that own their bank, other column accesses, activations and precharges.
const KINDS: usize = 4;
const OWNED: usize = 0;
const COLUMNS: usize = 1;
const OPENS: usize = 2;
const CLOSES: usize = 3;

/// Several kinds, one bit each.
const NO_KIND: u8 = 0;
const ALL_KINDS: u8 = (1 << KINDS) - 1;
const FOR_QUEUED: u8 = ALL_KINDS & !(1 << OWNED);

/// What is best of each kind, and what is known of its being out of date.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Candidates {
    best: [Plan; KINDS],
    /// Kinds to be looked for anew.
    stale: u8,
    /// Whether all depends on commands and requests alone, and not on the time or on who is the oldest of all.
    lasting: bool,
    /// Banks that have changed, one bit each.
    changed: u64,
    /// What was looked for last: for writes, and the banks that were held.
    write: bool,
    held: u64,
}

impl Candidates {
    pub(super) fn new(params: &ControllerParams) -> Self {
        let lasting = params.row_hold == u32::MAX && params.row_hits == 0 && params.scheduler != Scheduler::Fcfs;
        Self { best: [Plan::NEVER; KINDS], stale: ALL_KINDS, lasting, changed: 0, write: false, held: 0 }
    }

    /// The row, the requests or the owner of a bank have changed.
    #[inline]
    pub(super) fn bank_changed(&mut self, bank: usize) {
        self.changed |= 1 << bank;
    }

    /// An activation keeps others waiting.
    #[inline]
    pub(super) fn row_opened(&mut self, bank: usize) {
        self.bank_changed(bank);
        self.stale |= 1 << OPENS;
    }

    /// A column access keeps others waiting.
    #[inline]
    pub(super) fn row_accessed(&mut self, bank: usize) {
        self.bank_changed(bank);
        self.stale |= 1 << OWNED | 1 << COLUMNS;
    }

    /// A precharge may keep others waiting.
    #[inline]
    pub(super) fn row_closed(&mut self, bank: usize, others_wait: bool) {
        self.bank_changed(bank);
        self.stale |= u8::from(others_wait) << CLOSES;
    }

    /// A refresh keeps a good many banks waiting.
    pub(super) fn refreshed(&mut self) {
        self.stale = ALL_KINDS;
    }

    /// Notes what is looked for from now on.
    #[inline]
    fn look_for(&mut self, write: bool, held: u64) {
        if (write, held) != (self.write, self.held) {
            self.stale |= FOR_QUEUED;
            (self.write, self.held) = (write, held);
        }
    }

    /// Brings the best of a kind up to date: `first` finds the first of some banks, not before `floor`, among `banks`.
    #[inline]
    fn renew(&mut self, kind: usize, floor: u64, banks: u64, first: impl Fn(u64) -> Plan) {
        let best = &mut self.best[kind];
        if self.stale >> kind & 1 == 1 || best.clock < floor || self.changed >> best.bank() & 1 == 1 {
            *best = first(banks);
        } else if self.changed & banks != 0 {
            *best = best.or(first(self.changed & banks));
        }
    }

    #[inline]
    fn is_up_to_date(&mut self) {
        (self.stale, self.changed) = (NO_KIND, 0);
    }
}

impl Controller {
    /// What goes first of what requests want, at `clock` or later; `write` says whether queued writes or reads are served.
    #[inline]
    pub(super) fn best_candidate(&mut self, write: bool, clock: u64) -> Plan {
        let (column_floor, row_floor) = (clock.max(self.column_bus), clock.max(self.row_bus));
        let mut known = self.candidates;
        known.look_for(write, self.refresher.held);
        known.renew(OWNED, column_floor, self.owned(), |banks| self.first_owned(banks, column_floor));
        if known.lasting {
            let free = !self.refresher.held;
            let columns = self.queue(write).hits & free;
            known.renew(COLUMNS, column_floor, columns, |banks| self.first_column(write, banks, column_floor));
            let opens = self.wanted_opens(write, free);
            known.renew(OPENS, row_floor, opens, |banks| self.first_open(write, banks, row_floor));
            let closes = self.wanted_closes(write, free);
            known.renew(CLOSES, row_floor, closes, |banks| self.first_close(write, banks, row_floor));
        } else {
            known.best[COLUMNS] = self.plan_among(write, u64::MAX, clock);
        }
        known.is_up_to_date();
        self.candidates = known;
        let [owned, columns, opens, closes] = known.best;
        owned.or(columns).or(opens.or(closes))
    }

    /// The first column access of a request that owns its bank.
    #[inline]
    fn first_owned(&self, banks: u64, floor: u64) -> Plan {
        let writes = self.active_banks[1];
        first_of(banks, OWNERS | ACTIVE, floor, |bank| {
            (self.timing.earliest_cas(bank, writes >> bank & 1 == 1), self.active[bank].key)
        })
    }

    /// The first access to the open rows of `banks`.
    #[inline]
    pub(super) fn first_column(&self, write: bool, banks: u64, floor: u64) -> Plan {
        let queue = self.queue(write);
        first_of(banks, FIRST | CAS | direction(write), floor, |bank| {
            (self.timing.earliest_cas(bank, write), queue.hit_key(bank))
        })
    }

    /// The first activation of one of `banks`.
    #[inline]
    pub(super) fn first_open(&self, write: bool, banks: u64, floor: u64) -> Plan {
        let queue = self.queue(write);
        first_of(banks, self.lower_classes()[0] | ACTIVATE | direction(write), floor, |bank| {
            (self.timing.earliest_act(bank), queue.rival_key(bank))
        })
    }

    /// The first precharge of one of `banks`.
    #[inline]
    pub(super) fn first_close(&self, write: bool, banks: u64, floor: u64) -> Plan {
        let queue = self.queue(write);
        first_of(banks, self.lower_classes()[1] | PRECHARGE | direction(write), floor, |bank| {
            (self.timing.earliest_precharge(bank), queue.rival_key(bank))
        })
    }

    /// The classes of urgency of activations and of precharges.
    #[inline]
    fn lower_classes(&self) -> [u64; 2] {
        if self.params.scheduler == Scheduler::ColumnFirst {
            [SECOND, THIRD]
        } else {
            [FIRST, FIRST]
        }
    }
}

#[inline]
fn direction(write: bool) -> u64 {
    if write {
        WRITE
    } else {
        0
    }
}

/// The first of what `candidate` says of each of `banks`, a clock and a key, but not before `floor`. `kind` is what their
/// keys have in common. Waits are compared instead of clocks, since that takes no branch.
#[inline]
fn first_of(banks: u64, kind: u64, floor: u64, candidate: impl Fn(usize) -> (u64, u64)) -> Plan {
    if banks == 0 {
        return Plan::NEVER;
    }
    let ranks = bits(banks).map(|bank| {
        let (clock, key) = candidate(bank);
        rank(clock.saturating_sub(floor), key)
    });
    Plan::of_rank(ranks.fold(u128::MAX, u128::min), kind).after(floor)
}
