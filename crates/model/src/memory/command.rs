//! DRAM commands of a memory controller.

use serde::{Deserialize, Serialize};

/// Kind of a DRAM command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CommandKind {
    /// ACT: opens a row.
    Activate,
    /// RD: reads from the open row.
    Read,
    /// RDA: reads and closes the row as soon as the timing allows (auto-precharge).
    ReadPrecharge,
    /// WR: writes to the open row.
    Write,
    /// WRA: writes and closes the row as soon as the timing allows (auto-precharge).
    WritePrecharge,
    /// PRE: closes the row of a bank.
    Precharge,
    /// PREA: closes every row of a rank.
    PrechargeAll,
    /// REF: refreshes a rank.
    Refresh,
    /// REFSB: refreshes the bank with the same number in every bank group (DDR5), or one bank (HBM).
    RefreshSameBank,
}

/// Command as issued. Fields that the command does not use are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    /// Clock of the command, counted from the start of the run.
    pub clock: u64,
    /// Controller: channel x subchannels + subchannel.
    pub channel: u32,
    /// Kind of the command.
    pub kind: CommandKind,
    /// Rank that the command is for.
    pub rank: u8,
    /// Bank group within the rank.
    pub bank_group: u8,
    /// Bank within the group.
    pub bank: u8,
    /// Row of an ACT.
    pub row: u32,
    /// Line within the row, for a column access.
    pub column: u32,
}
