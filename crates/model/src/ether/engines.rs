//! Engines of a NIC or endpoint that compress the payload of packets before a port, and decompress it behind a port.
//! Packets of flows without compression bypass the engines.

use super::wire::TCP_HEADER_BYTES;
use crate::line::{Content, Packet};
use crate::params::{CompressParams, WrittenStream};
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of the Ethernet header, which passes an engine together with the headers of IP and TCP.
const ETHERNET_BYTES: u32 = 14;

/// Counters of one engine since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineCounts {
    /// Packets that passed the engine.
    pub packets: u64,
    /// Bytes of their payload, uncompressed.
    pub bytes: u64,
    /// Bytes of their payload on the wire, compressed.
    pub wire_bytes: u64,
    /// Packets dropped because the buffer before the engine was full.
    pub dropped: u64,
    /// Busy time of the engine, in ps.
    pub busy_ps: u64,
}

/// Flows and cost of an engine, and the work that it has accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Engine {
    params: CompressParams,
    /// Flows in ascending order, with the vectors that are written to each, where they are known.
    flows: Vec<(u32, WrittenStream)>,
    /// Time at which the engine is done with all accepted packets; it is busy until then.
    free_at: Time,
    /// Counters, including the busy time until `free_at`.
    counts: EngineCounts,
    /// Busy time since the start of the run, including the time until `free_at`.
    busy: Bins,
}

impl Engine {
    fn new(params: CompressParams, flows: Vec<(u32, WrittenStream)>) -> Self {
        Self { params, flows, free_at: Time::ZERO, counts: EngineCounts::default(), busy: Bins::default() }
    }

    fn left_ps(&self, now: Time) -> u64 {
        self.free_at.ps().saturating_sub(now.ps())
    }

    fn reset(&mut self, now: Time) {
        self.counts = EngineCounts { busy_ps: self.left_ps(now), ..EngineCounts::default() };
    }

    fn counts(&self, now: Time) -> EngineCounts {
        EngineCounts { busy_ps: self.counts.busy_ps - self.left_ps(now), ..self.counts }
    }

    /// Returns the payload bytes of a packet of this engine's flows, and their offset in a vector, in bytes (0 if
    /// unknown). Returns nothing for other packets.
    fn data(&self, packet: &Packet) -> Option<(u32, u64)> {
        let Content::Tcp(segment) = packet.content else { return None };
        let at = self.flows.binary_search_by_key(&packet.flow, |(flow, _)| *flow).ok()?;
        let (_, written) = &self.flows[at];
        Some((segment.bytes, written.place(segment.sequence)))
    }

    /// Accepts a packet with `bytes` of payload, of which `wire_bytes` are on the wire. Returns the time at which the
    /// engine is done with it.
    fn work(&mut self, bytes: u32, wire_bytes: u32, now: Time) -> Time {
        let busy_ps = self.params.cycles_ps(ETHERNET_BYTES + TCP_HEADER_BYTES, bytes);
        self.counts.packets += 1;
        self.counts.bytes += u64::from(bytes);
        self.counts.wire_bytes += u64::from(wire_bytes);
        self.counts.busy_ps += busy_ps;
        let begins = self.free_at.max(now);
        self.free_at = begins + busy_ps;
        self.busy.add(begins.ps(), self.free_at.ps());
        self.free_at
    }
}

/// Compression engine before a port. It holds one packet at a time while the one before it waits for the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compressor {
    engine: Engine,
    /// Time at which the wire is free again.
    wire_free_at: Time,
    /// Packets that have not left the wire: time of the first bit of each, and time on the wire, in ps.
    ahead: VecDeque<(Time, u64)>,
}

impl Compressor {
    /// Creates an engine that compresses the payload of `flows`, which are in ascending order, with the vectors
    /// written to each where gradients are known.
    #[must_use]
    pub fn new(params: CompressParams, flows: Vec<(u32, WrittenStream)>) -> Self {
        Self { engine: Engine::new(params, flows), wire_free_at: Time::ZERO, ahead: VecDeque::new() }
    }

    /// Passes a packet through the engine, or past it. Returns the time at which the whole packet has passed.
    pub(super) fn begin(&mut self, packet: &mut Packet, now: Time) -> Time {
        let Some((bytes, at)) = self.engine.data(packet) else { return now };
        let wire_bytes = self.engine.params.wire_bytes(bytes, at);
        let through = self.engine.work(bytes, wire_bytes, now);
        packet.ip_bytes = TCP_HEADER_BYTES + wire_bytes;
        through
    }

    /// Schedules the wire for a packet that entered now and has passed at `through`: it takes the wire for `wire_ps`
    /// as soon as the wire is free. Returns the time of its first bit, and the time at which the next packet may
    /// enter.
    pub(super) fn follow(&mut self, through: Time, now: Time, wire_ps: u64) -> (Time, Time) {
        let depth_ps = self.engine.params.latency_ps;
        let wire_free_at = self.wire_free_at;
        // A packet past the engine needs its depth, too; others go at once.
        let first = wire_free_at.max(if through > now { through + depth_ps } else { now });
        self.wire_free_at = first + wire_ps;
        while self.ahead.front().is_some_and(|&(first, ps)| first + ps <= now) {
            self.ahead.pop_front();
        }
        self.ahead.push_back((first, wire_ps));
        // Besides the packets in the latency of the engine, one packet fits between the engine and the wire.
        let room = Time::from_ps(wire_free_at.ps().saturating_sub(depth_ps));
        (first, room.max(through))
    }

    /// Returns the time on the wire that accepted packets still need after `now`, in ps.
    pub(super) fn ahead_ps(&self, now: Time) -> u64 {
        let left = |&(first, ps): &(Time, u64)| (first + ps).ps().saturating_sub(first.max(now).ps());
        self.ahead.iter().map(left).sum()
    }

    pub(super) fn reset(&mut self, now: Time) {
        self.engine.reset(now);
    }

    /// Returns the counters since the last reset, up to `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> EngineCounts {
        self.engine.counts(now)
    }

    /// Returns the busy time since the start of the run.
    #[must_use]
    pub fn busy(&self) -> &Bins {
        &self.engine.busy
    }
}

/// Decompression engine behind a port. Packets wait before it in a buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decompressor {
    engine: Engine,
    /// Time at which each packet leaves the engine, and its compressed bytes.
    inside: VecDeque<(Time, u32)>,
    inside_bytes: u64,
}

impl Decompressor {
    /// Number of the virtual port by which a decompressed packet is received again.
    pub const PORT: u16 = u16::MAX;

    /// Creates an engine that decompresses the payload of `flows`, which are in ascending order.
    #[must_use]
    pub fn new(params: CompressParams, flows: Vec<u32>) -> Self {
        // The ratio is known from the packet, so no gradients are needed.
        let params = CompressParams { gradients: None, ..params };
        let flows = flows.into_iter().map(|flow| (flow, WrittenStream::default())).collect();
        let engine = Engine::new(params, flows);
        Self { engine, inside: VecDeque::with_capacity(64), inside_bytes: 0 }
    }

    /// Handles a received packet. Returns nothing for a packet that bypasses the engine. Otherwise returns the time
    /// until the packet is decompressed, in ps, or `Some(None)` if the buffer has no room for it.
    pub fn admit(&mut self, packet: &mut Packet, now: Time) -> Option<Option<u64>> {
        // Damaged packets and copies are dropped behind the engine, as without one.
        if packet.corrupt || packet.copy {
            return None;
        }
        let (bytes, _) = self.engine.data(packet)?;
        while let Some(&(_, gone)) = self.inside.front().filter(|(at, _)| *at <= now) {
            self.inside.pop_front();
            self.inside_bytes -= u64::from(gone);
        }
        // The buffer holds compressed bytes, as they came from the wire.
        if self.inside_bytes + u64::from(packet.ip_bytes) > self.engine.params.buffer_bytes {
            self.engine.counts.dropped += 1;
            return Some(None);
        }
        let through = self.engine.work(bytes, packet.ip_bytes - TCP_HEADER_BYTES, now);
        self.inside.push_back((through, packet.ip_bytes));
        self.inside_bytes += u64::from(packet.ip_bytes);
        packet.ip_bytes = TCP_HEADER_BYTES + bytes;
        // An event lies at least 1 ps ahead.
        Some(Some((through.since(now) + self.engine.params.latency_ps).max(1)))
    }

    /// Begins a new measurement window.
    pub fn reset(&mut self, now: Time) {
        self.engine.reset(now);
    }

    /// Returns the counters since the last reset, up to `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> EngineCounts {
        self.engine.counts(now)
    }

    /// Returns the busy time since the start of the run.
    #[must_use]
    pub fn busy(&self) -> &Bins {
        &self.engine.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Ecn, PacketId};
    use crate::transport::tcp::Segment;
    use proptest::prelude::*;

    const PARAMS: CompressParams = CompressParams {
        burst_bytes: 32,
        cycle_fs: 10_000_000,
        latency_ps: 70_000,
        float_bits: 2 * CompressParams::BIT,
        buffer_bytes: 10_000,
        gradients: None,
    };

    fn packet(flow: u32, bytes: u32) -> Packet {
        Packet {
            flow,
            from: 0,
            to: 1,
            ip_bytes: TCP_HEADER_BYTES + bytes,
            ecn: Ecn::NotCapable,
            priority: 0,
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line: 0,
            content: Content::Tcp(Segment { bytes, ..Segment::default() }),
            next: PacketId::NONE,
        }
    }

    proptest! {
        #[test]
        fn packets_leave_in_order_and_never_share_the_wire(
            packets in proptest::collection::vec((0_u32..2, 0_u32..1400, 1_u64..3_000_000), 1..60),
        ) {
            let mut compressor = Compressor::new(PARAMS, vec![(1, WrittenStream::default())]);
            let (mut now, mut wire_free_at, mut work_ps) = (Time::from_ps(1), Time::ZERO, 0);
            for (flow, bytes, wire_ps) in packets {
                let mut own = packet(flow, bytes);
                let through = compressor.begin(&mut own, now);
                if flow == 1 {
                    prop_assert_eq!(own.ip_bytes, TCP_HEADER_BYTES + PARAMS.wire_bytes(bytes, 0));
                    work_ps += through.since(now);
                } else {
                    prop_assert_eq!((own, through), (packet(flow, bytes), now));
                }
                let (first, next) = compressor.follow(through, now, wire_ps);
                prop_assert!(first >= wire_free_at && first >= through && next >= through);
                prop_assert!(first == wire_free_at || first.since(through) <= PARAMS.latency_ps);
                wire_free_at = first + wire_ps;
                now = next;
            }
            prop_assert_eq!(compressor.counts(now + 1_000_000).busy_ps, work_ps);
        }

        #[test]
        fn packets_are_restored_one_after_the_other_as_far_as_they_have_room(
            packets in proptest::collection::vec((0_u32..1400, 0_u64..400_000), 1..60),
        ) {
            let mut decompressor = Decompressor::new(PARAMS, vec![1]);
            let (mut now, mut last, mut lost) = (Time::from_ps(1), Time::ZERO, 0);
            for (bytes, gap_ps) in packets {
                now += gap_ps;
                let mut own = packet(1, bytes);
                own.ip_bytes = TCP_HEADER_BYTES + PARAMS.wire_bytes(bytes, 0);
                prop_assert_eq!(decompressor.admit(&mut packet(2, bytes), now), None);
                match decompressor.admit(&mut own, now) {
                    Some(Some(delay_ps)) => {
                        prop_assert_eq!(own.ip_bytes, TCP_HEADER_BYTES + bytes);
                        let work_ps = PARAMS.cycles_ps(ETHERNET_BYTES + TCP_HEADER_BYTES, bytes);
                        prop_assert_eq!(now + delay_ps, last.max(now + PARAMS.latency_ps) + work_ps);
                        last = now + delay_ps;
                    }
                    _ => lost += 1,
                }
            }
            prop_assert_eq!(decompressor.counts(now).dropped, lost);
            prop_assert!(decompressor.inside_bytes <= PARAMS.buffer_bytes);
        }
    }
}
