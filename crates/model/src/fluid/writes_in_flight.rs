//! Writes in the IIO, and the times at which they enter and leave.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Write in the IIO.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct WriteInFlight {
    lines: u32,
    /// Time at which the last line of the write enters.
    enters: Time,
    /// Time at which the last line of the write leaves.
    leaves: Time,
    /// Time before `leaves` over which the lines of the write leave evenly, in ps.
    span_ps: u64,
}

impl WriteInFlight {
    /// Returns the integral of its lines over time until `now`, in lines times ps. The lines enter and leave evenly;
    /// both are counted a span late, so that no register is ever set back or jumps.
    fn area(&self, now: Time) -> u128 {
        let span = u128::from(self.span_ps);
        let reached = |from: Time| {
            let past = u128::from(now.ps().saturating_sub(from.ps()));
            // Twice the integral of a ramp that rises to 1 within the span, times the span. If both integrals were
            // rounded before the subtraction, the difference could shrink.
            if past < span {
                past * past
            } else {
                (2 * past - span) * span
            }
        };
        u128::from(self.lines) * (reached(self.enters) - reached(self.leaves)) / (2 * span)
    }
}

/// Writes in the IIO, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WritesInFlight {
    writes_in_flight: VecDeque<WriteInFlight>,
    /// Time at which the last write enters. Writes enter and leave in order, however full the buffer is by then.
    entered: Time,
    /// Time at which the last write leaves.
    last: Time,
    /// Lines times ps of writes that have left.
    past: u128,
}

impl WritesInFlight {
    pub(super) fn new() -> Self {
        Self { writes_in_flight: VecDeque::with_capacity(64), entered: Time::ZERO, last: Time::ZERO, past: 0 }
    }

    /// Adds a write of `lines` lines that arrives now. The memory needs `service_ps` for it, and a line stays for at
    /// least `residence_ps`. Returns the time at which its last line enters, given a buffer of `credits` lines.
    pub(super) fn add(&mut self, now: Time, lines: u8, service_ps: u64, residence_ps: u64, credits: u64) -> Time {
        // Writes that have left count with their area only.
        while self.writes_in_flight.front().is_some_and(|flight| flight.leaves + flight.span_ps <= now) {
            self.past += self.writes_in_flight.pop_front().map_or(0, |flight| flight.area(now));
        }
        // In order, at the drain rate of the memory, and not before the residence is over.
        let leaves = (self.last + service_ps).max(now + residence_ps.max(1));
        self.last = leaves;
        let lines = u32::from(lines);
        self.writes_in_flight.push_back(WriteInFlight { lines, enters: now, leaves, span_ps: service_ps.max(1) });
        let enters = self.room_at(credits).max(now).max(self.entered);
        self.entered = enters;
        if let Some(flight) = self.writes_in_flight.back_mut() {
            flight.enters = enters;
        }
        enters
    }

    /// Returns the time at which enough lines have left for the last write to have an entry for each of its lines.
    fn room_at(&self, credits: u64) -> Time {
        let mut ahead = credits;
        for flight in self.writes_in_flight.iter().rev() {
            let lines = u64::from(flight.lines);
            if ahead < lines {
                // Lines leave evenly over the span, so the entry that is needed becomes free within it.
                let staying_ps = ahead * flight.span_ps / lines;
                return Time::from_ps(flight.leaves.ps().saturating_sub(staying_ps));
            }
            ahead -= lines;
        }
        Time::ZERO
    }

    /// Returns lines times ps of all writes until `now`.
    pub(super) fn area(&self, now: Time) -> u128 {
        self.past + self.writes_in_flight.iter().map(|flight| flight.area(now)).sum::<u128>()
    }
}
