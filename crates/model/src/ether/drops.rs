//! Packets that ended on the way, and why.

use crate::line::{Content, Packet, POOL_FLOW};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DropReason {
    /// Its queue was full, or the memory that queues share.
    Full,
    /// The cable was down.
    LinkDown,
    /// It was damaged on a cable, and the next part found that out.
    Corrupt,
    /// No cable leads to its host.
    NoRoute,
    /// It was a copy ([`crate::Packet::copy`]), which nobody misses, whatever else happened to it.
    Copy,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 5] = [Self::Full, Self::LinkDown, Self::Corrupt, Self::NoRoute, Self::Copy];

    /// Its name in tables.
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

    /// The reason why a packet ends that has met with this one.
    #[must_use]
    pub(super) fn of(self, packet: &Packet) -> Self {
        if packet.copy {
            Self::Copy
        } else {
            self
        }
    }
}

/// What one part dropped since the start of the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Drops {
    packets: [u64; DropReason::ALL.len()],
    bytes: [u64; DropReason::ALL.len()],
    flows: BTreeMap<(u32, DropReason), u64>,
    /// Messages of pools of memory that somebody waits for, and others.
    pool: [u64; 2],
    /// NACKs that were sent for them.
    pub(super) nacks: u64,
}

impl Drops {
    /// A packet of `flow` with `ip_bytes` bytes was dropped.
    #[cold]
    pub fn count(&mut self, flow: u32, ip_bytes: u32, reason: DropReason) {
        self.packets[reason as usize] += 1;
        self.bytes[reason as usize] += u64::from(ip_bytes);
        if flow != POOL_FLOW {
            *self.flows.entry((flow, reason)).or_default() += 1;
        }
    }

    /// The same packet again, if it is of a pool of memory.
    #[cold]
    pub(super) fn count_pool(&mut self, packet: &Packet) {
        if let Content::Pool(message) = packet.content {
            self.pool[usize::from(!message.kind.is_demand())] += 1;
        }
    }

    /// Begins the counts of pools of memory anew.
    pub(super) fn reset_pool(&mut self) {
        (self.pool, self.nacks) = ([0; 2], 0);
    }

    /// Messages of pools of memory that were dropped since the last reset: those that somebody waits for, and others.
    #[must_use]
    pub fn of_pool(&self) -> [u64; 2] {
        self.pool
    }

    /// NACKs that were sent for dropped messages.
    #[must_use]
    pub fn nacks(&self) -> u64 {
        self.nacks
    }

    /// Packets dropped for a reason.
    #[must_use]
    pub fn packets(&self, reason: DropReason) -> u64 {
        self.packets[reason as usize]
    }

    /// Bytes of IP packets dropped for a reason.
    #[must_use]
    pub fn bytes(&self, reason: DropReason) -> u64 {
        self.bytes[reason as usize]
    }

    /// Packets dropped for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.packets.iter().sum()
    }

    /// Packets per flow and reason, in order; those that lost none are left out.
    pub fn flows(&self) -> impl Iterator<Item = (u32, DropReason, u64)> + '_ {
        self.flows.iter().map(|(&(flow, reason), &packets)| (flow, reason, packets))
    }
}
