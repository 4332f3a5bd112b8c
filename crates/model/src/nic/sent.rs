//! Send completions: written to memory when a segment has left the port, and then reported to its core.

use super::send_queue::QueuePlacement;
use super::Common;
use crate::line::{LineRing, PacketId};
use crate::link::PcieEndpoint;
use crate::part::{Context, Payload};
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Segment or datagram that has left the port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SentSegment {
    queue: u16,
    flow: u32,
    bytes: u32,
    datagram: bool,
}

/// Completion ring of a send queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct CompletionRing {
    /// Core that is notified.
    core: ComponentId,
    ring: LineRing,
    function: usize,
    /// True if the ring is on another socket than the function.
    far: bool,
}

/// Send completions of all queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sent {
    /// Completion ring, by send queue.
    targets: Vec<CompletionRing>,
    /// Completions that must be written, by function.
    ended: Vec<VecDeque<SentSegment>>,
    /// Completions in flight whose posted credits have not returned, by function.
    written: Vec<VecDeque<SentSegment>>,
    /// Completions in flight of datagrams, and of queues on other sockets, by function. These count as delivered once
    /// they are globally visible.
    unseen: Vec<VecDeque<SentSegment>>,
}

impl Sent {
    /// Tag of completion writes at the link.
    pub(super) const TAG: PacketId = PacketId(u32::MAX - 1);

    /// Creates the completion state for the send queues of `targets`, served by `functions` functions.
    pub(super) fn new<'a>(
        functions: usize,
        targets: impl Iterator<Item = (&'a ComponentId, &'a QueuePlacement)>,
    ) -> Self {
        let target = |(&core, place): (&ComponentId, &QueuePlacement)| {
            let QueuePlacement { rings, function, far, .. } = *place;
            CompletionRing { core, ring: rings.sent, function, far }
        };
        let none = vec![VecDeque::new(); functions];
        Self { targets: targets.map(target).collect(), ended: none.clone(), written: none.clone(), unseen: none }
    }

    /// Queues the completion of a segment or datagram that has left. With bursts, which have no room for a
    /// completion, the core is notified immediately.
    pub(super) fn end(
        &mut self,
        queue: u16,
        flow: u32,
        bytes: u32,
        datagram: bool,
        common: &Common,
        context: &mut Context,
    ) {
        let ended = SentSegment { queue, flow, bytes, datagram };
        // The lines of a completion are part of the burst.
        if common.params.line_size.is_burst() {
            self.tell(ended, context);
        } else {
            self.ended[self.targets[usize::from(queue)].function].push_back(ended);
        }
    }

    /// Returns true if a completion is queued and a function has the credits to write it.
    pub(super) fn may_write(&self, function: usize, endpoint: &PcieEndpoint, common: &Common) -> bool {
        !self.ended[function].is_empty() && endpoint.may_write(common.params.completion_bytes)
    }

    /// Writes the next completion of a function. Returns true if a completion was written.
    pub(super) fn write(
        &mut self,
        function: usize,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        if !self.may_write(function, endpoint, common) {
            return false;
        }
        let Some(ended) = self.ended[function].pop_front() else { return false };
        let CompletionRing { ring, far, .. } = &mut self.targets[usize::from(ended.queue)];
        let line = common.pages.physical(ring.next_line()) / 64;
        let class = common.flows[ended.flow as usize].class;
        let bytes = common.params.completion_bytes;
        common.counters.completions += 1;
        // These count as sent only when the completion is visible (docs/models/nic.md, Send completion).
        if ended.datagram || *far {
            endpoint.write_seen(line, bytes, class, Self::TAG.into(), context);
            self.unseen[function].push_back(ended);
        } else {
            endpoint.write(line, bytes, class, Self::TAG.into(), context);
            self.written[function].push_back(ended);
        }
        true
    }

    /// Notifies the core of the oldest completion whose posted credits have returned.
    pub(super) fn deliver(&mut self, function: usize, context: &mut Context) {
        if let Some(ended) = self.written[function].pop_front() {
            self.tell(ended, context);
        }
    }

    /// Notifies the core of the oldest completion that has become globally visible.
    pub(super) fn see(&mut self, function: usize, context: &mut Context) {
        if let Some(ended) = self.unseen[function].pop_front() {
            self.tell(ended, context);
        }
    }

    fn tell(&self, SentSegment { queue, flow, bytes, .. }: SentSegment, context: &mut Context) {
        context.send(self.targets[usize::from(queue)].core, 1, Payload::Sent { flow, bytes });
    }
}
