//! The next command: what may go, what goes first.

use super::queue::Queue;
use super::{bits, Controller, Incoming, Mode};
use crate::params::{Protect, Scheduler};
use serde::{Deserialize, Serialize};

/// What a controller does next, for a request of the given direction or for a refresh of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Action {
    /// Nothing, ever.
    None,
    /// Read or write for the request that owns the bank.
    Active { bank: u8, write: bool },
    /// Read or write a line of the open row.
    Cas { bank: u8, write: bool },
    /// Open the row that the oldest request of the bank wants.
    Activate { bank: u8, write: bool },
    /// Close a row that is in the way.
    Precharge { bank: u8, write: bool },
    /// Keep new commands from the banks that are to be refreshed.
    Hold { rank: u8 },
    /// Close rows that are in the way of a refresh.
    PrechargeFor { rank: u8 },
    /// Refresh.
    Refresh { rank: u8 },
}

impl Action {
    fn writes(self) -> bool {
        matches!(
            self,
            Self::Cas { write: true, .. } | Self::Activate { write: true, .. } | Self::Precharge { write: true, .. }
        )
    }
}

/// The next action and its clock. Earlier clocks come first, then lower urgencies.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) clock: u64,
    urgency: u64,
    pub(super) action: Action,
}

/// Classes of urgency; within one the oldest request goes first.
const REFRESH: u64 = 1 << 60;
const FIRST: u64 = 2 << 60;
const SECOND: u64 = 3 << 60;
const THIRD: u64 = 4 << 60;

impl Plan {
    /// Nothing to do.
    pub(super) const NEVER: Self = Self { clock: u64::MAX, urgency: u64::MAX, action: Action::None };

    /// The better of two plans.
    fn or(self, other: Self) -> Self {
        if (other.clock, other.urgency) < (self.clock, self.urgency) {
            other
        } else {
            self
        }
    }

    #[inline]
    fn offer(&mut self, clock: u64, urgency: u64, action: Action) {
        if (clock, urgency) < (self.clock, self.urgency) {
            *self = Self { clock, urgency, action };
        }
    }

    pub(super) fn offer_hold(&mut self, clock: u64, rank: u8) {
        self.offer(clock, REFRESH, Action::Hold { rank });
    }

    pub(super) fn offer_precharge_for(&mut self, clock: u64, rank: u8) {
        self.offer(clock, REFRESH, Action::PrechargeFor { rank });
    }

    pub(super) fn offer_refresh(&mut self, clock: u64, rank: u8) {
        self.offer(clock, REFRESH, Action::Refresh { rank });
    }
}

/// A part of the requests to look at: the banks of a queue, not before a clock.
#[derive(Clone, Copy)]
struct Search<'a> {
    queue: &'a Queue,
    write: bool,
    among: u64,
    floor: u64,
    /// Whether rows may be opened and closed.
    rows: bool,
}

impl Controller {
    /// The first clock from `clock` on at which a command bus is free.
    fn floor(&self, clock: u64) -> u64 {
        clock.max(self.row_bus.min(self.column_bus))
    }

    /// The next command, at `clock` or later.
    pub(super) fn plan_from(&self, clock: u64) -> Plan {
        let floor = self.floor(clock);
        let mut plan = Plan::NEVER;
        self.offer_refreshes(floor, &mut plan);
        if self.active_banks != [0; 2] {
            self.offer_active(floor, &mut plan);
        }
        let among = !self.refresher.held;
        if self.mode == Mode::Write || self.idle_drain {
            self.scan(Search { queue: &self.writes, write: true, among, floor, rows: true }, &mut plan);
            return plan;
        }
        self.scan(Search { queue: &self.reads, write: false, among, floor, rows: true }, &mut plan);
        if plan.clock > floor && self.reads.banks != 0 && self.writes.len() >= self.params.spare_writes {
            let reads = plan;
            let among = among & self.spare_banks();
            self.scan(
                Search { queue: &self.writes, write: true, among, floor, rows: self.params.spare_rows },
                &mut plan,
            );
            if plan.clock == reads.clock {
                return reads;
            }
        }
        plan
    }

    /// The next command, given that a request has just come, which changes what its bank would do and nothing else.
    #[inline]
    pub(super) fn replan(&self, incoming: &Incoming, clock: u64) -> Plan {
        if self.params.scheduler == Scheduler::Fcfs || self.saves_row(incoming) {
            return self.plan_from(clock);
        }
        let (plan, read, floor) = (self.plan, incoming.read, self.floor(clock));
        let among = (1 << incoming.place.bank) & !self.refresher.held;
        let mut offered = Plan::NEVER;
        if self.mode == Mode::Write || self.idle_drain {
            if read {
                return plan;
            }
            self.scan(Search { queue: &self.writes, write: true, among, floor, rows: true }, &mut offered);
            return plan.or(offered);
        }
        let spare = self.params.spare_writes;
        let at_a_threshold = if read { self.reads.len() == 1 } else { self.writes.len() == spare };
        if at_a_threshold && self.writes.len() >= spare || read && plan.action.writes() {
            return self.plan_from(clock);
        }
        if read {
            self.scan(Search { queue: &self.reads, write: false, among, floor, rows: true }, &mut offered);
            return plan.or(offered);
        }
        if self.reads.banks != 0 && self.writes.len() >= spare {
            let among = among & self.spare_banks();
            self.scan(
                Search { queue: &self.writes, write: true, among, floor, rows: self.params.spare_rows },
                &mut offered,
            );
            if plan.action.writes() || offered.clock < plan.clock {
                return plan.or(offered);
            }
        }
        plan
    }

    /// Whether a request that has just come may forbid the closing of a row that is planned.
    fn saves_row(&self, incoming: &Incoming) -> bool {
        let closes = Action::Precharge { bank: incoming.place.bank, write: !incoming.read };
        self.params.protect == Protect::AllHits && self.plan.action == closes
    }

    /// Banks that writes may use while reads wait: those of ranks that no read waits for.
    fn spare_banks(&self) -> u64 {
        let hits = if self.params.spare_rows { u64::MAX } else { self.writes.hits };
        self.unread_ranks() & hits
    }

    fn unread_ranks(&self) -> u64 {
        (0..self.dram.ranks as usize)
            .map(|rank| self.timing.banks_of_rank(rank))
            .filter(|banks| banks & self.reads.banks == 0)
            .fold(0, |all, banks| all | banks)
    }

    fn offer_active(&self, floor: u64, plan: &mut Plan) {
        for write in [false, true] {
            for bank in bits(self.active_banks[usize::from(write)]) {
                let clock = self.timing.earliest_cas(bank, write).max(floor).max(self.column_bus);
                plan.offer(clock, self.active[bank].order, Action::Active { bank: bank as u8, write });
            }
        }
    }

    /// Offers what the searched banks would do next.
    #[inline]
    fn scan(&self, search: Search, plan: &mut Plan) {
        if self.params.scheduler == Scheduler::Fcfs {
            self.offer_oldest(search, plan);
            return;
        }
        self.offer_columns(search, plan);
        if search.rows {
            self.offer_activations(search, plan);
            self.offer_precharges(search, plan);
        }
    }

    /// The next command of the oldest request, which nobody overtakes, nor one that owns its row.
    fn offer_oldest(&self, search: Search, plan: &mut Plan) {
        if self.active_banks[usize::from(search.write)] != 0 {
            return;
        }
        let Some(bank) = search.queue.oldest_bank(u64::MAX).filter(|&bank| search.among >> bank & 1 == 1) else {
            return;
        };
        if search.queue.hits >> bank & 1 == 1 && search.queue.oldest_hits(bank) {
            self.offer_column(search, bank, plan);
        } else if search.rows && self.timing.open >> bank & 1 == 0 {
            self.offer_activation(search, bank, plan);
        } else if search.rows && (self.active_banks[0] | self.active_banks[1]) >> bank & 1 == 0 {
            self.offer_precharge(search, bank, plan);
        }
    }

    #[inline]
    fn offer_columns(&self, search: Search, plan: &mut Plan) {
        let mut left = search.queue.hits & search.among & !self.offer_overdue(search, plan);
        let floor = search.floor.max(self.column_bus);
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let group = left & self.timing.banks_of_group(first);
            left &= !group;
            let gate = self.timing.group_cas(first, search.write).max(floor);
            if gate > plan.clock {
                continue;
            }
            for bank in bits(group) {
                let clock = self.timing.bank_cas(bank).max(gate);
                let action = Action::Cas { bank: bank as u8, write: search.write };
                plan.offer(clock, FIRST | search.queue.list(bank).hit_order, action);
            }
        }
    }

    fn offer_column(&self, search: Search, bank: usize, plan: &mut Plan) {
        let clock = self.timing.earliest_cas(bank, search.write).max(search.floor).max(self.column_bus);
        let action = Action::Cas { bank: bank as u8, write: search.write };
        plan.offer(clock, FIRST | search.queue.list(bank).hit_order, action);
    }

    /// Offers to close the open rows whose requests have had their share, and returns their banks.
    #[inline]
    fn offer_overdue(&self, search: Search, plan: &mut Plan) -> u64 {
        if self.params.row_hold == u32::MAX && self.params.row_hits == 0 {
            return 0;
        }
        let owned = self.active_banks[0] | self.active_banks[1];
        let contested = search.queue.hits & search.queue.rivals & search.among & !owned;
        let mut overdue = 0;
        for bank in bits(contested) {
            if self.is_overdue(search, bank) {
                if search.rows {
                    self.offer_precharge(search, bank, plan);
                }
                overdue |= 1 << bank;
            }
        }
        overdue
    }

    fn is_overdue(&self, search: Search, bank: usize) -> bool {
        let list = search.queue.list(bank);
        let p = &self.params;
        let waited = list.rival_order < list.hit_order && search.floor >= list.rival_arrived + u64::from(p.row_hold);
        waited || p.row_hits > 0 && self.timing.hits(bank) >= p.row_hits
    }

    #[inline]
    fn offer_activations(&self, search: Search, plan: &mut Plan) {
        for bank in bits(search.queue.banks & !self.timing.open & search.among) {
            self.offer_activation(search, bank, plan);
        }
    }

    #[inline]
    fn offer_activation(&self, search: Search, bank: usize, plan: &mut Plan) {
        let clock = self.timing.earliest_act(bank).max(search.floor).max(self.row_bus);
        let class = if self.params.scheduler == Scheduler::ColumnFirst { SECOND } else { FIRST };
        let action = Action::Activate { bank: bank as u8, write: search.write };
        plan.offer(clock, class | search.queue.list(bank).rival_order, action);
    }

    #[inline]
    fn offer_precharges(&self, search: Search, plan: &mut Plan) {
        let owned = self.active_banks[0] | self.active_banks[1];
        let rivals = search.queue.rivals & self.timing.open & search.among & !owned;
        let allowed = match self.params.protect {
            Protect::AllHits => rivals & !search.queue.hits,
            Protect::OlderHits | Protect::Nothing => rivals,
        };
        for bank in bits(allowed) {
            let list = search.queue.list(bank);
            let hit = search.queue.hits >> bank & 1 == 1;
            if hit && self.params.protect == Protect::OlderHits && list.hit_order < list.rival_order {
                continue;
            }
            self.offer_precharge(search, bank, plan);
        }
    }

    #[inline]
    fn offer_precharge(&self, search: Search, bank: usize, plan: &mut Plan) {
        let clock = self.timing.earliest_precharge(bank).max(search.floor).max(self.row_bus);
        let class = if self.params.scheduler == Scheduler::ColumnFirst { THIRD } else { FIRST };
        let action = Action::Precharge { bank: bank as u8, write: search.write };
        plan.offer(clock, class | search.queue.list(bank).rival_order, action);
    }
}
