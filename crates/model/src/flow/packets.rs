//! Open loop of datagrams with varying sizes and times between them.

use crate::params::{Distribution, PacketsParams};
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};

/// Source of sizes and times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PacketSource {
    Drawn {
        bytes: Distribution,
        interval_ps: Option<Distribution>,
        rng: Rng,
    },
    /// Offset from the start in ps, and payload of each packet left, in reverse order.
    Given(Vec<(u64, u32)>),
}

/// Datagrams of one sender, one after the other. Random values are drawn in the order of sending, from a stream of the
/// sender alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Packets {
    source: PacketSource,
    start: Time,
    /// Time at which the next datagram is due, and its payload.
    next: Option<(Time, u32)>,
}

impl Packets {
    pub(super) fn new(params: &PacketsParams, start: Time) -> Self {
        let source = match params {
            PacketsParams::Drawn { bytes, interval_ps, seed } => PacketSource::Drawn {
                bytes: bytes.clone(),
                interval_ps: interval_ps.clone(),
                // A stream of the sender alone: the draws depend on nothing else in the run.
                rng: Rng::new(*seed, u64::MAX),
            },
            // In reverse order, so that the next packet is popped from the end.
            PacketsParams::Given(packets) => PacketSource::Given(packets.iter().rev().copied().collect()),
        };
        let mut packets = Self { source, start, next: None };
        packets.next = packets.draw(start);
        packets
    }

    /// Returns the time at which the next datagram is due. All datagrams behind schedule are due at once.
    pub(super) fn due(&self) -> Option<Time> {
        self.next.map(|(at, _)| at)
    }

    /// Removes the next datagram if it is due, and returns its payload.
    pub(super) fn take_due(&mut self, now: Time) -> Option<u32> {
        let (at, bytes) = self.next.filter(|&(at, _)| at <= now)?;
        // From the due time and not from now, so that a late packet does not shift those behind it.
        self.next = self.draw(at);
        Some(bytes)
    }

    /// Draws the datagram after the one that was due at `last`.
    fn draw(&mut self, last: Time) -> Option<(Time, u32)> {
        match &mut self.source {
            PacketSource::Drawn { bytes, interval_ps, rng } => {
                let gap = interval_ps.as_ref().map_or(0, |interval| interval.next(rng));
                let size = u32::try_from(bytes.next(rng)).unwrap_or(u32::MAX).max(1);
                Some((Time::from_ps(last.ps().saturating_add(gap)), size))
            }
            PacketSource::Given(left) => {
                let (at, bytes) = left.pop()?;
                Some((Time::from_ps(self.start.ps().saturating_add(at)), bytes.max(1)))
            }
        }
    }
}
