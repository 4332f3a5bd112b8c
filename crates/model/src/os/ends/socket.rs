//! One end of a flow at a network core: its connection, its application, and where its data lies.

use super::migration::Hop;
use super::output::Buffer;
use crate::flow::Application;
use crate::line::Packet;
use crate::os::books::SocketCounts;
use crate::os::region::Region;
use crate::params::{LineSize, TcpParams, Traffic};
use crate::transport::tcp::{Segment, TcpConnection};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Bytes of an Ethernet header, before the IP header in memory.
const ETHERNET_BYTES: u32 = 14;
/// TCP small queues: what may be handed to the NIC beyond two segments is what is sent in this time, in ps (1 ms in
/// Linux).
const QUEUE_PS: u128 = 1_000_000_000;
/// The most that may be handed to the NIC, in bytes (`tcp_limit_output_bytes` of Linux).
const QUEUE_BYTES_MAX: u64 = 1 << 20;

/// One end of a flow whose application runs on a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetSocketParams {
    /// The flow, as numbered in [`crate::params::ClusterParams::flows`].
    pub flow: u32,
    /// The class of the requests for lines that it causes.
    pub class: u8,
    /// This host.
    pub host: u16,
    /// The host at the other end.
    pub peer: u16,
    /// Priority class of its packets, 0 to 7.
    pub priority: u8,
    /// The connection.
    pub tcp: TcpParams,
    /// What its application does.
    pub traffic: Traffic,
    /// Whether this end begins the flow.
    pub initiator: bool,
    /// The file whose pages it sends, without a copy (sendfile); else it sends what it has written.
    pub file: Option<Region>,
    /// When it begins, in ps.
    pub start_ps: u64,
    /// When the receiving application does not read, from and to in ps.
    pub deaf_ps: Option<(u64, u64)>,
    /// Whether its thread begins at this core; elsewhere it is one that comes later.
    pub here: bool,
    /// Where its thread goes, in the order of time.
    pub hops: Vec<Hop>,
}

impl NetSocketParams {
    /// The number of the service whose requests come here, if any do.
    pub(in crate::os) fn service(&self) -> Option<u32> {
        match &self.traffic {
            Traffic::Service(service) if !self.initiator => Some(service.number),
            _ => None,
        }
    }
}

/// Data of a packet in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    /// Its bytes in the stream.
    start: u64,
    end: u64,
    /// The physical line that its frame begins at, and how many bytes after that its data does.
    line: u64,
    offset: u32,
    /// The first line of the frame that no copy has read.
    fresh: u64,
}

/// One end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::os) struct Socket {
    pub(in crate::os) params: NetSocketParams,
    pub(in crate::os) connection: TcpConnection,
    pub(in crate::os) application: Application,
    pub(in crate::os) counts: SocketCounts,
    /// The service that its requests are for, by its place among those of the server.
    pub(in crate::os) service: Option<usize>,
    /// What has come and is not yet copied, in the order of the stream.
    pieces: VecDeque<Piece>,
    /// The number of the last packet that the kernel has seen, and those that came by another queue before it was
    /// their turn.
    seen: u64,
    early: BTreeMap<u64, Packet>,
    /// Bytes of the stream that the application has read.
    read_at: u64,
    /// Where it sends from, by the first byte of the stream that lies there; the last first.
    sends_from: Vec<(u64, Buffer)>,
    /// Whether its thread is at this core, whether that is about to go, and how often it has.
    pub(in crate::os) present: bool,
    pub(in crate::os) leaving: bool,
    pub(in crate::os) hops: usize,
    /// The core by whose send queue it went before, while something is there.
    pub(in crate::os) by: Option<ComponentId>,
    /// Bytes handed to the NIC that have not left it.
    pub(in crate::os) in_nic: u64,
    /// Whether the flow has begun.
    pub(in crate::os) begun: bool,
    /// Whether the application waits for its turn.
    pub(in crate::os) ready: bool,
    /// Whether it sleeps.
    pub(in crate::os) asleep: bool,
    /// Whether it had to do without room at its last turn.
    pub(in crate::os) blocked: bool,
    /// Whether it is to write before it reads again.
    pub(in crate::os) write_next: bool,
    /// Whether it stands in the list of those that may have something to send.
    pub(in crate::os) sending: bool,
    /// The event that will wake it up.
    pub(in crate::os) wake_at: Option<Time>,
    /// The event of the connection's timer that is under way, and its number.
    pub(in crate::os) timer_at: Option<Time>,
    /// When its timer last was due, and not only looked at.
    pub(in crate::os) fired_at: Option<Time>,
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
            pieces: VecDeque::new(),
            seen: 0,
            early: BTreeMap::new(),
            read_at: 0,
            sends_from: vec![(0, params.file.map_or(buffer, |file| buffer.of_file(file)))],
            present: params.here,
            leaving: false,
            hops: 0,
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

    /// What is left where a socket was.
    pub(in crate::os) fn absent(of: &Self) -> Self {
        let mut left = Self::new(of.params.clone(), of.sends_from[0].1);
        left.service = of.service;
        left.present = false;
        left.generation = of.generation.wrapping_add(1);
        left
    }

    /// Where its thread goes next.
    pub(in crate::os) fn next_hop(&self) -> Option<Hop> {
        self.params.hops.get(self.hops).copied()
    }

    /// Whether its thread is here and not about to go.
    pub(in crate::os) fn stays(&self) -> bool {
        self.present && !self.leaving
    }

    /// What is written from now on lies there. A file stays where it is.
    pub(in crate::os) fn sends_from(&mut self, buffer: Buffer) {
        if self.params.file.is_some() {
            return;
        }
        self.sends_from.insert(0, (self.counts.written_bytes, buffer));
    }

    /// All that it sends lies there; before it has written anything.
    pub(in crate::os) fn send_only_from(&mut self, buffer: Buffer) {
        self.sends_from = vec![(0, self.params.file.map_or(buffer, |file| buffer.of_file(file)))];
    }

    /// The line of virtual memory where a byte of the stream that it sends lies.
    pub(in crate::os) fn line(&self, byte: u64) -> u64 {
        let (_, buffer) = self.sends_from.iter().find(|(from, _)| *from <= byte).expect("the first holds byte 0");
        buffer.line(byte)
    }

    /// Whether the application does not read now.
    pub(in crate::os) fn is_deaf(&self, now: Time) -> bool {
        let NetSocketParams { initiator, deaf_ps, .. } = &self.params;
        !initiator && deaf_ps.is_some_and(|(from, to)| (from..to).contains(&now.ps()))
    }

    /// Bytes that may be written, offered to the application: after the buffer was full, none until a third of it is
    /// free, as in Linux.
    pub(in crate::os) fn room(&self) -> u64 {
        let room = self.connection.room();
        if !self.blocked || room.saturating_mul(3) >= self.params.tcp.send_buffer_bytes {
            room
        } else {
            0
        }
    }

    /// Whether another segment may be handed to the NIC: as much as two segments, or as is sent in a millisecond.
    pub(in crate::os) fn may_send(&self) -> bool {
        let srtt_ps = u128::from(self.connection.srtt_ps().max(1));
        let rate = (u128::from(self.connection.cwnd_bytes()) * QUEUE_PS / srtt_ps).min(u128::from(QUEUE_BYTES_MAX));
        self.in_nic < (2 * u64::from(self.params.tcp.tso_bytes)).max(rate as u64)
    }

    /// Whether it is the turn of a packet; else it is kept until then. After a flow was steered to another queue what
    /// came by the old one goes first: Linux waits until that is empty.
    pub(in crate::os) fn is_next(&mut self, packet: &Packet) -> bool {
        let next = packet.order <= self.seen + 1;
        if next {
            self.seen = packet.order;
        } else {
            self.early.insert(packet.order, *packet);
        }
        next
    }

    /// A packet that was kept and whose turn has come.
    pub(in crate::os) fn next_kept(&mut self) -> Option<Packet> {
        self.early.remove(&(self.seen + 1))
    }

    /// Notes where the data of a packet lies. What is there already is not noted again.
    pub(in crate::os) fn keep(&mut self, segment: &Segment, packet: &Packet) {
        let (start, end) = (segment.sequence, segment.sequence + u64::from(segment.bytes));
        let at = self.pieces.partition_point(|piece| piece.start <= start);
        let covered = at.checked_sub(1).is_some_and(|before| self.pieces[before].end >= end);
        if segment.bytes == 0 || end <= self.read_at || covered {
            return;
        }
        let offset = packet.ip_bytes.saturating_sub(segment.bytes) + ETHERNET_BYTES;
        self.pieces.insert(at, Piece { start, end, line: packet.line, offset, fresh: packet.line });
    }

    /// Takes the next `bytes` bytes out of what has come, and hands the lines to read for them to `source`.
    ///
    /// A burst that is not half full counts as none.
    pub(in crate::os) fn take(&mut self, bytes: u64, size: LineSize, mut source: impl FnMut(u64, u32)) {
        let end = self.read_at + bytes;
        let line_bytes = size.bytes();
        let fill = if size.is_burst() { line_bytes / 2 } else { line_bytes - 1 };
        while let Some(piece) = self.pieces.front_mut() {
            if piece.start >= end {
                break;
            }
            let (from, to) = (piece.start.max(self.read_at), piece.end.min(end));
            if from < to {
                let at = |byte: u64| byte - piece.start + u64::from(piece.offset);
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
            self.pieces.pop_front();
        }
        debug_assert!(self.read_at == end, "what can be read has come");
        self.read_at = end;
    }

    /// What is left of the packet in whose middle the last read ended: its first line, and how many.
    pub(in crate::os) fn rest(&self, size: LineSize) -> Option<(u64, u32)> {
        let piece = self.pieces.front().filter(|piece| piece.start < self.read_at)?;
        let past = piece.line + (piece.end - piece.start + u64::from(piece.offset)).div_ceil(size.bytes());
        (past > piece.fresh).then(|| (piece.fresh, (past - piece.fresh) as u32))
    }
}
