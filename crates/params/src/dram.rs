//! Keys and parameters of a DRAM device.

use super::values::{Size, TransferRate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Organisation and timing of the DRAM of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramSpec {
    /// Data rate of the bus (transfer rate). Speed grades are exact: "2933 MT/s" means 8800/3 MT/s. A clock cycle has
    /// the length of two transfers.
    #[schemars(extend("x-min" = "100 MT/s", "x-max" = "20 GT/s"))]
    pub data_rate: TransferRate,
    /// Independent parts of a channel, each with its own controller and all that follows: DDR5 subchannels, HBM
    /// pseudo-channels; a power of two.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4), extend("x-power-of-two" = true))]
    pub subchannels: u32,
    /// Ranks per subchannel; a power of two. A subchannel has at most 64 banks.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub ranks: u32,
    /// Bank groups per rank; a power of two.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub bank_groups: u32,
    /// Banks per bank group; a power of two.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub banks_per_group: u32,
    /// Rows per bank; a power of two.
    #[schemars(range(min = 2, max = 16_777_216), extend("x-power-of-two" = true))]
    pub rows: u32,
    /// Size of a row over the whole subchannel (size); a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "1 MiB", "x-power-of-two" = true))]
    pub row_size: Size,
    /// Column accesses (RD or WR) needed to move one line; a power of two.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4), extend("x-power-of-two" = true))]
    pub accesses_per_line: u32,
    /// True if row commands (ACT, PRE, REF) and column commands (RD, WR) have a bus each, as in HBM.
    #[serde(default)]
    pub row_bus: bool,
    /// Banks that one refresh of less than a rank (REFSB) refreshes.
    #[serde(default)]
    pub same_bank: SameBankSpec,
    /// Maximum number of refreshes of a rank that may be postponed.
    #[serde(default = "postponed_max")]
    #[schemars(range(min = 0, max = 64))]
    pub postponed_max: u32,
    /// Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4.
    pub timing: TimingSpec,
}

/// Timing constraints in clocks, named as in JEDEC JESD79-4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimingSpec {
    /// Data bus time of one column access (clocks).
    #[schemars(range(min = 1, max = 64))]
    pub burst: u32,
    /// RD to the first read data (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub cl: u32,
    /// WR to the first write data (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub cwl: u32,
    /// ACT to RD or WR (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub rcd: u32,
    /// PRE to ACT (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub rp: u32,
    /// ACT to PRE (clocks).
    #[schemars(range(min = 1, max = 10000))]
    pub ras: u32,
    /// ACT to ACT of one bank (clocks).
    #[schemars(range(min = 1, max = 10000))]
    pub rc: u32,
    /// Last write data to PRE (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub wr: u32,
    /// RD to PRE (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub rtp: u32,
    /// RD to RD or WR to WR, other bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub ccd_s: u32,
    /// RD to RD or WR to WR, same bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub ccd_l: u32,
    /// WR to WR, same bank group, if longer than `ccd_l` (clocks); `ccd_l` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ccd_l_wr: Option<u32>,
    /// ACT to ACT, other bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub rrd_s: u32,
    /// ACT to ACT, same bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub rrd_l: u32,
    /// Last write data to RD, other bank group (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub wtr_s: u32,
    /// Last write data to RD, same bank group (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub wtr_l: u32,
    /// Window of at most four ACT of one rank (clocks); 0 means none.
    #[schemars(range(min = 0, max = 10000))]
    pub faw: u32,
    /// PRE to PRE of one rank (clocks); 0 means none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    pub ppd: u32,
    /// Duration of a REF of one rank (clocks); 0 turns refresh off.
    #[schemars(range(min = 0, max = 100_000))]
    pub rfc: u32,
    /// Mean interval between the REF commands of one rank (clocks).
    #[schemars(range(min = 100, max = 10_000_000))]
    pub refi: u32,
    /// REFSB to the next command for its banks (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub rfc_sb: u32,
    /// Mean interval between the REFSB commands of one rank (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000_000))]
    pub refi_sb: u32,
    /// REFSB to ACT of another bank of the rank (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    pub refsb_act: u32,
    /// REFSB to REFSB of one rank (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub refsb_refsb: u32,
    /// Bus turnaround between ranks (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub rank_switch: u32,
    /// RD to WR of one rank, beyond CL + burst - CWL (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub read_to_write: u32,
    /// Command bus time of ACT (clocks).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub act_clocks: u32,
    /// Command bus time of RD or WR (clocks).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub cas_clocks: u32,
}

/// Banks that one refresh of less than a rank (REFSB) refreshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SameBankSpec {
    /// The device has no such command.
    #[default]
    None,
    /// The bank with the same number in every bank group (DDR5).
    EveryGroup,
    /// One bank (HBM).
    OneBank,
}

fn one() -> u32 {
    1
}

/// JESD79-4: up to eight REF may be postponed.
fn postponed_max() -> u32 {
    8
}

/// Organisation and timing of one DRAM channel. Times are in clocks of `clock_ps_numerator / clock_ps_denominator`
/// ps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DramParams {
    /// Length of a clock in ps: numerator.
    pub clock_ps_numerator: u64,
    /// Length of a clock in ps: denominator.
    pub clock_ps_denominator: u64,
    /// Independent parts of a channel: DDR5 subchannels, HBM pseudo-channels. All counts and times below are per
    /// part.
    pub subchannels: u32,
    /// Ranks per subchannel.
    pub ranks: u32,
    /// Bank groups per rank.
    pub bank_groups: u32,
    /// Banks per bank group.
    pub banks_per_group: u32,
    /// Rows per bank.
    pub rows: u32,
    /// Lines (64 B) per row.
    pub lines_per_row: u32,
    /// Column accesses (RD or WR) needed to move one line.
    pub accesses_per_line: u32,
    /// True if row commands (ACT, PRE, REF) and column commands (RD, WR) have a bus each, as in HBM.
    pub row_bus: bool,
    /// Banks that one REFSB refreshes.
    pub same_bank: SameBank,
    /// Largest number of refreshes of a rank that may be postponed.
    pub postponed_max: u32,
    /// Timing constraints.
    pub timing: TimingParams,
}

/// Banks that one refresh of less than a rank (REFSB) refreshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SameBank {
    /// The standard has no such command.
    None,
    /// The bank with the same number in every bank group (DDR5).
    EveryGroup,
    /// One bank (HBM).
    One,
}

/// DRAM timing constraints in clocks, named as in JEDEC JESD79-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TimingParams {
    /// Data-bus clocks of one column access.
    pub burst: u32,
    pub cl: u32,
    pub cwl: u32,
    pub rcd: u32,
    pub rp: u32,
    pub ras: u32,
    pub rc: u32,
    pub wr: u32,
    pub rtp: u32,
    pub ccd_s: u32,
    pub ccd_l: u32,
    /// WR to WR in one bank group.
    pub ccd_l_wr: u32,
    pub rrd_s: u32,
    pub rrd_l: u32,
    pub wtr_s: u32,
    pub wtr_l: u32,
    pub faw: u32,
    /// PRE to PRE on one rank.
    pub ppd: u32,
    /// Duration of a REF of a rank; 0 turns refresh off.
    pub rfc: u32,
    pub refi: u32,
    /// REFSB to the next command for the banks that it refreshes.
    pub rfc_sb: u32,
    /// Mean interval between the REFSB commands of one rank.
    pub refi_sb: u32,
    /// REFSB to ACT of another bank of the same rank.
    pub refsb_act: u32,
    /// REFSB to REFSB on one rank.
    pub refsb_refsb: u32,
    /// Bus turnaround between ranks.
    pub rank_switch: u32,
    /// Read-to-write turnaround on one rank, beyond CL + burst - CWL.
    pub read_to_write: u32,
    /// Clocks that ACT occupies its command bus.
    pub act_clocks: u32,
    /// Clocks that RD or WR occupies its command bus.
    pub cas_clocks: u32,
}
