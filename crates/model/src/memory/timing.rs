//! The timing state of a subchannel: what each bank, group and rank allow, and from which clock on.
//!
//! Constraints are kept as the earliest clock of the next command of each kind (JESD79-4, section 4); a command moves them.
//! Command buses are the controller's business.

use super::calendar::{Calendar, Kind, Ready};
use crate::params::DramParams;
use serde::{Deserialize, Serialize};

/// A bank, apart from the clocks from which on it is ready.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Bank {
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
    /// Its banks, one bit each.
    banks: u64,
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
    banks: Vec<Bank>,
    groups: Vec<Group>,
    ranks: Vec<Rank>,
    calendar: Calendar,
    /// No bank may be read, or written, before these clocks.
    column_floor: [u64; 2],
    /// After a read, and after a write.
    gaps: [Gaps; 2],
    /// The least of them.
    least_gaps: [[u32; 2]; 2],
    /// Banks with an open row, one bit each.
    pub(crate) open: u64,
}

impl Timing {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let groups = dram.ranks * dram.bank_groups;
        let per_group = u64::MAX >> (64 - dram.banks_per_group);
        let per_rank = u64::MAX >> (64 - dram.bank_groups * dram.banks_per_group);
        let bank = |index: u32| {
            let group = index / dram.banks_per_group;
            Bank { group: group as u8, rank: (group / dram.bank_groups) as u8, ..Bank::default() }
        };
        Self {
            dram: dram.clone(),
            banks: (0..groups * dram.banks_per_group).map(bank).collect(),
            groups: (0..groups)
                .map(|index| Group { banks: per_group << (index * dram.banks_per_group), ..Group::default() })
                .collect(),
            ranks: (0..dram.ranks)
                .map(|index| Rank {
                    banks: per_rank << (index * dram.bank_groups * dram.banks_per_group),
                    ..Rank::default()
                })
                .collect(),
            calendar: Calendar::new(groups * dram.banks_per_group, horizon(dram)),
            column_floor: [0; 2],
            least_gaps: least_gaps(dram),
            gaps: gaps(dram),
            open: 0,
        }
    }

    /// Goes on to `clock` and returns which banks are ready then, as far as they are alone.
    #[inline]
    pub(crate) fn advance(&mut self, clock: u64) -> Ready {
        self.calendar.advance(clock)
    }

    /// When which banks become ready.
    #[inline]
    pub(crate) fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// The first clock at which the bus lets any bank be read, or else written.
    #[inline]
    pub(crate) fn column_floor(&self, write: bool) -> u64 {
        self.column_floor[usize::from(write)]
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

    /// The banks of a rank, and the clocks from which the rank lets them be opened, and accessed.
    #[inline]
    pub(crate) fn ranks(&self) -> impl Iterator<Item = (u64, u64, [u64; 2])> + '_ {
        self.ranks.iter().map(|rank| (rank.banks, rank.act, rank.cas))
    }

    /// The banks of the group of `bank`, and the clocks from which they let each other be opened, and accessed.
    #[inline]
    pub(crate) fn group(&self, bank: usize) -> (u64, u64, [u64; 2]) {
        let group = &self.groups[usize::from(self.banks[bank].group)];
        (group.banks, group.act, group.cas)
    }

    /// The clock from which the other banks and the rank let a bank of the group of `bank` be opened.
    #[inline]
    pub(crate) fn group_act(&self, bank: usize) -> u64 {
        let Bank { group, rank, .. } = self.banks[bank];
        self.groups[usize::from(group)].act.max(self.ranks[usize::from(rank)].act)
    }

    /// The clock from which the other banks and the bus let a bank of the group of `bank` be accessed.
    #[inline]
    pub(crate) fn group_cas(&self, bank: usize, write: bool) -> u64 {
        let Bank { group, rank, .. } = self.banks[bank];
        self.groups[usize::from(group)].cas[usize::from(write)]
            .max(self.ranks[usize::from(rank)].cas[usize::from(write)])
    }

    /// The clock from which the bank itself may be opened.
    #[inline]
    pub(crate) fn bank_act(&self, bank: usize) -> u64 {
        self.calendar.at(Kind::Activate, bank)
    }

    /// The clock from which the open row itself may be accessed.
    #[inline]
    pub(crate) fn bank_cas(&self, bank: usize) -> u64 {
        self.calendar.at(Kind::Column, bank)
    }

    /// The clock from which the open row itself may be closed.
    #[inline]
    pub(crate) fn bank_precharge(&self, bank: usize) -> u64 {
        self.calendar.at(Kind::Precharge, bank)
    }

    #[inline]
    pub(crate) fn earliest_act(&self, bank: usize) -> u64 {
        self.bank_act(bank).max(self.group_act(bank))
    }

    #[inline]
    pub(crate) fn earliest_cas(&self, bank: usize, write: bool) -> u64 {
        self.bank_cas(bank).max(self.group_cas(bank, write))
    }

    /// The clock from which the rank of a bank lets rows be closed.
    #[inline]
    pub(crate) fn rank_precharge(&self, bank: usize) -> u64 {
        self.ranks[self.rank_of(bank)].precharge
    }

    #[inline]
    pub(crate) fn earliest_precharge(&self, bank: usize) -> u64 {
        self.bank_precharge(bank).max(self.rank_precharge(bank))
    }

    /// The clock from which the open rows among `banks`, all of one rank, may be closed by one command.
    pub(crate) fn earliest_precharge_all(&self, banks: u64) -> u64 {
        let open = banks & self.open;
        bits(open).map(|bank| self.earliest_precharge(bank)).max().unwrap_or(0)
    }

    /// The clock from which `banks`, all closed and of one rank, may be refreshed.
    pub(crate) fn earliest_refresh(&self, banks: u64, same_bank: bool) -> u64 {
        let closed = self.calendar.last(Kind::Activate, banks);
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        closed.max(if same_bank { self.ranks[rank].same_bank } else { 0 })
    }

    pub(crate) fn activate(&mut self, clock: u64, bank: usize, row: u32) {
        let t = self.dram.timing;
        self.calendar.advance(clock);
        self.open |= 1 << bank;
        let state = &mut self.banks[bank];
        state.row = row;
        state.hits = 0;
        state.used = clock;
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        self.calendar.set(Kind::Column, bank, clock + u64::from(t.rcd));
        self.calendar.set(Kind::Precharge, bank, clock + u64::from(t.ras));
        self.calendar.set(Kind::Activate, bank, clock + u64::from(t.rc));
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
        self.calendar.advance(clock);
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
        self.calendar.raise(Kind::Activate, bank, clock + u64::from(self.dram.timing.rp));
    }

    /// Issues a read or a write and moves what the bus and the ranks allow next.
    pub(crate) fn cas(&mut self, clock: u64, bank: usize, write: bool) {
        let t = &self.dram.timing;
        self.calendar.advance(clock);
        let state = &mut self.banks[bank];
        state.used = clock;
        state.hits += 1;
        let hold = if write { t.cwl + t.burst + t.wr } else { t.rtp };
        self.calendar.raise(Kind::Precharge, bank, clock + u64::from(hold));
        let (own, rank) = (usize::from(state.group), usize::from(state.rank));
        let [same_group, same_rank, other_rank] = self.gaps[usize::from(write)];
        raise(&mut self.groups[own].cas, clock, same_group);
        for (index, state) in self.ranks.iter_mut().enumerate() {
            raise(&mut state.cas, clock, if index == rank { same_rank } else { other_rank });
        }
        raise(&mut self.column_floor, clock, self.least_gaps[usize::from(write)]);
    }

    /// Refreshes `banks`, all closed and of one rank.
    pub(crate) fn refresh(&mut self, clock: u64, banks: u64, same_bank: bool) {
        let t = self.dram.timing;
        self.calendar.advance(clock);
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        let busy = clock + u64::from(if same_bank { t.rfc_sb } else { t.rfc });
        bits(banks).for_each(|bank| self.calendar.raise(Kind::Activate, bank, busy));
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

/// The clocks from one column access to the next, wherever it goes.
fn least_gaps(dram: &DramParams) -> [[u32; 2]; 2] {
    let exists = [true, dram.bank_groups > 1, dram.ranks > 1];
    let least = |gaps: &Gaps, next: usize| {
        let existing = gaps.iter().zip(exists).filter(|(_, exists)| *exists);
        existing.map(|(gap, _)| gap[next]).min().unwrap_or(0)
    };
    gaps(dram).map(|gaps| [least(&gaps, 0), least(&gaps, 1)])
}

/// The most clocks from a command until a bank is ready again.
fn horizon(dram: &DramParams) -> u32 {
    let t = &dram.timing;
    let closed = t.ras.max(t.rcd + t.rtp).max(t.rcd + t.cwl + t.burst + t.wr) + t.rp;
    closed.max(t.rc).max(t.rfc).max(t.rfc_sb)
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
