//! Keys and parameters of cables.

use super::network::TimeOfRun;
use super::values::{Bandwidth, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Full-duplex cable; keys that are absent come from the network. Without ends it is a cable of the topology: the cable
/// of a host has the name of the host, one between two switches both names, such as "leaf-0_spine-1".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CableSpec {
    /// Both ends: names of hosts or switches. Either all cables have this key, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[String; 2]>,
    /// Bandwidth in each direction (bandwidth); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 Mbps", "x-max" = "10 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Propagation delay (time); that of the network when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub latency: Option<Time>,
    /// Outages (time): pairs of times from the start of the run, at most 1024, such as `[["1 ms", "2 ms"]]`. Packets in
    /// flight on the cable, or sent onto it, are lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 0, max = 1024))]
    pub down: Vec<Span>,
    /// Share of packets that the cable corrupts (0 to 1).
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub corrupt: f64,
}

/// Interval between two times of the run.
pub type Span = [TimeOfRun; 2];

/// End of a flow: one of its two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EndSpec {
    /// The host that initiates the flow.
    From,
    /// The other host.
    To,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// Full-duplex cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CableParams {
    /// Both ends of the cable.
    pub ends: [CableEnd; 2],
    /// Bandwidth in each direction, in bytes per second.
    pub bytes_per_s: u64,
    /// Bytes on the wire beside the IP packet: 38 for Ethernet (header, frame check sequence, preamble, gap).
    pub framing_bytes: u32,
    /// Smallest frame on the wire in bytes, framing included: 84 for Ethernet.
    pub frame_min_bytes: u32,
    /// Propagation delay, in ps; at least 1.
    pub latency_ps: u64,
    /// Length of the cable in searches for shortest paths; at least 1, the usual value.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub length: u32,
    /// Intervals in which the cable is down, from and to in ps. Packets on it or sent onto it are lost.
    pub down_ps: Vec<(u64, u64)>,
    /// Share of packets that the cable corrupts, in units of 2^-32.
    pub corrupt: u64,
}

fn one() -> u32 {
    1
}

fn is_one(length: &u32) -> bool {
    *length == 1
}

/// End of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CableEnd {
    /// A host.
    Host(u16),
    /// A switch.
    Switch(u16),
}
