//! Keys and parameters of host congestion control.

use super::values::{Bandwidth, Frequency, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Host congestion control, which monitors and throttles the host. Used only if the server is a host of a cluster, or
/// with `side = "expander"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlSpec {
    /// Control rule.
    #[serde(default)]
    pub rule: RuleSpec,
    /// Level of the rule "fixed", 0 to 4: number of throttled sockets; 4 stops their processes; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4))]
    pub level: Option<u8>,
    /// Name of the controller of the rule "user" in messages; "user" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Target bandwidth of network traffic (bandwidth).
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub target: Bandwidth,
    /// PCIe overhead as a share of the target: the rule compares with target x (1 + this) (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pcie_overhead: f64,
    /// IIO occupancy above which the host is congested (lines).
    #[schemars(range(min = 0.0, max = 65536.0))]
    pub occupancy: f64,
    /// Weight of a new occupancy sample in the moving average, as the exponent n of 2^-n.
    #[schemars(range(min = 0, max = 20))]
    pub occupancy_shift: u32,
    /// Weight of a new bandwidth sample in the moving average, as the exponent n of 2^-n.
    #[schemars(range(min = 0, max = 20))]
    pub bandwidth_shift: u32,
    /// Occupancy at or below which a sample is discarded (lines).
    #[schemars(range(min = 0, max = 65536))]
    pub occupancy_floor: u32,
    /// Bandwidth at or above which a sample is discarded (bandwidth).
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "100 TB/s"))]
    pub bandwidth_ceiling: Bandwidth,
    /// Least time between two steps down of the level (time).
    #[schemars(extend("x-max" = "1 s"))]
    pub hold: Time,
    /// Mean time of an MSR read (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub read: Time,
    /// Half the range of the time of an MSR read, as a share of its mean (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub read_jitter: f64,
    /// Time of an MBA write (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub write: Time,
    /// Time of a signal that stops or continues a process (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub signal: Time,
    /// IIO clock that occupancy is accumulated with (frequency).
    #[schemars(extend("x-min" = "1 MHz", "x-max" = "10 GHz"))]
    pub iio_clock: Frequency,
    /// Delay that MBA adds to every request of a core at its highest level (time).
    #[schemars(extend("x-max" = "1 ms"))]
    pub mba: Time,
    /// Traffic that the controller monitors.
    #[serde(default)]
    pub side: SideSpec,
    /// Workloads whose cores are throttled, by name. Required with `side = "expander"`, not allowed otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workloads: Option<Vec<String>>,
}

/// Reaction to host congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSpec {
    /// Reads no signals.
    #[default]
    None,
    /// Reads signals and does not react.
    Watch,
    /// Throttles cores and marks packets (hostCC).
    Hostcc,
    /// Marks packets.
    EchoOnly,
    /// Throttles cores.
    LocalOnly,
    /// Keeps a constant level.
    Fixed,
    /// A rule that the user supplies, see `name`.
    User,
}

/// Traffic that the controller monitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SideSpec {
    /// Writes of the IIO and incoming packets.
    #[default]
    Receiver,
    /// Reads of the IIO and outgoing packets.
    Sender,
    /// Lines behind a CXL link in the request buffers of the CHA, on a server alone.
    Expander,
}

/// Controller that watches the host for congestion and throttles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlParams {
    /// Control rule.
    pub rule: ControlRule,
    /// Mean time of an MSR read, in ps.
    pub read_ps: u64,
    /// Half the range of the time of an MSR read, in ps.
    pub read_spread_ps: u64,
    /// Time of an MBA write, in ps.
    pub write_ps: u64,
    /// Time of a signal that stops or continues a process, in ps.
    pub signal_ps: u64,
    /// Period of the IIO clock that occupancy is accumulated with, in ps.
    pub iio_clock_ps: u64,
    /// Delay that MBA adds to every request of a core at its highest level, in ps.
    pub mba_ps: u64,
    /// True if the controller watches reads of the IIO and outgoing packets, false if writes and incoming packets.
    pub sender: bool,
    /// Workloads whose cores are throttled, by class, if the controller watches the lines behind a CXL link in the
    /// request buffers of the CHA.
    pub expander: Option<Vec<u8>>,
}

/// Rule by which the controller reacts to host congestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ControlRule {
    /// Reads the signals and does not react.
    Watch,
    /// The rule of hostCC.
    HostCc(HostCcParams),
    /// A constant level, 0 to 4.
    Fixed(u8),
    /// A rule that the user supplies, by its name.
    User(String),
}

/// Parameters of the hostCC rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCcParams {
    /// IIO occupancy above which the host is congested, in lines, in units of 2^-10.
    pub occupancy: u64,
    /// Target bandwidth of network traffic at the PCIe link, in bytes per second.
    pub target_bytes_per_s: u64,
    /// Weight of a new occupancy sample in the moving average, as the exponent n of 2^-n.
    pub occupancy_shift: u32,
    /// Weight of a new bandwidth sample in the moving average, as the exponent n of 2^-n.
    pub bandwidth_shift: u32,
    /// Least time between two steps down of the level, in ps.
    pub hold_ps: u64,
    /// True if cores are throttled.
    pub local: bool,
    /// True if packets are marked with ECN.
    pub echo: bool,
    /// Occupancy, in lines, at or below which a sample is discarded.
    pub occupancy_floor: u64,
    /// Bandwidth, in bytes per second, at or above which a sample is discarded.
    pub bandwidth_ceiling: u64,
}
