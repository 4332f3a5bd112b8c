//! The queues of an output port, one per priority.

use super::engines::Compressor;
use super::occupancy::OccupancyStats;
use super::wire::{CableFaults, WireParams};
use crate::line::{Fifo, Packet, PacketId};
use crate::part::NetContext;
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

/// Number of priority classes of Ethernet (IEEE 802.1Q).
pub const PRIORITIES: usize = 8;

/// Queue of one priority of a port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PriorityQueue {
    pub(super) fifo: Fifo<Packet>,
    pub(super) bytes: u64,
    pub(super) paused_at: Time,
    pub(super) paused_ps: u64,
}

/// State that a port needs only when packets wait or when its cable has faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PortQueues {
    pub(super) waiting_packets: u32,
    pub(super) waiting_bytes: u64,
    pub(super) packets: OccupancyStats,
    pub(super) bytes: OccupancyStats,
    pub(super) reset_at: Time,
    pub(super) classes: [PriorityQueue; PRIORITIES],
    pub(super) faults: CableFaults,
    /// Compression engine before the wire, if there is one.
    pub(super) compressor: Option<Box<Compressor>>,
    /// Busy time of the wire, if it is recorded.
    pub(super) busy: Option<Box<Bins>>,
    /// Delay that messages of a memory pool save compared with other packets because they bypass the NIC, in ps.
    pub(super) bypass_ps: u64,
}

impl PortQueues {
    pub(super) fn new(params: &WireParams) -> Self {
        Self {
            waiting_packets: 0,
            waiting_bytes: 0,
            packets: OccupancyStats::default(),
            bytes: OccupancyStats::default(),
            reset_at: Time::ZERO,
            classes: Default::default(),
            faults: CableFaults::new(params),
            compressor: None,
            busy: params.watched.then(Box::default),
            bypass_ps: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, id: PacketId, priority: u8, ip_bytes: u32, context: &mut NetContext) {
        let class = &mut self.classes[usize::from(priority)];
        class.fifo.push(context.packets, id);
        class.bytes += u64::from(ip_bytes);
        self.waiting_packets += 1;
        self.waiting_bytes += u64::from(ip_bytes);
        self.note(context.now());
    }

    /// Removes the next packet of a priority. Also returns true if its queue is empty then.
    #[inline]
    pub(super) fn pop(&mut self, priority: u8, context: &mut NetContext) -> Option<(PacketId, bool)> {
        let class = &mut self.classes[usize::from(priority)];
        let id = class.fifo.pop(context.packets)?;
        let last = class.fifo.is_empty();
        let ip_bytes = u64::from(context.packets.get(id).ip_bytes);
        class.bytes -= ip_bytes;
        self.waiting_packets -= 1;
        self.waiting_bytes -= ip_bytes;
        self.note(context.now());
        Some((id, last))
    }

    #[inline]
    fn note(&mut self, now: Time) {
        self.packets.set(now, u64::from(self.waiting_packets));
        self.bytes.set(now, self.waiting_bytes);
    }
}
