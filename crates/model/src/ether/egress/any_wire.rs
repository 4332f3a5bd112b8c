//! Packets that meet more than a wire: a compression engine, faults of the cable, or a record of packets or of busy
//! times; and messages of memory pools.

use super::Egress;
use crate::ether::drops::DropReason;
use crate::ether::wire::PacketFate;
use crate::line::{PacketId, POOL_FLOW};
use crate::part::{NetContext, Payload};
use hostnet_kernel::Time;

impl Egress {
    /// Does the work of [`Egress::put_on_wire`] for any packet and cable, with or without a compression engine.
    #[inline(never)]
    pub(super) fn put_on_any_wire(&mut self, id: PacketId, context: &mut NetContext) -> Option<DropReason> {
        let now = context.now();
        context.packets.pass(id, context.id, now);
        let packet = context.packets.get_mut(id);
        let mut compressor = if self.compresses { self.queues.compressor.as_deref_mut() } else { None };
        let through = compressor.as_mut().map_or(now, |compressor| compressor.begin(packet, now));
        // All bytes of a pool message count as bytes on the wire, so no framing is added.
        let (wire_bytes, delay_ps) = if packet.flow == POOL_FLOW {
            // Messages of a memory pool do not pass the NIC, so they save its delay.
            (packet.ip_bytes, self.wire.delay_ps - self.queues.bypass_ps)
        } else {
            (self.wire.wire_bytes(packet.ip_bytes), self.wire.delay_ps)
        };
        let serialization_ps = self.wire.serialization_ps(wire_bytes);
        let (first, free_at) = match compressor {
            None => (now, now + serialization_ps),
            Some(compressor) => compressor.follow(through, now, serialization_ps),
        };
        if self.watched {
            self.note_busy(first, serialization_ps);
        }
        // Lost packets count as sent, because they occupy the wire.
        self.count_sent(packet.ip_bytes, wire_bytes, free_at);
        let fate =
            if self.wire.faulty { self.queues.faults.fate(first, serialization_ps) } else { PacketFate::Arrives };
        packet.corrupt |= fate == PacketFate::ArrivesDamaged;
        let dropped = (fate == PacketFate::Lost).then(|| DropReason::LinkDown.for_packet(packet));
        if dropped.is_some() {
            // A packet that is lost has no event: nobody would handle it.
            context.packets.remove(id);
        } else {
            let port = self.wire.peer_port;
            let way_ps = first.since(now) + serialization_ps + delay_ps;
            context.send(self.wire.peer, way_ps, Payload::Packet { id, port });
        }
        dropped
    }

    #[inline(never)]
    fn note_busy(&mut self, first: Time, ps: u64) {
        if let Some(busy) = &mut self.queues.busy {
            busy.add(first.ps(), first.ps() + ps);
        }
    }
}
