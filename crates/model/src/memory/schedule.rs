//! What the controller does next: modes, and first-ready first-come first-served (FR-FCFS) within them.

use super::queue::Queue;
use super::{Channel, Mode};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// A command to the DRAM, for a request of the given direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Command {
    /// Read or write a line of the open row.
    Cas { bank: u8, write: bool },
    /// Open the row that the oldest request of the bank wants.
    Activate { bank: u8, write: bool },
    /// Close a row that is in the way.
    Precharge { bank: u8, write: bool },
    /// Refresh the rank that is due.
    Refresh,
}

impl Command {
    fn writes(self) -> bool {
        matches!(
            self,
            Self::Cas { write: true, .. } | Self::Activate { write: true, .. } | Self::Precharge { write: true, .. }
        )
    }
}

/// The next command and its clock. Earlier clocks come first, then column accesses, activations, precharges, then
/// the oldest request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) clock: u64,
    urgency: u64,
    pub(super) command: Command,
}

const CAS: u64 = 1 << 60;
const ACTIVATE: u64 = 2 << 60;
const PRECHARGE: u64 = 3 << 60;

impl Plan {
    /// Nothing to do before the refresh at `clock`.
    pub(super) fn refresh_at(clock: u64) -> Self {
        Self { clock, urgency: 0, command: Command::Refresh }
    }

    /// The better of two plans.
    fn or(self, other: Self) -> Self {
        if (other.clock, other.urgency) < (self.clock, self.urgency) {
            other
        } else {
            self
        }
    }

    #[inline]
    fn offer(&mut self, clock: u64, urgency: u64, command: Command) {
        if (clock, urgency) < (self.clock, self.urgency) {
            *self = Self { clock, urgency, command };
        }
    }
}

impl Channel {
    /// Enters or leaves write mode; true when the direction of work has changed.
    pub(super) fn choose_mode(&mut self, now: Time) -> bool {
        let before = (self.mode, self.idle_drain);
        let (reads, writes) = (self.reads.len(), self.writes.len());
        let p = &self.params;
        match self.mode {
            Mode::Read if writes >= p.write_high && (self.served >= p.reads_per_mode || reads <= p.reads_few) => {
                self.mode = Mode::Write;
                self.mode_since = now;
                self.served = 0;
                self.idle_drain = false;
                self.counters.write_modes += 1;
            }
            Mode::Write if writes <= p.write_low || (self.served >= p.writes_per_mode && reads > 0) => {
                self.mode = Mode::Read;
                self.counters.write_mode_ps += now.since(self.mode_since);
                self.served = 0;
            }
            _ => {}
        }
        if self.mode == Mode::Read {
            self.idle_drain = if self.idle_drain {
                writes > 0 && reads <= p.idle_reads
            } else {
                reads == 0 && writes >= p.idle_writes
            };
        }
        before != (self.mode, self.idle_drain)
    }

    /// The next command, at `floor` or later.
    pub(super) fn plan(&self, floor: u64) -> Plan {
        let mut plan = Plan::refresh_at(self.timing.refresh_due().max(floor));
        if self.mode == Mode::Write || self.idle_drain {
            self.scan(&self.writes, true, u64::MAX, floor, &mut plan);
            return plan;
        }
        self.scan(&self.reads, false, u64::MAX, floor, &mut plan);
        if plan.clock > floor && self.reads.banks != 0 && self.writes.len() >= self.params.spare_writes {
            let reads = plan;
            self.scan(&self.writes, true, self.spare_banks(), floor, &mut plan);
            if plan.clock == reads.clock {
                return reads;
            }
        }
        plan
    }

    /// The next command, given the one planned so far and that a request for `bank` has just come, which changes what
    /// that bank would do and nothing else.
    pub(super) fn replan(&self, plan: Plan, bank: u8, read: bool, floor: u64) -> Plan {
        let mut offered = Plan::refresh_at(u64::MAX);
        if self.mode == Mode::Write || self.idle_drain {
            if read {
                return plan;
            }
            self.scan(&self.writes, true, 1 << bank, floor, &mut offered);
            return plan.or(offered);
        }
        let spare = self.params.spare_writes;
        let at_a_threshold = if read { self.reads.len() == 1 } else { self.writes.len() == spare };
        if at_a_threshold && self.writes.len() >= spare || read && plan.command.writes() {
            return self.plan(floor);
        }
        if read {
            self.scan(&self.reads, false, 1 << bank, floor, &mut offered);
            return plan.or(offered);
        }
        if self.reads.banks != 0 && self.writes.len() >= spare {
            self.scan(&self.writes, true, self.spare_banks() & (1 << bank), floor, &mut offered);
            if plan.command.writes() || offered.clock < plan.clock {
                return plan.or(offered);
            }
        }
        plan
    }

    /// Banks that writes may use while reads wait: those of ranks that no read waits for.
    fn spare_banks(&self) -> u64 {
        let hits = if self.params.spare_rows { u64::MAX } else { self.writes.hits };
        self.unread_ranks() & hits
    }

    /// Banks of ranks that no read waits for.
    fn unread_ranks(&self) -> u64 {
        (0..self.dram.ranks as usize)
            .map(|rank| self.timing.banks_of_rank(rank))
            .filter(|banks| banks & self.reads.banks == 0)
            .fold(0, |all, banks| all | banks)
    }

    /// Offers what the banks `among` would do next for `queue`.
    #[inline]
    fn scan(&self, queue: &Queue, write: bool, among: u64, floor: u64, plan: &mut Plan) {
        let open = self.timing.open;
        for bank in bits(queue.hits & among) {
            let list = queue.list(bank);
            let overdue =
                list.head_order != list.hit_order && floor >= list.head_arrived + u64::from(self.params.row_hold);
            if overdue {
                self.offer_precharge(queue, bank, write, floor, plan);
            } else {
                let clock = self.timing.earliest_cas(bank, write).max(floor);
                plan.offer(clock, CAS | list.hit_order, Command::Cas { bank: bank as u8, write });
            }
        }
        for bank in bits(queue.banks & !open & among) {
            let clock = self.timing.earliest_act(bank).max(floor);
            let command = Command::Activate { bank: bank as u8, write };
            plan.offer(clock, ACTIVATE | queue.list(bank).head_order, command);
        }
        for bank in bits(queue.banks & open & !queue.hits & among) {
            self.offer_precharge(queue, bank, write, floor, plan);
        }
    }

    #[inline]
    fn offer_precharge(&self, queue: &Queue, bank: usize, write: bool, floor: u64, plan: &mut Plan) {
        let clock = self.timing.earliest_precharge(bank).max(floor);
        let command = Command::Precharge { bank: bank as u8, write };
        plan.offer(clock, PRECHARGE | queue.list(bank).head_order, command);
    }
}

/// The numbers of the bits that are set.
#[inline]
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(bit)
    })
}
