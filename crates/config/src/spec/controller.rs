//! The memory controller: queues, order of service, write mode, pages and refresh.

use super::values::{TimeLimit, Watermark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory controller of one channel, or of one subchannel where there are several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControllerSpec {
    /// The read pending queue.
    pub(crate) rpq: ReadQueueSpec,
    /// The write pending queue.
    pub(crate) wpq: WriteQueueSpec,
    /// Whether reads and writes share the entries of the RPQ; those of the WPQ are then no limit.
    #[serde(default)]
    pub(crate) shared_queue: bool,
    /// When a request gives its entry back.
    #[serde(default)]
    pub(crate) entry_until: EntryUntilSpec,
    /// Who goes first among the requests of one direction.
    #[serde(default)]
    pub(crate) scheduler: SchedulerSpec,
    /// When a row that queued requests still want may be closed for another row.
    #[serde(default)]
    pub(crate) protect: ProtectSpec,
    /// WPQ entries from which write mode may begin (count or share), at most `wpq.entries`: 40, or "80%" for more than
    /// that share of them.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) write_high: Watermark,
    /// WPQ entries at which write mode ends (count or share), below `write_high`: 8, or "20%" for fewer than that share
    /// of them.
    #[schemars(range(min = 0, max = 4095))]
    pub(crate) write_low: Watermark,
    /// Reads served since the last write mode before the next may start, unless few reads wait.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(crate) reads_per_mode: u32,
    /// Reads waiting at or below which write mode may start at once; less than `rpq.entries`, whatever it says.
    #[schemars(range(min = 0, max = 4096))]
    pub(crate) reads_few: u32,
    /// Writes served in write mode before waiting reads end it.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) writes_per_mode: u32,
    /// What an empty read queue does for writes.
    #[serde(default)]
    pub(crate) idle_drain: IdleDrainSpec,
    /// WPQ entries from which an idle read queue lets writes pass; more than there are means never.
    #[schemars(range(min = 1, max = 8192))]
    pub(crate) idle_writes: u32,
    /// Reads waiting above which such writes stop.
    #[schemars(range(min = 0, max = 4096))]
    pub(crate) idle_reads: u32,
    /// Reads of open rows waiting above which such writes stop; more than there are entries means never.
    #[serde(default = "never")]
    #[schemars(range(min = 0, max = 4096))]
    pub(crate) idle_hits: u32,
    /// Age of a waiting read at which such writes stop, however few reads wait (time); "off" means never.
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) idle_age: TimeLimit,
    /// Time after the last write has come from which fewer writes than `idle_writes` pass, too, once no read waits
    /// (time). "off": they wait for others, for ever if none come. Not with `idle_drain = "off"`.
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) idle_flush: TimeLimit,
    /// WPQ entries from which writes fill command slots that no read can use; more than there are means never.
    #[schemars(range(min = 1, max = 8192))]
    pub(crate) spare_writes: u32,
    /// Whether such writes may open and close rows, or only use rows that are open.
    pub(crate) spare_rows: bool,
    /// Age limit of first-ready scheduling (time): a request that is older and waits for a row of its own may close a
    /// row although hits for it still wait; "off" means never.
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) row_hold: TimeLimit,
    /// Column accesses to an open row after which a waiting request may close it although hits for it still wait; 0
    /// means any number.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(crate) row_hits: u32,
    /// When a row is closed that no queued request wants.
    #[serde(default)]
    pub(crate) page: PageSpec,
    /// Time without access after which a row is closed (time); needed and used with the page policy "timeout".
    #[serde(default = "off")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) idle_close: TimeLimit,
    /// Whether a write closes its row when no queued request hits it.
    pub(crate) write_auto_precharge: bool,
    /// Which refresh commands are used.
    #[serde(default)]
    pub(crate) refresh: RefreshSpec,
    /// Refreshes of a rank that may be put off while requests wait for it; at most `memory.dram.postponed_max`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 64))]
    pub(crate) refresh_postponed: u32,
    /// Whether a refresh that is due holds up the whole subchannel until it is issued, or only its own banks.
    #[serde(default)]
    pub(crate) refresh_holds_all: bool,
    /// Whether a read is answered from a queued write to its line.
    #[serde(default)]
    pub(crate) forwarding: bool,
    /// Whether a write takes the place of a queued write to its line.
    #[serde(default)]
    pub(crate) merging: bool,
}

/// The read pending queue of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadQueueSpec {
    /// Entries of the read pending queue (RPQ).
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) entries: u32,
    /// Entries from which the hardware counter calls the queue full, no more than `entries`; `entries` when absent.
    /// Changes what is reported, nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) full_threshold: Option<u32>,
}

/// The write pending queue of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteQueueSpec {
    /// Entries of the write pending queue (WPQ).
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) entries: u32,
    /// Entries from which the hardware counter calls the queue full, no more than `entries`; `entries` when absent.
    /// Changes what is reported, nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) full_threshold: Option<u32>,
}

/// When a request gives its queue entry back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EntryUntilSpec {
    /// With its last column access.
    #[default]
    Column,
    /// With the activation made for it; from then on it owns the bank until its column access.
    Activation,
}

/// Who goes first among the requests of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SchedulerSpec {
    /// First-ready: column accesses, then activations, then precharges; the oldest request among equals.
    #[default]
    ColumnFirst,
    /// First-ready: the oldest request that some command may serve now, whatever the command.
    OldestReady,
    /// The oldest request, ready or not.
    Fcfs,
}

/// When a row that queued requests still want may be closed for another row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProtectSpec {
    /// At any time.
    Nothing,
    /// When the request that closes it is older than every request that wants it.
    OlderHits,
    /// When no request wants it.
    #[default]
    AllHits,
}

/// What an empty read queue does for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IdleDrainSpec {
    /// Nothing.
    Off,
    /// Writes pass until `idle_reads`, `idle_hits` or `idle_age` ends it.
    #[default]
    Yield,
    /// Write mode begins, and lasts until it ends by its own rules.
    Mode,
}

/// When a row is closed that no queued request wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageSpec {
    /// Not before another row is wanted.
    Open,
    /// With its last column access.
    Closed,
    /// After `idle_close` without access.
    #[default]
    Timeout,
}

/// Which refresh commands are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RefreshSpec {
    /// None.
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
