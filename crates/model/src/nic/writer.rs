//! DMA writes of one function: from the receive buffer to memory, packet by packet, in TLPs.

use super::counters::HeadWait;
use super::queue::Queue;
use super::receive_buffer::{end, frame_bytes, ReceiveBuffer};
use super::Common;
use crate::line::{Content, PacketId, Packets};
use crate::link::PcieEndpoint;
use crate::part::Context;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packet that waits in the buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BufferedPacket {
    id: PacketId,
    since: Time,
}

/// Packet that is being written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DmaHead {
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
    notify_rank: bool,
    since: Time,
}

/// Next step of a function's DMA writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteStep {
    /// No step is possible, because the head of the buffer waits for this resource.
    HeadWait(HeadWait),
    /// A TLP can be sent at this time, or as soon as possible after it.
    Write(Time),
}

/// Receive buffer of one function.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DmaWriter {
    buffer: VecDeque<BufferedPacket>,
    head: Option<DmaHead>,
    /// Lines written that did not fill a burst.
    carried_lines: u32,
}

impl DmaWriter {
    /// Appends a packet that has arrived in the buffer.
    pub(super) fn push(&mut self, id: PacketId, now: Time) {
        self.buffer.push_back(BufferedPacket { id, since: now });
    }

    /// Returns the next step.
    pub(super) fn next(
        &self,
        queues: &[Queue],
        endpoint: &PcieEndpoint,
        packets: &Packets,
        common: &Common,
    ) -> WriteStep {
        let (ready, bytes) = match (&self.head, self.buffer.front()) {
            // The head's latency is over, so its TLPs go as soon as credits allow.
            (Some(head), _) if head.left > 0 => (head.since, endpoint.write_bytes(head.address, head.left)),
            (Some(head), _) => (head.since, common.params.completion_bytes),
            (None, Some(arrival)) => {
                let packet = packets.get(arrival.id);
                // The latency of the card counts from the last bit (docs/models/nic.md, Latency).
                let ready = arrival.since + common.params.receive_ps;
                if let Content::Roce(roce) = &packet.content {
                    let bytes = common.params.line_size.shrink(roce.data_bytes());
                    // The first TLP from a region is at most the MPS, whatever its address.
                    return if endpoint.may_write(endpoint.write_bytes(0, bytes)) {
                        WriteStep::Write(ready)
                    } else {
                        WriteStep::HeadWait(HeadWait::Credits)
                    };
                }
                let queue = &queues[usize::from(packet.queue)];
                if !queue.has_descriptor() {
                    // Descriptors in memory that are not fetched yet are the card's delay, not the core's.
                    return WriteStep::HeadWait(if queue.free > 0 { HeadWait::Fetch } else { HeadWait::Descriptor });
                }
                (ready, endpoint.write_bytes(0, common.params.line_size.shrink(frame_bytes(packet))))
            }
            (None, None) => return WriteStep::HeadWait(HeadWait::None),
        };
        if endpoint.may_write(bytes) {
            WriteStep::Write(ready)
        } else {
            WriteStep::HeadWait(HeadWait::Credits)
        }
    }

    /// Sends the next TLP.
    pub(super) fn write(
        &mut self,
        of: &mut ReceiveBuffer,
        endpoint: &mut PcieEndpoint,
        common: &mut Common,
        context: &mut Context,
    ) {
        let Some(mut head) = self.head.take().or_else(|| self.begin(of, common, context)) else { return };
        // The data is written; the completion follows it on the link.
        if head.left == 0 {
            return complete(&head, of, endpoint, common, context);
        }
        let bytes = endpoint.write_bytes(head.address, head.left);
        let line = common.pages.physical(head.address) / 64;
        head.address += u64::from(bytes);
        head.left -= bytes;
        // A burst has room for the completion, so that none is written separately.
        let completes = head.left == 0 && common.params.line_size.is_burst() && !head.rdma;
        let notify_rank = head.left == 0 && head.notify_rank;
        let id = if completes || notify_rank { head.id } else { PacketId::NONE };
        if notify_rank || completes && of.queues[usize::from(head.queue)].far {
            endpoint.write_seen(line, bytes, head.class, id.into(), context);
        } else {
            endpoint.write(line, bytes, head.class, id.into(), context);
        }
        common.counters.written_bytes += common.params.line_size.expand(u64::from(bytes));
        // PCIe is lossless, so the buffer is free once the last TLP is sent (docs/models/nic.md).
        if head.left == 0 {
            of.leave(head.id, head.since, common, context);
            if notify_rank {
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
    fn begin(&mut self, of: &mut ReceiveBuffer, common: &mut Common, context: &mut Context) -> Option<DmaHead> {
        let BufferedPacket { id, since } = self.buffer.pop_front()?;
        let packet = *context.packets.get(id);
        let class = common.flows[packet.flow as usize].class;
        let joinable = &mut of.joinable[packet.flow as usize];
        // LRO merges within the buffer only; what is being written cannot grow.
        if *joinable == id {
            *joinable = PacketId::NONE;
        }
        if let Content::Roce(roce) = packet.content {
            let address = common.rdma.receive(&packet, &roce, context);
            // Acknowledgements and rejected packets have nothing to write.
            let Some(address) = address.filter(|_| roce.bytes > 0) else {
                of.leave(id, since, common, context);
                end(id, common, context);
                return None;
            };
            let left = self.burst_bytes(roce.bytes, 0, common);
            let notify_rank = common.rdma.has_rank(packet.flow);
            return Some(DmaHead { id, queue: 0, class, address, left, rdma: true, notify_rank, since });
        }
        let (queue, frame) = (packet.queue, frame_bytes(&packet));
        // The completion is one more line of the burst.
        let left = self.burst_bytes(frame, 1, common);
        let address = of.queues[usize::from(queue)].take(common.params.step_bytes(left));
        context.packets.get_mut(id).line = address / 64;
        Some(DmaHead { id, queue, class, address, left, rdma: false, notify_rank: false, since })
    }

    /// Returns the bytes of simulated memory for a frame of `bytes` bytes and `completions` lines of completions.
    /// With bursts, lines that do not fill a burst carry over to the next packet.
    fn burst_bytes(&mut self, bytes: u32, completions: u32, common: &Common) -> u32 {
        let size = common.params.line_size;
        if !size.is_burst() {
            return bytes;
        }
        self.carried_lines += bytes.div_ceil(64) + completions;
        // At least one, so that a small packet still costs a write; the excess is not carried.
        let bursts = size.shrink(self.carried_lines).max(1);
        self.carried_lines = self.carried_lines.saturating_sub(size.expand(bursts));
        bursts * 64
    }
}

/// Writes the completion of a packet.
fn complete(
    head: &DmaHead,
    of: &mut ReceiveBuffer,
    endpoint: &mut PcieEndpoint,
    common: &mut Common,
    context: &mut Context,
) {
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
