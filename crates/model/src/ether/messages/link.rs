//! Links of a network of messages: one direction of a cable each.

use super::super::egress::Egress;
use super::super::wire::Wire;
use super::UNIT_BITS;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Ports that links begin at, which keep the counters.
pub(in super::super) trait MessagePorts {
    /// Returns a port: that of the node with this index among those of the fabric.
    fn port_mut(&mut self, place: (u32, u16)) -> Option<&mut Egress>;
}

/// A message that passes a link: its channel, and the index of the hop of that channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Passage {
    pub(super) channel: u32,
    pub(super) hop: u32,
}

/// One direction of a cable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MessageLink {
    /// Node and port that it begins at.
    pub(super) place: (u32, u16),
    pub(super) wire: Wire,
    /// Rate, in units per ps.
    pub(super) capacity: u64,
    /// Messages that pass now.
    pub(super) passages: Vec<Passage>,
    /// Sum of their rates, in units per ps, since the time `since`.
    total: u64,
    since: Time,
    /// Units carried until then.
    carried: u128,
    /// Time at which its port has sent all messages posted so far, if it sends at full rate.
    free_at: Time,
    /// Number of the last computation of shares that visited the link, and the capacity and messages that it has left.
    pub(super) visit: u32,
    pub(super) left: u64,
    pub(super) open: u32,
}

/// Span of time in which a link carried messages at an even rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CarriedSpan {
    pub(super) from: Time,
    pub(super) to: Time,
    /// Rate, and the capacity of the link, in units per ps.
    pub(super) rate: u64,
    pub(super) capacity: u64,
}

impl MessageLink {
    pub(super) fn new(place: (u32, u16), wire: Wire, capacity: u64) -> Self {
        Self {
            place,
            wire,
            capacity,
            passages: Vec::new(),
            total: 0,
            since: Time::ZERO,
            carried: 0,
            free_at: Time::ZERO,
            visit: 0,
            left: 0,
            open: 0,
        }
    }

    /// Sets the sum of the rates of the messages from `now` on. Returns the span that ends, if anything was carried.
    pub(super) fn set_total(&mut self, total: u64, now: Time) -> Option<CarriedSpan> {
        if total == self.total {
            return None;
        }
        let span = CarriedSpan { from: self.since, to: now, rate: self.total, capacity: self.capacity };
        self.carried = self.units_by(now);
        (self.total, self.since) = (total, now);
        (span.rate > 0).then_some(span)
    }

    /// Queues a message of `wire_bytes` bytes at the port. Returns the time for which the messages before it take the
    /// port, and the time that it takes itself, in ps.
    pub(super) fn queue(&mut self, wire_bytes: u64, now: Time) -> (u64, u64) {
        let before_ps = self.free_at.ps().saturating_sub(now.ps());
        let own_ps = self.span_ps(wire_bytes);
        self.free_at = now + before_ps + own_ps;
        (before_ps, own_ps)
    }

    /// Returns the time that bytes take on the link at full rate, in ps.
    fn span_ps(&self, wire_bytes: u64) -> u64 {
        let ps = (u128::from(wire_bytes) << UNIT_BITS).div_ceil(u128::from(self.capacity.max(1)));
        u64::try_from(ps).unwrap_or(u64::MAX >> 2)
    }

    /// Counts a message of `wire_bytes` bytes that passed alone from `from` on. Returns the span.
    pub(super) fn pass(&mut self, wire_bytes: u64, from: Time) -> CarriedSpan {
        self.carried += u128::from(wire_bytes) << UNIT_BITS;
        let to = from + self.span_ps(wire_bytes);
        CarriedSpan { from, to, rate: self.capacity, capacity: self.capacity }
    }

    fn units_by(&self, now: Time) -> u128 {
        self.carried + u128::from(self.total) * u128::from(now.ps().saturating_sub(self.since.ps()))
    }

    /// Returns the bytes carried by `now`.
    pub(super) fn carried_bytes(&self, now: Time) -> u64 {
        u64::try_from(self.units_by(now) >> UNIT_BITS).unwrap_or(u64::MAX)
    }
}
