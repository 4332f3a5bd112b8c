//! Parameters of switches.

use super::{SharerDirectoryParams, SwitchEnergyParams};
use serde::{Deserialize, Serialize};

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

/// ECN marking by the instantaneous queue length, evaluated when a packet is enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EcnParams {
    /// Marks a packet that finds at least so many packets waiting; the packet on the wire does not count.
    Packets(u32),
    /// Marks a packet that finds at least so many bytes waiting.
    Bytes(u64),
    /// Marks with a probability that rises from 0 at `min_bytes` to `most` (in units of 2^-32) at `max_bytes`, and is
    /// 1 above, as DCQCN requires.
    Ramp {
        /// Queue length below which no packet is marked, in bytes.
        min_bytes: u64,
        /// Queue length above which every packet is marked, in bytes.
        max_bytes: u64,
        /// Share of packets that is marked just below `max_bytes`, in units of 2^-32.
        most: u64,
    },
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
