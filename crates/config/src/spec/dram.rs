//! The DRAM of a channel: organisation and timing.

use super::values::{Size, TransferRate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The DRAM of one channel: organisation and timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DramSpec {
    /// Data rate of the bus (transfer rate). Speed grades are meant exactly: "2933 MT/s" is 8800/3 MT/s. A clock is two
    /// transfers.
    #[schemars(extend("x-min" = "100 MT/s", "x-max" = "20 GT/s"))]
    pub(crate) data_rate: TransferRate,
    /// Parts of a channel that work on their own, each with a controller and all that follows: DDR5 subchannels, HBM
    /// pseudo-channels; a power of two.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4), extend("x-power-of-two" = true))]
    pub(crate) subchannels: u32,
    /// Ranks per subchannel; a power of two. A subchannel has at most 64 banks.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub(crate) ranks: u32,
    /// Bank groups per rank; a power of two.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub(crate) bank_groups: u32,
    /// Banks per bank group; a power of two.
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub(crate) banks_per_group: u32,
    /// Rows per bank; a power of two.
    #[schemars(range(min = 2, max = 16_777_216), extend("x-power-of-two" = true))]
    pub(crate) rows: u32,
    /// Bytes of a row over the whole subchannel (size); a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "1 MiB", "x-power-of-two" = true))]
    pub(crate) row_size: Size,
    /// Column accesses (RD or WR) that move one line; a power of two.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4), extend("x-power-of-two" = true))]
    pub(crate) accesses_per_line: u32,
    /// Whether row commands (ACT, PRE, REF) and column commands (RD, WR) have a bus each, as in HBM.
    #[serde(default)]
    pub(crate) row_bus: bool,
    /// Which banks one refresh of less than a rank (REFSB) refreshes.
    #[serde(default)]
    pub(crate) same_bank: SameBankSpec,
    /// Refreshes that may be owed to a rank at most.
    #[serde(default = "postponed_max")]
    #[schemars(range(min = 0, max = 64))]
    pub(crate) postponed_max: u32,
    /// Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4.
    pub(crate) timing: TimingSpec,
}

/// Timing constraints in clocks, named as in JEDEC JESD79-4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimingSpec {
    /// Data bus time of one column access (clocks).
    #[schemars(range(min = 1, max = 64))]
    pub(crate) burst: u32,
    /// RD to its first data (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) cl: u32,
    /// WR to its first data (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) cwl: u32,
    /// ACT to RD or WR (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) rcd: u32,
    /// PRE to ACT (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) rp: u32,
    /// ACT to PRE (clocks).
    #[schemars(range(min = 1, max = 10000))]
    pub(crate) ras: u32,
    /// ACT to ACT of one bank (clocks).
    #[schemars(range(min = 1, max = 10000))]
    pub(crate) rc: u32,
    /// Last write data to PRE (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) wr: u32,
    /// RD to PRE (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) rtp: u32,
    /// RD to RD or WR to WR, other bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) ccd_s: u32,
    /// RD to RD or WR to WR, same bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) ccd_l: u32,
    /// WR to WR, same bank group, where it is longer (clocks); `ccd_l` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) ccd_l_wr: Option<u32>,
    /// ACT to ACT, other bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) rrd_s: u32,
    /// ACT to ACT, same bank group (clocks).
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) rrd_l: u32,
    /// Last write data to RD, other bank group (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) wtr_s: u32,
    /// Last write data to RD, same bank group (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) wtr_l: u32,
    /// Window of four ACT of one rank (clocks); 0 means none.
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) faw: u32,
    /// PRE to PRE of one rank (clocks); 0 means none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) ppd: u32,
    /// Refresh of one rank (clocks); 0 turns refresh off.
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) rfc: u32,
    /// Mean interval of refreshes of one rank (clocks).
    #[schemars(range(min = 100, max = 10_000_000))]
    pub(crate) refi: u32,
    /// REFSB to the next command for its banks (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) rfc_sb: u32,
    /// Mean interval of the REFSB of one rank (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000_000))]
    pub(crate) refi_sb: u32,
    /// REFSB to ACT of another bank of the rank (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) refsb_act: u32,
    /// REFSB to REFSB of one rank (clocks).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) refsb_refsb: u32,
    /// Bus turnaround between ranks (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) rank_switch: u32,
    /// RD to WR of one rank, beyond CL + burst - CWL (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) read_to_write: u32,
    /// Command bus time of ACT (clocks).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub(crate) act_clocks: u32,
    /// Command bus time of RD and WR (clocks).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub(crate) cas_clocks: u32,
}

/// Which banks one refresh of less than a rank (REFSB) refreshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SameBankSpec {
    /// The device has no such command.
    #[default]
    None,
    /// The bank of one number in every bank group (DDR5).
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
