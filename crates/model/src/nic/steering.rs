//! Flow steering: selects the receive queue of a flow, and thereby the function, by a rule of the host (accelerated
//! RFS) or else by a hash (RSS).

use super::data_path::{Common, DataPath};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Time};

impl Common {
    /// Returns the sequence number of the next packet of a flow, or 0 if flows are never steered.
    pub(super) fn next_order(&mut self, flow: u32) -> u64 {
        self.orders.get_mut(flow as usize).map_or(0, |order| {
            *order += 1;
            *order
        })
    }

    /// Returns the receive queue of an arriving packet. Drops the steering rule of the flow if it has expired.
    pub(super) fn find_queue(&mut self, flow: u32, now: Time) -> u16 {
        if self.params.steer_expiry_ps > 0 {
            let used = &mut self.used[flow as usize];
            // Found when a packet arrives, which needs no timer: until then nobody sees the rule.
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
            // A multiplication maps the hash to the queues without a division.
            ((mixed * u64::from(self.params.queues)) >> 32) as u16
        })
    }
}

impl DataPath {
    /// Requests that packets of a flow use another queue. The table is updated `steer_ps` later.
    pub(super) fn steer(&mut self, flow: u32, queue: u16, asked_by: ComponentId, context: &mut Context) {
        // The NIC sends itself the delayed request, so a request from itself is the one to apply.
        if asked_by != context.id {
            let delay = self.common.params.steer_ps.max(1);
            // The table is written later, so packets until then use the old queue.
            return context.send(context.id, delay, Payload::Steer { flow, queue });
        }
        if self.common.flows[flow as usize].queue.replace(queue) != Some(queue) {
            self.functions[self.receive.buffer.queue(queue).function].steered += 1;
        }
    }
}
