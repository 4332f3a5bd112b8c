//! Clones of rows in DRAM (RowClone): their class and their duration.

use crate::params::{CloneParams, DramParams};
use serde::{Deserialize, Serialize};

/// Lines of the pages that the times of clones refer to.
const PAGE_LINES: u64 = 64;

/// Class of a clone, by the place of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CloneClass {
    /// Within a sub-array, by two activations (FPM).
    SubArray,
    /// To another bank of the rank, line by line over the internal bus (PSM).
    Bank,
    /// Through the buffer device (GCM).
    Device,
}

/// Places of rows, and durations of clones. Rows are counted from the first byte of the DIMM: the bank, then the rank,
/// then the row of the bank, whose lowest bits are its sub-array.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RowClone {
    params: CloneParams,
    banks: u32,
    ranks: u32,
    lines_per_row: u32,
}

impl RowClone {
    /// Creates the clones of memory like `dram`.
    #[must_use]
    pub fn new(params: &CloneParams, dram: &DramParams) -> Self {
        let banks = dram.bank_groups * dram.banks_per_group;
        Self { params: *params, banks, ranks: dram.ranks, lines_per_row: dram.lines_per_row }
    }

    /// Returns the lines of a row.
    #[must_use]
    pub fn lines_per_row(&self) -> u32 {
        self.lines_per_row
    }

    /// Returns the bank, the rank and the sub-array of a row.
    fn place(&self, row: u32) -> [u32; 3] {
        let (bank, rest) = (row % self.banks, row / self.banks);
        let (rank, row) = (rest % self.ranks, rest / self.ranks);
        [bank, rank, row % self.params.subarrays]
    }

    /// Returns the class of a clone of one row to another.
    #[must_use]
    pub fn class(&self, from: u32, to: u32) -> CloneClass {
        let [source, target] = [from, to].map(|row| self.place(row));
        match source.iter().zip(&target).map(|(one, other)| one == other).collect::<Vec<_>>()[..] {
            [true, true, true] => CloneClass::SubArray,
            [false, true, _] => CloneClass::Bank,
            _ => CloneClass::Device,
        }
    }

    /// Returns the time to clone `lines` lines of a row, in ps. Within a sub-array a whole row is always cloned.
    #[must_use]
    pub fn ps(&self, class: CloneClass, lines: u32) -> u64 {
        let of_lines = |ps: u64| (ps * u64::from(lines)).div_ceil(PAGE_LINES).max(1);
        match class {
            // Two activations copy the whole row, however much of it is used.
            CloneClass::SubArray => self.params.fpm_ps,
            CloneClass::Bank => of_lines(self.params.psm_ps),
            CloneClass::Device => of_lines(self.params.gcm_ps),
        }
    }

    /// Returns the banks of two rows, one bit each.
    #[must_use]
    pub fn banks(&self, from: u32, to: u32) -> u64 {
        let bank = |row: u32| {
            let [bank, rank, _] = self.place(row);
            1 << (rank * self.banks + bank)
        };
        bank(from) | bank(to)
    }
}
