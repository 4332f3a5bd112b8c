//! The send side: from a core's segment in memory to packets at the port.

use super::gather::{Fragment, Gather, Owner};
use super::rdma::RDMA_MTU_MAX;
use super::reader::Reader;
use super::segments::{HEADER_BYTES, LAST, RDMA_CONTROL, RDMA_DATA, TCP, UDP};
use super::sent::Sent;
use super::Common;
use crate::ether::Left;
use crate::line::{Content, Packet, PacketId, Packets, Ring, Rings, POOL_FLOW};
use crate::link::Endpoint;
use crate::met::Limit;
use crate::part::Context;
use crate::transport::journey::Stage;
use crate::transport::roce::DATA_HEADER_BYTES;
use crate::transport::udp;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A segment whose descriptor was asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) id: PacketId,
    /// Whether the descriptor is there.
    pub(super) known: bool,
    /// Bytes of data that packets were cut of.
    pub(super) cut: u32,
}

/// Descriptors of a queue that are asked for ahead: the next one is there when a segment ends. A datagram is over long
/// before the next descriptor could come, so that cards read those of many at a time (assumed: 32).
const OPEN_SEGMENTS: usize = 2;
const OPEN_DATAGRAMS: usize = 32;

/// A segment or datagram whose doorbell was rung.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PostedDescriptor {
    /// From when on its descriptor may be read.
    pub(super) heard: Time,
    pub(super) id: PacketId,
    datagram: bool,
}

/// The segments of one core, and where their descriptors lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SendQueue {
    pub(super) descriptors: Ring,
    /// The function that it goes by, and what a doorbell takes longer to get there, in ps.
    pub(super) function: usize,
    away_ps: u64,
    pub(super) waiting: VecDeque<PostedDescriptor>,
    pub(super) open: VecDeque<Open>,
}

impl SendQueue {
    /// The next whose descriptor may be asked for.
    pub(super) fn next(&self) -> Option<&PostedDescriptor> {
        let ahead = |rung: &&PostedDescriptor| if rung.datagram { OPEN_DATAGRAMS } else { OPEN_SEGMENTS };
        self.waiting.front().filter(|rung| self.open.len() < ahead(rung))
    }
}

/// Where a core's queue is, and what it goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) rings: Rings,
    pub(super) function: usize,
    pub(super) far: bool,
    pub(super) away_ps: u64,
}

/// The send side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Transmit {
    pub(super) queues: Vec<SendQueue>,
    /// The core of each queue, in ascending order.
    cores: Vec<ComponentId>,
    /// Per flow: the queue that it goes by.
    queue_of: Vec<u16>,
    /// Per flow: bytes that left since the last segment ended.
    left_bytes: Vec<u32>,
    /// Segments in the queues.
    pub(super) segments: u32,
    /// Per function: what it reads.
    readers: Vec<Reader>,
    /// Per function: the packets that it has cut.
    pub(super) gathers: Vec<Gather>,
    /// Receive queues whose descriptors have come.
    pub(super) fetched: Vec<u16>,
    /// Bytes asked for and not yet sent.
    pub(super) window_used: u32,
    /// Completions of segments that have left.
    pub(super) sent: Sent,
}

impl Transmit {
    /// The send side of a NIC with `functions` functions whose flows are sent by `cores` at first, each of `own` from a
    /// queue of its own.
    pub(super) fn new(
        functions: usize,
        cores: &[ComponentId],
        mut own: Vec<ComponentId>,
        queue_of: impl Fn(ComponentId) -> Place,
    ) -> Self {
        own.sort_unstable_by_key(|core| core.0);
        own.dedup();
        let places: Vec<Place> = own.iter().map(|&core| queue_of(core)).collect();
        let queue_of = cores.iter().map(|core| own.partition_point(|other| other.0 < core.0) as u16).collect();
        let queue = |place: &Place| SendQueue {
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
            readers: (0..functions).map(Reader::new).collect(),
            gathers: vec![Gather::default(); functions],
            fetched: Vec::new(),
            window_used: 0,
            sent: Sent::new(functions, own.iter().zip(&places)),
            cores: own,
        }
    }

    /// Segments in the queues, of which something is not yet cut.
    pub(super) fn segments(&self) -> u32 {
        self.segments
    }

    /// Bytes asked for and not yet sent.
    pub(super) fn window_used(&self) -> u32 {
        self.window_used
    }

    /// Returns true if there is data to be sent and the send window has no room for the largest packet.
    pub(super) fn waits_for_window(&self, common: &Common) -> bool {
        let full = self.window_used + common.largest_bytes > common.params.send_window_bytes;
        full && (self.segments > 0 || common.rdma.is_wanting(&common.port))
    }

    /// Data of the next packet is asked of memory.
    pub(super) fn take(&mut self, bytes: u32, common: &mut Common) {
        self.window_used += bytes;
        let largest = common.params.frame_bytes.max(RDMA_MTU_MAX);
        if self.window_used + largest > common.params.send_window_bytes {
            common.counters.met.set(Limit::SendWindow);
        }
    }

    /// A core rings the doorbell for a segment.
    ///
    /// # Panics
    /// If it has no queue.
    pub(super) fn enqueue(&mut self, id: PacketId, core: ComponentId, common: &Common, context: &mut Context) {
        let now = context.now();
        let packet = context.packets.get_mut(id);
        packet.end(Stage::TxRegister, now);
        let Packet { flow, content, .. } = *packet;
        let number = self.cores.binary_search_by_key(&core.0, |own| own.0).expect("what is sent has a queue");
        self.queue_of[flow as usize] = number as u16;
        let queue = &mut self.queues[number];
        let heard = now + queue.away_ps + common.params.transmit_ps;
        queue.waiting.push_back(PostedDescriptor { heard, id, datagram: matches!(content, Content::Udp(_)) });
        self.segments += 1;
    }

    /// When a function has something to do.
    pub(super) fn next(
        &self,
        function: usize,
        now: Time,
        endpoint: &Endpoint,
        packets: &Packets,
        common: &Common,
    ) -> Option<Time> {
        self.readers[function].next(self, now, endpoint, packets, common)
    }

    /// A function sends its next read request. True when one was sent.
    pub(super) fn read(
        &mut self,
        function: usize,
        endpoint: &mut Endpoint,
        common: &mut Common,
        context: &mut Context,
    ) -> bool {
        let mut reader = std::mem::take(&mut self.readers[function]);
        let sent = reader.read(self, endpoint, common, context);
        self.readers[function] = reader;
        sent
    }

    /// A function has asked for descriptors of a receive queue.
    pub(super) fn expect(&mut self, function: usize, queue: u16, lines: u32) {
        self.readers[function].expect(queue, lines);
    }

    /// Data that a function has asked for is there.
    pub(super) fn complete(&mut self, function: usize, lines: u32, common: &mut Common, context: &mut Context) {
        let mut reader = std::mem::take(&mut self.readers[function]);
        reader.complete(self, lines, common, context);
        self.readers[function] = reader;
    }

    /// Has a function read a fragment of a packet that another one cuts.
    pub(super) fn lend(&mut self, function: usize, fragment: Fragment) {
        self.readers[function].borrow(fragment);
    }

    /// A read of a packet is done: those go to the port that are whole.
    pub(super) fn gather(&mut self, owner: Owner, common: &mut Common, context: &mut Context) {
        self.gathers[owner.function].done(owner);
        while let Some(id) = self.gathers[owner.function].next() {
            self.send(id, common, context);
        }
    }

    pub(super) fn learn(&mut self, queue: u16) {
        let open = &mut self.queues[usize::from(queue)].open;
        if let Some(open) = open.iter_mut().find(|open| !open.known) {
            open.known = true;
        }
    }

    pub(super) fn send(&mut self, id: PacketId, common: &mut Common, context: &mut Context) {
        let now = context.now();
        context.packets.get_mut(id).end(Stage::TxDma, now);
        if let Some(left) = common.port.push(id, &mut context.net()) {
            self.leave(&left, common, context);
        }
    }

    /// A packet has left: there is room for others, and its core will be told when it was the last of a segment.
    pub(super) fn leave(&mut self, left: &Left, common: &mut Common, context: &mut Context) {
        common.watch.iter_mut().for_each(|watch| watch.sent(left.ip_bytes));
        if left.flow == POOL_FLOW {
            return;
        }
        let flow = left.flow as usize;
        let books = &mut common.flow_counters[flow];
        books.sent.add(left.ip_bytes);
        if left.dropped.is_some() {
            books.lost.add(left.ip_bytes);
        }
        let bytes = match left.queue & !LAST {
            TCP => left.ip_bytes - HEADER_BYTES,
            UDP => left.ip_bytes - udp::HEADER_BYTES,
            RDMA_DATA => left.ip_bytes - DATA_HEADER_BYTES,
            RDMA_CONTROL => 0,
            _ => left.ip_bytes,
        };
        self.window_used -= bytes;
        if matches!(left.queue, RDMA_DATA | RDMA_CONTROL) {
            return;
        }
        self.left_bytes[flow] += bytes;
        if left.queue & LAST != 0 && self.left_bytes[flow] > 0 {
            let bytes = std::mem::take(&mut self.left_bytes[flow]);
            let datagram = left.queue & !LAST == UDP;
            self.sent.end(self.queue_of[flow], left.flow, bytes, datagram, common, context);
        }
    }
}
