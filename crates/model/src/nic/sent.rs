//! Completions of segments: written to memory when a segment has left the port, then told to its core.

use super::transmit::Place;
use super::Common;
use crate::line::{PacketId, Ring};
use crate::link::Endpoint;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A segment that has left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ended {
    queue: u16,
    flow: u32,
    bytes: u32,
    datagram: bool,
}

/// The core of a send queue, where its completions go, and by which function.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Target {
    core: ComponentId,
    ring: Ring,
    function: usize,
    far: bool,
}

/// Completions of segments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sent {
    /// Per send queue.
    targets: Vec<Target>,
    /// Per function: those to be written, and those that are on their way to memory.
    ended: Vec<VecDeque<Ended>>,
    written: Vec<VecDeque<Ended>>,
    /// The same of datagrams, and of queues on other sockets: their completions are there when everybody can see them.
    unseen: Vec<VecDeque<Ended>>,
}

impl Sent {
    /// What the write of a completion is known by at the link.
    pub(super) const TAG: PacketId = PacketId(u32::MAX - 1);

    /// For send queues of these cores, by so many functions.
    pub(super) fn new<'a>(functions: usize, targets: impl Iterator<Item = (&'a ComponentId, &'a Place)>) -> Self {
        let target = |(&core, place): (&ComponentId, &Place)| {
            let Place { rings, function, far, .. } = *place;
            Target { core, ring: rings.sent, function, far }
        };
        let none = vec![VecDeque::new(); functions];
        Self { targets: targets.map(target).collect(), ended: none.clone(), written: none.clone(), unseen: none }
    }

    /// A segment or datagram of a queue has left. Bursts have no room for its completion; the core is told at once.
    pub(super) fn end(
        &mut self,
        queue: u16,
        flow: u32,
        bytes: u32,
        datagram: bool,
        common: &Common,
        context: &mut Context,
    ) {
        let ended = Ended { queue, flow, bytes, datagram };
        if common.params.line_size.is_burst() {
            self.tell(ended, context);
        } else {
            self.ended[self.targets[usize::from(queue)].function].push_back(ended);
        }
    }

    /// Whether a function can write a completion.
    pub(super) fn may_write(&self, function: usize, endpoint: &Endpoint, common: &Common) -> bool {
        !self.ended[function].is_empty() && endpoint.may_write(common.params.completion_bytes)
    }

    /// A function writes a completion. True when one was written.
    pub(super) fn write(
        &mut self,
        function: usize,
        endpoint: &mut Endpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        if !self.may_write(function, endpoint, common) {
            return false;
        }
        let Some(ended) = self.ended[function].pop_front() else { return false };
        let Target { ring, far, .. } = &mut self.targets[usize::from(ended.queue)];
        let line = common.pages.physical(ring.next_line()) / 64;
        let class = common.flows[ended.flow as usize].class;
        let bytes = common.params.completion_bytes;
        common.counters.completions += 1;
        if ended.datagram || *far {
            endpoint.write_seen(line, bytes, class, Self::TAG.into(), context);
            self.unseen[function].push_back(ended);
        } else {
            endpoint.write(line, bytes, class, Self::TAG.into(), context);
            self.written[function].push_back(ended);
        }
        true
    }

    /// The oldest completion that a function has written can be seen.
    pub(super) fn deliver(&mut self, function: usize, context: &mut Context) {
        if let Some(ended) = self.written[function].pop_front() {
            self.tell(ended, context);
        }
    }

    /// The oldest completion that a function has written and watches can be seen.
    pub(super) fn see(&mut self, function: usize, context: &mut Context) {
        if let Some(ended) = self.unseen[function].pop_front() {
            self.tell(ended, context);
        }
    }

    fn tell(&self, Ended { queue, flow, bytes, .. }: Ended, context: &mut Context) {
        context.send(self.targets[usize::from(queue)].core, 1, Payload::Sent { flow, bytes });
    }
}
