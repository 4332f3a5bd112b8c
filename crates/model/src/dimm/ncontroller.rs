//! Who goes first at the memory controllers of the buffer device: the NIC, but a request of the host that waits lets
//! so many of the NIC's go before it and no more.

use super::books::DimmCounters;
use crate::line::{Fifo, Request, RequestId};
use crate::memory::Channel;
use crate::params::DimmParams;
use crate::part::Context;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// A memory controller, and who waits for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Port {
    channel: Channel,
    /// Requests of the NIC, and of the host.
    waiting: [Fifo<Request>; 2],
    /// Requests at the controller: reads, and writes.
    out: [u32; 2],
    /// Requests of the NIC that have gone before the first of the host.
    passed: u64,
}

/// The memory controllers of the buffer device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NController {
    device_ps: u64,
    nic_turns: u64,
    /// Reads, and writes, that a controller has room for.
    most: [u32; 2],
    ports: Vec<Port>,
}

impl NController {
    pub(super) fn new(params: &DimmParams, id: ComponentId, classes: usize) -> Self {
        let memory = &params.memory;
        let port = |number| {
            let way = params.device_ps;
            let channel = Channel::new(&memory.dram, &memory.controller, id, way, way, classes, number);
            Port { channel, waiting: [Fifo::default(), Fifo::default()], out: [0; 2], passed: 0 }
        };
        Self {
            device_ps: params.device_ps,
            nic_turns: params.nic_turns.into(),
            most: [memory.controller.rpq_entries, memory.controller.wpq_entries],
            ports: (0..memory.map.channels * memory.dram.subchannels).map(port).collect(),
        }
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.ports.iter().map(|port| &port.channel)
    }

    pub(super) fn channels_mut(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.ports.iter_mut().map(|port| &mut port.channel)
    }

    /// A request wants to go to its controller; `nic` says whether it is one of the NIC.
    pub(super) fn ask(&mut self, id: RequestId, nic: bool, context: &mut Context) {
        let channel = usize::from(context.requests.get(id).place.channel);
        self.ports[channel].waiting[usize::from(!nic)].push(context.requests, id);
    }

    /// A request is through with its controller: that has room for another.
    pub(super) fn done(&mut self, channel: u8, read: bool) {
        self.ports[usize::from(channel)].out[usize::from(!read)] -= 1;
    }

    /// Lets requests go for which there is room; while clones wait for writes, `reads` may not.
    pub(super) fn grant(&mut self, reads: bool, books: &mut DimmCounters, context: &mut Context) {
        for at in 0..self.ports.len() {
            while let Some(list) = self.next(at, reads, context) {
                let port = &mut self.ports[at];
                let Some(id) = port.waiting[list].pop(context.requests) else { break };
                let read = context.requests.get(id).kind.is_read();
                let host_waits = !port.waiting[1].is_empty();
                port.passed = if list == 0 && host_waits { port.passed + 1 } else { 0 };
                books.passed_max = books.passed_max.max(port.passed);
                port.out[usize::from(!read)] += 1;
                port.channel.expect(id, context.now() + self.device_ps, context);
            }
        }
    }

    /// Whose first request goes next: of the NIC (0) or of the host (1).
    fn next(&self, at: usize, reads: bool, context: &Context) -> Option<usize> {
        let port = &self.ports[at];
        let may_go = |&list: &usize| {
            let Some(id) = port.waiting[list].front() else { return false };
            let read = context.requests.get(id).kind.is_read();
            let direction = usize::from(!read);
            port.out[direction] < self.most[direction].max(1) && (reads || !read)
        };
        let order = if port.passed >= self.nic_turns { [1, 0] } else { [0, 1] };
        let next = order.into_iter().find(may_go)?;
        // Whoever has the turn may wait for room; the other does not overtake it for ever.
        (next == order[0] || port.passed < self.nic_turns || port.waiting[1].is_empty()).then_some(next)
    }

    /// Occupies banks of the first controller for a while: when they are free again, if they can be had now.
    pub(super) fn occupy(&mut self, banks: u64, ps: u64, context: &mut Context) -> Option<Time> {
        let now = context.now();
        self.ports.first_mut()?.channel.occupy(now, banks, ps, context)
    }

    pub(super) fn settle(&mut self, now: Time) {
        self.channels_mut().for_each(|channel| crate::part::Part::settle(channel, now));
    }

    pub(super) fn reset(&mut self, now: Time) {
        self.channels_mut().for_each(|channel| crate::part::Part::reset(channel, now));
    }
}
