//! Two ends and a pipe between them: rate, delay, a queue that marks and drops, losses, reordering, copies.

use super::super::{Segment, TcpConnection};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) const US: u64 = 1_000_000;
pub(super) const MS: u64 = 1_000 * US;
pub(super) const HEADER: u64 = 52;

pub(super) fn params(control: CongestionControl) -> TcpParams {
    TcpParams {
        control,
        mss_bytes: 1448,
        tso_bytes: 1448,
        initial_window: 10,
        receive_buffer_bytes: 4 << 20,
        send_buffer_bytes: 4 << 20,
        rto_min_ps: 200 * MS,
        rto_initial_ps: 1000 * MS,
        ack_segments: 2,
        ack_delay_ps: 40 * MS,
        sack: true,
        tail_loss_probe: true,
        ecn: true,
    }
}

pub(super) const DCTCP: CongestionControl = CongestionControl::Dctcp { gain: 1 << 12, alpha: 1 << 16 };

/// One direction of the pipe. Shares are out of 1000.
#[derive(Clone, Debug)]
pub(super) struct PipeDirection {
    pub(super) ps_per_byte: u64,
    pub(super) delay_ps: u64,
    pub(super) queue_packets: usize,
    pub(super) mark_from: usize,
    pub(super) loss: u64,
    pub(super) reorder: u64,
    pub(super) reorder_ps: u64,
    pub(super) copy: u64,
    /// Indices of the data packets that are lost, from 0.
    pub(super) lose: Vec<u64>,
}

impl Default for PipeDirection {
    fn default() -> Self {
        Self {
            ps_per_byte: 800,
            delay_ps: 10 * US,
            queue_packets: usize::MAX,
            mark_from: usize::MAX,
            loss: 0,
            reorder: 0,
            reorder_ps: 0,
            copy: 0,
            lose: Vec::new(),
        }
    }
}

/// One end with its application, and the data that a naive receiver would hold.
pub(super) struct Host {
    pub(super) connection: TcpConnection,
    pub(super) total: u64,
    written: u64,
    pub(super) read: u64,
    /// Maximum number of bytes that the application reads at a time.
    pub(super) read_bytes: u64,
    pub(super) deaf: (Time, Time),
    arrived: Vec<bool>,
    arrived_to: u64,
    /// Highest end of a window that the end has advertised.
    offered: u64,
    buffer: u64,
    mss: u64,
}

impl Host {
    fn new(params: &TcpParams, total: u64) -> Self {
        Self {
            connection: TcpConnection::new(params),
            total,
            written: 0,
            read: 0,
            read_bytes: u64::MAX,
            deaf: (Time::ZERO, Time::ZERO),
            arrived: Vec::new(),
            arrived_to: 0,
            offered: params.receive_buffer_bytes,
            buffer: params.receive_buffer_bytes,
            mss: u64::from(params.mss_bytes),
        }
    }

    fn deaf(&self, now: Time) -> bool {
        self.deaf.0 <= now && now < self.deaf.1
    }

    /// Runs the application: writes all it can, reads all it may.
    fn act(&mut self, now: Time) {
        let bytes = (self.total - self.written).min(self.connection.room());
        self.connection.write(bytes);
        self.written += bytes;
        if !self.deaf(now) {
            let bytes = self.connection.readable().min(self.read_bytes);
            self.connection.read(now, bytes);
            self.read += bytes;
        }
    }

    fn receive(&mut self, now: Time, segment: &Segment) {
        let end = (segment.sequence + u64::from(segment.bytes)).min(self.offered);
        if segment.bytes > 0 && end > self.arrived.len() as u64 {
            self.arrived.resize(end as usize, false);
        }
        for byte in segment.sequence..end {
            self.arrived[byte as usize] = true;
        }
        while self.arrived.get(self.arrived_to as usize) == Some(&true) {
            self.arrived_to += 1;
        }
        self.connection.on_segment(now, segment);
        assert_eq!(self.read + self.connection.readable(), self.arrived_to, "what is in order is what arrived");
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Left(usize),
    Arrive(usize, usize),
    Wake(usize),
}

pub(super) struct Pipe {
    pub(super) now: Time,
    pub(super) hosts: [Host; 2],
    pub(super) ways: [PipeDirection; 2],
    free: [Time; 2],
    pub(super) queued: [usize; 2],
    pub(super) most_queued: [usize; 2],
    data_packets: [u64; 2],
    pub(super) dropped: [u64; 2],
    pub(super) marked: [u64; 2],
    pub(super) sent: [Vec<(Time, Segment)>; 2],
    pub(super) record: bool,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    segments: Vec<Segment>,
    count: u64,
    woken: [Time; 2],
    seed: u64,
}

impl Pipe {
    pub(super) fn new(params: &TcpParams, bytes: [u64; 2], ways: [PipeDirection; 2], seed: u64) -> Self {
        Self {
            now: Time::from_ps(US),
            hosts: bytes.map(|total| Host::new(params, total)),
            ways,
            free: [Time::ZERO; 2],
            queued: [0; 2],
            most_queued: [0; 2],
            data_packets: [0; 2],
            dropped: [0; 2],
            marked: [0; 2],
            sent: [Vec::new(), Vec::new()],
            record: false,
            events: BinaryHeap::new(),
            segments: Vec::new(),
            count: 0,
            woken: [Time::MAX; 2],
            seed: seed | 1,
        }
    }

    fn chance(&mut self, share: u64) -> bool {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 20) % 1000 < share
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, event)));
    }

    /// Runs until both ends have all bytes and all is acknowledged, or until `until`. Returns true if all is done.
    pub(super) fn run(&mut self, until: Time) -> bool {
        self.serve(0);
        self.serve(1);
        while !self.done() {
            let Some(Reverse((at, _, event))) = self.events.pop() else { return false };
            if at > until {
                self.schedule(at, event);
                return false;
            }
            self.now = at;
            match event {
                Event::Left(way) => self.queued[way] -= 1,
                Event::Arrive(host, index) => {
                    let segment = self.segments[index];
                    self.hosts[host].receive(at, &segment);
                    self.serve(host);
                }
                Event::Wake(host) => {
                    self.woken[host] = Time::MAX;
                    self.hosts[host].connection.on_timer(at);
                    self.serve(host);
                }
            }
        }
        true
    }

    pub(super) fn done(&self) -> bool {
        (0..2).all(|host| {
            let end = &self.hosts[host];
            end.read == self.hosts[1 - host].total && end.connection.unacknowledged() == 0 && end.written == end.total
        })
    }

    /// Has an end act and send, and schedules its wake-up.
    pub(super) fn serve(&mut self, host: usize) {
        let now = self.now;
        self.hosts[host].act(now);
        loop {
            let cwnd = self.hosts[host].connection.cwnd_bytes();
            let probes = self.probes(host);
            let Some(segment) = self.hosts[host].connection.next(now) else { break };
            self.check(host, &segment, cwnd, self.probes(host) > probes);
            self.send(host, segment);
        }
        let end = &self.hosts[host];
        let mut wake = end.connection.timer().unwrap_or(Time::MAX);
        assert!(wake > now || self.woken[host] == now, "a timer that is due was not served");
        if end.connection.readable() > 0 {
            wake = wake.min(if end.deaf(now) { end.deaf.1 } else { now + 50 * US });
        }
        if wake < self.woken[host] {
            self.woken[host] = wake;
            self.schedule(wake, Event::Wake(host));
        }
    }

    fn probes(&self, host: usize) -> u64 {
        let counters = self.hosts[host].connection.counters();
        counters.probes + counters.window_probes
    }

    /// Checks the invariants of a segment that is sent.
    fn check(&mut self, host: usize, segment: &Segment, cwnd: u64, probe: bool) {
        let end = segment.sequence + u64::from(segment.bytes);
        let offered = self.hosts[1 - host].offered;
        assert!(end <= offered || (probe && segment.bytes == 1), "{end} was sent beyond the window {offered}");
        if segment.bytes > 0 && !probe && !segment.retransmitted {
            let flight = self.hosts[host].connection.in_flight_bytes();
            assert!(flight <= cwnd, "{flight} bytes in flight with a window of {cwnd}");
        }
        let edge = segment.ack + segment.window;
        assert!(edge >= self.hosts[host].offered || segment.ack < self.hosts[host].arrived_to, "the window shrank");
        assert!(edge <= self.hosts[host].read + self.hosts[host].buffer);
        self.hosts[host].offered = self.hosts[host].offered.max(edge);
        if self.record {
            self.sent[host].push((self.now, *segment));
        }
    }

    /// Cuts a segment into packets and sends them.
    fn send(&mut self, way: usize, segment: Segment) {
        let mss = self.hosts[way].mss;
        let end = segment.sequence + u64::from(segment.bytes);
        let mut at = segment.sequence;
        loop {
            let bytes = (end - at).min(mss);
            let packet = Segment { sequence: at, bytes: bytes as u32, ..segment };
            self.send_packet(way, Segment { reduced: segment.reduced && at == segment.sequence, ..packet });
            at += bytes;
            if at >= end {
                return;
            }
        }
    }

    fn send_packet(&mut self, way: usize, mut packet: Segment) {
        let index = self.data_packets[way];
        self.data_packets[way] += u64::from(packet.bytes > 0);
        let loss = self.ways[way].loss;
        let listed = packet.bytes > 0 && self.ways[way].lose.contains(&index);
        if listed || self.chance(loss) || self.queued[way] >= self.ways[way].queue_packets {
            self.dropped[way] += 1;
            return;
        }
        if self.queued[way] >= self.ways[way].mark_from && self.hosts[way].connection.ecn_capable(&packet) {
            packet.marked = true;
            self.marked[way] += 1;
        }
        self.queued[way] += 1;
        self.most_queued[way] = self.most_queued[way].max(self.queued[way]);
        let begin = self.free[way].max(self.now);
        let left = begin + (u64::from(packet.bytes) + HEADER) * self.ways[way].ps_per_byte + 1;
        self.free[way] = left;
        self.schedule(left, Event::Left(way));
        let late = if self.chance(self.ways[way].reorder) { self.ways[way].reorder_ps } else { 0 };
        let copies = 1 + usize::from(self.chance(self.ways[way].copy));
        for copy in 0..copies as u64 {
            self.segments.push(packet);
            let at = left + self.ways[way].delay_ps + late + copy * US;
            self.schedule(at, Event::Arrive(1 - way, self.segments.len() - 1));
        }
    }
}
