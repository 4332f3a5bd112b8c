//! Writes in the IIO: when they enter and when they leave.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A write on its way through the IIO.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Flight {
    lines: u32,
    /// When its last line enters and leaves.
    enters: Time,
    leaves: Time,
    /// Its lines leave evenly over so long before that, in ps.
    span_ps: u64,
}

impl Flight {
    /// Lines times ps until `now`. Its lines enter and leave evenly; both are counted a span late, so that no register
    /// ever has to be set back or jumps.
    fn area(&self, now: Time) -> u128 {
        let span = u128::from(self.span_ps);
        let reached = |from: Time| {
            let past = u128::from(now.ps().saturating_sub(from.ps()));
            // Twice the integral of a line that rises to 1 within the span, times the span: rounded before they are
            // taken from each other two of these could shrink.
            if past < span {
                past * past
            } else {
                (2 * past - span) * span
            }
        };
        u128::from(self.lines) * (reached(self.enters) - reached(self.leaves)) / (2 * span)
    }
}

/// The writes in the IIO, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Flights {
    flights: VecDeque<Flight>,
    /// When the last one enters, and when it leaves: they go in order, whatever the buffer holds by then.
    entered: Time,
    last: Time,
    /// Lines times ps of writes that are over.
    past: u128,
}

impl Flights {
    pub(super) fn new() -> Self {
        Self { flights: VecDeque::with_capacity(64), entered: Time::ZERO, last: Time::ZERO, past: 0 }
    }

    /// A write of `lines` lines has come in now. The memory needs `service_ps` for it, and a line stays for
    /// `residence_ps` at least. Returns when its last line enters, of which the buffer holds `credits` at a time.
    pub(super) fn add(&mut self, now: Time, lines: u8, service_ps: u64, residence_ps: u64, credits: u64) -> Time {
        while self.flights.front().is_some_and(|flight| flight.leaves + flight.span_ps <= now) {
            self.past += self.flights.pop_front().map_or(0, |flight| flight.area(now));
        }
        let leaves = (self.last + service_ps).max(now + residence_ps.max(1));
        self.last = leaves;
        let lines = u32::from(lines);
        self.flights.push_back(Flight { lines, enters: now, leaves, span_ps: service_ps.max(1) });
        let enters = self.room_at(credits).max(now).max(self.entered);
        self.entered = enters;
        if let Some(flight) = self.flights.back_mut() {
            flight.enters = enters;
        }
        enters
    }

    /// When so many lines have left that the last write has an entry for each of its own.
    fn room_at(&self, credits: u64) -> Time {
        let mut ahead = credits;
        for flight in self.flights.iter().rev() {
            let lines = u64::from(flight.lines);
            if ahead < lines {
                let staying_ps = ahead * flight.span_ps / lines;
                return Time::from_ps(flight.leaves.ps().saturating_sub(staying_ps));
            }
            ahead -= lines;
        }
        Time::ZERO
    }

    /// Lines times ps of all writes until `now`.
    pub(super) fn area(&self, now: Time) -> u128 {
        self.past + self.flights.iter().map(|flight| flight.area(now)).sum::<u128>()
    }
}
