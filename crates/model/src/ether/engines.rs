//! Engines of a NIC or endpoint that make the data of packets smaller before its port, and restore it behind it.
//! Packets of flows that are not marked pass beside them.

use super::flow_end::TCP_HEADER_BYTES;
use crate::line::{Content, Packet};
use crate::params::{CompressParams, Written};
use hostnet_kernel::Time;
use hostnet_measure::Bins;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of the Ethernet header, which goes through an engine with those of IP and TCP.
const ETHERNET_BYTES: u32 = 14;

/// What the engine of a direction has done since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineCounts {
    /// Packets.
    pub packets: u64,
    /// Bytes of their data, without headers.
    pub bytes: u64,
    /// The same on the wire.
    pub wire_bytes: u64,
    /// Packets that found no room before it.
    pub dropped: u64,
    /// Time that it works, in ps.
    pub busy_ps: u64,
}

/// The flows that an engine knows, and what it costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Engine {
    params: CompressParams,
    /// In ascending order, with what is written to them where that is known.
    flows: Vec<(u32, Written)>,
    /// When it is done with all that it has. Until then it works.
    free_at: Time,
    /// With all of that time.
    counts: EngineCounts,
    /// When it worked since the start of the run, with all of that time.
    busy: Bins,
}

impl Engine {
    fn new(params: CompressParams, flows: Vec<(u32, Written)>) -> Self {
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

    /// The data of a packet that is for it, and where in a vector that is if this is known.
    fn data(&self, packet: &Packet) -> Option<(u32, u64)> {
        let Content::Tcp(segment) = packet.content else { return None };
        let at = self.flows.binary_search_by_key(&packet.flow, |(flow, _)| *flow).ok()?;
        let (_, written) = &self.flows[at];
        Some((segment.bytes, written.place(segment.sequence)))
    }

    /// A packet with so much data, of which `wire_bytes` are or were on the wire, goes through it when it is free.
    /// Returns when it is through.
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

/// The engine before a port. It has one packet at a time; the one before it waits for the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compressor {
    engine: Engine,
    /// When the wire is free again.
    wire_free_at: Time,
    /// Packets that are not on the wire in whole: when each begins to be, and for how long, in ps.
    ahead: VecDeque<(Time, u64)>,
}

impl Compressor {
    /// One that makes the data of these flows smaller; they are in ascending order, with what is written to them if
    /// gradients are known.
    #[must_use]
    pub fn new(params: CompressParams, flows: Vec<(u32, Written)>) -> Self {
        Self { engine: Engine::new(params, flows), wire_free_at: Time::ZERO, ahead: VecDeque::new() }
    }

    /// A packet begins to go through, or beside it. Returns when it is whole on the other side.
    pub(super) fn begin(&mut self, packet: &mut Packet, now: Time) -> Time {
        let Some((bytes, at)) = self.engine.data(packet) else { return now };
        let wire_bytes = self.engine.params.wire_bytes(bytes, at);
        let through = self.engine.work(bytes, wire_bytes, now);
        packet.ip_bytes = TCP_HEADER_BYTES + wire_bytes;
        through
    }

    /// A packet that began now and is `through` then takes the wire for so long, as soon as that is free. Returns when
    /// its first bit leaves, and when the next packet may begin.
    pub(super) fn follow(&mut self, through: Time, now: Time, wire_ps: u64) -> (Time, Time) {
        let depth_ps = self.engine.params.latency_ps;
        let wire_free_at = self.wire_free_at;
        let first = wire_free_at.max(if through > now { through + depth_ps } else { now });
        self.wire_free_at = first + wire_ps;
        while self.ahead.front().is_some_and(|&(first, ps)| first + ps <= now) {
            self.ahead.pop_front();
        }
        self.ahead.push_back((first, wire_ps));
        // Between the engine and the wire there is room for one packet beside those that are in the latency.
        let room = Time::from_ps(wire_free_at.ps().saturating_sub(depth_ps));
        (first, room.max(through))
    }

    /// Time on the wire that is still ahead of the packets that it has had, in ps.
    pub(super) fn ahead_ps(&self, now: Time) -> u64 {
        let left = |&(first, ps): &(Time, u64)| (first + ps).ps().saturating_sub(first.max(now).ps());
        self.ahead.iter().map(left).sum()
    }

    pub(super) fn reset(&mut self, now: Time) {
        self.engine.reset(now);
    }

    /// What it has done since the last reset, up to `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> EngineCounts {
        self.engine.counts(now)
    }

    /// When it worked since the start of the run.
    #[must_use]
    pub fn busy(&self) -> &Bins {
        &self.engine.busy
    }
}

/// The engine behind a port. Packets wait before it until they are whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Restorer {
    engine: Engine,
    /// When each packet leaves, and its bytes as they came.
    inside: VecDeque<(Time, u32)>,
    inside_bytes: u64,
}

impl Restorer {
    /// The number of a port by which a packet comes that has been restored.
    pub const PORT: u16 = u16::MAX;

    /// One that restores the data of these flows; they are in ascending order.
    #[must_use]
    pub fn new(params: CompressParams, flows: Vec<u32>) -> Self {
        let params = CompressParams { gradients: None, ..params };
        let flows = flows.into_iter().map(|flow| (flow, Written::default())).collect();
        let engine = Engine::new(params, flows);
        Self { engine, inside: VecDeque::with_capacity(64), inside_bytes: 0 }
    }

    /// A packet has come in. If it goes through the engine, the time that this takes, in ps, or nothing if there is no
    /// room for it.
    pub fn take(&mut self, packet: &mut Packet, now: Time) -> Option<Option<u64>> {
        if packet.corrupt || packet.copy {
            return None;
        }
        let (bytes, _) = self.engine.data(packet)?;
        while let Some(&(_, gone)) = self.inside.front().filter(|(at, _)| *at <= now) {
            self.inside.pop_front();
            self.inside_bytes -= u64::from(gone);
        }
        if self.inside_bytes + u64::from(packet.ip_bytes) > self.engine.params.buffer_bytes {
            self.engine.counts.dropped += 1;
            return Some(None);
        }
        let through = self.engine.work(bytes, packet.ip_bytes - TCP_HEADER_BYTES, now);
        self.inside.push_back((through, packet.ip_bytes));
        self.inside_bytes += u64::from(packet.ip_bytes);
        packet.ip_bytes = TCP_HEADER_BYTES + bytes;
        Some(Some((through.since(now) + self.engine.params.latency_ps).max(1)))
    }

    /// Begins a new measuring window.
    pub fn reset(&mut self, now: Time) {
        self.engine.reset(now);
    }

    /// What it has done since the last reset, up to `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> EngineCounts {
        self.engine.counts(now)
    }

    /// When it worked since the start of the run.
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
            let mut compressor = Compressor::new(PARAMS, vec![(1, Written::default())]);
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
            let mut restorer = Restorer::new(PARAMS, vec![1]);
            let (mut now, mut last, mut lost) = (Time::from_ps(1), Time::ZERO, 0);
            for (bytes, gap_ps) in packets {
                now += gap_ps;
                let mut own = packet(1, bytes);
                own.ip_bytes = TCP_HEADER_BYTES + PARAMS.wire_bytes(bytes, 0);
                prop_assert_eq!(restorer.take(&mut packet(2, bytes), now), None);
                match restorer.take(&mut own, now) {
                    Some(Some(delay_ps)) => {
                        prop_assert_eq!(own.ip_bytes, TCP_HEADER_BYTES + bytes);
                        let work_ps = PARAMS.cycles_ps(ETHERNET_BYTES + TCP_HEADER_BYTES, bytes);
                        prop_assert_eq!(now + delay_ps, last.max(now + PARAMS.latency_ps) + work_ps);
                        last = now + delay_ps;
                    }
                    _ => lost += 1,
                }
            }
            prop_assert_eq!(restorer.counts(now).dropped, lost);
            prop_assert!(restorer.inside_bytes <= PARAMS.buffer_bytes);
        }
    }
}
