//! Counters of dropped packets, by reason.

use crate::line::{Content, Packet, POOL_FLOW};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DropReason {
    /// The queue of the packet or the shared buffer was full.
    Full,
    /// The cable was down.
    LinkDown,
    /// The packet was damaged on a cable, and the next part detected it.
    Corrupt,
    /// No cable leads to the host of the packet.
    NoRoute,
    /// The packet was a copy ([`crate::Packet::copy`]), whose loss does no harm. Replaces any other reason.
    Copy,
}

impl DropReason {
    /// All reasons, in the order of the counters.
    pub const ALL: [Self; 5] = [Self::Full, Self::LinkDown, Self::Corrupt, Self::NoRoute, Self::Copy];

    /// Returns the name of the reason in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "queue full",
            Self::LinkDown => "link down",
            Self::Corrupt => "corrupt",
            Self::NoRoute => "no route",
            Self::Copy => "copy",
        }
    }

    /// Returns the reason that `packet` is counted under: [`DropReason::Copy`] for a copy, this reason otherwise.
    #[must_use]
    pub(super) fn for_packet(self, packet: &Packet) -> Self {
        // The packet itself arrives elsewhere or is counted there.
        if packet.copy {
            Self::Copy
        } else {
            self
        }
    }
}

/// Packets that one part dropped since the start of the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DropCounters {
    packets: [u64; DropReason::ALL.len()],
    bytes: [u64; DropReason::ALL.len()],
    flows: BTreeMap<(u32, DropReason), u64>,
    /// Dropped messages of memory pools since the last reset: those that a request waits for, and others.
    pool: [u64; 2],
    /// NACKs sent for these messages.
    pub(super) nacks: u64,
}

impl DropCounters {
    /// Counts a dropped packet of `flow` with `ip_bytes` bytes.
    #[cold]
    pub fn count(&mut self, flow: u32, ip_bytes: u32, reason: DropReason) {
        self.packets[reason as usize] += 1;
        self.bytes[reason as usize] += u64::from(ip_bytes);
        // Messages of memory pools belong to no flow of the cluster.
        if flow != POOL_FLOW {
            *self.flows.entry((flow, reason)).or_default() += 1;
        }
    }

    /// Counts a dropped packet by its pool message, if it carries one.
    #[cold]
    pub(super) fn count_pool(&mut self, packet: &Packet) {
        if let Content::Pool(message) = packet.content {
            self.pool[usize::from(!message.kind.is_demand())] += 1;
        }
    }

    /// Resets the counters of memory pools.
    pub(super) fn reset_pool(&mut self) {
        (self.pool, self.nacks) = ([0; 2], 0);
    }

    /// Returns the dropped messages of memory pools since the last reset: those that a request waits for, and others.
    #[must_use]
    pub fn of_pool(&self) -> [u64; 2] {
        self.pool
    }

    /// Returns the NACKs sent for dropped messages since the last reset.
    #[must_use]
    pub fn nacks(&self) -> u64 {
        self.nacks
    }

    /// Returns the packets dropped for a reason.
    #[must_use]
    pub fn packets(&self, reason: DropReason) -> u64 {
        self.packets[reason as usize]
    }

    /// Returns the bytes of IP packets dropped for a reason.
    #[must_use]
    pub fn bytes(&self, reason: DropReason) -> u64 {
        self.bytes[reason as usize]
    }

    /// Returns the packets dropped for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.packets.iter().sum()
    }

    /// Iterates over the dropped packets per flow and reason, in order. Flows without a loss are left out.
    pub fn flows(&self) -> impl Iterator<Item = (u32, DropReason, u64)> + '_ {
        self.flows.iter().map(|(&(flow, reason), &packets)| (flow, reason, packets))
    }
}
