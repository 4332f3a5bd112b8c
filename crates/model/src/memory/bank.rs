//! The timing state of a channel: what each bank, rank and the bus allow, and from which clock on.
//!
//! Constraints are kept as the earliest clock of the next command of each kind (JESD79-4, section 4); a command moves them.

use crate::params::DramParams;
use serde::{Deserialize, Serialize};

/// When a bank may be opened, accessed and closed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bank {
    act: u64,
    cas: u64,
    precharge: u64,
    /// Clock of the last command to the open row.
    pub(crate) used: u64,
    /// The row that is open, if the bank's bit in [`Timing::open`] is set.
    row: u32,
    group: u8,
    rank: u8,
}

/// When the banks of a group may be opened and accessed, as far as other banks and the bus are concerned.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Group {
    act: u64,
    read: u64,
    write: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rank {
    /// Clocks of the last four activations plus one, oldest first; 0 = none yet.
    activations: [u64; 4],
    refresh_due: u64,
}

/// Everything that says when a command may be issued.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    dram: DramParams,
    banks: Vec<Bank>,
    groups: Vec<Group>,
    ranks: Vec<Rank>,
    /// Banks with an open row, one bit each.
    pub(crate) open: u64,
}

impl Timing {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let groups = dram.ranks * dram.bank_groups;
        let refi = u64::from(dram.timing.refi);
        let refreshes = dram.timing.rfc > 0;
        let stagger = |rank: u32| if refreshes { refi * u64::from(rank + 1) / u64::from(dram.ranks) } else { u64::MAX };
        let bank = |index: u32| {
            let group = index / dram.banks_per_group;
            Bank { group: group as u8, rank: (group / dram.bank_groups) as u8, ..Bank::default() }
        };
        Self {
            dram: dram.clone(),
            banks: (0..groups * dram.banks_per_group).map(bank).collect(),
            groups: vec![Group::default(); groups as usize],
            ranks: (0..dram.ranks).map(|rank| Rank { refresh_due: stagger(rank), ..Rank::default() }).collect(),
            open: 0,
        }
    }

    /// The banks of a rank, one bit each.
    #[inline]
    pub(crate) fn banks_of_rank(&self, rank: usize) -> u64 {
        let per_rank = self.dram.bank_groups * self.dram.banks_per_group;
        (u64::MAX >> (64 - per_rank)) << (rank as u32 * per_rank)
    }

    /// The row that a bank has open.
    #[inline]
    pub(crate) fn open_row(&self, bank: usize) -> Option<u32> {
        (self.open >> bank & 1 == 1).then(|| self.banks[bank].row)
    }

    /// Clock of the last command to the row that a bank has open.
    pub(crate) fn used(&self, bank: usize) -> u64 {
        self.banks[bank].used
    }

    #[inline]
    pub(crate) fn earliest_act(&self, bank: usize) -> u64 {
        let state = &self.banks[bank];
        state.act.max(self.groups[usize::from(state.group)].act)
    }

    #[inline]
    pub(crate) fn earliest_cas(&self, bank: usize, write: bool) -> u64 {
        let state = &self.banks[bank];
        let group = &self.groups[usize::from(state.group)];
        state.cas.max(if write { group.write } else { group.read })
    }

    #[inline]
    pub(crate) fn earliest_precharge(&self, bank: usize) -> u64 {
        self.banks[bank].precharge
    }

    pub(crate) fn activate(&mut self, clock: u64, bank: usize, row: u32) {
        let t = self.dram.timing;
        self.open |= 1 << bank;
        let state = &mut self.banks[bank];
        state.row = row;
        state.used = clock;
        state.cas = clock + u64::from(t.rcd);
        state.precharge = clock + u64::from(t.ras);
        state.act = clock + u64::from(t.rc);
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        let recent = &mut self.ranks[rank].activations;
        recent.rotate_left(1);
        recent[3] = clock + 1;
        let window = if recent[0] > 0 { recent[0] - 1 + u64::from(t.faw) } else { 0 };
        let first = rank * self.dram.bank_groups as usize;
        for (index, group) in self.groups.iter_mut().enumerate().skip(first).take(self.dram.bank_groups as usize) {
            let gap = if index == own { t.rrd_l } else { t.rrd_s };
            group.act = group.act.max(clock + u64::from(gap)).max(window);
        }
    }

    /// Closes the row of a bank at `clock`.
    pub(crate) fn precharge(&mut self, clock: u64, bank: usize) {
        self.open &= !(1 << bank);
        let state = &mut self.banks[bank];
        state.act = state.act.max(clock + u64::from(self.dram.timing.rp));
    }

    /// Issues a read or a write and moves what the bus and the ranks allow next.
    pub(crate) fn cas(&mut self, clock: u64, bank: usize, write: bool) {
        let t = self.dram.timing;
        let state = &mut self.banks[bank];
        state.used = clock;
        let hold = if write { t.cwl + t.burst + t.wr } else { t.rtp };
        state.precharge = state.precharge.max(clock + u64::from(hold));
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        let per_rank = self.dram.bank_groups as usize;
        let same_group = self.gaps(write, true, true);
        let same_rank = self.gaps(write, true, false);
        let other_rank = self.gaps(write, false, false);
        for (index, group) in self.groups.iter_mut().enumerate() {
            let in_rank = index >= rank * per_rank && index < (rank + 1) * per_rank;
            let (read, write) = if index == own {
                same_group
            } else if in_rank {
                same_rank
            } else {
                other_rank
            };
            group.read = group.read.max(clock + u64::from(read));
            group.write = group.write.max(clock + u64::from(write));
        }
    }

    /// Clocks from a column access to the next read and the next write.
    fn gaps(&self, write: bool, same_rank: bool, same_group: bool) -> (u32, u32) {
        if write {
            (self.write_to_read(same_rank, same_group), self.write_to_write(same_rank, same_group))
        } else {
            (self.read_to_read(same_rank, same_group), self.read_to_write(same_rank))
        }
    }

    fn read_to_read(&self, same_rank: bool, same_group: bool) -> u32 {
        let t = &self.dram.timing;
        match (same_rank, same_group) {
            (true, true) => t.ccd_l,
            (true, false) => t.ccd_s,
            _ => t.burst + t.rank_switch,
        }
    }

    fn write_to_write(&self, same_rank: bool, same_group: bool) -> u32 {
        let t = &self.dram.timing;
        match (same_rank, same_group) {
            (true, true) => t.ccd_l,
            (true, false) => t.ccd_s,
            _ => t.burst,
        }
    }

    fn read_to_write(&self, same_rank: bool) -> u32 {
        let t = &self.dram.timing;
        let turn = if same_rank { t.read_to_write } else { t.rank_switch };
        (t.cl + t.burst + turn).saturating_sub(t.cwl).max(1)
    }

    fn write_to_read(&self, same_rank: bool, same_group: bool) -> u32 {
        let t = &self.dram.timing;
        match (same_rank, same_group) {
            (true, true) => t.cwl + t.burst + t.wtr_l,
            (true, false) => t.cwl + t.burst + t.wtr_s,
            _ => (t.cwl + t.burst + t.rank_switch).saturating_sub(t.cl).max(t.burst),
        }
    }

    /// The clock at which the next refresh of any rank is due; never when tRFC is 0.
    pub(crate) fn refresh_due(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.refresh_due).min().unwrap_or(u64::MAX)
    }

    /// The rank whose refresh is due at `clock`, if any.
    pub(crate) fn rank_due(&self, clock: u64) -> Option<usize> {
        self.ranks.iter().position(|rank| rank.refresh_due <= clock)
    }

    /// Refreshes a rank: every open row is closed as soon as it may be, then the rank is busy for tRFC. Returns how many
    /// rows were closed.
    pub(crate) fn refresh(&mut self, clock: u64, rank: usize) -> u32 {
        let (rp, rfc) = (u64::from(self.dram.timing.rp), u64::from(self.dram.timing.rfc));
        let mask = self.banks_of_rank(rank);
        let open = self.open & mask;
        self.open &= !mask;
        let mut start = clock;
        for (index, bank) in self.banks.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1) {
            start = start.max(if open >> index & 1 == 1 { bank.precharge + rp } else { bank.act });
        }
        for (_, bank) in self.banks.iter_mut().enumerate().filter(|(index, _)| mask >> index & 1 == 1) {
            bank.act = bank.act.max(start + rfc);
        }
        let due = &mut self.ranks[rank].refresh_due;
        *due = due.saturating_add(u64::from(self.dram.timing.refi));
        open.count_ones()
    }
}
