//! Cores, caching and home agents, and the run.

use super::values::{Frequency, Size, Time, WarmUpSpec};
use hostnet_model::params::{ChaParams, CoreParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which server the values start from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSpec {
    /// The server that every other value starts from: a preset by name, as `hostnet list presets` has them; none when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<String>,
    /// Sockets, each with the cores, caches, memory and drives that the tables say, or its own table "socket.N"; 1 when
    /// neither this nor the preset says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub(crate) sockets: Option<u32>,
    /// What the server is, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// Why results of this server are not checked against measurements; shown with every result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unvalidated: Option<String>,
}

/// The cores of the socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoreSpec {
    /// Cores of the socket.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) count: u32,
    /// The line fill buffer of each core: the credits of C2M-Read and C2M-Write.
    pub(crate) lfb: LfbSpec,
    /// Least time between two allocations of one core (time).
    #[schemars(extend("x-max" = "1 us"))]
    pub(crate) issue: Time,
    /// From the core to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) to_cha: Time,
    /// From the CHA to the core (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) from_cha: Time,
    /// From the CHA's admission of a write-back to the release of the LFB entry (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) write_ack: Time,
    /// Dirty lines of one core that wait for eviction; one of them, drawn at random, leaves per store miss (lines).
    /// Without meaning when there are caches.
    #[schemars(range(min = 1, max = 16384))]
    pub(crate) dirty_pool: u32,
    /// Instructions in flight (reorder buffer): how far a core runs ahead of an access without data.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) rob: u32,
    /// Clock of the cores (frequency): an instruction of an application takes 1 / (frequency x `ipc`).
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub(crate) frequency: Frequency,
}

impl CoreSpec {
    /// What the part reads.
    pub(crate) fn params(&self) -> CoreParams {
        CoreParams {
            count: self.count,
            lfb_entries: self.lfb.entries,
            refill_ps: self.lfb.refill.0,
            refill_spread_ps: self.lfb.refill.spread_ps(self.lfb.refill_jitter),
            issue_ps: self.issue.0,
            to_cha_ps: self.to_cha.0,
            from_cha_ps: self.from_cha.0,
            write_ack_ps: self.write_ack.0,
            dirty_pool_lines: self.dirty_pool,
            rob: self.rob,
        }
    }
}

/// A line fill buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LfbSpec {
    /// LFB entries per core: the credits of C2M-Read and C2M-Write together.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) entries: u32,
    /// Mean time between the release of an LFB entry and its next allocation (time).
    #[schemars(extend("x-max" = "100 us"))]
    pub(crate) refill: Time,
    /// Half the range of that time as a share of it: 0.3 is +-30 %, uniform (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) refill_jitter: f64,
}

/// The caching and home agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChaSpec {
    /// Slices; a line belongs to one by a hash of its address.
    #[schemars(range(min = 1, max = 256))]
    pub(crate) slices: u32,
    /// The request buffer of each slice.
    pub(crate) tor: TorSpec,
    /// From admission of a read to its arrival at the memory controller (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) read_to_mc: Time,
    /// From the last data beat on the channel to the CHA (time).
    #[schemars(extend("x-max" = "100 us"))]
    pub(crate) from_mc: Time,
    /// From admission of a core's write-back to its arrival at the memory controller (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) core_write_to_mc: Time,
    /// From admission of an IIO write to its arrival at the memory controller (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) io_write_to_mc: Time,
    /// From the memory controller's acceptance of a write to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) write_ack: Time,
}

impl ChaSpec {
    /// What the part reads.
    pub(crate) fn params(&self) -> ChaParams {
        ChaParams {
            slices: self.slices,
            tor_entries: self.tor.entries,
            tor_write_entries: self.tor.write_entries.map_or(self.tor.entries, |most| most.min(self.tor.entries)),
            read_to_mc_ps: self.read_to_mc.0,
            from_mc_ps: self.from_mc.0,
            core_write_to_mc_ps: self.core_write_to_mc.0,
            io_write_to_mc_ps: self.io_write_to_mc.0,
            write_ack_ps: self.write_ack.0,
        }
    }
}

/// A request buffer (table of requests).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TorSpec {
    /// Request buffer (TOR) entries per slice, shared by reads and writes of cores and devices.
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) entries: u32,
    /// Of those, entries that write-backs of cores may hold at most; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub(crate) write_entries: Option<u32>,
}

/// How long to simulate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSpec {
    /// Name of the run and of its run directory, 1 to 100 characters without a slash; the file's name without its
    /// ending when absent. It does not change the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Seed of every random stream, 0 to 2^64 - 1; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// Simulated time that is measured, after the warm-up (time); "1 ms" when absent. Not together with `precision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub(crate) duration: Option<Time>,
    /// Measure until the 95 % confidence interval of every workload's throughput is narrower than this share of it, on
    /// each side (0.0001 to 0.5); off when absent. Not together with `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 0.5))]
    pub(crate) precision: Option<f64>,
    /// Longest time that is measured to reach `precision`, or until jobs are done (time); "100 ms" when absent, "10 s"
    /// with `until`. Only with `precision` or `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub(crate) duration_max: Option<Time>,
    /// Measure from the start of the run until all jobs of a cluster are done. Not together with `duration`,
    /// `precision` and `warmup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<UntilSpec>,
    /// Simulated time before the measurement begins (time), or "auto": until the throughput of every workload has
    /// settled; "auto" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub(crate) warmup: Option<WarmUpSpec>,
    /// Most memory that the simulation may take, as estimated before it begins (size); "8 GiB" when absent. It does not
    /// change the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "64 TiB"))]
    pub(crate) memory: Option<Size>,
}

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UntilSpec {
    /// When all jobs are done.
    Jobs,
}
