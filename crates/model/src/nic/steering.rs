//! Which queue, and so which function, the packets of a flow come in by: what the host asked for (accelerated RFS),
//! else a hash (RSS).

use super::{Common, Nic};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Time};

impl Common {
    /// The number of the next packet of a flow; 0 where nobody asks.
    pub(super) fn next_order(&mut self, flow: u32) -> u64 {
        self.orders.get_mut(flow as usize).map_or(0, |order| {
            *order += 1;
            *order
        })
    }

    /// A packet of a flow comes in: its queue. A rule that nothing used for long is gone.
    pub(super) fn find_queue(&mut self, flow: u32, now: Time) -> u16 {
        if self.params.steer_expiry_ps > 0 {
            let used = &mut self.used[flow as usize];
            if now.since(*used) > self.params.steer_expiry_ps && self.flows[flow as usize].queue.take().is_some() {
                self.counters.expired += 1;
            }
            *used = now;
        }
        self.queue_of(flow)
    }

    pub(super) fn queue_of(&self, flow: u32) -> u16 {
        self.flows[flow as usize].queue.unwrap_or_else(|| {
            // The upper bits of a product spread small numbers evenly (Fibonacci hashing).
            let mixed = (u64::from(flow) ^ self.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            ((mixed * u64::from(self.params.queues)) >> 32) as u16
        })
    }
}

impl Nic {
    /// A core asks that packets of a flow come in by another queue; the table is written later.
    pub(super) fn steer(&mut self, flow: u32, queue: u16, asked_by: ComponentId, context: &mut Context) {
        if asked_by != context.id {
            let delay = self.common.params.steer_ps.max(1);
            return context.send(context.id, delay, Payload::Steer { flow, queue });
        }
        if self.common.flows[flow as usize].queue.replace(queue) != Some(queue) {
            self.functions[self.receive.queue(queue).function].steered += 1;
        }
    }
}
