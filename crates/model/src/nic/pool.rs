//! Messages of a memory pool, which share the port of the NIC and bypass the rest of it.

use super::Nic;
use crate::line::{Content, POOL_FLOW};
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;

/// Delay from the NIC to the component that handles the messages, in ps. That component models the latency of the
/// path.
const NEXT_PS: u64 = 1;

impl Nic {
    /// Shares the port with a memory pool. Prefetch messages are dropped while at least `port_packets` packets wait at
    /// the port.
    #[must_use]
    pub fn with_pool(mut self, pool: ComponentId, port_packets: u32) -> Self {
        self.path.common.port.spare_pool(self.path.common.params.transmit_ps);
        Self { pool: Some((pool, port_packets)), ..self }
    }

    /// Forwards a message of the pool to or from the cable. Returns false if the event is not such a message.
    pub(super) fn forward_pool_message(
        &mut self,
        payload: Payload,
        source: ComponentId,
        context: &mut Context,
    ) -> bool {
        let Some((pool, port_packets)) = self.pool else { return false };
        match payload {
            // Only the port is shared: messages of the pool take no descriptor and no TLP of the card.
            Payload::Packet { id, port } if context.packets.get(id).flow == POOL_FLOW => {
                context.send(pool, NEXT_PS, Payload::Packet { id, port });
                true
            }
            Payload::Transmit(id) if source == pool => {
                let packet = context.packets.get(id);
                let demand = matches!(packet.content, Content::Pool(message) if message.kind.is_demand());
                // Prefetches are hints; dropping them keeps the port for demand messages.
                if !demand && self.path.common.port.waiting_packets() >= port_packets {
                    context.packets.remove(id);
                    self.path.common.counters.pool_dropped += 1;
                } else {
                    self.path.common.port.push(id, &mut context.net());
                }
                true
            }
            _ => false,
        }
    }
}
