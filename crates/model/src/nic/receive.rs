//! The receive side: from the cable through the buffer to memory.

use super::counters::{DropReason, Wait};
use super::queue::{Moderation, Queue};
use super::Common;
use crate::ether::{headroom_bytes, WireParams};
use crate::line::{Content, Packet, PacketId, Packets};
use crate::link::Endpoint;
use crate::params::NicParams;
use crate::part::{Context, Payload};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of the Ethernet header, which lies in memory before the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// The largest IP packet that can be made by joining others.
const JOINED_BYTES_MAX: u32 = 65_535;

/// Bytes of a packet in the receive buffer and in memory.
fn frame_bytes(packet: &Packet) -> u32 {
    packet.ip_bytes + ETHERNET_BYTES
}

fn is_rdma(packet: &Packet) -> bool {
    matches!(packet.content, Content::Roce(_))
}

/// Whether the peer is paused before packets of a priority are lost.
fn is_lossless(params: &NicParams, priority: u8) -> bool {
    params.pfc.as_ref().is_some_and(|pfc| pfc.priorities >> priority & 1 != 0)
}

/// What a peer may have between its queue and the wire when it is paused (assumed: some latencies of switches).
const PEER_BEFORE_PS: u64 = 2_000_000;

/// Bytes of the buffer that packets that may be lost can fill: what XOFF and the headroom of every lossless priority
/// leave, a frame at least.
pub(super) fn lossy_bytes(params: &NicParams, wire: &WireParams, frame_bytes: u32) -> u64 {
    let Some(pfc) = &params.pfc else { return params.buffer_bytes };
    let headroom = headroom_bytes(wire.bytes_per_s, wire.latency_ps, PEER_BEFORE_PS, frame_bytes);
    let own = pfc.xoff_bytes.saturating_add(headroom);
    let kept = own.saturating_mul(pfc.priorities.count_ones().into());
    params.buffer_bytes.saturating_sub(kept).max(frame_bytes.into())
}

/// A packet in the buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Arrival {
    id: PacketId,
    since: Time,
}

/// The packet that is being written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    id: PacketId,
    queue: u16,
    class: u8,
    /// Virtual address of what is to be written next.
    address: u64,
    /// Bytes that are not yet written; 0 = its completion is next.
    left: u32,
    /// Whether it goes to a memory region, so that it needs neither descriptor nor completion.
    rdma: bool,
    since: Time,
}

/// What the receive side can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing; see why.
    Wait(Wait),
    /// Send a TLP at this time, or as soon as possible after it.
    Write(Time),
}

/// The receive side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Receive {
    /// Lines written that did not fill a burst.
    owed_lines: u32,
    buffer: VecDeque<Arrival>,
    head: Option<Head>,
    queues: Vec<Queue>,
    /// Bytes in the buffer.
    used: u64,
    /// The same of each priority.
    used_of: [u64; 8],
    /// The same of the priorities that may be lost, and the most of them.
    used_lossy: u64,
    lossy_bytes: u64,
    /// Priorities whose peer is paused.
    pausing: u8,
    /// Per flow: its last packet in the buffer, if packets may be joined to it.
    joinable: Vec<PacketId>,
}

impl Receive {
    /// The receive side of a NIC with `flows` flows, where packets that may be lost fill `lossy_bytes` bytes of the
    /// buffer at most.
    pub(super) fn new(queues: Vec<Queue>, flows: usize, lossy_bytes: u64) -> Self {
        Self {
            owed_lines: 0,
            buffer: VecDeque::with_capacity(1024),
            head: None,
            queues,
            used: 0,
            used_of: [0; 8],
            used_lossy: 0,
            lossy_bytes,
            pausing: 0,
            joinable: vec![PacketId::NONE; flows],
        }
    }

    /// A receive queue.
    pub(super) fn queue(&self, queue: u16) -> &Queue {
        &self.queues[usize::from(queue)]
    }

    /// A packet comes in from the cable.
    pub(super) fn arrive(&mut self, id: PacketId, common: &mut Common, context: &mut Context) {
        let packet = *context.packets.get(id);
        let books = &mut common.flow_counters[packet.flow as usize];
        books.received.add(packet.ip_bytes);
        if let Some(reason) = self.reason_to_drop(&packet, common) {
            common.flow_counters[packet.flow as usize].drop(reason, packet.ip_bytes);
            context.packets.remove(id);
            return;
        }
        if common.params.lro && self.join(&packet, common, context) {
            context.packets.remove(id);
            return;
        }
        context.packets.get_mut(id).queue = common.queue_of(packet.flow);
        self.buffer.push_back(Arrival { id, since: context.now() });
        self.joinable[packet.flow as usize] = id;
        self.grow(packet.priority, frame_bytes(&packet), common, context);
    }

    fn reason_to_drop(&self, packet: &Packet, common: &Common) -> Option<DropReason> {
        let frame = frame_bytes(packet);
        if packet.corrupt {
            Some(DropReason::Corrupt)
        } else if self.queues.is_empty() && !is_rdma(packet) {
            Some(DropReason::NoQueue)
        } else if common.params.line_size.shrink(frame) > common.params.descriptor_bytes && !is_rdma(packet) {
            Some(DropReason::TooLong)
        } else if self.has_room(packet.priority, u64::from(frame), &common.params) {
            None
        } else if common.counters.descriptor_wait.value() > 0 {
            Some(DropReason::NoDescriptor)
        } else {
            Some(DropReason::BufferFull)
        }
    }

    /// Whether a frame fits into the buffer, and into the part of it that its priority may fill. The largest frame has
    /// to fit where any may be lost.
    fn has_room(&self, priority: u8, frame: u64, params: &NicParams) -> bool {
        if is_lossless(params, priority) {
            return self.used + frame <= params.buffer_bytes;
        }
        let frame = frame.max(params.frame_bytes.into());
        self.used + frame <= params.buffer_bytes && self.used_lossy + frame <= self.lossy_bytes
    }

    /// Makes the data of a packet part of the last packet of its flow in the buffer, if that is in order and there is
    /// room.
    fn join(&mut self, packet: &Packet, common: &mut Common, context: &mut Context) -> bool {
        let last = self.joinable[packet.flow as usize];
        if last == PacketId::NONE {
            return false;
        }
        let before = context.packets.get_mut(last);
        let (Content::Tcp(first), Content::Tcp(second)) = (before.content, packet.content) else { return false };
        let whole = before.ip_bytes + second.bytes;
        let fits = whole <= JOINED_BYTES_MAX && whole + ETHERNET_BYTES <= common.params.descriptor_bytes;
        let in_order =
            first.bytes > 0 && second.bytes > 0 && second.sequence == first.sequence + u64::from(first.bytes);
        let alike =
            before.ecn == packet.ecn && first.echo == second.echo && !second.reduced && first.sack == second.sack;
        if !(fits && in_order && alike) {
            return false;
        }
        let mut joined = second;
        joined.sequence = first.sequence;
        joined.bytes = first.bytes + second.bytes;
        joined.reduced = first.reduced;
        // Of data that is acknowledged together the oldest timestamp is echoed (RFC 7323 section 4.3).
        joined.sent = first.sent;
        joined.sent_echo = first.sent_echo.max(second.sent_echo);
        joined.retransmitted = first.retransmitted || second.retransmitted;
        before.content = Content::Tcp(joined);
        before.ip_bytes = whole;
        common.flow_counters[packet.flow as usize].joined.add(packet.ip_bytes - second.bytes);
        self.grow(packet.priority, second.bytes, common, context);
        true
    }

    fn grow(&mut self, priority: u8, bytes: u32, common: &mut Common, context: &mut Context) {
        self.used += u64::from(bytes);
        self.used_of[usize::from(priority)] += u64::from(bytes);
        if !is_lossless(&common.params, priority) {
            self.used_lossy += u64::from(bytes);
        }
        common.counters.buffer.set(context.now(), self.used);
        self.pause(priority, common, context);
    }

    fn shrink(&mut self, priority: u8, bytes: u32, common: &mut Common, context: &mut Context) {
        self.used -= u64::from(bytes);
        self.used_of[usize::from(priority)] -= u64::from(bytes);
        if !is_lossless(&common.params, priority) {
            self.used_lossy -= u64::from(bytes);
        }
        common.counters.buffer.set(context.now(), self.used);
        self.pause(priority, common, context);
    }

    /// Asks the peer to pause a priority, or to go on, if its bytes in the buffer have come to a threshold.
    fn pause(&mut self, priority: u8, common: &mut Common, context: &mut Context) {
        let Some(pfc) = &common.params.pfc else { return };
        let bit = 1 << priority;
        let used = self.used_of[usize::from(priority)];
        let is_on = self.pausing & bit != 0;
        let on = if is_on { used > pfc.xon_bytes } else { used >= pfc.xoff_bytes };
        if pfc.priorities & bit == 0 || on == is_on {
            return;
        }
        self.pausing ^= bit;
        common.counters.pauses_sent += u64::from(on);
        common.counters.pausing.set(context.now(), u64::from(self.pausing.count_ones()));
        common.port.ask_pause(priority, on, &mut context.net());
    }

    /// What comes next.
    pub(super) fn next(&self, endpoint: &Endpoint, packets: &Packets, common: &Common) -> Step {
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
                if self.queues[usize::from(packet.queue)].free == 0 {
                    return Step::Wait(Wait::Descriptor);
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
    pub(super) fn write(&mut self, endpoint: &mut Endpoint, common: &mut Common, context: &mut Context) {
        let Some(mut head) = self.head.take().or_else(|| self.begin(common, context)) else { return };
        if head.left == 0 {
            return self.complete(&head, endpoint, common, context);
        }
        let bytes = endpoint.write_bytes(head.address, head.left);
        let line = common.pages.physical(head.address) / 64;
        head.address += u64::from(bytes);
        head.left -= bytes;
        // Bursts have room for the completion.
        let completes = head.left == 0 && common.params.line_size.is_burst() && !head.rdma;
        let id = if completes { head.id } else { PacketId::NONE };
        endpoint.write(line, bytes, head.class, id.0, context);
        common.counters.written_bytes += common.params.line_size.expand(u64::from(bytes));
        if head.left == 0 {
            self.leave(head.id, head.since, common, context);
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

    /// A packet leaves the buffer.
    fn leave(&mut self, id: PacketId, since: Time, common: &mut Common, context: &mut Context) {
        let packet = *context.packets.get(id);
        common.counters.buffered_ps.record(context.now().since(since));
        self.shrink(packet.priority, frame_bytes(&packet), common, context);
    }

    /// Takes the first packet of the buffer, and finds out where it goes. Nothing when it goes nowhere.
    fn begin(&mut self, common: &mut Common, context: &mut Context) -> Option<Head> {
        let Arrival { id, since } = self.buffer.pop_front()?;
        let packet = context.packets.get_mut(id);
        let class = common.flows[packet.flow as usize].class;
        let joinable = &mut self.joinable[packet.flow as usize];
        if *joinable == id {
            *joinable = PacketId::NONE;
        }
        if let Content::Roce(roce) = packet.content {
            let address = common.rdma.receive(context.scheduler.now(), packet, &roce);
            let Some(address) = address.filter(|_| roce.bytes > 0) else {
                self.leave(id, since, common, context);
                end(id, common, context);
                return None;
            };
            let left = self.burst_bytes(roce.bytes, 0, common);
            return Some(Head { id, queue: 0, class, address, left, rdma: true, since });
        }
        let (queue, frame) = (packet.queue, frame_bytes(packet));
        let left = self.burst_bytes(frame, 1, common);
        let address = self.queues[usize::from(queue)].take(common.params.step_bytes(left));
        packet.line = address / 64;
        Some(Head { id, queue, class, address, left, rdma: false, since })
    }

    /// Bytes of the simulated memory that so many bytes of a frame take, in bursts with `completions` lines of
    /// completions. Lines that do not fill a burst are left for the next packet.
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

    /// Writes the completion of a packet.
    fn complete(&mut self, head: &Head, endpoint: &mut Endpoint, common: &mut Common, context: &mut Context) {
        let line = self.queues[usize::from(head.queue)].completion_line(common.pages.pages());
        endpoint.write(line, common.params.completion_bytes, head.class, head.id.0, context);
        common.counters.completions += 1;
    }

    /// The completion of a packet can be seen.
    pub(super) fn deliver(&mut self, id: PacketId, common: &mut Common, context: &mut Context) {
        let Packet { flow, ip_bytes, queue, .. } = *context.packets.get(id);
        common.flow_counters[flow as usize].delivered.add(ip_bytes);
        let ring = &mut self.queues[usize::from(queue)];
        context.send(ring.core, 1, Payload::Received(id));
        let moderation = ring.deliver(context.now(), &common.params);
        self.interrupt(queue, moderation, common, context);
    }

    /// A core gives descriptors back, and perhaps wants interrupts again.
    pub(super) fn replenish(
        &mut self,
        queue: u16,
        count: u16,
        armed: bool,
        common: &mut Common,
        context: &mut Context,
    ) {
        let ring = &mut self.queues[usize::from(queue)];
        let moderation = ring.replenish(u32::from(count), armed, context.now(), &common.params);
        self.interrupt(queue, moderation, common, context);
    }

    /// A wait of interrupt moderation may be over.
    pub(super) fn expire(&mut self, queue: u16, common: &mut Common, context: &mut Context) {
        if self.queues[usize::from(queue)].expire(context.now()) {
            self.interrupt(queue, Moderation::Fire, common, context);
        }
    }

    fn interrupt(&self, queue: u16, moderation: Moderation, common: &mut Common, context: &mut Context) {
        let interrupt = Payload::Interrupt { queue };
        match moderation {
            Moderation::Nothing => {}
            Moderation::Until(time) => context.send(context.id, time.since(context.now()), interrupt),
            Moderation::Fire => {
                common.counters.interrupts += 1;
                let core = self.queues[usize::from(queue)].core;
                context.send(core, common.params.interrupt_ps.max(1), interrupt);
            }
        }
    }
}

/// Ends a packet that no core sees.
fn end(id: PacketId, common: &mut Common, context: &mut Context) {
    let packet = context.packets.remove(id);
    common.flow_counters[packet.flow as usize].delivered.add(packet.ip_bytes);
}
