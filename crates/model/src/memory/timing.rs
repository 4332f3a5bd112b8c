//! The timing state of a subchannel: what each bank, group and rank allow, and from which clock on.
//!
//! Constraints are kept as the earliest clock of the next command of each kind (JESD79-4, section 4); a command moves them.
//! Command buses are the controller's business.

use crate::params::DramParams;
use serde::{Deserialize, Serialize};

/// When a bank may be opened, accessed and closed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Bank {
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

/// When the banks of a group may be opened and accessed, as far as other banks and the bus are concerned.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    act: u64,
    /// Reads, then writes.
    cas: [u64; 2],
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rank {
    /// Clocks of the last four activations plus one, oldest first; 0 = none yet.
    activations: [u64; 4],
    precharge: u64,
    same_bank: u64,
}

/// Clocks from a column access to the next read and to the next write, in the same group, the same rank and another rank.
type Gaps = [[u32; 2]; 3];

/// Everything that says when a command may be issued.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    dram: DramParams,
    banks: Vec<Bank>,
    groups: Vec<Group>,
    ranks: Vec<Rank>,
    /// After a read, and after a write.
    gaps: [Gaps; 2],
    /// Banks with an open row, one bit each.
    pub(crate) open: u64,
}

impl Timing {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let groups = dram.ranks * dram.bank_groups;
        let bank = |index: u32| {
            let group = index / dram.banks_per_group;
            Bank { group: group as u8, rank: (group / dram.bank_groups) as u8, ..Bank::default() }
        };
        Self {
            dram: dram.clone(),
            banks: (0..groups * dram.banks_per_group).map(bank).collect(),
            groups: vec![Group::default(); groups as usize],
            ranks: vec![Rank::default(); dram.ranks as usize],
            gaps: gaps(dram),
            open: 0,
        }
    }

    /// The banks of a rank, one bit each.
    #[inline]
    pub(crate) fn banks_of_rank(&self, rank: usize) -> u64 {
        let per_rank = self.dram.bank_groups * self.dram.banks_per_group;
        (u64::MAX >> (64 - per_rank)) << (rank as u32 * per_rank)
    }

    /// The banks of the group of `bank`, one bit each.
    #[inline]
    pub(crate) fn banks_of_group(&self, bank: usize) -> u64 {
        let per_group = self.dram.banks_per_group;
        (u64::MAX >> (64 - per_group)) << (u32::from(self.banks[bank].group) * per_group)
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

    /// The clock from which the other banks and the rank let a bank of the group of `bank` be opened.
    #[inline]
    pub(crate) fn group_act(&self, bank: usize) -> u64 {
        self.groups[usize::from(self.banks[bank].group)].act
    }

    /// The clock from which the other banks and the bus let a bank of the group of `bank` be accessed.
    #[inline]
    pub(crate) fn group_cas(&self, bank: usize, write: bool) -> u64 {
        self.groups[usize::from(self.banks[bank].group)].cas[usize::from(write)]
    }

    /// The clock from which the bank itself may be opened.
    #[inline]
    pub(crate) fn bank_act(&self, bank: usize) -> u64 {
        self.banks[bank].act
    }

    /// The clock from which the open row itself may be accessed.
    #[inline]
    pub(crate) fn bank_cas(&self, bank: usize) -> u64 {
        self.banks[bank].cas
    }

    /// The clock from which the open row itself may be closed.
    #[inline]
    pub(crate) fn bank_precharge(&self, bank: usize) -> u64 {
        self.banks[bank].precharge
    }

    #[inline]
    pub(crate) fn earliest_act(&self, bank: usize) -> u64 {
        self.bank_act(bank).max(self.group_act(bank))
    }

    #[inline]
    pub(crate) fn earliest_cas(&self, bank: usize, write: bool) -> u64 {
        self.bank_cas(bank).max(self.group_cas(bank, write))
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
        let t = self.dram.timing;
        self.open |= 1 << bank;
        let state = &mut self.banks[bank];
        state.row = row;
        state.hits = 0;
        state.used = clock;
        state.cas = clock + u64::from(t.rcd);
        state.precharge = clock + u64::from(t.ras);
        state.act = clock + u64::from(t.rc);
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        let recent = &mut self.ranks[rank].activations;
        recent.rotate_left(1);
        recent[3] = clock + 1;
        let window = if recent[0] > 0 { recent[0] - 1 + u64::from(t.faw) } else { 0 };
        let all = window.max(clock + u64::from(t.rrd_s));
        for group in self.groups_of_rank(rank) {
            group.act = group.act.max(all);
        }
        let group = &mut self.groups[own];
        group.act = group.act.max(clock + u64::from(t.rrd_l));
    }

    fn groups_of_rank(&mut self, rank: usize) -> &mut [Group] {
        let per_rank = self.dram.bank_groups as usize;
        &mut self.groups[rank * per_rank..(rank + 1) * per_rank]
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
        let per_rank = self.dram.bank_groups as usize;
        let [same_group, same_rank, other_rank] =
            self.gaps[usize::from(write)].map(|gap| gap.map(|gap| clock + u64::from(gap)));
        let own_rank = rank * per_rank..(rank + 1) * per_rank;
        for (index, group) in self.groups.iter_mut().enumerate() {
            let next = if own_rank.contains(&index) { same_rank } else { other_rank };
            group.cas = [group.cas[0].max(next[0]), group.cas[1].max(next[1])];
        }
        let group = &mut self.groups[own];
        group.cas = [group.cas[0].max(same_group[0]), group.cas[1].max(same_group[1])];
    }

    /// Refreshes `banks`, all closed and of one rank.
    pub(crate) fn refresh(&mut self, clock: u64, banks: u64, same_bank: bool) {
        let t = self.dram.timing;
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        let busy = clock + u64::from(if same_bank { t.rfc_sb } else { t.rfc });
        bits(banks).for_each(|bank| self.banks[bank].act = self.banks[bank].act.max(busy));
        if same_bank {
            self.ranks[rank].same_bank = clock + u64::from(t.refsb_refsb);
            let next = clock + u64::from(t.refsb_act);
            self.groups_of_rank(rank).iter_mut().for_each(|group| group.act = group.act.max(next));
        }
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
