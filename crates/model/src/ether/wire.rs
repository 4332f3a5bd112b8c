//! One direction of a cable: serialization, delay, losses and damage.

use hostnet_kernel::{ComponentId, Rng, Time};
use serde::{Deserialize, Serialize};

/// Bytes of the headers of IP and TCP with timestamps; the SACK option is not counted.
pub const TCP_HEADER_BYTES: u32 = 52;

/// One direction of a cable, as its sender sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireParams {
    /// Number of the sender's port.
    pub port: u16,
    /// Component that receives.
    pub peer: ComponentId,
    /// Number of the receiver's port.
    pub peer_port: u16,
    /// Bandwidth, in bytes per second; at least 1.
    pub bytes_per_s: u64,
    /// Bytes on the wire beyond the IP packet.
    pub framing_bytes: u32,
    /// Smallest frame on the wire, in bytes, including framing.
    pub frame_min_bytes: u32,
    /// Propagation delay, in ps; at least 1.
    pub latency_ps: u64,
    /// Time that a packet spends between the sender's queue and the wire, in ps.
    pub before_ps: u64,
    /// Time that a packet spends between the wire and the receiver that handles it, in ps.
    pub after_ps: u64,
    /// Intervals in which the cable is down: begin and end of each, in ps.
    pub down_ps: Vec<(u64, u64)>,
    /// Share of packets that the cable damages, in units of 2^-32.
    pub corrupt: u64,
    /// True if the busy time of the wire is recorded.
    pub watched: bool,
    /// Seed of the run, and number of the random stream of this direction of the cable.
    pub random: (u64, u64),
}

/// Fate of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketFate {
    Arrives,
    ArrivesDamaged,
    Lost,
}

/// Fields of one direction of a cable that every packet needs: half a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Wire {
    /// Time per byte, in units of 2^-20 ps, rounded up.
    byte_time: u64,
    /// Delay from the last bit at the sender until the receiver handles the packet, in ps.
    pub(super) delay_ps: u64,
    pub(super) peer: ComponentId,
    pub(super) peer_port: u16,
    pub(super) port: u16,
    framing_bytes: u16,
    frame_min_bytes: u16,
    /// True if the cable has [`CableFaults`].
    pub(super) faulty: bool,
}

/// Fractional bits of the time per byte.
const BYTE_TIME_BITS: u32 = 20;

/// Parts of a byte in which a measurement window counts a packet that is on the wire at its start or end.
pub const BYTE_PARTS: u64 = 1024;

impl Wire {
    pub(super) fn new(params: &WireParams) -> Self {
        // Saturates: framing and smallest frames are far below 64 KiB.
        let short = |bytes: u32| u16::try_from(bytes).unwrap_or(u16::MAX);
        Self {
            // Rounded up, so that a cable never carries more than its rate.
            byte_time: (1_000_000_000_000_u64 << BYTE_TIME_BITS).div_ceil(params.bytes_per_s.max(1)),
            delay_ps: params.before_ps + params.latency_ps.max(1) + params.after_ps,
            peer: params.peer,
            peer_port: params.peer_port,
            port: params.port,
            framing_bytes: short(params.framing_bytes),
            frame_min_bytes: short(params.frame_min_bytes),
            faulty: params.corrupt > 0 || !params.down_ps.is_empty(),
        }
    }

    /// Returns the bytes on the wire of an IP packet of `ip_bytes`.
    #[inline]
    pub(super) fn wire_bytes(&self, ip_bytes: u32) -> u32 {
        (ip_bytes + u32::from(self.framing_bytes)).max(u32::from(self.frame_min_bytes))
    }

    /// Returns the bytes on the wire of a packet beyond its IP packet.
    pub(super) fn framing_bytes(&self) -> u32 {
        self.framing_bytes.into()
    }

    /// Returns the parts of a byte that the wire carries in `ps` ps, rounded down.
    pub(super) fn byte_parts(&self, ps: u64) -> u64 {
        ((u128::from(ps * BYTE_PARTS) << BYTE_TIME_BITS) / u128::from(self.byte_time.max(1))) as u64
    }

    /// Returns the time that `wire_bytes` take on the wire, in ps; at least 1.
    #[inline]
    pub(super) fn serialization_ps(&self, wire_bytes: u32) -> u64 {
        let time = u128::from(wire_bytes) * u128::from(self.byte_time);
        // Each packet is on the wire at least 1 ps, so that arrivals stay in order.
        (((time + ((1 << BYTE_TIME_BITS) - 1)) >> BYTE_TIME_BITS) as u64).max(1)
    }
}

/// Losses and damage on one direction of a cable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CableFaults {
    pub(super) latency_ps: u64,
    before_ps: u64,
    /// Intervals in which the cable is down, latest first, so that the next one is popped from the end.
    down_ps: Vec<(u64, u64)>,
    corrupt: u64,
    rng: Rng,
}

impl CableFaults {
    pub(super) fn new(params: &WireParams) -> Self {
        let mut down_ps = params.down_ps.clone();
        // An interval of no length has no effect.
        down_ps.retain(|&(from, to)| from < to);
        // Latest first, so that the next interval is at the end and popped in constant time.
        down_ps.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            latency_ps: params.latency_ps.max(1),
            before_ps: params.before_ps,
            down_ps,
            corrupt: params.corrupt,
            rng: Rng::new(params.random.0, params.random.1),
        }
    }

    /// Returns the fate of a packet whose first bit leaves the queue at `now` and whose last bit leaves it
    /// `serialization_ps` later. Calls must be in order of time.
    pub(super) fn fate(&mut self, now: Time, serialization_ps: u64) -> PacketFate {
        if !self.down_ps.is_empty() && self.is_down(now.ps() + self.before_ps, serialization_ps) {
            return PacketFate::Lost;
        }
        if self.corrupt > 0 && self.rng.chance(self.corrupt) {
            return PacketFate::ArrivesDamaged;
        }
        PacketFate::Arrives
    }

    /// Returns true if the cable is down at any time from the first bit at the sender until the last bit at the
    /// receiver.
    fn is_down(&mut self, first_ps: u64, serialization_ps: u64) -> bool {
        // Calls are in order of time, so intervals that are over are not needed again.
        while self.down_ps.last().is_some_and(|&(_, to)| to <= first_ps) {
            self.down_ps.pop();
        }
        self.down_ps.last().is_some_and(|&(from, _)| from < first_ps + serialization_ps + self.latency_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn params() -> WireParams {
        WireParams {
            port: 0,
            peer: ComponentId(1),
            peer_port: 0,
            bytes_per_s: 1_250_000_000,
            framing_bytes: 38,
            frame_min_bytes: 84,
            latency_ps: 100,
            before_ps: 7,
            after_ps: 5,
            down_ps: Vec::new(),
            corrupt: 0,
            watched: false,
            random: (1, 2),
        }
    }

    #[test]
    fn a_short_frame_is_filled_up() {
        let wire = Wire::new(&params());
        assert_eq!([wire.wire_bytes(45), wire.wire_bytes(46), wire.wire_bytes(47)], [84, 84, 85]);
        assert_eq!(wire.serialization_ps(1538), 1538 * 800);
        assert_eq!(Wire::new(&WireParams { bytes_per_s: u64::MAX, ..params() }).serialization_ps(1), 1);
        let slowest = Wire::new(&WireParams { bytes_per_s: 1, ..params() });
        assert_eq!(slowest.serialization_ps(65_573), 65_573_000_000_000_000);
    }

    proptest! {
        #[test]
        fn no_rate_is_exceeded(rate in 1_000_u64..100_000_000_000, bytes in 1_u32..70_000) {
            let wire = Wire::new(&WireParams { bytes_per_s: rate, ..params() });
            let (time, exact) = (
                wire.serialization_ps(bytes),
                u128::from(bytes) * 1_000_000_000_000 / u128::from(rate)
            );
            prop_assert!(u128::from(time) >= exact && u128::from(time) <= exact + 2, "{} for {}", time, exact);
        }

        /// Compares with a scan of all intervals.
        #[test]
        fn what_is_on_a_cable_that_goes_down_is_lost(
            down in prop::collection::vec((0_u64..5000, 0_u64..300), 0..6),
            steps in prop::collection::vec((0_u64..200, 1_u64..100), 1..60)
        ) {
            let down: Vec<(u64, u64)> = down.into_iter().map(|(from, length)| (from, from + length)).collect();
            let mut wire = CableFaults::new(&WireParams { down_ps: down.clone(), ..params() });
            let mut now = Time::ZERO;
            for (wait, length) in steps {
                now += wait;
                let (first, last) = (now.ps() + 7, now.ps() + 7 + length + 100);
                let lost = down.iter().any(|&(from, to)| from < to && from < last && to > first);
                prop_assert_eq!(wire.fate(now, length) == PacketFate::Lost, lost, "from {} to {}", first, last);
            }
        }
    }

    #[test]
    fn damage_comes_as_often_as_asked_for() {
        let mut wire = CableFaults::new(&WireParams { corrupt: 1 << 30, ..params() });
        let damaged = (0..10_000).filter(|_| wire.fate(Time::ZERO, 1) == PacketFate::ArrivesDamaged).count();
        assert!((2300..2700).contains(&damaged), "{damaged} of 10000 at a share of a quarter");
        let mut all = CableFaults::new(&WireParams { corrupt: 1 << 32, ..params() });
        assert!((0..100).all(|_| all.fate(Time::ZERO, 1) == PacketFate::ArrivesDamaged));
    }
}
