//! Keys and parameters of switches.

use super::ecn::{EcnParams, EcnSpec};
use super::energy::{SwitchEnergyParams, SwitchEnergySpec};
use super::pool::SharerDirectoryParams;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the paths to hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SwitchKindSpec {
    /// Shortest paths, known in advance.
    #[default]
    Routed,
    /// Source addresses of packets (IEEE 802.1D).
    Learning,
}

/// Switch with output queues. Absent values are those of `network.switch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Source of the paths to hosts; "routed" when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SwitchKindSpec>,
    /// Packet memory that all ports share (size); "16 MB" when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "1 TB"))]
    pub buffer: Option<Size>,
    /// Multiple of the free memory that a queue may hold (dynamic threshold); all free memory when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1024.0))]
    pub alpha: Option<f64>,
    /// Time from the last bit of a packet to its first bit at the head of its queue (time); "500 ns" when absent
    /// everywhere. Not with the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub latency: Option<Time>,
    /// Threshold for marking packets: a queue of "65 packets" or "100 kB", or a table with a probability that rises
    /// from 0 at `min` to `most` at `max`, and is 1 above; never when absent everywhere or "off".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSpec>,
    /// Thresholds for pausing senders; no pauses when absent everywhere. Not with the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<PfcSpec>,
    /// With the kind "learning": maximum number of addresses in the table; 4096 when absent everywhere. If the table is
    /// full, a new address replaces the one that has been silent for longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub table: Option<u32>,
    /// With the kind "learning": time without packets after which an address is forgotten (time); "10 ms" when absent
    /// everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1000 s"))]
    pub ttl: Option<Time>,
    /// With the kind "learning": bandwidth of the fabric to each port, in bytes of IP packets (bandwidth); "10 Gbps"
    /// when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub fabric: Option<Bandwidth>,
    /// With the kind "learning": latency of the fabric beyond that, from the last bit of a packet to its queue (time);
    /// none when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub delay: Option<Time>,
    /// With the kind "learning": largest random addition to `delay` (time); none when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub jitter: Option<Time>,
    /// Rate of the engine that reduces vectors of jobs, in bytes of the sum, for any number of ports (bandwidth); no
    /// reduction when absent everywhere. Not with the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub sum: Option<Bandwidth>,
    /// Number of shared pages of a pool, from the first on, that the switch manages in place of the controller; 4096
    /// when absent everywhere. Only if the network has one switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub sharers: Option<u32>,
    /// Energy consumption of the switch; no energy meter when absent everywhere. Switches have no profile: absent
    /// values are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<SwitchEnergySpec>,
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfcSpec {
    /// Lossless priorities, as a list of numbers.
    #[serde(default = "rdma_priorities")]
    #[schemars(length(min = 1, max = 8), inner(range(min = 0, max = 7)), extend("uniqueItems" = true))]
    pub priorities: Vec<u8>,
    /// Data of one priority received by one port at which the port's peer is paused (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub xoff: Size,
    /// Data at or below which the peer is resumed (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub xon: Size,
}

/// Returns the priority that RDMA usually has.
fn rdma_priorities() -> Vec<u8> {
    vec![3]
}

/// Switch with output queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchParams {
    /// Name that the user gave the switch.
    pub name: String,
    /// Packet memory shared by all ports, in bytes.
    pub buffer_bytes: u64,
    /// Dynamic threshold: share of the free memory that a queue may hold, in units of 2^-16; `u32::MAX` = all of it.
    pub alpha: u32,
    /// Time from the last bit of a packet to its first bit at the head of its queue, in ps.
    pub latency_ps: u64,
    /// Marking of packets (ECN).
    pub ecn: Option<EcnParams>,
    /// Pause thresholds (PFC).
    pub pfc: Option<PfcParams>,
    /// MAC learning; `None` = the switch knows all hosts. With learning `latency_ps` is 0 and there are no pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<AddressLearningParams>,
    /// Directory of the shared pages of a memory pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharers: Option<SharerDirectoryParams>,
    /// Energy of the switch; `None` = it is not accounted for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<SwitchEnergyParams>,
}

/// Switch that learns the ports of hosts from the source addresses of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressLearningParams {
    /// Entries of the address table.
    pub table: u32,
    /// Time after which the entry of a silent host expires, in ps.
    pub ttl_ps: u64,
    /// Bandwidth of the fabric to each port, in bytes per second.
    pub fabric_bytes_per_s: u64,
    /// Latency of the fabric beyond that, in ps.
    pub delay_ps: u64,
    /// Largest random addition to that latency, in ps.
    pub jitter_ps: u64,
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfcParams {
    /// Bit mask of the lossless priorities.
    pub priorities: u8,
    /// Bytes of one priority received by one port at which the peer of the port is paused.
    pub xoff_bytes: u64,
    /// Bytes at or below which the peer is resumed.
    pub xon_bytes: u64,
}
