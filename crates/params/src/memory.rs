//! Parameters of the memory system: devices, controllers, address maps and pages.

use serde::{Deserialize, Serialize};

/// Memory of one socket or node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryParams {
    /// DRAM device of every channel.
    pub dram: DramParams,
    /// Memory controller of every subchannel.
    pub controller: MemoryControllerParams,
    /// Address map: location of a physical line in DRAM.
    pub map: MapParams,
    /// Layout of virtual memory in physical memory.
    pub pages: PageParams,
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

/// The memory controller of one subchannel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryControllerParams {
    /// Write pending queue (WPQ) entries; no limit in a shared queue.
    pub rpq_entries: u32,
    /// Write pending queue (WPQ) entries; in a shared queue they are no limit.
    pub wpq_entries: u32,
    /// WPQ entries in use from which the hardware counter reports the queue as full.
    pub wpq_full_threshold: u32,
    /// RPQ entries in use from which the hardware counter reports the queue as full.
    pub rpq_full_threshold: u32,
    /// True if reads and writes share the entries of the RPQ.
    pub shared_queue: bool,
    /// Time at which a request releases its queue entry.
    pub entry_until: EntryRelease,
    /// Scheduling policy among the requests of one direction.
    pub scheduler: SchedulingPolicy,
    /// Condition under which a request may close a row that queued requests still hit.
    pub protect: RowProtection,
    /// Age limit of row protection, in clocks: an older request for another row may close the row despite queued
    /// hits.
    pub row_hold: u32,
    /// Column accesses to an open row after which a waiting request may close the row despite queued hits; 0 = no
    /// limit.
    pub row_hits: u32,
    /// WPQ entries in use from which write mode may start.
    pub write_high: u32,
    /// WPQ entries in use at which write mode ends.
    pub write_low: u32,
    /// Reads that must be served after a write mode before the next may start, unless few reads wait.
    pub reads_per_mode: u32,
    /// Largest number of waiting reads at which write mode may start at once.
    pub reads_few: u32,
    /// Writes that write mode serves before waiting reads end it.
    pub writes_per_mode: u32,
    /// Handling of writes while the read queue is empty.
    pub idle_drain: IdleDrain,
    /// WPQ entries in use from which writes are served while the read queue is empty.
    pub idle_writes: u32,
    /// Number of waiting reads above which those writes stop.
    pub idle_reads: u32,
    /// Number of waiting row hits of reads above which those writes stop; a value above the number of entries means
    /// never.
    pub idle_hits: u32,
    /// Age of a waiting read at which those writes stop, however few reads wait, in clocks; [`u32::MAX`] = never.
    pub idle_age: u32,
    /// Time without a new write after which an empty read queue also serves fewer writes than `idle_writes`, in
    /// clocks; [`u32::MAX`] = never.
    pub idle_flush: u32,
    /// WPQ entries in use from which writes fill command slots that no read can use.
    pub spare_writes: u32,
    /// True if such writes may open and close rows; otherwise they only use open rows.
    pub spare_rows: bool,
    /// Lead that such a command needs over the next command for a read, in clocks, at least 1. A burst of lines needs
    /// a longer slot.
    pub spare_clocks: u32,
    /// Time at which a row that no queued request hits is closed.
    pub page: PagePolicy,
    /// Clocks without access after which a row is closed under [`PagePolicy::Timeout`].
    pub idle_close: u32,
    /// True if a write closes its row when no queued request hits it.
    pub write_auto_precharge: bool,
    /// Refresh commands in use.
    pub refresh: Refresh,
    /// Refreshes of a rank that may be postponed while requests wait for the rank.
    pub refresh_postponed: u32,
    /// True if a refresh that is due blocks the whole subchannel until it is issued, false if it blocks only its own
    /// banks.
    pub refresh_holds_all: bool,
    /// True if a queued write to the same line answers a read.
    pub forwarding: bool,
    /// True if a write replaces a queued write to the same line.
    pub merging: bool,
}

/// Time at which a request releases its queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryRelease {
    /// With the last column access of the request.
    Column,
    /// With the activation issued for the request; from then on the request owns the bank until its column access.
    Activation,
}

/// Order of service among the requests of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SchedulingPolicy {
    /// First-ready: column accesses, then activations, then precharges, and the oldest request among equals.
    ColumnFirst,
    /// First-ready: the oldest request with any command that can be issued, whatever the command.
    OldestReady,
    /// First come, first served: the oldest request, ready or not.
    Fcfs,
}

/// Condition under which a row that queued requests still hit may be closed for another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowProtection {
    /// At any time.
    Nothing,
    /// When the request that closes the row is older than every request that hits it.
    OlderHits,
    /// When no queued request hits the row.
    AllHits,
}

/// Handling of writes while the read queue is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleDrain {
    /// No writes are served.
    Off,
    /// Writes are served until `idle_reads`, `idle_hits` or `idle_age` stops them.
    Yield,
    /// Write mode starts, and lasts until it ends by its own rules.
    Mode,
}

/// Time at which a row that no queued request hits is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PagePolicy {
    /// When a request needs another row of the bank.
    Open,
    /// With the last column access to the row.
    Closed,
    /// After `idle_close` clocks without access.
    Timeout,
}

/// Refresh commands that a controller uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refresh {
    /// No refresh.
    Off,
    /// REF: all banks of a rank.
    AllBanks,
    /// REFSB: some banks of a rank.
    SameBank,
}

/// Address map from a physical line address to channel, subchannel, rank, bank group, bank, row and column.
///
/// If the number of channels is a power of two, every selector bit is the parity of the byte address under a mask.
/// With any other number the channel is `address / channel_bytes` modulo the number of channels, and the masks and
/// bits apply to the address without the channel, `address / (channel_bytes x channels) x channel_bytes + address mod
/// channel_bytes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapParams {
    /// Number of channels.
    pub channels: u32,
    /// Masks whose parities form the channel number; empty unless the number of channels is a power of two.
    pub channel: Vec<u64>,
    /// Consecutive bytes on one channel if the number of channels is no power of two, else 0.
    pub channel_bytes: u64,
    /// Masks of the subchannel bits.
    pub subchannel: Vec<u64>,
    /// Masks of the rank bits.
    pub rank: Vec<u64>,
    /// Masks of the bank-group bits.
    pub bank_group: Vec<u64>,
    /// Masks of the bank bits within a group.
    pub bank: Vec<u64>,
    /// Address bits of the column, lowest first.
    pub column: Vec<u8>,
    /// Address bits of the row, lowest first.
    pub row: Vec<u8>,
}

/// Layout of virtual memory in physical memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageParams {
    /// Size of a physically contiguous run in bytes, at least a page.
    pub run_bytes: u64,
    /// Size of the physical memory, in bytes.
    pub memory_bytes: u64,
}
