//! The best candidates for the next command, one of each kind, remembered from plan to plan.
//!
//! A command or a request changes what its own bank would do, and when the banks beside it may go; seldom more. What is
//! best of a kind stays so while its time has not come, no gate of its kind has moved and its own bank is as it was:
//! then it only competes with the banks that have changed.

use super::plan::{rank, Plan, ACTIVATE, ACTIVE, CAS, FIRST, OWNERS, PRECHARGE, SECOND, THIRD, WRITE};
use super::{bits, CommandScheduler};
use crate::params::{MemoryControllerParams, RowProtection, SchedulingPolicy};
use serde::{Deserialize, Serialize};

/// Column accesses of requests that own their bank, other column accesses, activations and precharges.
const KINDS: usize = 4;
const OWNED: usize = 0;
const COLUMNS: usize = 1;
const OPENS: usize = 2;
const CLOSES: usize = 3;

const ALL_BANKS: u64 = u64::MAX;

/// What is best of each kind, and what is known of its being out of date.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Candidates {
    best: [Plan; KINDS],
    /// Banks that may do better than the best of a kind; all when there may be none that does as well.
    unsure: [u64; KINDS],
    /// Whether all depends on commands, requests and limits of protection, and not on who is the oldest of all.
    lasting: bool,
    /// Whether a request that comes may keep a row open that another request wants closed.
    hits_protect: bool,
    /// The classes of urgency of activations and of precharges.
    open_class: u64,
    close_class: u64,
    /// What was looked for last: for writes, the banks that were held, and those whose row had had its share.
    write: bool,
    held: u64,
    overdue: u64,
}

impl Candidates {
    pub(super) fn new(params: &MemoryControllerParams) -> Self {
        let columns_first = params.scheduler == SchedulingPolicy::ColumnFirst;
        let (open_class, close_class) = if columns_first { (SECOND, THIRD) } else { (FIRST, FIRST) };
        Self {
            open_class,
            close_class,
            best: [Plan::NEVER; KINDS],
            unsure: [ALL_BANKS; KINDS],
            lasting: params.scheduler != SchedulingPolicy::Fcfs,
            hits_protect: params.protect == RowProtection::AllHits,
            write: false,
            held: 0,
            overdue: 0,
        }
    }

    /// A bank has something new to do for queued requests.
    #[inline]
    pub(super) fn pending_changed(&mut self, bank: usize) {
        self.unsure[COLUMNS] |= 1 << bank;
        self.unsure[OPENS] |= 1 << bank;
        self.unsure[CLOSES] |= if self.hits_protect { ALL_BANKS } else { 1 << bank };
    }

    /// An activation keeps others waiting.
    #[inline]
    pub(super) fn row_opened(&mut self, bank: usize) {
        self.unsure[OPENS] = ALL_BANKS;
        self.unsure[OWNED] |= 1 << bank;
        self.unsure[COLUMNS] |= 1 << bank;
    }

    /// A column access keeps others waiting, and puts the precharge of its bank off.
    #[inline]
    pub(super) fn row_accessed(&mut self, bank: usize) {
        self.unsure[OWNED] = ALL_BANKS;
        self.unsure[COLUMNS] = ALL_BANKS;
        self.unsure[CLOSES] |= if self.best[CLOSES].bank() == bank { ALL_BANKS } else { 1 << bank };
    }

    /// A precharge may keep others waiting, and leaves nothing to access.
    #[inline]
    pub(super) fn row_closed(&mut self, bank: usize) {
        self.unsure[CLOSES] = ALL_BANKS;
        self.unsure[OPENS] |= 1 << bank;
        if self.best[COLUMNS].bank() == bank {
            self.unsure[COLUMNS] = ALL_BANKS;
        }
    }

    /// Somebody else uses the data bus.
    pub(super) fn bus_used(&mut self) {
        self.unsure[OWNED] = ALL_BANKS;
        self.unsure[COLUMNS] = ALL_BANKS;
    }

    /// A refresh keeps a good many banks waiting.
    pub(super) fn refreshed(&mut self) {
        self.unsure = [ALL_BANKS; KINDS];
    }

    /// Notes what is looked for from now on.
    #[inline]
    fn look_for(&mut self, write: bool, held: u64, overdue: u64) {
        if (write, held) != (self.write, self.held) {
            (self.write, self.held) = (write, held);
            self.unsure[COLUMNS..].fill(ALL_BANKS);
        }
        if overdue != self.overdue {
            self.overdue = overdue;
            self.unsure[COLUMNS] = ALL_BANKS;
            self.unsure[CLOSES] = ALL_BANKS;
        }
    }

    /// The banks to look at for the best of a kind from `floor` on.
    #[inline]
    fn unsure(&self, kind: usize, floor: u64) -> u64 {
        if self.best[kind].clock < floor {
            ALL_BANKS
        } else {
            self.unsure[kind]
        }
    }

    /// Notes the first of the banks that had to be looked at.
    #[inline]
    fn settle(&mut self, kind: usize, unsure: u64, first: Plan) {
        let best = if unsure == ALL_BANKS { Plan::NEVER } else { self.best[kind] };
        self.best[kind] = best.or(first);
        self.unsure[kind] = 0;
    }
}

impl CommandScheduler {
    /// What goes first of what requests want, at `clock` or later; `write` says whether queued writes or reads are
    /// served.
    #[inline]
    pub(super) fn best_candidate(&mut self, write: bool, clock: u64) -> Plan {
        let best = self.best_remembered(write, clock);
        debug_assert_eq!(
            best,
            self.first_owned(ALL_BANKS, clock.max(self.buses.column)).or(self.plan_among(write, ALL_BANKS, clock)),
            "what is remembered is what would be found"
        );
        best
    }

    #[inline]
    fn best_remembered(&mut self, write: bool, clock: u64) -> Plan {
        let (column_floor, row_floor) = (clock.max(self.buses.column), clock.max(self.buses.row));
        let free = !self.refresher.held;
        let overdue = self.overdue(self.queue(write), free & !self.owned(), self.floor(clock));
        self.candidates.look_for(write, self.refresher.held, overdue);
        let unsure = self.candidates.unsure(OWNED, column_floor);
        if unsure != 0 {
            let first = self.first_owned(unsure, column_floor);
            self.candidates.settle(OWNED, unsure, first);
        }
        if !self.candidates.lasting {
            return self.candidates.best[OWNED].or(self.plan_among(write, ALL_BANKS, clock));
        }
        let hits = self.queue(write).hits & !overdue;
        let unsure = self.candidates.unsure(COLUMNS, column_floor);
        if hits != 0 && unsure != 0 {
            let first = self.first_column(write, hits & free & unsure, column_floor);
            self.candidates.settle(COLUMNS, unsure, first);
        }
        let unsure = self.candidates.unsure(OPENS, row_floor);
        if unsure != 0 {
            let first = self.first_open(write, self.wanted_opens(write, free & unsure), row_floor);
            self.candidates.settle(OPENS, unsure, first);
        }
        let unsure = self.candidates.unsure(CLOSES, row_floor);
        if unsure != 0 {
            let first = self.first_close(write, (self.wanted_closes(write, free) | overdue) & unsure, row_floor);
            self.candidates.settle(CLOSES, unsure, first);
        }
        let [owned, columns, opens, closes] = self.candidates.best;
        let first = owned.or(opens.or(closes));
        if hits == 0 {
            first
        } else {
            first.or(columns)
        }
    }

    /// The first column access of a request that owns its bank.
    #[inline]
    fn first_owned(&self, banks: u64, floor: u64) -> Plan {
        let [reads, writes] = self.owners.banks;
        self.first_owned_by(false, banks & reads, floor).or(self.first_owned_by(true, banks & writes, floor))
    }

    #[inline]
    fn first_owned_by(&self, write: bool, banks: u64, floor: u64) -> Plan {
        first_of(banks, OWNERS | ACTIVE | direction(write), floor, |bank| {
            (self.timing.earliest_cas(bank, write), self.owners.keys[bank])
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
        first_of(banks, self.candidates.open_class | ACTIVATE | direction(write), floor, |bank| {
            (self.timing.earliest_act(bank), queue.rival_key(bank))
        })
    }

    /// The first precharge of one of `banks`.
    #[inline]
    pub(super) fn first_close(&self, write: bool, banks: u64, floor: u64) -> Plan {
        let queue = self.queue(write);
        first_of(banks, self.candidates.close_class | PRECHARGE | direction(write), floor, |bank| {
            (self.timing.earliest_precharge(bank), queue.rival_key(bank))
        })
    }
}

#[inline]
fn direction(write: bool) -> u64 {
    u64::from(write) * WRITE
}

/// The first of what `candidate` says of each of `banks`, a clock and a key, but not before `floor`. `kind` is what
/// their keys have in common. Waits are compared instead of clocks, since that takes no branch.
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
