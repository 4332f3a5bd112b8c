//! End of a TCP flow at a network core: its connection, its application, and the location of its data.

use super::buffer::Buffer;
use crate::flow::Application;
use crate::line::Packet;
use crate::os::counters::SocketCounts;
use crate::os::region::Region;
use crate::params::{LineSize, TcpParams, Traffic};
use crate::transport::tcp::{Segment, TcpConnection};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Bytes of an Ethernet header, before the IP header in memory.
const ETHERNET_BYTES: u32 = 14;
/// Period of TCP small queues, in ps: the NIC may hold two segments, or the data sent in this time if that is more (1
/// ms in Linux).
const QUEUE_PS: u128 = 1_000_000_000;
/// Maximum data that the NIC may hold by that rule, in bytes (`tcp_limit_output_bytes` of Linux).
const QUEUE_BYTES_MAX: u64 = 1 << 20;

/// Migration of a thread: its time and its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadMigration {
    /// Time of the migration, in ps from the start of the run.
    pub at_ps: u64,
    /// Core that the thread migrates to.
    pub core: ComponentId,
    /// Receive queue of that core.
    pub queue: u16,
}

/// Parameters of one end of a TCP flow whose application runs on a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetSocketParams {
    /// Flow, as numbered in [`crate::params::ClusterParams::flows`].
    pub flow: u32,
    /// Class of the line requests that the flow causes.
    pub class: u8,
    /// Number of this host.
    pub host: u16,
    /// Number of the host at the other end.
    pub peer: u16,
    /// Priority class of the packets of this end, 0 to 7.
    pub priority: u8,
    /// Parameters of the connection.
    pub tcp: TcpParams,
    /// Traffic of the application of this end.
    pub traffic: Traffic,
    /// True if this end begins the flow.
    pub initiator: bool,
    /// File whose pages the end sends without a copy (sendfile), if any; otherwise it sends written data.
    pub file: Option<Region>,
    /// Time at which the flow begins, in ps.
    pub start_ps: u64,
    /// Interval in which the receiving application does not read: start and end, in ps.
    pub deaf_ps: Option<(u64, u64)>,
    /// True if the thread of the socket starts on this core, false if the thread migrates to this core later.
    pub here: bool,
    /// Migrations of the thread of this end, in order of time.
    pub migrations: Vec<ThreadMigration>,
}

impl NetSocketParams {
    /// Returns the number of the service whose requests arrive here, if any.
    pub(in crate::os) fn service(&self) -> Option<u32> {
        match &self.traffic {
            Traffic::Service(service) if !self.initiator => Some(service.number),
            _ => None,
        }
    }
}

/// Data of a received packet in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ReceivedData {
    /// Range of the data in the stream, in bytes.
    start: u64,
    end: u64,
    /// First virtual line of the frame of the packet, and bytes from the start of that line to the data.
    line: u64,
    offset: u32,
    /// First line of the frame that no copy has read.
    fresh: u64,
}

/// One end of a TCP flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::os) struct Socket {
    pub(in crate::os) params: NetSocketParams,
    pub(in crate::os) connection: TcpConnection,
    pub(in crate::os) application: Application,
    pub(in crate::os) counts: SocketCounts,
    /// Index of the service that its requests are for, among those of the server.
    pub(in crate::os) service: Option<usize>,
    /// Data that has arrived and is not copied yet, in stream order.
    received: VecDeque<ReceivedData>,
    /// Number of the last packet that the kernel has processed, and packets that arrived early by another queue.
    seen: u64,
    early: BTreeMap<u64, Packet>,
    /// Bytes of the stream that the application has read.
    read_at: u64,
    /// Memory that the socket sends from: each buffer with the first byte of the stream in the buffer, the most recent
    /// first.
    sends_from: Vec<(u64, Buffer)>,
    /// True if the thread of the socket is on this core; true if the thread is about to leave; number of migrations so
    /// far.
    pub(in crate::os) present: bool,
    pub(in crate::os) leaving: bool,
    pub(in crate::os) migrations: usize,
    /// Core whose send queue the socket used before, while that queue still holds segments of the socket.
    pub(in crate::os) by: Option<ComponentId>,
    /// Bytes handed to the NIC that have not left it.
    pub(in crate::os) in_nic: u64,
    /// True once the flow has begun.
    pub(in crate::os) begun: bool,
    /// True if the application is queued for its turn.
    pub(in crate::os) ready: bool,
    /// True if the application sleeps.
    pub(in crate::os) asleep: bool,
    /// True if the send buffer had no room at its last turn.
    pub(in crate::os) blocked: bool,
    /// True if the application must write before it reads again.
    pub(in crate::os) write_next: bool,
    /// True if the socket is queued for output.
    pub(in crate::os) sending: bool,
    /// Time of the event that will wake the application.
    pub(in crate::os) wake_at: Option<Time>,
    /// Time of the pending event of the connection's timer.
    pub(in crate::os) timer_at: Option<Time>,
    /// Time at which the timer last expired, not counting events of a timer that had moved.
    pub(in crate::os) fired_at: Option<Time>,
    /// Number of the pending event of the timer.
    pub(in crate::os) generation: u32,
}

impl Socket {
    pub(in crate::os) fn new(params: NetSocketParams, buffer: Buffer) -> Self {
        let mut connection = TcpConnection::new(&params.tcp);
        if params.traffic.no_delay() {
            connection.set_no_delay();
        }
        Self {
            connection,
            application: Application::new(&params.traffic, params.initiator, params.deaf_ps),
            counts: SocketCounts::default(),
            service: None,
            received: VecDeque::new(),
            seen: 0,
            early: BTreeMap::new(),
            read_at: 0,
            sends_from: vec![(0, params.file.map_or(buffer, |file| buffer.of_file(file)))],
            present: params.here,
            leaving: false,
            migrations: 0,
            by: None,
            in_nic: 0,
            begun: false,
            ready: false,
            asleep: true,
            blocked: false,
            write_next: false,
            sending: false,
            wake_at: None,
            timer_at: None,
            fired_at: None,
            generation: 0,
            params,
        }
    }

    /// Creates the placeholder that remains where a socket has migrated away.
    pub(in crate::os) fn absent(of: &Self) -> Self {
        let mut left = Self::new(of.params.clone(), of.sends_from[0].1);
        left.service = of.service;
        left.present = false;
        left.generation = of.generation.wrapping_add(1);
        left
    }

    /// Returns the next migration of its thread, if there is one.
    pub(in crate::os) fn next_migration(&self) -> Option<ThreadMigration> {
        self.params.migrations.get(self.migrations).copied()
    }

    /// Returns true if the thread of the socket is on this core and not about to leave.
    pub(in crate::os) fn stays(&self) -> bool {
        self.present && !self.leaving
    }

    /// Sets the buffer for data written from now on. A file remains in its place.
    pub(in crate::os) fn sends_from(&mut self, buffer: Buffer) {
        if self.params.file.is_some() {
            return;
        }
        // Segments may be retransmitted from the old buffer, so it stays in the list.
        self.sends_from.insert(0, (self.counts.written_bytes, buffer));
    }

    /// Sets the buffer for all data; nothing may have been written before.
    pub(in crate::os) fn send_only_from(&mut self, buffer: Buffer) {
        self.sends_from = vec![(0, self.params.file.map_or(buffer, |file| buffer.of_file(file)))];
    }

    /// Returns the virtual line that holds a byte of the stream that the socket sends.
    pub(in crate::os) fn line(&self, byte: u64) -> u64 {
        let (_, buffer) = self.sends_from.iter().find(|(from, _)| *from <= byte).expect("the first holds byte 0");
        buffer.line(byte)
    }

    /// Returns true if the application does not read now.
    pub(in crate::os) fn is_deaf(&self, now: Time) -> bool {
        let NetSocketParams { initiator, deaf_ps, .. } = &self.params;
        !initiator && deaf_ps.is_some_and(|(from, to)| (from..to).contains(&now.ps()))
    }

    /// Returns the bytes that the application may write. After the buffer was full, it may write none until a third is
    /// free, as in Linux.
    pub(in crate::os) fn room(&self) -> u64 {
        let room = self.connection.room();
        // A third, as `sk_stream_write_space` of Linux: a writer does not wake for every acknowledgement.
        if !self.blocked || room.saturating_mul(3) >= self.params.tcp.send_buffer_bytes {
            room
        } else {
            0
        }
    }

    /// Returns true if another segment may be handed to the NIC: the NIC may hold two segments, or the data that is
    /// sent in a millisecond if that is more.
    pub(in crate::os) fn may_send(&self) -> bool {
        let srtt_ps = u128::from(self.connection.srtt_ps().max(1));
        let rate = (u128::from(self.connection.cwnd_bytes()) * QUEUE_PS / srtt_ps).min(u128::from(QUEUE_BYTES_MAX));
        // Two segments at least, so that one is on the wire while the next is cut (TCP small queues).
        self.in_nic < (2 * u64::from(self.params.tcp.tso_bytes)).max(rate as u64)
    }

    /// Returns true if a packet is next in its flow; otherwise keeps it until then. After a flow was steered to
    /// another queue, packets of the old queue go first: Linux waits until that queue is empty.
    pub(in crate::os) fn is_next(&mut self, packet: &Packet) -> bool {
        // Orders are 0 if flows are never steered, so that every packet is next.
        let next = packet.order <= self.seen + 1;
        if next {
            self.seen = packet.order;
        } else {
            self.early.insert(packet.order, *packet);
        }
        next
    }

    /// Takes the kept packet that is next in the flow, if there is one.
    pub(in crate::os) fn next_kept(&mut self) -> Option<Packet> {
        self.early.remove(&(self.seen + 1))
    }

    /// Notes the location of the data of a packet, unless all of it is known already.
    pub(in crate::os) fn keep(&mut self, segment: &Segment, packet: &Packet) {
        let (start, end) = (segment.sequence, segment.sequence + u64::from(segment.bytes));
        // Kept in stream order; a retransmission may lie before data that has arrived.
        let at = self.received.partition_point(|piece| piece.start <= start);
        // A duplicate adds no data, and its lines are not read.
        let covered = at.checked_sub(1).is_some_and(|before| self.received[before].end >= end);
        if segment.bytes == 0 || end <= self.read_at || covered {
            return;
        }
        let offset = packet.ip_bytes.saturating_sub(segment.bytes) + ETHERNET_BYTES;
        self.received.insert(at, ReceivedData { start, end, line: packet.line, offset, fresh: packet.line });
    }

    /// Takes the next `bytes` bytes of the data that has arrived, and passes the lines to read for them to `source`.
    ///
    /// A burst that is less than half full is not counted.
    pub(in crate::os) fn take(&mut self, bytes: u64, size: LineSize, mut source: impl FnMut(u64, u32)) {
        let end = self.read_at + bytes;
        let line_bytes = size.bytes();
        // Rounds up to whole lines; bursts are rounded to the nearest, so that the mean is right.
        let fill = if size.is_burst() { line_bytes / 2 } else { line_bytes - 1 };
        while let Some(piece) = self.received.front_mut() {
            if piece.start >= end {
                break;
            }
            let (from, to) = (piece.start.max(self.read_at), piece.end.min(end));
            if from < to {
                let at = |byte: u64| byte - piece.start + u64::from(piece.offset);
                // A line that the last read shares with this one was read already.
                let first = (piece.line + at(from) / line_bytes).max(piece.fresh);
                let past = piece.line + (at(to) + fill) / line_bytes;
                if past > first {
                    source(first, (past - first) as u32);
                    piece.fresh = past;
                }
                self.read_at = to;
            }
            if piece.end > end {
                break;
            }
            self.received.pop_front();
        }
        debug_assert!(self.read_at == end, "what can be read has come");
        self.read_at = end;
    }

    /// Returns the unread rest of the packet in which the last read ended: its first line, and the number of lines.
    pub(in crate::os) fn rest(&self, size: LineSize) -> Option<(u64, u32)> {
        let piece = self.received.front().filter(|piece| piece.start < self.read_at)?;
        let past = piece.line + (piece.end - piece.start + u64::from(piece.offset)).div_ceil(size.bytes());
        (past > piece.fresh).then(|| (piece.fresh, (past - piece.fresh) as u32))
    }
}
