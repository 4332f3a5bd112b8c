//! DMA writes of one function: from the receive buffer to memory, packet by packet, in TLPs.

use super::counters::Wait;
use super::queue::Queue;
use super::receive::{frame_bytes, Receive};
use super::Common;
use crate::line::{Content, PacketId, Packets};
use crate::link::Endpoint;
use crate::part::Context;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packet that waits in the buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Arrival {
    id: PacketId,
    since: Time,
}

/// Packet that is being written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    id: PacketId,
    queue: u16,
    class: u8,
    /// Virtual address of the next write.
    address: u64,
    /// Bytes that are not yet written. At 0 the completion is next.
    left: u32,
    /// True if the packet goes to an RDMA region and needs neither descriptor nor completion.
    rdma: bool,
    /// True if a rank must be notified once the data is visible.
    told: bool,
    since: Time,
}

/// Next step of a function's DMA writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// No step is possible, because the head of the buffer waits for this resource.
    Wait(Wait),
    /// A TLP can be sent at this time, or as soon as possible after it.
    Write(Time),
}

/// Receive buffer of one function.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Writer {
    buffer: VecDeque<Arrival>,
    head: Option<Head>,
    /// Lines written that did not fill a burst.
    owed_lines: u32,
}

impl Writer {
    /// Appends a packet that has arrived in the buffer.
    pub(super) fn push(&mut self, id: PacketId, now: Time) {
        self.buffer.push_back(Arrival { id, since: now });
    }

    /// Returns the next step.
    pub(super) fn next(&self, queues: &[Queue], endpoint: &Endpoint, packets: &Packets, common: &Common) -> Step {
        let (ready, bytes) = match (&self.head, self.buffer.front()) {
            (Some(head), _) if head.left > 0 => (head.since, endpoint.write_bytes(head.address, head.left)),
            (Some(head), _) => (head.since, common.params.completion_bytes),
            (None, Some(arrival)) => {
                let packet = packets.get(arrival.id);
                let ready = arrival.since + common.params.receive_ps;
                if let Content::Roce(roce) = &packet.content {
                    let bytes = common.params.line_size.shrink(roce.data_bytes());
                    return if endpoint.may_write(endpoint.write_bytes(0, bytes)) {
                        Step::Write(ready)
                    } else {
                        Step::Wait(Wait::Credits)
                    };
                }
                let queue = &queues[usize::from(packet.queue)];
                if !queue.has_descriptor() {
                    return Step::Wait(if queue.free > 0 { Wait::Fetch } else { Wait::Descriptor });
                }
                (ready, endpoint.write_bytes(0, common.params.line_size.shrink(frame_bytes(packet))))
            }
            (None, None) => return Step::Wait(Wait::None),
        };
        if endpoint.may_write(bytes) {
            Step::Write(ready)
        } else {
            Step::Wait(Wait::Credits)
        }
    }

    /// Sends the next TLP.
    pub(super) fn write(
        &mut self,
        of: &mut Receive,
        endpoint: &mut Endpoint,
        common: &mut Common,
        context: &mut Context,
    ) {
        let Some(mut head) = self.head.take().or_else(|| self.begin(of, common, context)) else { return };
        if head.left == 0 {
            return complete(&head, of, endpoint, common, context);
        }
        let bytes = endpoint.write_bytes(head.address, head.left);
        let line = common.pages.physical(head.address) / 64;
        head.address += u64::from(bytes);
        head.left -= bytes;
        // A burst has room for the completion, so that none is written separately.
        let completes = head.left == 0 && common.params.line_size.is_burst() && !head.rdma;
        let told = head.left == 0 && head.told;
        let id = if completes || told { head.id } else { PacketId::NONE };
        if told || completes && of.queues[usize::from(head.queue)].far {
            endpoint.write_seen(line, bytes, head.class, id.into(), context);
        } else {
            endpoint.write(line, bytes, head.class, id.into(), context);
        }
        common.counters.written_bytes += common.params.line_size.expand(u64::from(bytes));
        if head.left == 0 {
            of.leave(head.id, head.since, common, context);
            if told {
                return;
            }
            if head.rdma {
                return end(head.id, common, context);
            }
        }
        if completes {
            common.counters.completions += 1;
        } else {
            self.head = Some(head);
        }
    }

    /// Takes the first packet of the buffer and determines the address of its data. Returns `None` if the data is not
    /// written to memory.
    fn begin(&mut self, of: &mut Receive, common: &mut Common, context: &mut Context) -> Option<Head> {
        let Arrival { id, since } = self.buffer.pop_front()?;
        let packet = *context.packets.get(id);
        let class = common.flows[packet.flow as usize].class;
        let joinable = &mut of.joinable[packet.flow as usize];
        if *joinable == id {
            *joinable = PacketId::NONE;
        }
        if let Content::Roce(roce) = packet.content {
            let address = common.rdma.receive(&packet, &roce, context);
            let Some(address) = address.filter(|_| roce.bytes > 0) else {
                of.leave(id, since, common, context);
                end(id, common, context);
                return None;
            };
            let left = self.burst_bytes(roce.bytes, 0, common);
            let told = common.rdma.has_rank(packet.flow);
            return Some(Head { id, queue: 0, class, address, left, rdma: true, told, since });
        }
        let (queue, frame) = (packet.queue, frame_bytes(&packet));
        let left = self.burst_bytes(frame, 1, common);
        let address = of.queues[usize::from(queue)].take(common.params.step_bytes(left));
        context.packets.get_mut(id).line = address / 64;
        Some(Head { id, queue, class, address, left, rdma: false, told: false, since })
    }

    /// Returns the bytes of simulated memory for a frame of `bytes` bytes and `completions` lines of completions.
    /// With bursts, lines that do not fill a burst carry over to the next packet.
    fn burst_bytes(&mut self, bytes: u32, completions: u32, common: &Common) -> u32 {
        let size = common.params.line_size;
        if !size.is_burst() {
            return bytes;
        }
        self.owed_lines += bytes.div_ceil(64) + completions;
        let bursts = size.shrink(self.owed_lines).max(1);
        self.owed_lines = self.owed_lines.saturating_sub(size.expand(bursts));
        bursts * 64
    }
}

/// Writes the completion of a packet.
fn complete(head: &Head, of: &mut Receive, endpoint: &mut Endpoint, common: &mut Common, context: &mut Context) {
    let queue = &mut of.queues[usize::from(head.queue)];
    let line = queue.completion_line(common.pages.pages());
    let bytes = common.params.completion_bytes;
    common.counters.completions += 1;
    // The costs of streams on the local socket were calibrated with notification as soon as the IIO holds the
    // completion.
    if queue.far || matches!(context.packets.get(head.id).content, Content::Udp(_)) {
        endpoint.write_seen(line, bytes, head.class, head.id.into(), context);
    } else {
        endpoint.write(line, bytes, head.class, head.id.into(), context);
    }
}

/// Removes a packet that no core sees and counts it as delivered.
pub(super) fn end(id: PacketId, common: &mut Common, context: &mut Context) {
    let packet = context.packets.remove(id);
    common.flow_counters[packet.flow as usize].delivered.add(packet.ip_bytes);
}
