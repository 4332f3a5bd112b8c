//! Switches.

use super::{SharersParams, SwitchEnergyParams};
use serde::{Deserialize, Serialize};

/// A switch with output queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchParams {
    /// The user's name for it.
    pub name: String,
    /// Packet memory that all its ports share, in bytes.
    pub buffer_bytes: u64,
    /// A queue may hold this share of what is free, in units of 2^-16 (dynamic threshold); `u32::MAX` = all of it.
    pub alpha: u32,
    /// From the last bit of a packet to the first bit at the head of its queue, in ps.
    pub latency_ps: u64,
    /// When packets are marked.
    pub ecn: Option<EcnParams>,
    /// When senders are paused.
    pub pfc: Option<PfcParams>,
    /// How it learns where hosts are; none = it knows (`latency_ps` is 0 and there are no pauses where it learns).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<LearningParams>,
    /// What it knows of who shares pages of a pool of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharers: Option<SharersParams>,
    /// What it consumes; nothing that counts where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<SwitchEnergyParams>,
}

/// A switch that learns at which port each host is from the packets that come from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearningParams {
    /// Hosts that it knows of at most.
    pub table: u32,
    /// How long it knows of a host that sends nothing, in ps.
    pub ttl_ps: u64,
    /// Bytes per second that its fabric carries to each port.
    pub fabric_bytes_per_s: u64,
    /// What the fabric takes beyond that, in ps.
    pub delay_ps: u64,
    /// The most that is added to it at random, in ps.
    pub jitter_ps: u64,
}

/// A step marking threshold on the instantaneous queue, looked at when a packet is enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EcnParams {
    /// A packet is marked that finds at least so many packets waiting (the one on the wire is not waiting).
    Packets(u32),
    /// A packet is marked that finds at least so many bytes waiting.
    Bytes(u64),
    /// Marking with a probability that rises from 0 at `min_bytes` to `most` (units of 2^-32) at `max_bytes`, and 1
    /// above (as DCQCN asks for).
    Ramp {
        /// Bytes below which nothing is marked.
        min_bytes: u64,
        /// Bytes above which all is marked.
        max_bytes: u64,
        /// Share that is marked just below `max_bytes`, in units of 2^-32.
        most: u64,
    },
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfcParams {
    /// Priorities that are lossless, one bit each.
    pub priorities: u8,
    /// Bytes of one priority that came in by one port from which the port's peer is paused.
    pub xoff_bytes: u64,
    /// Bytes down to which the peer is let go on.
    pub xon_bytes: u64,
}
