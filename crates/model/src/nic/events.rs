//! Event queues: entries that the NIC writes to memory before an interrupt, and that the core reads first.

use super::queue::Queue;
use super::Common;
use crate::link::PcieEndpoint;
use crate::part::{Context, Payload, TlpTag};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Interrupts that wait until their event queue entry is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EventQueues {
    /// Receive queues whose interrupt is pending, by function.
    due: Vec<VecDeque<u16>>,
}

impl EventQueues {
    pub(super) fn new(functions: usize) -> Self {
        Self { due: vec![VecDeque::new(); functions] }
    }

    /// Interrupts the core of a queue: immediately, or once the event queue entry is written. Bursts have no room for
    /// an entry.
    pub(super) fn raise(&mut self, queue: u16, of: &Queue, common: &mut Common, context: &mut Context) {
        common.counters.interrupts += 1;
        // In a burst the entry is part of the lines that the burst stands for.
        if of.has_events() && !common.params.line_size.is_burst() {
            self.due[of.function].push_back(queue);
        } else {
            signal(queue, of, common, context);
        }
    }

    /// Returns true if an entry is pending and a function has the credits to write it.
    pub(super) fn may_write(&self, function: usize, endpoint: &PcieEndpoint, common: &Common) -> bool {
        !self.due[function].is_empty() && endpoint.may_write(common.params.event_bytes)
    }

    /// Writes the next entry of a function and sends the interrupt behind it. Returns true if an entry was written.
    pub(super) fn write(
        &mut self,
        function: usize,
        queues: &mut [Queue],
        endpoint: &mut PcieEndpoint,
        common: &Common,
        context: &mut Context,
    ) -> bool {
        if !self.may_write(function, endpoint, common) {
            return false;
        }
        let Some(queue) = self.due[function].pop_front() else { return false };
        let of = &mut queues[usize::from(queue)];
        let Some(line) = of.event_line(common.pages.pages()) else { return false };
        endpoint.write(line, common.params.event_bytes, of.class, TlpTag::NONE, context);
        // Posted writes and the interrupt message keep their order on the link (PCIe Base 3.0, 2.4.1).
        signal(queue, of, common, context);
        true
    }
}

/// Sends the interrupt of a queue to its core.
fn signal(queue: u16, of: &Queue, common: &Common, context: &mut Context) {
    // At least 1 ps: every event lies ahead.
    context.send(of.core, common.params.interrupt_ps.max(1) + of.away_ps, Payload::Interrupt { queue });
}
