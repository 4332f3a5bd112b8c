//! The timing state of a subchannel: what each bank, group and rank allow, and from which clock on.
//!
//! Constraints are kept as the earliest clock of the next command of each kind (JESD79-4, section 4); a command moves them.
//! Command buses are the controller's business.

use super::table::Table;
use crate::params::DramParams;
use serde::{Deserialize, Serialize};

/// A bank.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Bank {
    /// The clocks from which on it may be opened, accessed and closed, as far as it alone is concerned.
    act: u64,
    cas: u64,
    precharge: u64,
    /// Clock of the last command to the open row.
    used: u64,
    row: u32,
    /// Column accesses since the row was opened.
    hits: u32,
    group: u8,
    rank: u8,
}

/// When the banks of a group may be opened and accessed, as far as its other banks are concerned.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    act: u64,
    /// Reads, then writes.
    cas: [u64; 2],
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rank {
    /// Its banks, one bit each.
    banks: u64,
    /// Clocks of the last four activations plus one, oldest first; 0 = none yet.
    activations: [u64; 4],
    act: u64,
    /// Reads, then writes.
    cas: [u64; 2],
    precharge: u64,
    same_bank: u64,
}

/// Clocks from a column access to the next read and to the next write, in the same group, the same rank and another rank.
type Gaps = [[u32; 2]; 3];

/// Everything that says when a command may be issued.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    dram: DramParams,
    banks: Table<Bank>,
    groups: Table<Group>,
    ranks: Table<Rank>,
    /// After a read, and after a write.
    gaps: [Gaps; 2],
    /// Banks with an open row, one bit each.
    pub(crate) open: u64,
}

impl Timing {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let per_rank = dram.bank_groups * dram.banks_per_group;
        let bank = |index: usize| {
            let group = index as u32 / dram.banks_per_group;
            Bank { group: group as u8, rank: (group / dram.bank_groups) as u8, ..Bank::default() }
        };
        let rank = |index: usize| {
            let banks = (u64::MAX >> (64 - per_rank)).checked_shl(index as u32 * per_rank).unwrap_or(0);
            Rank { banks, ..Rank::default() }
        };
        Self {
            dram: dram.clone(),
            banks: Table::of(bank),
            groups: Table::of(|_| Group::default()),
            ranks: Table::of(rank),
            gaps: gaps(dram),
            open: 0,
        }
    }

    /// The banks of a rank, one bit each.
    #[inline]
    pub(crate) fn banks_of_rank(&self, rank: usize) -> u64 {
        self.ranks[rank].banks
    }

    /// The rank of a bank.
    #[inline]
    pub(crate) fn rank_of(&self, bank: usize) -> usize {
        usize::from(self.banks[bank].rank)
    }

    /// The row that a bank has open.
    #[inline]
    pub(crate) fn open_row(&self, bank: usize) -> Option<u32> {
        (self.open >> bank & 1 == 1).then(|| self.banks[bank].row)
    }

    /// Clock of the last command to the row that a bank has open.
    #[inline]
    pub(crate) fn used(&self, bank: usize) -> u64 {
        self.banks[bank].used
    }

    /// Column accesses to the row that a bank has open.
    #[inline]
    pub(crate) fn hits(&self, bank: usize) -> u32 {
        self.banks[bank].hits
    }

    /// The clock from which the open row itself may be closed.
    #[inline]
    pub(crate) fn bank_precharge(&self, bank: usize) -> u64 {
        self.banks[bank].precharge
    }

    #[inline]
    pub(crate) fn earliest_act(&self, bank: usize) -> u64 {
        let state = &self.banks[bank];
        state.act.max(self.groups[usize::from(state.group)].act).max(self.ranks[usize::from(state.rank)].act)
    }

    #[inline]
    pub(crate) fn earliest_cas(&self, bank: usize, write: bool) -> u64 {
        let (state, direction) = (&self.banks[bank], usize::from(write));
        let group = self.groups[usize::from(state.group)].cas[direction];
        state.cas.max(group).max(self.ranks[usize::from(state.rank)].cas[direction])
    }

    #[inline]
    pub(crate) fn earliest_precharge(&self, bank: usize) -> u64 {
        let state = &self.banks[bank];
        state.precharge.max(self.ranks[usize::from(state.rank)].precharge)
    }

    /// The clock from which the open rows among `banks`, all of one rank, may be closed by one command.
    pub(crate) fn earliest_precharge_all(&self, banks: u64) -> u64 {
        let open = banks & self.open;
        bits(open).map(|bank| self.earliest_precharge(bank)).max().unwrap_or(0)
    }

    /// The clock from which `banks`, all closed and of one rank, may be refreshed.
    pub(crate) fn earliest_refresh(&self, banks: u64, same_bank: bool) -> u64 {
        let closed = bits(banks).map(|bank| self.banks[bank].act).max().unwrap_or(0);
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        closed.max(if same_bank { self.ranks[rank].same_bank } else { 0 })
    }

    pub(crate) fn activate(&mut self, clock: u64, bank: usize, row: u32) {
        let t = &self.dram.timing;
        self.open |= 1 << bank;
        let state = &mut self.banks[bank];
        state.row = row;
        state.hits = 0;
        state.used = clock;
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        state.cas = clock + u64::from(t.rcd);
        state.precharge = clock + u64::from(t.ras);
        state.act = clock + u64::from(t.rc);
        let state = &mut self.ranks[rank];
        state.activations.rotate_left(1);
        state.activations[3] = clock + 1;
        let first = state.activations[0];
        let window = if first > 0 { first - 1 + u64::from(t.faw) } else { 0 };
        state.act = state.act.max(window).max(clock + u64::from(t.rrd_s));
        let group = &mut self.groups[own];
        group.act = group.act.max(clock + u64::from(t.rrd_l));
    }

    /// Closes the row of a bank by a command at `clock`.
    pub(crate) fn precharge(&mut self, clock: u64, bank: usize) {
        self.close(clock, bank);
        let next = clock + u64::from(self.dram.timing.ppd);
        let rank = &mut self.ranks[usize::from(self.banks[bank].rank)];
        rank.precharge = rank.precharge.max(next);
    }

    /// Closes every open row among `banks`, all of one rank, by one command at `clock`.
    pub(crate) fn precharge_all(&mut self, clock: u64, banks: u64) {
        let open = banks & self.open;
        bits(open).for_each(|bank| self.precharge(clock, bank));
    }

    /// The row of a bank closes itself at `clock`.
    pub(crate) fn close(&mut self, clock: u64, bank: usize) {
        self.open &= !(1 << bank);
        let state = &mut self.banks[bank];
        state.act = state.act.max(clock + u64::from(self.dram.timing.rp));
    }

    /// Issues a read or a write and moves what the bus and the ranks allow next.
    pub(crate) fn cas(&mut self, clock: u64, bank: usize, write: bool) {
        let t = &self.dram.timing;
        let state = &mut self.banks[bank];
        state.used = clock;
        state.hits += 1;
        let hold = if write { t.cwl + t.burst + t.wr } else { t.rtp };
        state.precharge = state.precharge.max(clock + u64::from(hold));
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        let [same_group, same_rank, other_rank] = self.gaps[usize::from(write)];
        raise(&mut self.groups[own].cas, clock, same_group);
        for index in 0..self.dram.ranks as usize {
            raise(&mut self.ranks[index].cas, clock, if index == rank { same_rank } else { other_rank });
        }
    }

    /// Refreshes `banks`, all closed and of one rank.
    pub(crate) fn refresh(&mut self, clock: u64, banks: u64, same_bank: bool) {
        let t = self.dram.timing;
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        let busy = clock + u64::from(if same_bank { t.rfc_sb } else { t.rfc });
        bits(banks).for_each(|bank| self.banks[bank].act = self.banks[bank].act.max(busy));
        if same_bank {
            self.ranks[rank].same_bank = clock + u64::from(t.refsb_refsb);
            self.ranks[rank].act = self.ranks[rank].act.max(clock + u64::from(t.refsb_act));
        }
    }
}

/// Moves the clocks of the next read and the next write to `clock` and the gaps from there, unless they are later.
#[inline]
fn raise(next: &mut [u64; 2], clock: u64, gaps: [u32; 2]) {
    for (next, gap) in next.iter_mut().zip(gaps) {
        *next = (*next).max(clock + u64::from(gap));
    }
}

/// The clocks from one column access to the next.
fn gaps(dram: &DramParams) -> [Gaps; 2] {
    let t = &dram.timing;
    let turn = |extra: u32| (t.cl + t.burst + extra).saturating_sub(t.cwl).max(1);
    let written = t.cwl + t.burst;
    let to_other_rank = (written + t.rank_switch).saturating_sub(t.cl).max(t.burst);
    let after_read = [
        [t.ccd_l, turn(t.read_to_write)],
        [t.ccd_s, turn(t.read_to_write)],
        [t.burst + t.rank_switch, turn(t.rank_switch)],
    ];
    let after_write = [[written + t.wtr_l, t.ccd_l_wr], [written + t.wtr_s, t.ccd_s], [to_other_rank, t.burst]];
    [after_read, after_write]
}

/// The numbers of the bits that are set.
#[inline]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(bit)
    })
}
