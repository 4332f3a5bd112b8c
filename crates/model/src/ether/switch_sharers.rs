//! A switch that grants requests for the first shared pages of a memory pool itself, and forwards messages about all
//! others to the controller.

use super::port_queues::PRIORITIES;
use super::switch::Switch;
use crate::line::{Content, Ecn, Packet, PacketId, PoolMessage, POOL_FLOW};
use crate::part::NetContext;

impl Switch {
    /// Returns the requests for shared pages that the switch granted, and the servers that it had give up a page or
    /// stop writing it, since the last reset. Returns nothing if the switch decides about no page.
    #[must_use]
    pub fn decided(&self) -> Option<[u64; 2]> {
        self.sharers.as_ref().map(|sharers| sharers.decided())
    }

    /// Handles a packet that came in by `port` if it is a message about a page of this switch, and sends the resulting
    /// messages. Returns false for any other packet.
    #[cold]
    pub(super) fn decide(&mut self, id: PacketId, port: u16, context: &mut NetContext) -> bool {
        let packet = *context.packets.get(id);
        let Content::Pool(message) = packet.content else { return false };
        let Some(sharers) = self.sharers.as_mut().filter(|sharers| sharers.decides_about(&message)) else {
            return false;
        };
        if packet.corrupt || !message.kind.is_asked_of_controller() {
            return false;
        }
        context.packets.remove(id);
        for (to, message) in sharers.on_message(packet.from, &message) {
            // Sent in the name of the controller, so that the replies pass this switch again.
            self.send_own(&Packet { from: packet.to, to, ..packet }, message, port, context);
        }
        true
    }

    /// Sends a message of the switch, caused by one that came in by `port`. Returns false if there is no room or no
    /// route.
    pub(super) fn send_own(
        &mut self,
        like: &Packet,
        message: PoolMessage,
        port: u16,
        context: &mut NetContext,
    ) -> bool {
        let Some(way) = self.routes.port(POOL_FLOW, like.from, like.to) else { return false };
        let own = Packet {
            ip_bytes: message.small_bytes.into(),
            ecn: Ecn::NotCapable,
            corrupt: false,
            queue: port,
            content: Content::Pool(message),
            next: PacketId::NONE,
            ..*like
        };
        let (way, priority, bytes) = (usize::from(way), own.priority % PRIORITIES as u8, u64::from(own.ip_bytes));
        // A message that is sent at once takes no room.
        let free = self.ports[way].egress.is_free(context.now(), priority);
        if !free && !self.has_room(way, priority, bytes, 0) {
            return false;
        }
        let id = context.packets.insert(own);
        self.hold(port, priority, bytes, context);
        self.send(id, way, context);
        true
    }
}
