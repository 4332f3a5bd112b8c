//! Keys and parameters of the cores and their line fill buffers.

use super::values::{Frequency, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cores of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreSpec {
    /// Cores of the socket.
    #[schemars(range(min = 1, max = 1024))]
    pub count: u32,
    /// Line fill buffer (LFB) of each core, which holds the credits of C2M-Read and C2M-Write.
    pub lfb: LfbSpec,
    /// Least time between two allocations of one core (time).
    #[schemars(extend("x-max" = "1 us"))]
    pub issue: Time,
    /// Latency from the core to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub to_cha: Time,
    /// Latency from the CHA to the core (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub from_cha: Time,
    /// Time from the CHA's admission of a write-back to the release of the LFB entry (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub write_ack: Time,
    /// Event that ends a write-back of a core and frees its entry.
    #[serde(default, skip_serializing_if = "WriteBackEnd::is_default")]
    pub write_until: WriteBackEnd,
    /// Dirty lines of one core that wait for eviction (lines). Each store miss evicts one of them, drawn at random.
    /// Ignored if there are caches.
    #[schemars(range(min = 1, max = 16384))]
    pub dirty_pool: u32,
    /// Instructions that a core may have in flight (reorder buffer). They bound how far the core runs ahead of an
    /// access without data.
    #[schemars(range(min = 1, max = 65536))]
    pub rob: u32,
    /// Clock of the cores (frequency): an instruction of an application takes 1 / (frequency x `ipc`).
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub frequency: Frequency,
}

impl CoreSpec {
    /// Returns the parameters of the cores.
    pub fn params(&self) -> CoreParams {
        CoreParams {
            count: self.count,
            lfb_entries: self.lfb.entries,
            refill_ps: self.lfb.refill.0,
            refill_spread_ps: self.lfb.refill.spread_ps(self.lfb.refill_jitter),
            issue_ps: self.issue.0,
            to_cha_ps: self.to_cha.0,
            from_cha_ps: self.from_cha.0,
            write_ack_ps: self.write_ack.0,
            write_until: self.write_until,
            dirty_pool_lines: self.dirty_pool,
            rob: self.rob,
            stream_prefetches: 0,
        }
    }
}

/// Event that ends a write-back of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBackEnd {
    /// Its admission by the CHA.
    #[default]
    Admission,
    /// Its acceptance by the memory controller, as where the LLC first has to evict another dirty line, which takes
    /// `cache.llc.hit` without caches.
    Acceptance,
}

impl WriteBackEnd {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Line fill buffer (LFB) of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LfbSpec {
    /// LFB entries per core, shared by C2M-Read and C2M-Write as their credits.
    #[schemars(range(min = 1, max = 1024))]
    pub entries: u32,
    /// Mean time between the release of an LFB entry and its next allocation (time).
    #[schemars(extend("x-max" = "100 us"))]
    pub refill: Time,
    /// Half the range of `refill`, as a share of its mean: 0.3 means +-30 %, uniform (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub refill_jitter: f64,
}

/// Parameters of the cores of a socket, which hold the credits of C2M-Read and C2M-Write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreParams {
    /// Cores of the socket.
    pub count: u32,
    /// Line fill buffer entries per core.
    pub lfb_entries: u32,
    /// Mean time between the release of an entry and its next allocation, in ps.
    pub refill_ps: u64,
    /// Half the range of that allocation gap, in ps.
    pub refill_spread_ps: u64,
    /// Least time between two allocations of one core, in ps.
    pub issue_ps: u64,
    /// Latency from the core to the CHA, in ps.
    pub to_cha_ps: u64,
    /// Latency from the CHA to the core, in ps.
    pub from_cha_ps: u64,
    /// Time from the CHA's admission of a write-back to the release of the LFB entry, in ps.
    pub write_ack_ps: u64,
    /// Event that ends a write-back of a core and frees its entry.
    #[serde(with = "super::variant")]
    pub write_until: WriteBackEnd,
    /// Dirty lines of one core that wait for eviction. Each store miss evicts one of them, drawn at random. Ignored
    /// if there are caches.
    pub dirty_pool_lines: u32,
    /// Instructions that a core may have in flight (reorder buffer). They bound how far the core runs ahead of an
    /// access without data.
    pub rob: u32,
    /// Lines of sequential streams that the prefetchers of a core keep in flight beside its LFB, without caches; 0 if
    /// they are off.
    pub stream_prefetches: u32,
}

impl CoreParams {
    /// Returns the lines that a core keeps in flight for a stream: those of its LFB, and those of its prefetchers.
    #[must_use]
    pub fn lines_in_flight(&self) -> u32 {
        self.lfb_entries + self.stream_prefetches
    }
}

/// Returns true if a number is 0, which is then left out of what is written.
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}
