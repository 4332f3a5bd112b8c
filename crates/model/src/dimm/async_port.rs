//! Host side of the buffer device: asynchronous reads, and writes.
//!
//! A read takes a request id, which goes with its command (XRD) and returns with its data: when the data is ready the
//! DIMM signals the host (RDY), which requests the data (SEND). A write takes an entry of the buffer device. Commands
//! and lines use slots of the channel.

use crate::line::{Fifo, Request, RequestId};
use crate::params::DimmParams;
use crate::part::{Context, Group, Payload, Pool, Slot};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Delay from the buffer device to the channel or to the NIC, in ps.
pub(super) const NEXT_PS: u64 = 1;

/// Credits of reads or of writes, and the requests that wait for one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CreditQueue {
    credits: Domain,
    waiting: Fifo<Request>,
}

/// Host side of the buffer device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AsyncPort {
    channel: ComponentId,
    /// Credit queues of reads and of writes.
    credit_queues: [CreditQueue; 2],
    /// By request number: time at which the request took its credit, and its class.
    taken: Vec<(Time, u8)>,
}

impl AsyncPort {
    pub(super) fn new(params: &DimmParams, channel: ComponentId, classes: usize) -> Self {
        let credit_queue =
            |credits| CreditQueue { credits: Domain::new(credits, credits, classes), waiting: Fifo::default() };
        Self { channel, credit_queues: [credit_queue(params.ids), credit_queue(params.writes)], taken: Vec::new() }
    }

    pub(super) fn domains(&self) -> [&Domain; 2] {
        let [reads, writes] = &self.credit_queues;
        [&reads.credits, &writes.credits]
    }

    pub(super) fn domains_mut(&mut self) -> [&mut Domain; 2] {
        let [reads, writes] = &mut self.credit_queues;
        [&mut reads.credits, &mut writes.credits]
    }

    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        let [reads, writes] = self.domains();
        visit(Pool::new(Group::DimmRead, reads));
        visit(Pool::new(Group::DimmWrite, writes));
    }

    /// Handles a request of the host.
    pub(super) fn arrive(&mut self, id: RequestId, context: &mut Context) {
        let credit_queue = &mut self.credit_queues[usize::from(!context.requests.get(id).kind.is_read())];
        if !credit_queue.waiting.is_empty() || credit_queue.credits.free() == 0 {
            credit_queue.waiting.push(context.requests, id);
            return;
        }
        self.begin(id, context);
    }

    /// Takes a credit for a request, and reserves its first slot.
    fn begin(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get(id);
        let (read, class) = (request.kind.is_read(), request.class);
        let taken = self.credit_queues[usize::from(!read)].credits.try_acquire(now, class);
        assert!(taken, "a credit is free");
        let index = id.0 as usize;
        self.taken.resize(self.taken.len().max(index + 1), (Time::ZERO, 0));
        self.taken[index] = (now, class);
        self.want(id, if read { Slot::Command } else { Slot::Write }, context);
    }

    /// Reserves a slot of the channel for a request.
    pub(super) fn want(&self, id: RequestId, slot: Slot, context: &mut Context) {
        context.tell(self.channel, NEXT_PS, Payload::Slot { id, slot });
    }

    /// Ends a request on the DIMM, and frees its credit.
    pub(super) fn end(&mut self, id: RequestId, read: bool, context: &mut Context) {
        let (since, class) = self.taken[id.0 as usize];
        let credit_queue = &mut self.credit_queues[usize::from(!read)];
        credit_queue.credits.release(context.now(), class, since);
        if let Some(next) = credit_queue.waiting.pop(context.requests) {
            self.begin(next, context);
        }
    }
}
