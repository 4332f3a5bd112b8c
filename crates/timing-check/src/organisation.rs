//! Ranks, bank groups and banks of a device, and those that a command addresses.

use std::fmt;
use std::iter::StepBy;
use std::ops::Range;

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, SameBank};

/// Ranks and banks of one controller.
#[derive(Clone, Debug)]
pub(crate) struct Organisation {
    pub(crate) ranks: usize,
    pub(crate) groups: usize,
    pub(crate) banks_per_group: usize,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) row_bus: bool,
    pub(crate) same_bank: SameBank,
}

/// Target of a command. Indices that the command does not name are 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) rank: usize,
    /// Bank group, numbered within the rank.
    pub(crate) group: usize,
    /// Bank, numbered within the rank.
    pub(crate) bank: usize,
    /// Set of the banks that one REFSB refreshes together with this one, numbered within the rank.
    pub(crate) set: usize,
    /// Command bus: 1 for column accesses on a device that has a separate bus for row commands, else 0.
    pub(crate) bus: usize,
}

/// Field of a command that is out of range for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Name of the field of the command.
    pub field: &'static str,
    /// Value of the field; 0 for a REFSB on a device without REFSB.
    pub value: u64,
    /// Number of valid values, which are 0 to `count - 1`; 0 for a REFSB on a device without REFSB.
    pub count: u64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfRange { field, value, count } = self;
        match count {
            0 => write!(f, "`command` is REFSB, but the device refreshes whole ranks only (REF)"),
            _ => write!(f, "`{field}` is {value}, but the device has 0 to {}", count - 1),
        }
    }
}

impl Organisation {
    pub(crate) fn new(dram: &DramParams) -> Self {
        Organisation {
            ranks: dram.ranks as usize,
            groups: dram.bank_groups as usize,
            banks_per_group: dram.banks_per_group as usize,
            rows: dram.rows.into(),
            columns: dram.lines_per_row.into(),
            row_bus: dram.row_bus,
            same_bank: dram.same_bank,
        }
    }

    /// Returns the number of banks of a rank.
    pub(crate) fn banks(&self) -> usize {
        self.groups * self.banks_per_group
    }

    /// Returns the number of sets of banks of a rank that a REFSB each refreshes.
    pub(crate) fn sets(&self) -> usize {
        match self.same_bank {
            SameBank::One => self.banks(),
            // DDR5: one bank number in every group (JESD79-5); HBM: one bank (JESD235).
            SameBank::EveryGroup => self.banks_per_group,
            SameBank::None => 1,
        }
    }

    /// Returns the first number of a command that the device does not have.
    pub(crate) fn outside(&self, record: &CommandRecord) -> Option<OutOfRange> {
        [
            ("rank", u64::from(record.rank), self.ranks as u64),
            ("bank_group", record.bank_group.into(), self.groups as u64),
            ("bank", record.bank.into(), self.banks_per_group as u64),
            ("row", record.row.into(), self.rows),
            ("column", record.column.into(), self.columns),
        ]
        .into_iter()
        .find(|(_, value, count)| value >= count)
        .map(|(field, value, count)| OutOfRange { field, value, count })
    }

    /// Returns an error for a REFSB on a device without REFSB.
    pub(crate) fn lacks(&self, kind: CommandKind) -> Option<OutOfRange> {
        let lacks = kind == CommandKind::RefreshSameBank && self.same_bank == SameBank::None;
        lacks.then_some(OutOfRange { field: "command", value: 0, count: 0 })
    }

    pub(crate) fn place(&self, record: &CommandRecord) -> Place {
        let group = usize::from(record.bank_group);
        let bank = group * self.banks_per_group + usize::from(record.bank);
        let set = match self.same_bank {
            SameBank::One => bank,
            SameBank::EveryGroup => record.bank.into(),
            SameBank::None => 0,
        };
        // HBM has separate buses for row and column commands (JESD235).
        let bus = usize::from(self.row_bus && is_column(record.kind));
        Place { rank: record.rank.into(), group, bank, set, bus }
    }

    /// Returns the banks of its rank that a command addresses.
    pub(crate) fn banks_of(&self, kind: CommandKind, place: &Place) -> StepBy<Range<usize>> {
        match kind {
            CommandKind::PrechargeAll | CommandKind::Refresh => (0..self.banks()).step_by(1),
            CommandKind::RefreshSameBank => self.banks_of_set(place.set),
            _ => (place.bank..place.bank + 1).step_by(1),
        }
    }

    fn banks_of_set(&self, set: usize) -> StepBy<Range<usize>> {
        match self.same_bank {
            SameBank::EveryGroup => (set..self.banks()).step_by(self.banks_per_group),
            SameBank::One | SameBank::None => (set..set + 1).step_by(1),
        }
    }
}

fn is_column(kind: CommandKind) -> bool {
    use CommandKind::{Read, ReadPrecharge, Write, WritePrecharge};
    matches!(kind, Read | ReadPrecharge | Write | WritePrecharge)
}
