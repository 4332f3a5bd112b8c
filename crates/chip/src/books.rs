//! What a chip counts.

use crate::OpKind;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// The parts of the time of an operation, in their order. Of several lines the one that came last is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// The core writes the entry of the work queue.
    WqWrite,
    /// The NI gets the entry.
    WqTransfer,
    /// Frontend of request generation.
    RgpFrontend,
    /// From the frontend to the backend.
    ToBackend,
    /// Backend of request generation; lines before the last are made here, too.
    RgpBackend,
    /// From where the request was made to the edge of the chip; a write gets its data here.
    ToEdge,
    /// Between the chips, there.
    NetworkOut,
    /// At the other chip.
    Remote,
    /// Between the chips, back.
    NetworkBack,
    /// From the edge of the chip to request completion.
    FromEdge,
    /// Backend of request completion.
    RcpBackend,
    /// From the backend to the frontend.
    ToFrontend,
    /// Frontend of request completion.
    RcpFrontend,
    /// The NI writes the entry of the completion queue.
    CqWrite,
    /// The core gets the entry.
    CqTransfer,
    /// The core reads it.
    CqRead,
}

/// Every part, in the order in which they happen.
pub const PARTS: [Part; 16] = [
    Part::WqWrite,
    Part::WqTransfer,
    Part::RgpFrontend,
    Part::ToBackend,
    Part::RgpBackend,
    Part::ToEdge,
    Part::NetworkOut,
    Part::Remote,
    Part::NetworkBack,
    Part::FromEdge,
    Part::RcpBackend,
    Part::ToFrontend,
    Part::RcpFrontend,
    Part::CqWrite,
    Part::CqTransfer,
    Part::CqRead,
];

/// Sums of cycles by part, over operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// Operations.
    pub count: u64,
    /// By part, as in [`PARTS`].
    pub sums: [u64; PARTS.len()],
}

impl Breakdown {
    /// Adds an operation that came to each point at these times: its begin, and the end of every part.
    ///
    /// # Panics
    /// If time runs backward.
    pub(crate) fn add(&mut self, times: &[u64; PARTS.len() + 1]) {
        self.count += 1;
        for (sum, pair) in self.sums.iter_mut().zip(times.windows(2)) {
            *sum += pair[1].checked_sub(pair[0]).unwrap_or_else(|| panic!("a part ends before it begins: {times:?}"));
        }
    }

    /// Mean cycles of a part.
    #[must_use]
    pub fn mean(&self, part: Part) -> f64 {
        self.sums[part as usize] as f64 / self.count.max(1) as f64
    }

    /// Mean cycles of all parts.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.sums.iter().sum::<u64>() as f64 / self.count.max(1) as f64
    }
}

/// What was counted since the last [`Books::clear`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Books {
    /// When counting began, in cycles.
    pub since: u64,
    /// Operations that were completed.
    pub breakdown: Breakdown,
    /// Cycles from an operation's begin to its end.
    pub latency: Histogram,
    /// Lines that were brought, or whose writes were answered, for own operations.
    pub lines_own: u64,
    /// Lines that were read or written for other chips.
    pub lines_served: u64,
    /// Lines of both kinds that came to the chip, and that left it.
    pub lines_in: u64,
    /// See above.
    pub lines_out: u64,
    /// Cycles from a remote request's arrival to its answer.
    pub served: Histogram,
    /// Flits that entered the network of the chip.
    pub flits: u64,
}

impl Books {
    /// A line of an own operation is complete.
    pub(crate) fn own(&mut self, kind: OpKind) {
        self.lines_own += 1;
        match kind {
            OpKind::Read => self.lines_in += 1,
            OpKind::Write => self.lines_out += 1,
        }
    }

    /// A line was read or written for another chip.
    pub(crate) fn serve(&mut self, kind: OpKind, cycles: u64) {
        self.lines_served += 1;
        self.served.record(cycles);
        match kind {
            OpKind::Read => self.lines_out += 1,
            OpKind::Write => self.lines_in += 1,
        }
    }

    /// Adds what another chip has counted in the same time.
    pub fn add(&mut self, other: &Self) {
        self.breakdown.count += other.breakdown.count;
        for (sum, more) in self.breakdown.sums.iter_mut().zip(&other.breakdown.sums) {
            *sum += more;
        }
        self.latency.merge(&other.latency);
        self.served.merge(&other.served);
        self.lines_own += other.lines_own;
        self.lines_served += other.lines_served;
        self.lines_in += other.lines_in;
        self.lines_out += other.lines_out;
        self.flits += other.flits;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self, now: u64, flits: u64) {
        *self = Self { since: now, flits, ..Self::default() };
    }
}
