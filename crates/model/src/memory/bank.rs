//! The timing state of a channel: what each bank, rank and the bus allow, and from which clock on.
//!
//! Constraints are kept as the earliest clock of the next command of each kind (JESD79-4, section 4); a command moves them.

use crate::params::DramParams;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bank {
    pub(crate) open_row: Option<u32>,
    act: u64,
    read: u64,
    write: u64,
    precharge: u64,
    /// Clock of the last command to the open row.
    pub(crate) used: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rank {
    /// Clocks of the last four activations, oldest first.
    activations: [u64; 4],
    act: u64,
    refresh_due: u64,
}

/// Everything that says when a command may be issued.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    dram: DramParams,
    pub(crate) banks: Vec<Bank>,
    ranks: Vec<Rank>,
    /// Per bank group of the channel: earliest activation, read, write.
    group_act: Vec<u64>,
    group_read: Vec<u64>,
    group_write: Vec<u64>,
}

impl Timing {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let groups = (dram.ranks * dram.bank_groups) as usize;
        let refi = u64::from(dram.timing.refi);
        let stagger = |rank: u32| refi * u64::from(rank + 1) / u64::from(dram.ranks);
        Self {
            dram: dram.clone(),
            banks: vec![Bank::default(); groups * dram.banks_per_group as usize],
            ranks: (0..dram.ranks).map(|rank| Rank { refresh_due: stagger(rank), ..Rank::default() }).collect(),
            group_act: vec![0; groups],
            group_read: vec![0; groups],
            group_write: vec![0; groups],
        }
    }

    #[inline]
    pub(crate) fn rank_of(&self, bank: usize) -> usize {
        bank / (self.dram.bank_groups * self.dram.banks_per_group) as usize
    }

    #[inline]
    fn group_of(&self, bank: usize) -> usize {
        bank / self.dram.banks_per_group as usize
    }

    /// The banks of a rank, one bit each.
    #[inline]
    pub(crate) fn banks_of_rank(&self, rank: usize) -> u64 {
        let per_rank = self.dram.bank_groups * self.dram.banks_per_group;
        ((1 << per_rank) - 1) << (rank as u32 * per_rank)
    }

    #[inline]
    pub(crate) fn earliest_act(&self, bank: usize) -> u64 {
        let rank = &self.ranks[self.rank_of(bank)];
        let window = if rank.activations[0] > 0 { rank.activations[0] + u64::from(self.dram.timing.faw) } else { 0 };
        self.banks[bank].act.max(rank.act).max(window).max(self.group_act[self.group_of(bank)])
    }

    #[inline]
    pub(crate) fn earliest_cas(&self, bank: usize, write: bool) -> u64 {
        let group = self.group_of(bank);
        if write {
            self.banks[bank].write.max(self.group_write[group])
        } else {
            self.banks[bank].read.max(self.group_read[group])
        }
    }

    #[inline]
    pub(crate) fn earliest_precharge(&self, bank: usize) -> u64 {
        self.banks[bank].precharge
    }

    pub(crate) fn activate(&mut self, clock: u64, bank: usize, row: u32) {
        let t = &self.dram.timing;
        let (rcd, ras, rc) = (u64::from(t.rcd), u64::from(t.ras), u64::from(t.rc));
        let (rrd_s, rrd_l) = (u64::from(t.rrd_s), u64::from(t.rrd_l));
        let (group, rank) = (self.group_of(bank), self.rank_of(bank));
        let state = &mut self.banks[bank];
        state.open_row = Some(row);
        state.used = clock;
        state.read = clock + rcd;
        state.write = clock + rcd;
        state.precharge = clock + ras;
        state.act = clock + rc;
        self.group_act[group] = clock + rrd_l;
        let rank = &mut self.ranks[rank];
        rank.act = rank.act.max(clock + rrd_s);
        rank.activations.rotate_left(1);
        rank.activations[3] = clock;
    }

    /// Closes the row of a bank at `clock`.
    pub(crate) fn precharge(&mut self, clock: u64, bank: usize) {
        let state = &mut self.banks[bank];
        state.open_row = None;
        state.act = state.act.max(clock + u64::from(self.dram.timing.rp));
    }

    /// Issues a read or a write and moves what the bus and the ranks allow next.
    pub(crate) fn cas(&mut self, clock: u64, bank: usize, write: bool) {
        let t = self.dram.timing;
        let state = &mut self.banks[bank];
        state.used = clock;
        let hold = if write { t.cwl + t.burst + t.wr } else { t.rtp };
        state.precharge = state.precharge.max(clock + u64::from(hold));
        let (group, rank) = (self.group_of(bank), self.rank_of(bank));
        for other in 0..self.group_read.len() {
            let same_rank = other / self.dram.bank_groups as usize == rank;
            let (read, write) = if write {
                (self.write_to_read(same_rank, other == group), self.write_to_write(same_rank, other == group))
            } else {
                (self.read_to_read(same_rank, other == group), self.read_to_write(same_rank))
            };
            self.group_read[other] = self.group_read[other].max(clock + u64::from(read));
            self.group_write[other] = self.group_write[other].max(clock + u64::from(write));
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

    /// The clock at which the next refresh of any rank is due.
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
        let per_rank = (self.dram.bank_groups * self.dram.banks_per_group) as usize;
        let banks = &mut self.banks[rank * per_rank..(rank + 1) * per_rank];
        let closed = banks.iter().filter(|bank| bank.open_row.is_some()).count() as u32;
        let precharge = banks.iter().filter(|bank| bank.open_row.is_some()).map(|bank| bank.precharge).max();
        let idle = banks.iter().filter(|bank| bank.open_row.is_none()).map(|bank| bank.act).max();
        let start = precharge.map_or(clock, |earliest| earliest.max(clock) + rp).max(idle.unwrap_or(0)).max(clock);
        for bank in banks {
            bank.open_row = None;
            bank.act = start + rfc;
        }
        self.ranks[rank].refresh_due += u64::from(self.dram.timing.refi);
        closed
    }
}
