//! Keys and parameters of the memory controller.

use super::values::{TimeLimit, Watermark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory controller of a channel, or of each subchannel if a channel has several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Read pending queue (RPQ).
    pub rpq: ReadQueueSpec,
    /// Write pending queue (WPQ).
    pub wpq: WriteQueueSpec,
    /// True if reads and writes share the entries of the RPQ; the WPQ entries are then no limit.
    #[serde(default)]
    pub shared_queue: bool,
    /// Time at which a request releases its queue entry.
    #[serde(default)]
    pub entry_until: EntryRelease,
    /// Scheduling policy among the requests of one direction.
    #[serde(default)]
    pub scheduler: SchedulingPolicy,
    /// Condition under which a row that queued requests still hit may be closed for another row.
    #[serde(default)]
    pub protect: RowProtection,
    /// Number of WPQ entries in use at or above which write mode may start (count or share), at most `wpq.entries`: 40,
    /// or "80%" for more than that share of them.
    #[schemars(range(min = 1, max = 4096))]
    pub write_high: Watermark,
    /// WPQ entries in use at which write mode ends (count or share), below `write_high`: 8, or "20%" for fewer than
    /// that share of them.
    #[schemars(range(min = 0, max = 4095))]
    pub write_low: Watermark,
    /// Reads that must be served after a write mode before the next may start, unless few reads wait.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub reads_per_mode: u32,
    /// Largest number of waiting reads at which write mode may start at once; limited to `rpq.entries` - 1.
    #[schemars(range(min = 0, max = 4096))]
    pub reads_few: u32,
    /// Writes that write mode serves before waiting reads end it.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub writes_per_mode: u32,
    /// Handling of writes while the read queue is empty.
    #[serde(default)]
    pub idle_drain: IdleDrain,
    /// Number of WPQ entries in use at or above which writes are served while the read queue is empty; a value above
    /// the number of entries means never.
    #[schemars(range(min = 1, max = 8192))]
    pub idle_writes: u32,
    /// Number of waiting reads above which those writes stop.
    #[schemars(range(min = 0, max = 4096))]
    pub idle_reads: u32,
    /// Number of waiting row hits of reads above which those writes stop; a value above the number of entries means
    /// never.
    #[serde(default = "never")]
    #[schemars(range(min = 0, max = 4096))]
    pub idle_hits: u32,
    /// Age of a waiting read at which those writes stop, however few reads wait (time); "off" means never.
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub idle_age: TimeLimit,
    /// Time without a new write after which an empty read queue also serves fewer writes than `idle_writes` (time).
    /// "off": these writes wait for others, for ever if none arrive. Not with `idle_drain = "off"`.
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub idle_flush: TimeLimit,
    /// Number of WPQ entries in use at or above which writes fill command slots that no read can use; a value above the
    /// number of entries means never.
    #[schemars(range(min = 1, max = 8192))]
    pub spare_writes: u32,
    /// True if such writes may open and close rows; otherwise they only use open rows.
    pub spare_rows: bool,
    /// Age limit of row protection (time): an older request for another row may close a row despite queued hits; "off"
    /// means never.
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub row_hold: TimeLimit,
    /// Column accesses to an open row after which a waiting request may close the row despite queued hits; 0 means no
    /// limit.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub row_hits: u32,
    /// Page policy: time at which a row that no queued request hits is closed.
    #[serde(default)]
    pub page: PagePolicy,
    /// Time without access after which a row is closed (time); required and used with the page policy "timeout".
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub idle_close: TimeLimit,
    /// True if a write closes its row when no queued request hits it.
    pub write_auto_precharge: bool,
    /// Refresh commands in use.
    #[serde(default)]
    pub refresh: Refresh,
    /// Refreshes of a rank that may be postponed while requests wait for the rank; at most `memory.dram.postponed_max`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 64))]
    pub refresh_postponed: u32,
    /// True if a refresh that is due blocks the whole subchannel until it is issued, false if it blocks only its own
    /// banks.
    #[serde(default)]
    pub refresh_holds_all: bool,
    /// True if a queued write to the same line answers a read.
    #[serde(default)]
    pub forwarding: bool,
    /// True if a write replaces a queued write to the same line.
    #[serde(default)]
    pub merging: bool,
}

/// Read pending queue (RPQ) of a memory controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadQueueSpec {
    /// Entries of the read pending queue (RPQ).
    #[schemars(range(min = 1, max = 4096))]
    pub entries: u32,
    /// Number of entries in use at or above which the hardware counter reports the queue as full, at most `entries`;
    /// `entries` when absent. It affects only what is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub full_threshold: Option<u32>,
}

/// Write pending queue (WPQ) of a memory controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteQueueSpec {
    /// Entries of the write pending queue (WPQ).
    #[schemars(range(min = 1, max = 4096))]
    pub entries: u32,
    /// Number of entries in use at or above which the hardware counter reports the queue as full, at most `entries`;
    /// `entries` when absent. It affects only what is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub full_threshold: Option<u32>,
}

/// Time at which a request releases its queue entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryRelease {
    /// With the last column access of the request.
    #[default]
    Column,
    /// With the activation issued for the request, which then owns the bank until its column access.
    Activation,
}

/// Scheduling policy among the requests of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingPolicy {
    /// First-ready: column accesses before activations before precharges, and the oldest request among equals.
    #[default]
    ColumnFirst,
    /// First-ready: the oldest request with any command that can be issued, whatever the command.
    OldestReady,
    /// First come, first served: the oldest request, ready or not.
    Fcfs,
}

/// Condition under which a row that queued requests still hit may be closed for another row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowProtection {
    /// At any time.
    Nothing,
    /// When the request that closes the row is older than every request that hits it.
    OlderHits,
    /// When no queued request hits the row.
    #[default]
    AllHits,
}

/// Handling of writes while the read queue is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleDrain {
    /// No writes are served.
    Off,
    /// Writes are served until `idle_reads`, `idle_hits` or `idle_age` stops them.
    #[default]
    Yield,
    /// Write mode starts, and lasts until it ends by its own rules.
    Mode,
}

/// Time at which a row that no queued request hits is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PagePolicy {
    /// When a request needs another row of the bank.
    Open,
    /// With the last column access to the row.
    Closed,
    /// After `idle_close` without access.
    #[default]
    Timeout,
}

/// Refresh commands that a controller uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// No refresh.
    Off,
    /// REF: all banks of a rank.
    #[default]
    AllBanks,
    /// REFSB: some banks of a rank.
    SameBank,
}

fn never() -> u32 {
    4096
}

fn off() -> TimeLimit {
    TimeLimit::Off
}

/// The memory controller of one subchannel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryControllerParams {
    /// Read pending queue (RPQ) entries; in a shared queue, reads and writes share them.
    pub rpq_entries: u32,
    /// Write pending queue (WPQ) entries; in a shared queue they are no limit.
    pub wpq_entries: u32,
    /// Number of WPQ entries in use at or above which the hardware counter reports the queue as full.
    pub wpq_full_threshold: u32,
    /// Number of RPQ entries in use at or above which the hardware counter reports the queue as full.
    pub rpq_full_threshold: u32,
    /// True if reads and writes share the entries of the RPQ.
    pub shared_queue: bool,
    /// Time at which a request releases its queue entry.
    #[serde(with = "super::variant")]
    pub entry_until: EntryRelease,
    /// Scheduling policy among the requests of one direction.
    #[serde(with = "super::variant")]
    pub scheduler: SchedulingPolicy,
    /// Condition under which a request may close a row that queued requests still hit.
    #[serde(with = "super::variant")]
    pub protect: RowProtection,
    /// Age limit of row protection, in clocks: an older request for another row may close the row despite queued
    /// hits.
    pub row_hold: u32,
    /// Column accesses to an open row after which a waiting request may close the row despite queued hits; 0 = no
    /// limit.
    pub row_hits: u32,
    /// Number of WPQ entries in use at or above which write mode may start.
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
    #[serde(with = "super::variant")]
    pub idle_drain: IdleDrain,
    /// Number of WPQ entries in use at or above which writes are served while the read queue is empty.
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
    /// Number of WPQ entries in use at or above which writes fill command slots that no read can use.
    pub spare_writes: u32,
    /// True if such writes may open and close rows; otherwise they only use open rows.
    pub spare_rows: bool,
    /// Lead that such a command needs over the next command for a read, in clocks, at least 1. A burst of lines needs
    /// a longer slot.
    pub spare_clocks: u32,
    /// Time at which a row that no queued request hits is closed.
    #[serde(with = "super::variant")]
    pub page: PagePolicy,
    /// Clocks without access after which a row is closed under [`PagePolicy::Timeout`].
    pub idle_close: u32,
    /// True if a write closes its row when no queued request hits it.
    pub write_auto_precharge: bool,
    /// Refresh commands in use.
    #[serde(with = "super::variant")]
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
