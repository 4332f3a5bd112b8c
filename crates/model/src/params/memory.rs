//! The memory system: devices, controllers, address maps and pages.

use serde::{Deserialize, Serialize};

/// A socket's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryParams {
    /// The device on every channel.
    pub dram: DramParams,
    /// The controller of every subchannel.
    pub controller: ControllerParams,
    /// Where a physical line lies.
    pub map: MapParams,
    /// How virtual memory is laid out in physical memory.
    pub pages: PageParams,
}

/// One DRAM channel: organisation and timing. Times are in clocks of `clock_ps_numerator / clock_ps_denominator` ps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DramParams {
    /// Length of a clock in ps: numerator.
    pub clock_ps_numerator: u64,
    /// Length of a clock in ps: denominator.
    pub clock_ps_denominator: u64,
    /// Parts of a channel that work on their own, each with all that follows: DDR5 subchannels, HBM pseudo-channels.
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
    /// Column accesses (RD or WR) that move one line.
    pub accesses_per_line: u32,
    /// Whether row commands (ACT, PRE, REF) and column commands (RD, WR) have a bus each, as in HBM.
    pub row_bus: bool,
    /// Which banks one REFSB refreshes.
    pub same_bank: SameBank,
    /// Refreshes that may be owed to a rank at most.
    pub postponed_max: u32,
    /// Timing constraints.
    pub timing: TimingParams,
}

/// The banks that one refresh of less than a rank (REFSB) refreshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SameBank {
    /// The standard has none.
    None,
    /// The bank of one number in every bank group (DDR5).
    EveryGroup,
    /// One bank (HBM).
    One,
}

/// DRAM timing constraints in clocks, named as in JEDEC JESD79-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TimingParams {
    /// Data bus clocks of one column access.
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
    /// WR to WR, same bank group.
    pub ccd_l_wr: u32,
    pub rrd_s: u32,
    pub rrd_l: u32,
    pub wtr_s: u32,
    pub wtr_l: u32,
    pub faw: u32,
    /// PRE to PRE, one rank.
    pub ppd: u32,
    /// REF of a rank; 0 turns refresh off.
    pub rfc: u32,
    pub refi: u32,
    /// REFSB to the next command for the banks it refreshes.
    pub rfc_sb: u32,
    /// Mean interval of the REFSB of one rank.
    pub refi_sb: u32,
    /// REFSB to ACT of another bank of the rank.
    pub refsb_act: u32,
    /// REFSB to REFSB, one rank.
    pub refsb_refsb: u32,
    /// Bus turnaround between ranks.
    pub rank_switch: u32,
    /// Read to write on one rank, beyond CL + burst - CWL.
    pub read_to_write: u32,
    /// Clocks that ACT occupies its command bus.
    pub act_clocks: u32,
    /// Clocks that RD or WR occupies its command bus.
    pub cas_clocks: u32,
}

/// The memory controller of one subchannel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControllerParams {
    /// Read pending queue entries; of reads and writes together in a shared queue.
    pub rpq_entries: u32,
    /// Write pending queue entries; in a shared queue no limit of its own.
    pub wpq_entries: u32,
    /// WPQ entries from which the hardware counter calls the queue full.
    pub wpq_full_threshold: u32,
    /// RPQ entries from which the hardware counter calls the queue full.
    pub rpq_full_threshold: u32,
    /// Whether reads and writes share the entries of the RPQ.
    pub shared_queue: bool,
    /// When a request gives its entry back.
    pub entry_until: EntryUntil,
    /// Who goes first.
    pub scheduler: Scheduler,
    /// When a request may close a row that others still want.
    pub protect: Protect,
    /// Age limit of row protection, in clocks: an older request for another row may close the row all the same.
    pub row_hold: u32,
    /// Column accesses to an open row after which a waiting request may close it all the same; 0 = no limit.
    pub row_hits: u32,
    /// WPQ entries from which write mode may be entered.
    pub write_high: u32,
    /// WPQ entries at which write mode ends.
    pub write_low: u32,
    /// Reads served since the last write mode before the next may start, unless few reads wait.
    pub reads_per_mode: u32,
    /// Reads waiting at or below which write mode may start at once.
    pub reads_few: u32,
    /// Writes served in write mode before waiting reads end it.
    pub writes_per_mode: u32,
    /// What an empty read queue does for writes.
    pub idle_drain: IdleDrain,
    /// WPQ entries from which an idle read queue lets writes pass.
    pub idle_writes: u32,
    /// Reads waiting above which writes that merely pass stop.
    pub idle_reads: u32,
    /// Reads waiting for open rows above which those writes stop; more than there are entries for never.
    pub idle_hits: u32,
    /// Clocks after which a waiting read stops those writes, however few wait; [`u32::MAX`] for never.
    pub idle_age: u32,
    /// Clocks after the last write has come from which an idle read queue lets fewer writes pass, too; [`u32::MAX`] for
    /// never.
    pub idle_flush: u32,
    /// WPQ entries from which writes fill slots that no read can use.
    pub spare_writes: u32,
    /// Whether such writes may open and close rows, or only use rows that are open.
    pub spare_rows: bool,
    /// Clocks that such a command has to be ahead of the next one for a read, at least 1. A burst of lines needs a
    /// longer slot.
    pub spare_clocks: u32,
    /// When a row is closed that no queued request wants.
    pub page: PagePolicy,
    /// Clocks without access after which a row is closed under [`PagePolicy::Timeout`].
    pub idle_close: u32,
    /// Whether a write closes its row when no queued request hits it.
    pub write_auto_precharge: bool,
    /// Which refresh commands are used.
    pub refresh: Refresh,
    /// Refreshes of a rank that may be put off while requests wait for it.
    pub refresh_postponed: u32,
    /// Whether a refresh that is due holds up the whole subchannel until it is issued, or only its own banks.
    pub refresh_holds_all: bool,
    /// Whether a read is answered from a queued write to its line.
    pub forwarding: bool,
    /// Whether a write takes the place of a queued write to its line.
    pub merging: bool,
}

/// When a request gives its queue entry back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryUntil {
    /// With its last column access.
    Column,
    /// With the activation made for it; from then on it owns the bank until its column access.
    Activation,
}

/// Who goes first among the requests of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheduler {
    /// First-ready: column accesses, then activations, then precharges; the oldest request among equals.
    ColumnFirst,
    /// First-ready: the oldest request that some command may serve now, whatever the command.
    OldestReady,
    /// The oldest request, ready or not.
    Fcfs,
}

/// When a row that queued requests still want may be closed for another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protect {
    /// At any time.
    Nothing,
    /// When the request that closes it is older than every request that wants it.
    OlderHits,
    /// When no request wants it.
    AllHits,
}

/// What an empty read queue does for writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleDrain {
    /// Nothing.
    Off,
    /// Writes pass until `idle_reads`, `idle_hits` or `idle_age` ends it.
    Yield,
    /// Write mode begins, and lasts until it ends by its own rules.
    Mode,
}

/// When a row is closed that no queued request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PagePolicy {
    /// Not before another row is wanted.
    Open,
    /// With its last column access.
    Closed,
    /// After `idle_close` clocks without access.
    Timeout,
}

/// Which refresh commands are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refresh {
    /// None.
    Off,
    /// REF: all banks of a rank.
    AllBanks,
    /// REFSB: some banks of a rank.
    SameBank,
}

/// How a physical line address is cut into channel, subchannel, rank, bank group, bank, row and column.
///
/// With a power of two of channels every selector bit is the parity of the byte address under a mask. With any other
/// number the channel is `address / channel_bytes` modulo the number of channels, and the masks and bits speak of the
/// address that is left when the channel is taken out, `address / (channel_bytes x channels) x channel_bytes + address
/// mod channel_bytes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapParams {
    /// Number of channels.
    pub channels: u32,
    /// Masks whose parities number the channel; empty unless the number is a power of two.
    pub channel: Vec<u64>,
    /// Consecutive bytes of one channel when the number of channels is no power of two; 0 when it is.
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

/// How virtual memory is laid out in physical memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageParams {
    /// Bytes of a physically contiguous run (at least a page).
    pub run_bytes: u64,
    /// Bytes of physical memory.
    pub memory_bytes: u64,
}
