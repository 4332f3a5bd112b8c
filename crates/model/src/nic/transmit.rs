//! Send side: from a segment of a core in memory to packets at the port.

use super::gather::{Fragment, GatherQueue, PacketOwner};
use super::reader::DmaReader;
use super::segments::{HEADER_BYTES, LAST, RDMA_CONTROL, RDMA_DATA, TCP, UDP};
use super::send_queue::{PostedDescriptor, QueuePlacement, SendQueue, OPEN_SEGMENTS};
use super::sent::Sent;
use super::Common;
use crate::ether::DepartedPacket;
use crate::line::{Content, Packet, PacketId, POOL_FLOW};
use crate::met::Limit;
use crate::params::{RDMA_MTU_MAX, UDP_HEADER_BYTES};
use crate::part::Context;
use crate::transport::roce::DATA_HEADER_BYTES;
use crate::transport::stage_times::Stage;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Send side of the NIC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Transmit {
    pub(super) queues: Vec<SendQueue>,
    /// Core of each queue, in ascending order.
    cores: Vec<ComponentId>,
    /// Send queue, by flow.
    queue_of: Vec<u16>,
    /// Bytes that have left since the last segment ended, by flow.
    left_bytes: Vec<u32>,
    /// Segments in the queues.
    pub(super) segments: u32,
    /// DMA reads, by function.
    pub(super) readers: Vec<DmaReader>,
    /// Packets that have been cut and have not reached the port, by function.
    pub(super) gathers: Vec<GatherQueue>,
    /// Receive queues whose descriptors have arrived.
    pub(super) fetched: Vec<u16>,
    /// Bytes requested from memory and not yet sent.
    pub(super) window_used: u32,
    /// Completions of segments that have left.
    pub(super) sent: Sent,
}

impl Transmit {
    /// Creates the send side of a NIC with `functions` functions.
    ///
    /// Flow `i` is sent by `cores[i]` at first. Each core in `own` has a private send queue, which `queue_of` places.
    pub(super) fn new(
        functions: usize,
        cores: &[ComponentId],
        mut own: Vec<ComponentId>,
        queue_of: impl Fn(ComponentId) -> QueuePlacement,
    ) -> Self {
        // Sorted by id, for the binary search in `enqueue` and the same order in every run.
        own.sort_unstable_by_key(|core| core.0);
        own.dedup();
        let places: Vec<QueuePlacement> = own.iter().map(|&core| queue_of(core)).collect();
        let queue_of = cores.iter().map(|core| own.partition_point(|other| other.0 < core.0) as u16).collect();
        let queue = |place: &QueuePlacement| SendQueue {
            descriptors: place.rings.segments,
            function: place.function,
            away_ps: place.away_ps,
            waiting: VecDeque::new(),
            open: VecDeque::with_capacity(OPEN_SEGMENTS),
        };
        Self {
            queues: places.iter().map(queue).collect(),
            queue_of,
            left_bytes: vec![0; cores.len()],
            segments: 0,
            readers: (0..functions).map(DmaReader::new).collect(),
            gathers: vec![GatherQueue::default(); functions],
            fetched: Vec::new(),
            window_used: 0,
            sent: Sent::new(functions, own.iter().zip(&places)),
            cores: own,
        }
    }

    /// Returns the number of segments that are not yet fully cut.
    pub(super) fn segments(&self) -> u32 {
        self.segments
    }

    /// Returns the bytes requested from memory and not yet sent.
    pub(super) fn window_used(&self) -> u32 {
        self.window_used
    }

    /// Returns true if there is data to be sent and the send window has no room for the largest packet.
    pub(super) fn waits_for_window(&self, common: &Common) -> bool {
        // Counted against the largest packet, since the next may be of any flow.
        let full = self.window_used + common.largest_bytes > common.params.send_window_bytes;
        full && (self.segments > 0 || common.rdma.may_send(&common.port))
    }

    /// Takes `bytes` bytes of the send window for the next packet.
    pub(super) fn take(&mut self, bytes: u32, common: &mut Common) {
        self.window_used += bytes;
        let largest = common.params.frame_bytes.max(RDMA_MTU_MAX);
        if self.window_used + largest > common.params.send_window_bytes {
            common.counters.met.set(Limit::SendWindow);
        }
    }

    /// Queues a segment whose doorbell a core has rung.
    ///
    /// # Panics
    /// Panics if the core has no send queue.
    pub(super) fn enqueue(&mut self, id: PacketId, core: ComponentId, common: &Common, context: &mut Context) {
        let now = context.now();
        let packet = context.packets.get_mut(id);
        packet.end(Stage::TxRegister, now);
        let Packet { flow, content, .. } = *packet;
        let number = self.cores.binary_search_by_key(&core.0, |own| own.0).expect("what is sent has a queue");
        // A thread may move to another core while its flow runs, so the queue follows the last sender.
        self.queue_of[flow as usize] = number as u16;
        let queue = &mut self.queues[number];
        // The latency of a doorbell ends here; descriptors are read in the order of the doorbells.
        let visible_at = now + queue.away_ps + common.params.transmit_ps;
        queue.waiting.push_back(PostedDescriptor { visible_at, id, datagram: matches!(content, Content::Udp(_)) });
        self.segments += 1;
    }

    /// Records a read request of a function for descriptors of a receive queue.
    pub(super) fn expect(&mut self, function: usize, queue: u16, lines: u32) {
        self.readers[function].expect(queue, lines);
    }

    /// Lends a fragment of a packet that another function cuts to `function`.
    pub(super) fn lend(&mut self, function: usize, fragment: Fragment) {
        self.readers[function].borrow(fragment);
    }

    /// Completes a read of a packet, and sends all packets that are now complete and next in order.
    pub(super) fn gather(&mut self, owner: PacketOwner, common: &mut Common, context: &mut Context) {
        self.gathers[owner.function].done(owner);
        // A packet whose data came early waits for those cut before it.
        while let Some(id) = self.gathers[owner.function].next() {
            self.send(id, common, context);
        }
    }

    /// Marks the oldest requested descriptor of a send queue as arrived.
    pub(super) fn mark_descriptor_arrived(&mut self, queue: u16) {
        let open = &mut self.queues[usize::from(queue)].open;
        if let Some(open) = open.iter_mut().find(|open| !open.known) {
            open.known = true;
        }
    }

    /// Hands a packet to the port.
    pub(super) fn send(&mut self, id: PacketId, common: &mut Common, context: &mut Context) {
        let now = context.now();
        context.packets.get_mut(id).end(Stage::TxDma, now);
        if let Some(left) = common.port.push(id, &mut context.net()) {
            self.leave(&left, common, context);
        }
    }

    /// Frees the send window of a packet that has left. Queues the completion of its segment if it was the last
    /// packet.
    pub(super) fn leave(&mut self, left: &DepartedPacket, common: &mut Common, context: &mut Context) {
        common.watch.iter_mut().for_each(|watch| watch.sent(left.ip_bytes));
        // Messages of the pool took nothing of the window.
        if left.flow == POOL_FLOW {
            return;
        }
        let flow = left.flow as usize;
        let flow_counters = &mut common.flow_counters[flow];
        flow_counters.sent.add(left.ip_bytes);
        if left.dropped.is_some() {
            flow_counters.lost.add(left.ip_bytes);
        }
        // The window counts data only; headers come with the descriptor.
        let bytes = match left.queue & !LAST {
            TCP => left.ip_bytes - HEADER_BYTES,
            UDP => left.ip_bytes - UDP_HEADER_BYTES,
            RDMA_DATA => left.ip_bytes - DATA_HEADER_BYTES,
            RDMA_CONTROL => 0,
            _ => left.ip_bytes,
        };
        self.window_used -= bytes;
        // RDMA has no segments of cores, so nobody waits for a completion.
        if matches!(left.queue, RDMA_DATA | RDMA_CONTROL) {
            return;
        }
        self.left_bytes[flow] += bytes;
        // A segment without data (a pure acknowledgement) needs no completion.
        if left.queue & LAST != 0 && self.left_bytes[flow] > 0 {
            let bytes = std::mem::take(&mut self.left_bytes[flow]);
            let datagram = left.queue & !LAST == UDP;
            self.sent.end(self.queue_of[flow], left.flow, bytes, datagram, common, context);
        }
    }
}
