//! The next command: which commands may be issued, and which of them is first.

use super::{CommandScheduler, IncomingRequest};
use crate::params::{RowProtection, SchedulingPolicy};
use serde::{Deserialize, Serialize};

/// Next action of a controller, for a request of the given direction or for the refresh of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlannedAction {
    /// Does nothing.
    None,
    /// Makes a column access for the request that owns the bank.
    Active { bank: usize, write: bool },
    /// Makes a column access to the open row.
    Cas { bank: usize, write: bool },
    /// Opens the row of the oldest request of the bank.
    Activate { bank: usize, write: bool },
    /// Closes a row because a request needs another one.
    Precharge { bank: usize, write: bool },
    /// Blocks new commands to the banks of a refresh.
    Hold { rank: usize },
    /// Closes rows before a refresh.
    PrechargeFor { rank: usize },
    /// Refreshes the rank, or some of its banks.
    Refresh { rank: usize },
}

/// Action and its urgency in one number; the smallest goes first. From the top: urgency class (3 bits), order of
/// arrival of the request, kind of action (3), direction (1), bank or rank (6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct PlanKey(u64);

const NUMBER_BITS: u32 = 6;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
pub(super) const WRITE: u64 = 1 << NUMBER_BITS;
const WHAT_AT: u32 = NUMBER_BITS + 1;
const ORDER_AT: u32 = WHAT_AT + 3;

pub(super) const ACTIVE: u64 = 0 << WHAT_AT;
pub(super) const CAS: u64 = 1 << WHAT_AT;
pub(super) const ACTIVATE: u64 = 2 << WHAT_AT;
pub(super) const PRECHARGE: u64 = 3 << WHAT_AT;
const HOLD: u64 = 4 << WHAT_AT;
const PRECHARGE_FOR: u64 = 5 << WHAT_AT;
const REFRESH: u64 = 6 << WHAT_AT;

/// Urgency classes; within one the oldest request goes first.
pub(super) const OWNERS: u64 = 0 << 61;
const REFRESHES: u64 = 1 << 61;
pub(super) const FIRST: u64 = 2 << 61;
pub(super) const SECOND: u64 = 3 << 61;
pub(super) const THIRD: u64 = 4 << 61;

/// Returns the bits of a key that identify a request: its order of arrival and its bank.
#[inline]
pub(super) fn request_key(order: u64, bank: usize) -> u64 {
    order << ORDER_AT | bank as u64
}

/// Returns clock and key of a plan in one number, which a processor compares without a branch.
#[inline]
pub(super) fn rank(clock: u64, key: u64) -> u128 {
    u128::from(clock) << 64 | u128::from(key)
}

impl PlanKey {
    const NONE: Self = Self(u64::MAX);

    fn action(self) -> PlannedAction {
        let number = (self.0 & NUMBER) as usize;
        let write = self.0 & WRITE != 0;
        match self.0 & (7 << WHAT_AT) {
            ACTIVE => PlannedAction::Active { bank: number, write },
            CAS => PlannedAction::Cas { bank: number, write },
            ACTIVATE => PlannedAction::Activate { bank: number, write },
            PRECHARGE => PlannedAction::Precharge { bank: number, write },
            HOLD => PlannedAction::Hold { rank: number },
            PRECHARGE_FOR => PlannedAction::PrechargeFor { rank: number },
            REFRESH => PlannedAction::Refresh { rank: number },
            _ => PlannedAction::None,
        }
    }
}

/// Next action and its clock. Earlier clocks come first, then the more urgent action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct CommandPlan {
    pub(super) clock: u64,
    key: PlanKey,
}

impl CommandPlan {
    /// No action at any time.
    pub(super) const NEVER: Self = Self { clock: u64::MAX, key: PlanKey::NONE };

    /// Creates a plan without action: at `clock` the controller decides anew.
    pub(super) fn nothing(clock: u64) -> Self {
        Self { clock, key: PlanKey::NONE }
    }

    pub(super) fn hold(clock: u64, rank: usize) -> Self {
        Self { clock, key: PlanKey(REFRESHES | HOLD | rank as u64) }
    }

    pub(super) fn precharge_for(clock: u64, rank: usize) -> Self {
        Self { clock, key: PlanKey(REFRESHES | PRECHARGE_FOR | rank as u64) }
    }

    pub(super) fn refresh(clock: u64, rank: usize) -> Self {
        Self { clock, key: PlanKey(REFRESHES | REFRESH | rank as u64) }
    }

    /// Creates the plan with the given rank. `kind` holds the bits that the keys of all plans of its kind share.
    #[inline]
    pub(super) fn of_rank(rank: u128, kind: u64) -> Self {
        Self { clock: (rank >> 64) as u64, key: PlanKey(rank as u64 | kind) }
    }

    /// Returns the plan delayed by `clocks`.
    #[inline]
    pub(super) fn after(self, clocks: u64) -> Self {
        Self { clock: self.clock + clocks, ..self }
    }

    /// Returns clock and key in one number; the smallest goes first.
    #[inline]
    fn rank(self) -> u128 {
        rank(self.clock, self.key.0)
    }

    /// Returns this plan or the other, whichever goes first.
    #[inline]
    pub(super) fn or(self, other: Self) -> Self {
        if other.rank() < self.rank() {
            other
        } else {
            self
        }
    }

    /// Returns the bank of a plan for a request.
    #[inline]
    pub(super) fn bank(self) -> usize {
        (self.key.0 & NUMBER) as usize
    }

    /// Returns the action.
    #[inline]
    pub(super) fn action(self) -> PlannedAction {
        self.key.action()
    }

    /// Returns true if the plan is for a write.
    #[inline]
    fn writes(self) -> bool {
        // `PlanKey::NONE` has all bits set, that of `WRITE` too.
        self.key.0 & WRITE != 0 && self.key != PlanKey::NONE
    }
}

impl CommandScheduler {
    /// Returns the first clock from `clock` on at which a command bus is free.
    #[inline]
    pub(super) fn floor(&self, clock: u64) -> u64 {
        clock.max(self.buses.first_free())
    }

    /// Returns the banks that requests wait for or own.
    #[inline]
    pub(super) fn waited_for(&self) -> u64 {
        self.reads.banks | self.writes.banks | self.owned()
    }

    /// Returns the banks that belong to a request until its column access.
    #[inline]
    pub(super) fn owned(&self) -> u64 {
        self.owners.all()
    }

    /// Returns the next command, at `clock` or later.
    #[inline(never)]
    pub(super) fn plan_from(&mut self, clock: u64) -> CommandPlan {
        self.find_plan(clock)
    }

    /// Returns the next command, at `clock` or later, without a call.
    #[inline(always)]
    pub(super) fn find_plan(&mut self, clock: u64) -> CommandPlan {
        let write = self.direction.writes();
        let candidate = self.best_candidate(write, clock);
        // Speed only: a refresh step that is due after the candidate cannot be the next command.
        let plan = if self.refresher.is_quiet_until(candidate.clock, self.waited_for()) {
            candidate
        } else {
            let floor = self.floor(clock);
            candidate.or(self.refresher.plan(floor, &self.timing, self.owned(), self.waited_for(), self.buses.row))
        };
        // Without waiting reads the idle drain decides about writes instead.
        let spare = self.writes.len() >= self.params.spare_writes && !write && self.reads.banks != 0;
        if write {
            self.direction.or_read_timeout(plan, &self.reads, &self.params)
        } else if spare {
            self.or_spare_write(plan, clock)
        } else {
            self.direction.or_flush(plan, &self.reads, &self.writes, &self.params)
        }
    }

    /// Returns `plan`, or a command for a write that fits before it in a slot that no read can use.
    #[inline(never)]
    fn or_spare_write(&self, plan: CommandPlan, clock: u64) -> CommandPlan {
        // A command that is due now leaves no slot before it.
        if plan.clock <= self.floor(clock) {
            return plan;
        }
        let spare = self.first_wanted(true, self.wanted_by_spare_writes(u64::MAX, clock), clock);
        if self.fits_before(spare, plan) {
            spare
        } else {
            plan
        }
    }

    /// Returns true if the command `spare` for a write is early enough before `plan` to use the slot.
    #[inline]
    fn fits_before(&self, spare: CommandPlan, plan: CommandPlan) -> bool {
        // At least one clock earlier, because the spare command occupies the bus for a clock.
        spare.clock.saturating_add(u64::from(self.params.spare_clocks.max(1))) <= plan.clock
    }

    /// Returns the next command for requests of a direction.
    #[inline]
    pub(super) fn plan_all(&self, write: bool, clock: u64) -> CommandPlan {
        self.first_wanted(write, self.wanted(write, !self.refresher.held, clock), clock)
    }

    /// Returns the next command for requests of a direction for one bank.
    #[inline]
    pub(super) fn plan_bank(&self, write: bool, bank: usize, clock: u64) -> CommandPlan {
        let wanted = self.wanted(write, 1 << bank & !self.refresher.held, clock);
        self.plan_one(write, bank, wanted, clock)
    }

    /// Returns the first of the column accesses, activations and precharges that requests of a direction need.
    #[inline]
    fn first_wanted(&self, write: bool, [columns, opens, closes]: [u64; 3], clock: u64) -> CommandPlan {
        let row_floor = clock.max(self.buses.row);
        let column = self.first_column(write, columns, clock.max(self.buses.column));
        column.or(self.first_open(write, opens, row_floor)).or(self.first_close(write, closes, row_floor))
    }

    /// Returns true if the last request may have started or stopped the use of spare slots for writes.
    #[inline]
    pub(super) fn at_a_threshold(&self, read: bool) -> bool {
        let spare = self.params.spare_writes;
        self.writes.len() >= spare && if read { self.reads.len() == 1 } else { self.writes.len() == spare }
    }

    /// Returns the next command after the arrival of `incoming`, which changes the next command of its own bank only.
    #[inline]
    pub(super) fn replan(&mut self, plan: CommandPlan, incoming: &IncomingRequest, clock: u64) -> CommandPlan {
        let read = incoming.read;
        let bank = usize::from(incoming.place.bank);
        if self.params.scheduler == SchedulingPolicy::Fcfs
            // Both cases may replace the planned command by one of another bank, so all banks are examined.
            || self.may_protect_row(plan, bank, read)
        {
            return self.plan_from(clock);
        }
        if self.direction.writes() {
            // A read does not change the next write, only the clock at which it ends the drain.
            let plan = if read { plan } else { plan.or(self.plan_bank(true, bank, clock)) };
            return self.direction.or_read_timeout(plan, &self.reads, &self.params);
        }
        let spare = self.params.spare_writes;
        // A planned spare write may now be to a rank that the read waits for.
        if self.at_a_threshold(read) || read && plan.writes() {
            return self.plan_from(clock);
        }
        if read {
            return plan.or(self.plan_bank(false, bank, clock));
        }
        if self.reads.banks != 0 && self.writes.len() >= spare {
            let offered = self.plan_one(true, bank, self.wanted_by_spare_writes(1 << bank, clock), clock);
            if plan.writes() || self.fits_before(offered, plan) {
                return plan.or(offered);
            }
        }
        self.direction.or_flush(plan, &self.reads, &self.writes, &self.params)
    }

    /// Returns true if a request that has just arrived at `bank` may forbid the planned precharge of its row.
    #[inline]
    fn may_protect_row(&self, plan: CommandPlan, bank: usize, read: bool) -> bool {
        self.params.protect == RowProtection::AllHits
            && plan.action() == PlannedAction::Precharge { bank, write: !read }
    }

    /// Returns the column accesses, activations and precharges that writes may have while reads wait: in ranks that no
    /// read waits for, and, unless `spare_rows` is set, of open rows only.
    fn wanted_by_spare_writes(&self, among: u64, clock: u64) -> [u64; 3] {
        // Within a rank tWTR would delay the reads (JESD79-4); another rank costs them only the rank switch.
        let among = among & self.unread_ranks() & !self.refresher.held;
        if among & self.writes.banks == 0 {
            return [0; 3];
        }
        let [columns, opens, closes] = self.wanted(true, among, clock);
        if self.params.spare_rows {
            [columns, opens, closes]
        } else {
            [columns, 0, 0]
        }
    }

    /// Returns the banks of the ranks that no read waits for.
    fn unread_ranks(&self) -> u64 {
        (0..self.dram.ranks as usize)
            .map(|rank| self.timing.banks_of_rank(rank))
            .filter(|banks| banks & self.reads.banks == 0)
            .fold(0, |all, banks| all | banks)
    }
}
