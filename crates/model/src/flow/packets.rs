//! Datagrams of different sizes in an open loop: which is next, and when.

use crate::params::{Draw, PacketsParams};
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Source {
    Drawn {
        bytes: Draw,
        interval_ps: Option<Draw>,
        rng: Rng,
    },
    /// Times and data of those that are left, the last first.
    Given(Vec<(u64, u32)>),
}

/// What a sender sends, one after the other. It draws in the order in which it sends, and from nothing that others
/// draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Packets {
    source: Source,
    start: Time,
    /// When the next is due, and its data.
    next: Option<(Time, u32)>,
}

impl Packets {
    pub(super) fn new(params: &PacketsParams, start: Time) -> Self {
        let source = match params {
            PacketsParams::Drawn { bytes, interval_ps, seed } => {
                Source::Drawn { bytes: bytes.clone(), interval_ps: interval_ps.clone(), rng: Rng::new(*seed, u64::MAX) }
            }
            PacketsParams::Given(packets) => Source::Given(packets.iter().rev().copied().collect()),
        };
        let mut packets = Self { source, start, next: None };
        packets.next = packets.draw(start);
        packets
    }

    /// When the next is due; those that could not be sent in time are all due at once.
    pub(super) fn due(&self) -> Option<Time> {
        self.next.map(|(at, _)| at)
    }

    /// The data of the one that is sent now, if one is due.
    pub(super) fn take(&mut self, now: Time) -> Option<u32> {
        let (at, bytes) = self.next.filter(|&(at, _)| at <= now)?;
        self.next = self.draw(at);
        Some(bytes)
    }

    /// The one after that which was due at `last`.
    fn draw(&mut self, last: Time) -> Option<(Time, u32)> {
        match &mut self.source {
            Source::Drawn { bytes, interval_ps, rng } => {
                let gap = interval_ps.as_ref().map_or(0, |interval| interval.next(rng));
                let size = u32::try_from(bytes.next(rng)).unwrap_or(u32::MAX).max(1);
                Some((Time::from_ps(last.ps().saturating_add(gap)), size))
            }
            Source::Given(left) => {
                let (at, bytes) = left.pop()?;
                Some((Time::from_ps(self.start.ps().saturating_add(at)), bytes.max(1)))
            }
        }
    }
}
