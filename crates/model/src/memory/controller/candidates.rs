//! Best candidate of each kind for the next command, cached from plan to plan.
//!
//! A command or a request changes the next command of its own bank, and the earliest clocks of the banks beside it;
//! seldom more. The best candidate of a kind remains the best while its clock has not come, no timing constraint of
//! its kind has moved and its own bank is unchanged: then it competes only with the banks that have changed.

use super::plan::{rank, CommandPlan, ACTIVATE, ACTIVE, CAS, FIRST, OWNERS, PRECHARGE, SECOND, THIRD, WRITE};
use super::{bits, CommandScheduler};
use crate::params::{MemoryControllerParams, RowProtection, SchedulingPolicy};
use serde::{Deserialize, Serialize};

/// Kinds of candidates: column accesses of requests that own their bank, other column accesses, activations and
/// precharges.
const KINDS: usize = 4;
const OWNED: usize = 0;
const COLUMNS: usize = 1;
const OPENS: usize = 2;
const CLOSES: usize = 3;

const ALL_BANKS: u64 = u64::MAX;

/// Cached candidates, and the banks that have to be examined again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Candidates {
    best: [CommandPlan; KINDS],
    /// Banks that may have a better candidate than the best of a kind; all banks if that best may no longer hold.
    stale_banks: [u64; KINDS],
    /// True if candidates depend only on commands, requests and limits of row protection, and not on which request is
    /// the oldest of all.
    cacheable: bool,
    /// True if a new request may keep a row open that another request needs closed.
    hits_protect: bool,
    /// True if row protection has a limit.
    pub(super) rows_limited: bool,
    /// Urgency classes of activations and of precharges.
    open_class: u64,
    close_class: u64,
    /// Conditions of the last search: direction, held banks, and banks whose open row is overdue for closing.
    write: bool,
    held: u64,
    overdue: u64,
}

impl Candidates {
    pub(super) fn new(params: &MemoryControllerParams) -> Self {
        let columns_first = params.scheduler == SchedulingPolicy::ColumnFirst;
        // FR-FCFS ranks column accesses before ACT before PRE; `oldest-ready` ranks all of them by age alone.
        let (open_class, close_class) = if columns_first { (SECOND, THIRD) } else { (FIRST, FIRST) };
        Self {
            open_class,
            close_class,
            best: [CommandPlan::NEVER; KINDS],
            stale_banks: [ALL_BANKS; KINDS],
            cacheable: params.scheduler != SchedulingPolicy::Fcfs,
            hits_protect: params.protect == RowProtection::AllHits,
            // `u32::MAX` and 0 stand for no limit of age, and none of hits.
            rows_limited: params.row_hold != u32::MAX || params.row_hits != 0,
            write: false,
            held: 0,
            overdue: 0,
        }
    }

    /// Notes an activation, which delays other activations. The row may be accessed from clock `access` on.
    #[inline]
    pub(super) fn row_opened(&mut self, bank: usize, access: u64) {
        // tRRD and tFAW delay every activation of the rank (JESD79-4), so another bank may be first now.
        self.stale_banks[OPENS] = ALL_BANKS;
        self.note_from(OWNED, bank, access);
        self.note_from(COLUMNS, bank, access);
    }

    /// Notes a column access, which delays other column accesses and the precharge of its bank, which is possible from
    /// clock `precharge` on.
    #[inline]
    pub(super) fn row_accessed(&mut self, bank: usize, precharge: u64) {
        self.stale_banks[OWNED] = ALL_BANKS;
        self.stale_banks[COLUMNS] = ALL_BANKS;
        // tRTP and tWR delay the precharge of this bank alone; if it was the best, the second best is unknown.
        if self.best[CLOSES].bank() == bank {
            self.stale_banks[CLOSES] = ALL_BANKS;
        } else {
            self.note_from(CLOSES, bank, precharge);
        }
    }

    /// Notes a precharge, which may delay other precharges and leaves no open row to access. The bank may be opened
    /// from clock `open` on.
    #[inline]
    pub(super) fn row_closed(&mut self, bank: usize, open: u64) {
        // tPPD delays every precharge of the rank (JESD79-5).
        self.stale_banks[CLOSES] = ALL_BANKS;
        self.note_from(OPENS, bank, open);
        if self.best[COLUMNS].bank() == bank {
            self.stale_banks[COLUMNS] = ALL_BANKS;
        }
    }

    /// Notes that a bank has a candidate from clock `clock` on.
    #[inline]
    fn note_from(&mut self, kind: usize, bank: usize, clock: u64) {
        // A best candidate that is earlier stays the best until it is issued or late, when all banks are examined.
        self.stale_banks[kind] |= u64::from(self.best[kind].clock >= clock) << bank;
    }

    /// Notes that another device has used the data bus.
    pub(super) fn bus_used(&mut self) {
        self.stale_banks[OWNED] = ALL_BANKS;
        self.stale_banks[COLUMNS] = ALL_BANKS;
    }

    /// Notes a refresh or a clone, which occupies many banks.
    pub(super) fn refreshed(&mut self) {
        self.stale_banks = [ALL_BANKS; KINDS];
    }

    /// Sets the conditions of the next search, and marks banks whose candidates depend on a condition that has
    /// changed.
    #[inline]
    fn set_conditions(&mut self, write: bool, held: u64, overdue: u64) {
        if (write, held) != (self.write, self.held) {
            (self.write, self.held) = (write, held);
            // Owners are served in both modes and before a refresh: their candidates depend on neither condition.
            self.stale_banks[COLUMNS..].fill(ALL_BANKS);
        }
        if overdue != self.overdue {
            self.overdue = overdue;
            self.stale_banks[COLUMNS] = ALL_BANKS;
            self.stale_banks[CLOSES] = ALL_BANKS;
        }
    }

    /// Returns the banks to examine for the best candidate of a kind from clock `floor` on.
    #[inline]
    fn stale_banks(&self, kind: usize, floor: u64) -> u64 {
        // When the floor has passed the best clock, ready commands tie, and an older request may win.
        if self.best[kind].clock < floor {
            ALL_BANKS
        } else {
            self.stale_banks[kind]
        }
    }

    /// Stores the best candidate of a kind, where `first` is the best of the banks that were examined.
    #[inline]
    fn store_best(&mut self, kind: usize, stale_banks: u64, first: CommandPlan) {
        let best = if stale_banks == ALL_BANKS { CommandPlan::NEVER } else { self.best[kind] };
        self.best[kind] = best.or(first);
        self.stale_banks[kind] = 0;
    }
}

impl CommandScheduler {
    /// Notes a request that is the first of its bank for `row`, or the first for another row than `open_row`.
    #[inline]
    pub(super) fn request_added(&mut self, bank: usize, row: u32, open_row: Option<u32>) {
        match open_row {
            None => self.candidates.note_from(OPENS, bank, self.timing.earliest_act(bank)),
            Some(open) if open == row => {
                self.candidates.note_from(COLUMNS, bank, self.timing.bank_cas(bank));
                // If the new hit protects the row that was to be closed, the second best precharge is unknown.
                if self.candidates.hits_protect && self.candidates.best[CLOSES].bank() == bank {
                    self.candidates.stale_banks[CLOSES] = ALL_BANKS;
                }
            }
            Some(_) => self.candidates.note_from(CLOSES, bank, self.timing.bank_precharge(bank)),
        }
    }

    /// Notes that requests of a bank that has been opened stay queued, so that the row may have to be closed for others
    /// of them.
    #[inline]
    pub(super) fn opened_for_queued(&mut self, bank: usize) {
        self.candidates.note_from(CLOSES, bank, self.timing.bank_precharge(bank));
    }

    /// Returns the first command for requests, at `clock` or later; for queued writes if `write`, else for queued
    /// reads.
    #[inline]
    pub(super) fn best_candidate(&mut self, write: bool, clock: u64) -> CommandPlan {
        let best = if write { self.best_remembered(true, clock) } else { self.best_remembered(false, clock) };
        debug_assert_eq!(
            best,
            self.first_owned(ALL_BANKS, clock.max(self.buses.column)).or(self.plan_all(write, clock)),
            "what is remembered is what would be found"
        );
        best
    }

    #[inline(always)]
    fn best_remembered(&mut self, write: bool, clock: u64) -> CommandPlan {
        // HBM has one bus for row commands and one for column commands (JESD235), so each kind has its own floor.
        let (column_floor, row_floor) = (clock.max(self.buses.column), clock.max(self.buses.row));
        let free = !self.refresher.held;
        let overdue = self.overdue(self.queue(write), free & !self.owned(), clock);
        self.candidates.set_conditions(write, self.refresher.held, overdue);
        let mut first = CommandPlan::NEVER;
        if self.owned() != 0 {
            first = self.best_of(OWNED, ALL_BANKS, column_floor, |all, banks| all.first_owned(banks, column_floor));
            // Nothing goes before an owner whose clock has come; the other kinds stay stale.
            if first.clock <= column_floor.min(row_floor) {
                return first;
            }
        }
        if !self.candidates.cacheable {
            return first.or(self.plan_all(write, clock));
        }
        let columns = self.queue(write).hits & free & !overdue;
        if columns != 0 {
            let find = |all: &Self, banks| all.first_column(write, banks, column_floor);
            first = first.or(self.best_of(COLUMNS, columns, column_floor, find));
        }
        let opens = self.wanted_opens(write, free);
        if opens != 0 {
            let find = |all: &Self, banks| all.first_open(write, banks, row_floor);
            first = first.or(self.best_of(OPENS, opens, row_floor, find));
        }
        let closes = self.wanted_closes(write, free) | overdue;
        if closes != 0 {
            let find = |all: &Self, banks| all.first_close(write, banks, row_floor);
            first = first.or(self.best_of(CLOSES, closes, row_floor, find));
        }
        first
    }

    /// Returns the best candidate of a kind among the banks `wanted`, from clock `floor` on. `find` finds the best of
    /// some banks.
    #[inline(always)]
    fn best_of(
        &mut self,
        kind: usize,
        wanted: u64,
        floor: u64,
        find: impl FnOnce(&Self, u64) -> CommandPlan,
    ) -> CommandPlan {
        let stale_banks = self.candidates.stale_banks(kind, floor);
        if stale_banks != 0 {
            let first = find(self, wanted & stale_banks);
            self.candidates.store_best(kind, stale_banks, first);
        }
        self.candidates.best[kind]
    }

    /// Returns the first column access of requests that own one of `banks`.
    #[inline]
    fn first_owned(&self, banks: u64, floor: u64) -> CommandPlan {
        let [reads, writes] = self.owners.banks;
        self.first_owned_by(false, banks & reads, floor).or(self.first_owned_by(true, banks & writes, floor))
    }

    #[inline]
    fn first_owned_by(&self, write: bool, banks: u64, floor: u64) -> CommandPlan {
        first_of(banks, OWNERS | ACTIVE | direction(write), floor, |bank| {
            (self.timing.earliest_cas(bank, write), self.owners.keys[bank])
        })
    }

    /// Returns the first access to the open rows of `banks`.
    #[inline]
    pub(super) fn first_column(&self, write: bool, banks: u64, floor: u64) -> CommandPlan {
        first_of(banks, FIRST | CAS | direction(write), floor, |bank| self.column(write, bank))
    }

    /// Returns the first activation of one of `banks`.
    #[inline]
    pub(super) fn first_open(&self, write: bool, banks: u64, floor: u64) -> CommandPlan {
        first_of(banks, self.candidates.open_class | ACTIVATE | direction(write), floor, |bank| self.open(write, bank))
    }

    /// Returns the first precharge of one of `banks`.
    #[inline]
    pub(super) fn first_close(&self, write: bool, banks: u64, floor: u64) -> CommandPlan {
        let kind = self.candidates.close_class | PRECHARGE | direction(write);
        first_of(banks, kind, floor, |bank| self.close(write, bank))
    }

    /// Returns the next command that requests of a direction need for one bank, as [`CommandScheduler::wanted`] gives
    /// the banks of column accesses, activations and precharges.
    #[inline]
    pub(super) fn plan_one(&self, write: bool, bank: usize, wanted: [u64; 3], clock: u64) -> CommandPlan {
        let [column, open, close] = wanted;
        let row_floor = clock.max(self.buses.row);
        if open != 0 {
            return one(self.candidates.open_class | ACTIVATE | direction(write), row_floor, self.open(write, bank));
        }
        let mut plan = CommandPlan::NEVER;
        if column != 0 {
            let column_floor = clock.max(self.buses.column);
            plan = one(FIRST | CAS | direction(write), column_floor, self.column(write, bank));
        }
        if close != 0 {
            let kind = self.candidates.close_class | PRECHARGE | direction(write);
            plan = plan.or(one(kind, row_floor, self.close(write, bank)));
        }
        plan
    }

    /// Returns the clock and the key of the oldest access to the open row of a bank.
    #[inline]
    fn column(&self, write: bool, bank: usize) -> (u64, u64) {
        (self.timing.earliest_cas(bank, write), self.queue(write).hit_key(bank))
    }

    /// Returns the clock and the key of the activation of a bank.
    #[inline]
    fn open(&self, write: bool, bank: usize) -> (u64, u64) {
        (self.timing.earliest_act(bank), self.queue(write).rival_key(bank))
    }

    /// Returns the clock and the key of the precharge of a bank.
    #[inline]
    fn close(&self, write: bool, bank: usize) -> (u64, u64) {
        (self.timing.earliest_precharge(bank), self.queue(write).rival_key(bank))
    }
}

#[inline]
fn direction(write: bool) -> u64 {
    u64::from(write) * WRITE
}

/// Returns the plan of one candidate, not before clock `floor`.
#[inline]
fn one(kind: u64, floor: u64, (clock, key): (u64, u64)) -> CommandPlan {
    CommandPlan::of_rank(rank(clock.max(floor), key), kind)
}

/// Returns the first of the candidates of `banks`, not before clock `floor`. `candidate` returns the clock and the key
/// of a bank, and `kind` holds the bits that all these keys share. Waits are compared instead of clocks, which takes
/// no branch.
#[inline]
fn first_of(banks: u64, kind: u64, floor: u64, candidate: impl Fn(usize) -> (u64, u64)) -> CommandPlan {
    if banks == 0 {
        return CommandPlan::NEVER;
    }
    let ranks = bits(banks).map(|bank| {
        let (clock, key) = candidate(bank);
        rank(clock.saturating_sub(floor), key)
    });
    CommandPlan::of_rank(ranks.fold(u128::MAX, u128::min), kind).after(floor)
}
