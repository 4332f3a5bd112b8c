//! The messages of a pool of memory go by the port of the NIC and touch nothing else of it.

use super::Nic;
use crate::line::{Content, POOL_FLOW};
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;

/// From the NIC to the part that has the messages, in ps; the part has the latency of the way.
const NEXT_PS: u64 = 1;

impl Nic {
    /// Shares its port with a pool of memory; what nobody waits for is dropped when so many packets wait.
    #[must_use]
    pub fn with_pool(mut self, pool: ComponentId, port_packets: u32) -> Self {
        self.common.port.spare_pool(self.common.params.transmit_ps);
        Self { pool: Some((pool, port_packets)), ..self }
    }

    /// Passes a message of the pool on to the cable, or from there. False if it is none.
    pub(super) fn passes(&mut self, payload: Payload, source: ComponentId, context: &mut Context) -> bool {
        let Some((pool, port_packets)) = self.pool else { return false };
        match payload {
            Payload::Packet { id, port } if context.packets.get(id).flow == POOL_FLOW => {
                context.send(pool, NEXT_PS, Payload::Packet { id, port });
                true
            }
            Payload::Transmit(id) if source == pool => {
                let packet = context.packets.get(id);
                let demand = matches!(packet.content, Content::Pool(message) if message.kind.is_demand());
                if !demand && self.common.port.waiting_packets() >= port_packets {
                    context.packets.remove(id);
                    self.common.counters.pool_dropped += 1;
                } else {
                    self.common.port.push(id, &mut context.net());
                }
                true
            }
            _ => false,
        }
    }
}
