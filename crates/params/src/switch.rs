//! Keys and parameters of switches.

use super::ecn::{EcnParams, EcnSpec};
use super::energy::{SwitchEnergyParams, SwitchEnergySpec};
use super::pool::SharerDirectoryParams;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a switch comes to know where hosts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SwitchKindSpec {
    /// It knows the shortest ways.
    #[default]
    Routed,
    /// From the packets that come from them (IEEE 802.1D).
    Learning,
}

/// A switch with output queues. What is absent is that of `network.switch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// How it comes to know where hosts are; "routed" when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SwitchKindSpec>,
    /// Packet memory that all ports share (size); "16 MB" when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 KiB", "x-max" = "1 TB"))]
    pub buffer: Option<Size>,
    /// A queue may hold this times what is free (dynamic threshold); all that is free when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1024.0))]
    pub alpha: Option<f64>,
    /// From the last bit of a packet to the first bit at the head of its queue (time); "500 ns" when absent everywhere.
    /// Not of the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 ms"))]
    pub latency: Option<Time>,
    /// When packets are marked: a queue of "65 packets" or "100 kB", or a table with a probability that rises from 0 at
    /// `min` to `most` at `max`, and is 1 above; never when absent everywhere or "off".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSpec>,
    /// When senders are paused; never when absent everywhere. Not of the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<PfcSpec>,
    /// Of the kind "learning": addresses that it knows at most; 4096 when absent everywhere. Where there is no room,
    /// the address goes from which nothing has come for longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub table: Option<u32>,
    /// Of the kind "learning": when an address is forgotten from which nothing comes (time); "10 ms" when absent
    /// everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1000 s"))]
    pub ttl: Option<Time>,
    /// Of the kind "learning": what its fabric carries to each port, in bytes of IP packets (bandwidth); "10 Gbps" when
    /// absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub fabric: Option<Bandwidth>,
    /// Of the kind "learning": what the fabric takes beyond that, from the last bit of a packet to its queue (time);
    /// none when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub delay: Option<Time>,
    /// Of the kind "learning": up to so much more, at random (time); none when absent everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "10 ms"))]
    pub jitter: Option<Time>,
    /// Rate at which its engine sums up vectors of jobs, in bytes of the sum, of however many ports (bandwidth); it
    /// does not sum up when absent everywhere. Not of the kind "learning".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub sum: Option<Bandwidth>,
    /// Pages that servers of a pool share and that it decides about in the place of the controller, the first ones;
    /// 4096 when absent everywhere. Of the only switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub sharers: Option<u32>,
    /// What it consumes; it has no energy meter when absent everywhere. There is no profile of switches: what is absent
    /// is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<SwitchEnergySpec>,
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfcSpec {
    /// Priorities that are lossless, as a list of numbers.
    #[serde(default = "rdma_priorities")]
    #[schemars(length(min = 1, max = 8), inner(range(min = 0, max = 7)), extend("uniqueItems" = true))]
    pub priorities: Vec<u8>,
    /// Data of one priority that came in by one port, from which the port's peer is paused (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 TB"))]
    pub xoff: Size,
    /// Data down to which the peer is let go on (size).
    #[schemars(extend("x-max" = "1 TB"))]
    pub xon: Size,
}

/// The priority that RDMA usually has.
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
