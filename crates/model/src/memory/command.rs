//! What a controller says to its DRAM.

use serde::{Deserialize, Serialize};

/// A DRAM command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CommandKind {
    /// ACT: open a row.
    Activate,
    /// RD: read from the open row.
    Read,
    /// RDA: read and close the row as soon as it may be.
    ReadPrecharge,
    /// WR: write to the open row.
    Write,
    /// WRA: write and close the row as soon as it may be.
    WritePrecharge,
    /// PRE: close the row of a bank.
    Precharge,
    /// PREA: close every row of a rank.
    PrechargeAll,
    /// REF: refresh a rank.
    Refresh,
    /// REFSB: refresh the bank of one number in every bank group (DDR5) or one bank (HBM).
    RefreshSameBank,
}

/// One command as issued. Fields that the command does not need are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    /// Clock, counted from the start of the run.
    pub clock: u64,
    /// Controller: channel x subchannels + subchannel.
    pub channel: u32,
    /// The command.
    pub kind: CommandKind,
    /// Rank.
    pub rank: u8,
    /// Bank group of the rank.
    pub bank_group: u8,
    /// Bank of the group.
    pub bank: u8,
    /// Row of an ACT.
    pub row: u32,
    /// Line of the row of a column access.
    pub column: u32,
}
