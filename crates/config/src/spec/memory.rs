//! The memory controllers, their DRAM, and the address map.

use super::values::{MemorySize, Size, Time, TransferRate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory of the socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySpec {
    /// Channels; a power of two.
    #[schemars(range(min = 1, max = 64), extend("x-power-of-two" = true))]
    pub(crate) channels: u32,
    /// Name of the DRAM device on every channel. It gives the values of `memory.dram`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// The DRAM of one channel; what is set here overrides the device.
    pub(crate) dram: DramSpec,
    /// Memory in use (size), or "all" that the channels hold.
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "64 TiB"))]
    pub(crate) size: MemorySize,
    /// Size of a page (size): "4 KiB", "2 MiB" or "1 GiB".
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub(crate) page: Size,
    /// Physically contiguous run of a buffer (size), at least a page; a power of two.
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 TiB", "x-power-of-two" = true))]
    pub(crate) run: Size,
    /// Where a physical line lies.
    pub(crate) map: MapSpec,
    /// The controller of every channel.
    pub(crate) controller: ControllerSpec,
}

/// The DRAM of one channel: organisation and timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DramSpec {
    /// Data rate of the bus (transfer rate). Speed grades are meant exactly: "2933 MT/s" is 8800/3 MT/s.
    #[schemars(extend("x-min" = "100 MT/s", "x-max" = "20 GT/s"))]
    pub(crate) data_rate: TransferRate,
    /// Ranks per channel; a power of two.
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
    /// Bytes of a row over the whole channel (size); a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "1 MiB", "x-power-of-two" = true))]
    pub(crate) row_size: Size,
    /// Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4.
    pub(crate) timing: TimingSpec,
}

/// Timing constraints in clocks, named as in JEDEC JESD79-4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimingSpec {
    /// Data bus clocks of one line.
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
    /// Window of four ACT of one rank (clocks).
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) faw: u32,
    /// Refresh of one rank (clocks); 0 turns refresh off.
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) rfc: u32,
    /// Mean interval of refreshes of one rank (clocks).
    #[schemars(range(min = 100, max = 10_000_000))]
    pub(crate) refi: u32,
    /// Bus turnaround between ranks (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) rank_switch: u32,
    /// RD to WR of one rank, beyond CL + burst - CWL (clocks).
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) read_to_write: u32,
}

/// The memory controller of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControllerSpec {
    /// The read pending queue.
    pub(crate) rpq: ReadQueueSpec,
    /// The write pending queue.
    pub(crate) wpq: WriteQueueSpec,
    /// WPQ entries from which write mode may be entered.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) write_high: u32,
    /// WPQ entries at which write mode ends; below `write_high`.
    #[schemars(range(min = 0, max = 4095))]
    pub(crate) write_low: u32,
    /// Reads served since the last write mode before the next may start, unless few reads wait.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(crate) reads_per_mode: u32,
    /// Reads waiting at or below which write mode may start at once.
    #[schemars(range(min = 0, max = 4096))]
    pub(crate) reads_few: u32,
    /// Writes served in write mode before waiting reads end it.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) writes_per_mode: u32,
    /// WPQ entries from which an idle read queue lets writes pass; more than there are means never.
    #[schemars(range(min = 1, max = 8192))]
    pub(crate) idle_writes: u32,
    /// Reads waiting above which such writes stop.
    #[schemars(range(min = 0, max = 4096))]
    pub(crate) idle_reads: u32,
    /// WPQ entries from which writes fill slots that no read can use; more than there are means never.
    #[schemars(range(min = 1, max = 8192))]
    pub(crate) spare_writes: u32,
    /// Whether such writes may open and close rows, or only use rows that are open.
    pub(crate) spare_rows: bool,
    /// Age limit of first-ready scheduling (time): a request that is older and waits for a row of its own may close a
    /// row although hits for it still wait.
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) row_hold: Time,
    /// Time without access after which a row is closed (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) idle_close: Time,
    /// Whether a write closes its row when no queued request hits it.
    pub(crate) write_auto_precharge: bool,
}

/// The read pending queue of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadQueueSpec {
    /// Entries.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) entries: u32,
    /// Entries from which the hardware counter calls the queue full. Affects what is reported, nothing else.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) full_threshold: u32,
}

/// The write pending queue of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteQueueSpec {
    /// Entries.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) entries: u32,
    /// Entries from which the hardware counter calls the queue full. Affects what is reported, nothing else.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) full_threshold: u32,
}

/// Where a physical line lies: a named map, or the address bits of each selector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MapSpec {
    /// "intel" (two bank bits and the channel inside the page, the rest hashed), or an order of plain bit fields from
    /// the highest to the lowest such as "RoBaRaCoCh" (row, bank, rank, column, channel; "Bg" for the bank group).
    Named(String),
    /// The address bits of each selector.
    Table(MapTable),
}

/// One entry per selector bit, lowest first: the byte address bits whose parity it is, such as "8+13+17". The row and
/// the column are the remaining address bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapTable {
    /// Bits of the channel number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) channel: Vec<String>,
    /// Bits of the rank number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) rank: Vec<String>,
    /// Bits of the bank group number.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) bank_group: Vec<String>,
    /// Bits of the bank number within its group.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) bank: Vec<String>,
}
