//! The receive buffer: packets from the cable, until they are written to memory and delivered.

use super::counters::DropReason;
use super::events::EventQueues;
use super::queue::{Moderation, Queue};
use super::Common;
use crate::ether::{headroom_bytes, WireParams};
use crate::line::{Content, Packet, PacketId};
use crate::link::PcieEndpoint;
use crate::params::NicParams;
use crate::part::{Context, Payload};
use crate::transport::stage_times::Stage;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Bytes of the Ethernet header, which lies in memory before the IP packet.
const ETHERNET_BYTES: u32 = 14;
/// Bytes of the largest IP packet that LRO may produce.
const JOINED_BYTES_MAX: u32 = 65_535;

/// Returns the bytes that a packet occupies in the receive buffer and in memory.
pub(super) fn frame_bytes(packet: &Packet) -> u32 {
    packet.ip_bytes + ETHERNET_BYTES
}

fn is_rdma(packet: &Packet) -> bool {
    matches!(packet.content, Content::Roce(_))
}

/// Returns true if PFC pauses the peer before packets of a priority are lost.
fn is_lossless(params: &NicParams, priority: u8) -> bool {
    params.pfc.as_ref().is_some_and(|pfc| pfc.priorities >> priority & 1 != 0)
}

/// Data that a peer may already have between its queue and the wire when it is paused, as time on the wire in ps
/// (assumed: a few switch latencies).
const PEER_BEFORE_PS: u64 = 2_000_000;

/// Returns the bytes of the buffer that lossy packets may fill: the rest after XOFF and headroom of every lossless
/// priority, and one frame at least.
pub(super) fn lossy_bytes(params: &NicParams, wire: &WireParams, frame_bytes: u32) -> u64 {
    let Some(pfc) = &params.pfc else { return params.buffer_bytes };
    // What is in flight when the peer is paused must fit (IEEE 802.1Qbb, PFC headroom).
    let headroom = headroom_bytes(wire.bytes_per_s, wire.latency_ps, PEER_BEFORE_PS, frame_bytes);
    let own = pfc.xoff_bytes.saturating_add(headroom);
    let kept = own.saturating_mul(pfc.priorities.count_ones().into());
    // One frame at least: otherwise lossy priorities could never receive.
    params.buffer_bytes.saturating_sub(kept).max(frame_bytes.into())
}

/// Receive buffer of the NIC, and the receive queues that its packets go to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReceiveBuffer {
    pub(super) queues: Vec<Queue>,
    pub(super) events: EventQueues,
    /// Bytes in the buffer.
    used: u64,
    /// Bytes in the buffer, by priority.
    used_of: [u64; 8],
    /// Bytes of lossy priorities in the buffer.
    used_lossy: u64,
    /// Limit of `used_lossy`.
    lossy_bytes: u64,
    /// Bit mask of the priorities that the peer is asked to pause.
    pausing: u8,
    /// Last packet in the buffer that LRO may extend, by flow.
    pub(super) joinable: Vec<PacketId>,
}

impl ReceiveBuffer {
    /// Creates the buffer of a NIC with `functions` functions and `flows` flows, whose lossy packets fill at most
    /// `lossy_bytes` bytes.
    pub(super) fn new(functions: usize, queues: Vec<Queue>, flows: usize, lossy_bytes: u64) -> Self {
        Self {
            queues,
            events: EventQueues::new(functions),
            used: 0,
            used_of: [0; 8],
            used_lossy: 0,
            lossy_bytes,
            pausing: 0,
            joinable: vec![PacketId::NONE; flows],
        }
    }

    /// Returns a receive queue.
    pub(super) fn queue(&self, queue: u16) -> &Queue {
        &self.queues[usize::from(queue)]
    }

    /// Removes a packet from the buffer.
    pub(super) fn leave(&mut self, id: PacketId, since: Time, common: &mut Common, context: &mut Context) {
        let packet = *context.packets.get(id);
        common.counters.buffered_ps.record(context.now().since(since));
        self.shrink(packet.priority, frame_bytes(&packet), common, context);
    }

    /// Admits a packet from the cable to the buffer, merges it into the last packet of its flow, or drops it. Returns
    /// the function that writes an admitted packet.
    pub(super) fn arrive(&mut self, id: PacketId, common: &mut Common, context: &mut Context) -> Option<usize> {
        let packet = *context.packets.get(id);
        let flow_counters = &mut common.flow_counters[packet.flow as usize];
        // A switch floods packets whose address it has not learned; other hosts discard them.
        if packet.copy {
            flow_counters.strays.add(packet.ip_bytes);
            context.packets.remove(id);
            return None;
        }
        flow_counters.received.add(packet.ip_bytes);
        // Before LRO: a merged packet needs room, too.
        if let Some(reason) = self.reason_to_drop(&packet, common) {
            common.flow_counters[packet.flow as usize].drop(reason, packet.ip_bytes);
            context.packets.remove(id);
            return None;
        }
        if common.params.lro && self.join(&packet, common, context) {
            context.packets.remove(id);
            return None;
        }
        let queue = common.find_queue(packet.flow, context.now());
        let now = context.now();
        // The card counts a request before it is in memory, ahead of the cores (docs/models/nic.md, NCAP).
        common.watch.iter_mut().for_each(|watch| watch.received(&packet, now));
        let into = context.packets.get_mut(id);
        into.end(Stage::Wire, now);
        into.queue = queue;
        into.order = common.next_order(packet.flow);
        let of_queue = self.queues.get(usize::from(queue)).map_or(0, |queue| queue.function);
        // RDMA uses the first function; other packets that of their queue.
        let function = if is_rdma(&packet) { 0 } else { of_queue };
        // A packet that could not be merged is the one that the next may join.
        self.joinable[packet.flow as usize] = id;
        self.grow(packet.priority, frame_bytes(&packet), common, context);
        Some(function)
    }

    fn reason_to_drop(&self, packet: &Packet, common: &Common) -> Option<DropReason> {
        let frame = frame_bytes(packet);
        // The order of the reasons: what is wrong with the packet itself counts before lack of room.
        if packet.corrupt {
            Some(DropReason::Corrupt)
        } else if self.queues.is_empty() && !is_rdma(packet) {
            Some(DropReason::NoQueue)
        // RDMA data goes to a region and needs no descriptor.
        } else if common.params.line_size.shrink(frame) > common.params.descriptor_bytes && !is_rdma(packet) {
            Some(DropReason::TooLong)
        } else if self.has_room(packet.priority, u64::from(frame), &common.params) {
            None
        // The head waits for a descriptor, so the driver and not PCIe is to blame.
        } else if common.counters.descriptor_wait.value() > 0 {
            Some(DropReason::NoDescriptor)
        } else {
            Some(DropReason::BufferFull)
        }
    }

    /// Returns true if a frame fits into the buffer and into the share of its priority. For lossy priorities, the
    /// largest frame must fit.
    fn has_room(&self, priority: u8, frame: u64, params: &NicParams) -> bool {
        if is_lossless(params, priority) {
            // The peer was paused at XOFF, so only the whole buffer limits lossless packets.
            return self.used + frame <= params.buffer_bytes;
        }
        // The length of a frame is known only at its end, so small frames are dropped as early as large ones.
        let frame = frame.max(params.frame_bytes.into());
        self.used + frame <= params.buffer_bytes && self.used_lossy + frame <= self.lossy_bytes
    }

    /// Appends the data of a packet to the last packet of its flow in the buffer (LRO). Returns false if the packet
    /// is out of order, carries different marks, or does not fit.
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
            // Acknowledgements stay packets of their own: TCP counts duplicates.
            first.bytes > 0 && second.bytes > 0 && second.sequence == first.sequence + u64::from(first.bytes);
        let alike =
            // A mark must reach TCP with the bytes that it is for (RFC 3168, DCTCP counts marked bytes).
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
        // The newer echo gives the round trip of the newer acknowledgement.
        joined.sent_echo = first.sent_echo.max(second.sent_echo);
        joined.retransmitted = first.retransmitted || second.retransmitted;
        before.content = Content::Tcp(joined);
        before.ip_bytes = whole;
        // The data goes on as that of the packet before; only the headers end here.
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

    /// Sends a pause or a resume to the peer if the bytes of a priority have crossed a threshold.
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
        common.port.request_pause(priority, on, &mut context.net());
    }

    /// Delivers a packet whose completion has become visible, or whose RDMA data has become visible to a rank.
    pub(super) fn deliver(&mut self, id: PacketId, common: &mut Common, context: &mut Context) {
        if let Packet { flow, content: Content::Roce(roce), .. } = *context.packets.get(id) {
            common.rdma.came(flow, roce.bytes, context);
            return end(id, common, context);
        }
        let now = context.now();
        let packet = context.packets.get_mut(id);
        packet.end(Stage::RxDma, now);
        let Packet { flow, ip_bytes, queue, .. } = *packet;
        common.flow_counters[flow as usize].delivered.add(ip_bytes);
        let ring = &mut self.queues[usize::from(queue)];
        // The event queue entry has no flow of its own and counts for the last one.
        ring.class = common.flows[flow as usize].class;
        // The core learns of the packet at once; whether it looks is up to interrupts and polls.
        context.send(ring.core, 1, Payload::Received(id));
        let mut moderation = ring.deliver(context.now(), &common.params, &mut common.counters.met);
        // With NCAP, a request after a long idle time interrupts as soon as its packet is in memory (IT_RX).
        if common.watch.as_mut().is_some_and(|watch| watch.take_urgent()) && ring.take_due_interrupt() {
            moderation = Moderation::Fire;
        }
        self.interrupt(queue, moderation, common, context);
    }

    /// Returns descriptors to a ring, and arms the interrupt of its queue if `armed`.
    pub(super) fn replenish(
        &mut self,
        queue: u16,
        count: u16,
        armed: bool,
        common: &mut Common,
        context: &mut Context,
    ) {
        let ring = &mut self.queues[usize::from(queue)];
        let met = &mut common.counters.met;
        let moderation = ring.replenish(u32::from(count), armed, context.now(), &common.params, met);
        self.interrupt(queue, moderation, common, context);
    }

    /// Interrupts if the moderation timer of a queue that fires now is still valid.
    pub(super) fn expire(&mut self, queue: u16, common: &mut Common, context: &mut Context) {
        // The timer may belong to a wait that ended early by the number of packets.
        if self.queues[usize::from(queue)].expire(context.now()) {
            self.interrupt(queue, Moderation::Fire, common, context);
        }
    }

    fn interrupt(&mut self, queue: u16, moderation: Moderation, common: &mut Common, context: &mut Context) {
        match moderation {
            Moderation::Nothing => {}
            Moderation::Until(time) => {
                context.send(context.id, time.since(context.now()), Payload::Interrupt { queue });
            }
            Moderation::Fire => {
                // NCAP measures idle time from the last interrupt.
                common.watch.iter_mut().for_each(|watch| watch.interrupted(context.now()));
                self.events.raise(queue, &self.queues[usize::from(queue)], common, context);
            }
        }
    }

    /// Writes the next event queue entry of a function. Returns true if an entry was written.
    pub(super) fn write_event(
        &mut self,
        function: usize,
        endpoint: &mut PcieEndpoint,
        common: &Common,
        context: &mut Context,
    ) -> bool {
        self.events.write(function, &mut self.queues, endpoint, common, context)
    }
}

/// Removes a packet that no core sees and counts it as delivered.
pub(super) fn end(id: PacketId, common: &mut Common, context: &mut Context) {
    let packet = context.packets.remove(id);
    common.flow_counters[packet.flow as usize].delivered.add(packet.ip_bytes);
}
