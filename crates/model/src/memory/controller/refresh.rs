//! Refreshes: when they are due, which are postponed, and the commands that they take.

use super::{bits, CommandPlan};
use crate::memory::timing::DramTiming;
use crate::params::{DramParams, MemoryControllerParams, Refresh, SameBank};
use serde::{Deserialize, Serialize};

/// Refresh state of one rank.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RankRefresh {
    /// Clock at which the next refresh becomes due that is not owed yet.
    due: u64,
    /// Refreshes that are due and not issued (owed).
    owed: u32,
    /// Banks of the next refresh.
    banks: u64,
    /// True while those banks are blocked for the refresh.
    held: bool,
    /// Clock at which the next refresh can no longer be postponed: while requests wait for the banks of the refresh,
    /// and while none does.
    begins: [u64; 2],
}

impl RankRefresh {
    /// Returns the clock at which the next refresh can no longer be postponed; `idle` is true if no request waits for
    /// the banks of the refresh.
    fn begin(&self, interval: u64, postponed: u32, idle: bool) -> u64 {
        if self.owed > 0 && (idle || self.owed > postponed) {
            return 0;
        }
        // Banks without requests are refreshed at once; others may put off what JESD79-4 and JESD79-5 permit.
        let put_off = if idle { 0 } else { postponed - self.owed };
        self.due.saturating_add(u64::from(put_off) * interval)
    }
}

/// Refresh state of a subchannel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Refresher {
    ranks: Vec<RankRefresh>,
    same_bank: bool,
    interval: u64,
    postponed: u32,
    holds_all: bool,
    /// Banks that accept no new command, because they are about to be refreshed.
    pub(super) held: u64,
    /// Clock before which no refresh needs a step, and at which `next_rank` is due; 0 while that depends on the state
    /// of the ranks and on waiting requests.
    quiet_until: u64,
    next_rank: usize,
}

impl Refresher {
    pub(super) fn new(dram: &DramParams, params: &MemoryControllerParams) -> Self {
        let same_bank = params.refresh == Refresh::SameBank && dram.same_bank != SameBank::None;
        let interval = u64::from(if same_bank { dram.timing.refi_sb } else { dram.timing.refi });
        let off = params.refresh == Refresh::Off || dram.timing.rfc == 0;
        // Refreshes of the ranks are staggered over the interval.
        let due = |rank: u32| if off { u64::MAX } else { interval * u64::from(rank + 1) / u64::from(dram.ranks) };
        let rank = |rank: u32| RankRefresh {
            due: due(rank),
            owed: 0,
            banks: first_banks(dram, rank, same_bank),
            held: false,
            begins: [0; 2],
        };
        let mut refresher = Self {
            ranks: (0..dram.ranks).map(rank).collect(),
            same_bank,
            interval,
            postponed: params.refresh_postponed,
            holds_all: params.refresh_holds_all,
            held: 0,
            quiet_until: 0,
            next_rank: 0,
        };
        refresher.find_held();
        refresher
    }

    /// Returns true if no refresh needs a step up to `clock`, while requests wait for the banks `waited_for`.
    #[inline]
    pub(super) fn is_quiet_until(&self, clock: u64, waited_for: u64) -> bool {
        clock < self.quiet_until || self.begins_after(clock, waited_for)
    }

    #[inline(never)]
    fn begins_after(&self, clock: u64, waited_for: u64) -> bool {
        let later = |rank: &RankRefresh| !rank.held && clock < rank.begins[usize::from(rank.banks & waited_for == 0)];
        self.ranks.iter().all(later)
    }

    /// Blocks the banks of the refresh of `rank` that has become due at `clock`.
    pub(super) fn hold(&mut self, rank: usize, clock: u64) {
        let state = &mut self.ranks[rank];
        // Several intervals may have ended while the refresh was postponed.
        while state.due <= clock {
            state.due += self.interval;
            state.owed += 1;
        }
        state.held = true;
        self.find_held();
    }

    fn find_held(&mut self) {
        for rank in &mut self.ranks {
            rank.begins = [false, true].map(|idle| rank.begin(self.interval, self.postponed, idle));
        }
        let held = self.ranks.iter().filter(|rank| rank.held).fold(0, |all, rank| all | rank.banks);
        self.held = if self.holds_all && held != 0 { u64::MAX } else { held };
        let next = self.ranks.iter().enumerate().map(|(index, rank)| (rank.due, index)).min();
        let (due, rank) = next.unwrap_or((u64::MAX, 0));
        // With postponement the begin depends on the waiting requests, so no clock is known in advance.
        let quiet = held == 0 && self.postponed == 0 && self.ranks.iter().all(|rank| rank.owed == 0);
        (self.quiet_until, self.next_rank) = (if quiet { due } else { 0 }, rank);
    }

    /// Ends the refresh of `rank`.
    pub(super) fn done(&mut self, rank: usize, dram: &DramParams) {
        let state = &mut self.ranks[rank];
        state.owed -= 1;
        state.held = false;
        if self.same_bank {
            state.banks = next_banks(dram, rank as u32, state.banks);
        }
        self.find_held();
    }

    /// Returns the banks of the next refresh of `rank`.
    pub(super) fn banks_of(&self, rank: usize) -> u64 {
        self.ranks[rank].banks
    }

    /// Returns true if a refresh is for the same bank of each group, and not for a whole rank.
    pub(super) fn is_same_bank(&self) -> bool {
        self.same_bank
    }

    /// Plans the next step of a refresh, not before `floor`, while requests own the banks `owned` and wait for
    /// `waited_for`. The row bus is free from `row_bus` on.
    #[inline]
    pub(super) fn plan(
        &self,
        floor: u64,
        timing: &DramTiming,
        owned: u64,
        waited_for: u64,
        row_bus: u64,
    ) -> CommandPlan {
        if floor < self.quiet_until {
            return CommandPlan::hold(self.quiet_until, self.next_rank);
        }
        let plans = self.ranks.iter().enumerate().filter_map(|(index, rank)| {
            if !rank.held {
                let begins = rank.begins[usize::from(waited_for & rank.banks == 0)];
                Some(CommandPlan::hold(begins.max(floor), index))
            // An owner still needs its column access; the refresh waits for it.
            } else if rank.banks & owned == 0 {
                Some(self.plan_held(rank.banks, index, floor.max(row_bus), timing))
            } else {
                None
            }
        });
        plans.min().unwrap_or(CommandPlan::NEVER)
    }

    fn plan_held(&self, banks: u64, rank: usize, floor: u64, timing: &DramTiming) -> CommandPlan {
        if banks & timing.open == 0 {
            let clock = timing.earliest_refresh(banks, self.same_bank);
            CommandPlan::refresh(clock.max(floor), rank)
        } else {
            CommandPlan::precharge_for(self.closes_for_refresh(banks, timing).max(floor), rank)
        }
    }

    fn closes_for_refresh(&self, banks: u64, timing: &DramTiming) -> u64 {
        if self.same_bank {
            let open = banks & timing.open;
            // Before REFSB rows are closed one at a time, so the first that may be closed decides; PREA waits for all.
            return bits(open).map(|bank| timing.earliest_precharge(bank)).min().unwrap_or(0);
        }
        timing.earliest_precharge_all(banks)
    }
}

fn rank_shift(dram: &DramParams, rank: u32) -> u32 {
    rank * dram.bank_groups * dram.banks_per_group
}

fn first_banks(dram: &DramParams, rank: u32, same_bank: bool) -> u64 {
    let per_rank = dram.bank_groups * dram.banks_per_group;
    let banks = match (same_bank, dram.same_bank) {
        (true, SameBank::EveryGroup) => {
            (0..dram.bank_groups).fold(0, |all, group| all | 1 << (group * dram.banks_per_group))
        }
        (true, _) => 1,
        (false, _) => u64::MAX >> (64 - per_rank),
    };
    banks << rank_shift(dram, rank)
}

/// Returns the banks of the same-bank refresh after that of `banks`, round robin.
fn next_banks(dram: &DramParams, rank: u32, banks: u64) -> u64 {
    let turn = if dram.same_bank == SameBank::EveryGroup {
        dram.banks_per_group
    } else {
        dram.bank_groups * dram.banks_per_group
    };
    let number = banks.trailing_zeros() - rank_shift(dram, rank) + 1;
    if number == turn {
        first_banks(dram, rank, true)
    } else {
        banks << 1
    }
}
