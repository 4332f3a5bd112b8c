//! The queues of an output port, one per priority.

use super::engines::Compressor;
use super::occupancy::Level;
use super::wire::{Faults, WireParams};
use crate::line::{Fifo, Packet, PacketId};
use crate::part::NetContext;
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};

/// Priority classes of Ethernet.
pub const PRIORITIES: usize = 8;

/// One priority of a port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Class {
    pub(super) fifo: Fifo<Packet>,
    pub(super) bytes: u64,
    pub(super) paused_at: Time,
    pub(super) paused_ps: u64,
}

/// What a port needs only when packets wait, or its cable has faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queues {
    pub(super) waiting_packets: u32,
    pub(super) waiting_bytes: u64,
    pub(super) packets: Level,
    pub(super) bytes: Level,
    pub(super) reset_at: Time,
    pub(super) classes: [Class; PRIORITIES],
    pub(super) faults: Faults,
    /// What makes packets smaller before the wire.
    pub(super) compressor: Option<Box<Compressor>>,
    /// When the wire was busy, if that is kept.
    pub(super) busy: Option<Box<Bins>>,
    /// What messages of a pool of memory are faster than other packets, in ps: they do not come through the card.
    pub(super) bypass_ps: u64,
}

impl Queues {
    pub(super) fn new(params: &WireParams) -> Self {
        Self {
            waiting_packets: 0,
            waiting_bytes: 0,
            packets: Level::default(),
            bytes: Level::default(),
            reset_at: Time::ZERO,
            classes: Default::default(),
            faults: Faults::new(params),
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

    /// The next packet of a priority, and whether it was the last.
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
