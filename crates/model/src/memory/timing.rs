//! Timing state of a subchannel: the earliest clocks of commands to each bank, group and rank.
//!
//! Constraints are kept as the earliest clock of the next command of each kind (JESD79-4, section 4); each command
//! moves them. Command buses are handled by the controller.

use super::table::Table;
use crate::params::DramParams;
use serde::{Deserialize, Serialize};

/// Open row of a bank.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct OpenRow {
    row: u32,
    /// Column accesses since the row was opened.
    hits: u32,
    /// Clock of the last command to the row.
    used: u64,
}

/// Timing state of a rank.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct RankTiming {
    /// Banks and groups of the rank, one bit each.
    banks: u64,
    groups: u64,
    /// Clocks of the last four activations plus 1, oldest first; 0 for none yet.
    activations: [u64; 4],
    precharge: u64,
    same_bank: u64,
}

/// Clocks from a column access to the next read and to the next write: in the same group, in the same rank and in
/// another rank.
type CasGaps = [[u64; 2]; 3];

/// Timing state of a subchannel: the earliest clock of every command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DramTiming {
    dram: DramParams,
    /// Earliest clocks at which a bank may be opened, accessed and closed, considering only the constraints of the bank
    /// itself.
    act: Table<u64>,
    cas: Table<u64>,
    precharge: Table<u64>,
    rows: Table<OpenRow>,
    /// Group and rank of each bank.
    group_of: Table<u8>,
    rank_of: Table<u8>,
    /// Earliest clocks at which the other banks of a group and of its rank allow its banks to be opened.
    group_act: Table<u64>,
    /// Earliest clocks at which the banks of a group, and of a rank, may be read and written, considering the other
    /// banks there.
    group_cas: [Table<u64>; 2],
    rank_cas: [Table<u64>; 2],
    ranks: Table<RankTiming>,
    /// Set of all ranks, one bit each.
    all_ranks: u64,
    /// Gaps after a read, and after a write.
    gaps: [CasGaps; 2],
    /// Clocks of the last read and of the last write plus 1; 0 for none yet.
    accessed: [u64; 2],
    /// Banks with an open row, one bit each.
    pub(crate) open: u64,
}

impl DramTiming {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let per_rank = dram.bank_groups * dram.banks_per_group;
        let rank = |index: usize| {
            // `checked_shl`, because a shift by all 64 bits overflows for ranks that a subchannel does not have.
            let of_rank = |count: u32| (u64::MAX >> (64 - count)).checked_shl(index as u32 * count).unwrap_or(0);
            RankTiming { banks: of_rank(per_rank), groups: of_rank(dram.bank_groups), ..RankTiming::default() }
        };
        Self {
            dram: dram.clone(),
            act: Table::of(|_| 0),
            cas: Table::of(|_| 0),
            precharge: Table::of(|_| 0),
            rows: Table::of(|_| OpenRow::default()),
            group_of: Table::of(|bank| (bank as u32 / dram.banks_per_group) as u8),
            rank_of: Table::of(|bank| (bank as u32 / per_rank) as u8),
            group_act: Table::of(|_| 0),
            group_cas: [Table::of(|_| 0), Table::of(|_| 0)],
            rank_cas: [Table::of(|_| 0), Table::of(|_| 0)],
            ranks: Table::of(rank),
            all_ranks: u64::MAX >> (64 - dram.ranks),
            gaps: gaps(dram),
            accessed: [0; 2],
            open: 0,
        }
    }

    /// Returns the banks of a rank, one bit each.
    #[inline]
    pub(crate) fn banks_of_rank(&self, rank: usize) -> u64 {
        self.ranks[rank].banks
    }

    /// Returns the rank of a bank.
    #[inline]
    pub(crate) fn rank_of(&self, bank: usize) -> usize {
        usize::from(self.rank_of[bank])
    }

    /// Returns the open row of a bank, if any.
    #[inline]
    pub(crate) fn open_row(&self, bank: usize) -> Option<u32> {
        (self.open >> bank & 1 == 1).then(|| self.rows[bank].row)
    }

    /// Returns the clock of the last command to the open row of a bank.
    #[inline]
    pub(crate) fn used(&self, bank: usize) -> u64 {
        self.rows[bank].used
    }

    /// Returns the number of column accesses to the open row of a bank.
    #[inline]
    pub(crate) fn hits(&self, bank: usize) -> u32 {
        self.rows[bank].hits
    }

    /// Returns the earliest clock at which the open row may be accessed, considering only the constraints of the bank
    /// itself.
    #[inline]
    pub(crate) fn bank_cas(&self, bank: usize) -> u64 {
        self.cas[bank]
    }

    /// Returns the earliest clock at which the open row may be closed, considering only the constraints of the bank
    /// itself.
    #[inline]
    pub(crate) fn bank_precharge(&self, bank: usize) -> u64 {
        self.precharge[bank]
    }

    #[inline]
    pub(crate) fn earliest_act(&self, bank: usize) -> u64 {
        self.act[bank].max(self.group_act[usize::from(self.group_of[bank])])
    }

    #[inline]
    pub(crate) fn earliest_cas(&self, bank: usize, write: bool) -> u64 {
        let direction = usize::from(write);
        let group = self.group_cas[direction][usize::from(self.group_of[bank])];
        self.cas[bank].max(group).max(self.rank_cas[direction][self.rank_of(bank)])
    }

    #[inline]
    pub(crate) fn earliest_precharge(&self, bank: usize) -> u64 {
        // Speed only: tPPD exists since DDR5 (JESD79-5); before, precharges of a rank do not delay each other.
        if self.dram.timing.ppd == 0 {
            return self.precharge[bank];
        }
        self.precharge[bank].max(self.ranks[self.rank_of(bank)].precharge)
    }

    /// Returns the earliest clock at which the open rows among `banks`, all of one rank, may be closed by one command.
    pub(crate) fn earliest_precharge_all(&self, banks: u64) -> u64 {
        let open = banks & self.open;
        bits(open).map(|bank| self.earliest_precharge(bank)).max().unwrap_or(0)
    }

    /// Returns the earliest clock at which `banks`, all closed and of one rank, may be refreshed.
    pub(crate) fn earliest_refresh(&self, banks: u64, same_bank: bool) -> u64 {
        let closed = bits(banks).map(|bank| self.act[bank]).max().unwrap_or(0);
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        closed.max(if same_bank { self.ranks[rank].same_bank } else { 0 })
    }

    #[inline]
    pub(crate) fn activate(&mut self, clock: u64, bank: usize, row: u32) {
        let t = &self.dram.timing;
        self.open |= 1 << bank;
        self.rows[bank] = OpenRow { row, hits: 0, used: clock };
        self.cas[bank] = clock + u64::from(t.rcd);
        self.precharge[bank] = clock + u64::from(t.ras);
        self.act[bank] = clock + u64::from(t.rc);
        let (own, rank) = (usize::from(self.group_of[bank]), self.rank_of(bank));
        let [_, second, third, fourth] = self.ranks[rank].activations;
        self.ranks[rank].activations = [second, third, fourth, clock + 1];
        // tFAW: the next activation is the fifth, counted from `second`.
        let window = if second > 0 { second - 1 + u64::from(t.faw) } else { 0 };
        let (next, next_of_group) = (window.max(clock + u64::from(t.rrd_s)), clock + u64::from(t.rrd_l));
        self.raise_act(rank, next);
        self.group_act[own] = self.group_act[own].max(next_of_group);
    }

    /// Forbids activations of the banks of a rank before `clock`.
    #[inline]
    fn raise_act(&mut self, rank: usize, clock: u64) {
        for group in bits(self.ranks[rank].groups) {
            self.group_act[group] = self.group_act[group].max(clock);
        }
    }

    /// Closes the row of a bank by a command at `clock`.
    #[inline]
    pub(crate) fn precharge(&mut self, clock: u64, bank: usize) {
        self.close(clock, bank);
        let rank = &mut self.ranks[usize::from(self.rank_of[bank])];
        rank.precharge = rank.precharge.max(clock + u64::from(self.dram.timing.ppd));
    }

    /// Closes every open row among `banks`, all of one rank, by one command at `clock`.
    pub(crate) fn precharge_all(&mut self, clock: u64, banks: u64) {
        let open = banks & self.open;
        bits(open).for_each(|bank| self.precharge(clock, bank));
    }

    /// Closes the row of a bank by auto-precharge at `clock`.
    #[inline]
    pub(crate) fn close(&mut self, clock: u64, bank: usize) {
        self.open &= !(1 << bank);
        // tRC from the last ACT may end later than tRP.
        self.act[bank] = self.act[bank].max(clock + u64::from(self.dram.timing.rp));
    }

    /// Issues a read or a write, and updates the earliest clocks of the bus and of all ranks.
    #[inline]
    pub(crate) fn cas(&mut self, clock: u64, bank: usize, write: bool) {
        let t = &self.dram.timing;
        let row = &mut self.rows[bank];
        row.used = clock;
        row.hits += 1;
        // tWR counts from the end of the write data, tRTP from the RD command (JESD79-4).
        let hold = if write { t.cwl + t.burst + t.wr } else { t.rtp };
        self.precharge[bank] = self.precharge[bank].max(clock + u64::from(hold));
        let (own, rank) = (usize::from(self.group_of[bank]), self.rank_of(bank));
        self.accessed[usize::from(write)] = clock + 1;
        let [same_group, same_rank, other_rank] = self.gaps[usize::from(write)];
        raise(&mut self.group_cas, own, clock, same_group);
        for index in bits(self.all_ranks) {
            raise(&mut self.rank_cas, index, clock, if index == rank { same_rank } else { other_rank });
        }
    }

    /// Returns the earliest clock at which a device that is no rank may transfer a line over the data bus: to the
    /// device if `write`, else from it.
    pub(crate) fn earliest_transfer(&self, write: bool) -> u64 {
        let after = |(last, gaps): (u64, &CasGaps)| if last == 0 { 0 } else { last - 1 + gaps[2][usize::from(write)] };
        self.accessed.into_iter().zip(&self.gaps).map(after).max().unwrap_or(0)
    }

    /// Transfers such a line. For all ranks it counts as an access to another rank.
    pub(crate) fn transfer(&mut self, clock: u64, write: bool) {
        self.accessed[usize::from(write)] = clock + 1;
        let [_, _, other_rank] = self.gaps[usize::from(write)];
        for index in bits(self.all_ranks) {
            raise(&mut self.rank_cas, index, clock, other_rank);
        }
    }

    /// Closes the open rows of `banks`, and occupies the banks until `clock`.
    pub(crate) fn occupy(&mut self, banks: u64, clock: u64) {
        self.open &= !banks;
        bits(banks).for_each(|bank| self.act[bank] = self.act[bank].max(clock));
    }

    /// Returns the earliest clock at which a command may open a row of a bank, after it has closed an open row.
    pub(crate) fn earliest_open(&self, bank: usize) -> u64 {
        let closed = if self.open >> bank & 1 == 1 { self.precharge[bank] + u64::from(self.dram.timing.rp) } else { 0 };
        self.earliest_act(bank).max(closed)
    }

    /// Refreshes `banks`, all closed and of one rank.
    pub(crate) fn refresh(&mut self, clock: u64, banks: u64, same_bank: bool) {
        let t = self.dram.timing;
        let rank = self.rank_of(banks.trailing_zeros() as usize);
        let busy = clock + u64::from(if same_bank { t.rfc_sb } else { t.rfc });
        // With all banks closed, an ACT or another refresh must come next, and both wait for `act`.
        bits(banks).for_each(|bank| self.act[bank] = self.act[bank].max(busy));
        if same_bank {
            // tREFSB_ACT for the other banks: tREFSBRD in JESD79-5, tRREFD in JESD235.
            self.ranks[rank].same_bank = clock + u64::from(t.refsb_refsb);
            self.raise_act(rank, clock + u64::from(t.refsb_act));
        }
    }
}

/// Raises the earliest clocks of the next read and the next write to `clock` plus the gaps, unless they are later.
#[inline]
fn raise(next: &mut [Table<u64>; 2], index: usize, clock: u64, gaps: [u64; 2]) {
    for (next, gap) in next.iter_mut().zip(gaps) {
        next[index] = next[index].max(clock + gap);
    }
}

/// Returns the clocks from one column access to the next.
fn gaps(dram: &DramParams) -> [CasGaps; 2] {
    let t = &dram.timing;
    // Write data must not meet read data on the bus; the command bus needs at least one clock in between.
    let turn = |extra: u32| (t.cl + t.burst + extra).saturating_sub(t.cwl).max(1);
    // tWTR counts from the end of the write data.
    let written = t.cwl + t.burst;
    let to_other_rank = (written + t.rank_switch).saturating_sub(t.cl).max(t.burst);
    let after_read = [
        [t.ccd_l, turn(t.read_to_write)],
        [t.ccd_s, turn(t.read_to_write)],
        [t.burst + t.rank_switch, turn(t.rank_switch)],
    ];
    let after_write = [[written + t.wtr_l, t.ccd_l_wr], [written + t.wtr_s, t.ccd_s], [to_other_rank, t.burst]];
    [after_read, after_write].map(|gaps| gaps.map(|gap| gap.map(u64::from)))
}

/// Returns the numbers of the bits that are set, in ascending order.
#[inline]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        // Clears the lowest bit that is set.
        mask &= mask - 1;
        Some(bit)
    })
}
