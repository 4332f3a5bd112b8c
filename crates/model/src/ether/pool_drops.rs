//! Support of a switch for memory pools. If a message that a request waits for finds no room, messages that no request
//! waits for are dropped first; if that does not suffice, the requester gets a NACK.

use super::drops::DropReason;
use super::egress::DepartedPacket;
use super::port_queues::PRIORITIES;
use super::switch::Switch;
use crate::line::{Content, Packet, PacketId, PoolKind, PoolMessage};
use crate::part::NetContext;

impl Switch {
    /// Handles a packet that came in by `port` and finds no room at the output port `way`.
    #[cold]
    pub(super) fn refuse(&mut self, id: PacketId, port: u16, way: usize, context: &mut NetContext) {
        let packet = *context.packets.get(id);
        let Content::Pool(message) = packet.content else { return self.overflow(id, way, context) };
        if !message.kind.is_demand() {
            return self.overflow(id, way, context);
        }
        let (priority, bytes) = (packet.priority % PRIORITIES as u8, u64::from(packet.ip_bytes));
        // One eviction may free too little for a larger message.
        while !self.has_room(way, priority, bytes, 0) {
            if !self.evict(way, priority, context) {
                self.overflow(id, way, context);
                return self.nack(&packet, message, port, context);
            }
        }
        self.hold(port, priority, bytes, context);
        self.send(id, way, context);
    }

    /// Drops a message that no request waits for from a queue of lower priority than `priority`. Only heads of queues
    /// are considered; returns false if none of them is such a message.
    fn evict(&mut self, way: usize, priority: u8, context: &mut NetContext) -> bool {
        let may: fn(&Packet) -> bool =
            |packet| matches!(packet.content, Content::Pool(message) if !message.kind.is_demand());
        // The lowest priority first, and never one that is as urgent.
        let out = (0..priority).find_map(|lower| self.ports[way].egress.take_next(lower, may, context));
        let Some(id) = out else { return false };
        let Packet { flow, ip_bytes, priority, queue, .. } = *context.packets.get(id);
        self.release(&DepartedPacket { id, flow, ip_bytes, priority, queue, dropped: None }, context);
        self.drop(id, DropReason::Full, context);
        true
    }

    /// Sends a NACK to the requester of a dropped message. A NACK that finds no room is lost; the requester then times
    /// out.
    fn nack(&mut self, packet: &Packet, message: PoolMessage, port: u16, context: &mut NetContext) {
        let from = if packet.to == message.requester { packet.from } else { packet.to };
        // No NACK for a NACK, which could go on for ever.
        if message.kind == PoolKind::Nack {
            return;
        }
        let like = Packet { from, to: message.requester, ..*packet };
        let nack = PoolMessage { kind: PoolKind::Nack, ..message };
        self.drops.nacks += u64::from(self.send_own(&like, nack, port, context));
    }
}
