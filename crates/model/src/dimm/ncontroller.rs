//! Arbitration at the memory controllers of the buffer device. Requests of the NIC go first, but only a limited number
//! of them go before a waiting request of the host.

use super::counters::DimmCounters;
use crate::line::{Fifo, Request, RequestId};
use crate::memory::Channel;
use crate::params::DimmParams;
use crate::part::Context;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Memory controller, and the requests that wait for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ControllerPort {
    channel: Channel,
    /// Requests that wait: of the NIC, and of the host.
    waiting: [Fifo<Request>; 2],
    /// Requests at the controller: reads, and writes.
    out: [u32; 2],
    /// Requests of the NIC that have gone before the first one of the host.
    passed: u64,
}

/// Memory controllers of the buffer device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NController {
    device_ps: u64,
    nic_turns: u64,
    /// Maximum number of reads, and of writes, at a controller.
    most: [u32; 2],
    ports: Vec<ControllerPort>,
}

impl NController {
    pub(super) fn new(params: &DimmParams, id: ComponentId, classes: usize) -> Self {
        let memory = &params.memory;
        let port = |number| {
            let path_ps = params.device_ps;
            let channel = Channel::new(&memory.dram, &memory.controller, id, path_ps, path_ps, classes, number);
            ControllerPort { channel, waiting: [Fifo::default(), Fifo::default()], out: [0; 2], passed: 0 }
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

    /// Queues a request for its controller; `nic` is true for a request of the NIC.
    pub(super) fn ask(&mut self, id: RequestId, nic: bool, context: &mut Context) {
        let channel = usize::from(context.requests.get(id).place.channel);
        self.ports[channel].waiting[usize::from(!nic)].push(context.requests, id);
    }

    /// Records that a controller has finished a request, which makes room for another one.
    pub(super) fn done(&mut self, channel: u8, read: bool) {
        self.ports[usize::from(channel)].out[usize::from(!read)] -= 1;
    }

    /// Sends requests to their controllers as far as these have room. `reads` is false while clones wait for writes:
    /// then no read is sent.
    pub(super) fn grant(&mut self, reads: bool, counters: &mut DimmCounters, context: &mut Context) {
        for at in 0..self.ports.len() {
            while let Some(list) = self.next(at, reads, context) {
                let port = &mut self.ports[at];
                let Some(id) = port.waiting[list].pop(context.requests) else { break };
                let read = context.requests.get(id).kind.is_read();
                let host_waits = !port.waiting[1].is_empty();
                // Only requests of the NIC that pass a waiting request of the host count.
                port.passed = if list == 0 && host_waits { port.passed + 1 } else { 0 };
                counters.passed_max = counters.passed_max.max(port.passed);
                port.out[usize::from(!read)] += 1;
                // Never more than the controller's queues hold, so that the order here decides.
                port.channel.expect(id, context.now() + self.device_ps, context);
            }
        }
    }

    /// Returns the list whose first request goes next: that of the NIC (0) or of the host (1).
    fn next(&self, at: usize, reads: bool, context: &Context) -> Option<usize> {
        let port = &self.ports[at];
        let may_go = |&list: &usize| {
            let Some(id) = port.waiting[list].front() else { return false };
            let read = context.requests.get(id).kind.is_read();
            let direction = usize::from(!read);
            port.out[direction] < self.most[direction].max(1) && (reads || !read)
        };
        // After `nic_turns` requests of the NIC the host has its turn.
        let order = if port.passed >= self.nic_turns { [1, 0] } else { [0, 1] };
        let next = order.into_iter().find(may_go)?;
        // The list that has its turn may wait for room; the other one must not overtake it for ever.
        (next == order[0] || port.passed < self.nic_turns || port.waiting[1].is_empty()).then_some(next)
    }

    /// Occupies banks of the first controller for `ps`. Returns the time at which they are free again, or nothing if
    /// they cannot be occupied now.
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
