//! Statistics of a chip.

use crate::OpKind;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Parts of the latency of an operation, in their order. For an operation of several lines, those of its last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// The core writes the work queue (WQ) entry.
    WqWrite,
    /// The NI obtains the entry.
    WqTransfer,
    /// Frontend of request generation (RGP).
    RgpFrontend,
    /// From the frontend to the backend.
    ToBackend,
    /// Backend of request generation; this part includes the generation of the earlier lines.
    RgpBackend,
    /// From the generation of the request to the edge of the chip; a write reads its data in this part.
    ToEdge,
    /// Network between the chips, towards the remote chip.
    NetworkOut,
    /// Service at the remote chip.
    Remote,
    /// Network between the chips, back.
    NetworkBack,
    /// From the edge of the chip to request completion (RCP).
    FromEdge,
    /// Backend of request completion.
    RcpBackend,
    /// From the backend to the frontend.
    ToFrontend,
    /// Frontend of request completion.
    RcpFrontend,
    /// The NI writes the completion queue (CQ) entry.
    CqWrite,
    /// The core obtains the entry.
    CqTransfer,
    /// The core reads the entry.
    CqRead,
}

/// All parts of the latency of an operation, in chronological order.
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

/// Cycles by part, summed over operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// Number of operations.
    pub count: u64,
    /// Cycles by part, as in [`PARTS`].
    pub sums: [u64; PARTS.len()],
}

impl Breakdown {
    /// Adds an operation from its points in time: its begin, and the end of every part.
    ///
    /// # Panics
    /// Panics if a part ends before it begins.
    pub(crate) fn add(&mut self, times: &[u64; PARTS.len() + 1]) {
        self.count += 1;
        for (sum, pair) in self.sums.iter_mut().zip(times.windows(2)) {
            *sum += pair[1].checked_sub(pair[0]).unwrap_or_else(|| panic!("a part ends before it begins: {times:?}"));
        }
    }

    /// Returns the mean number of cycles of a part.
    #[must_use]
    pub fn mean(&self, part: Part) -> f64 {
        // max(1): without an operation the mean is 0.
        self.sums[part as usize] as f64 / self.count.max(1) as f64
    }

    /// Returns the mean number of cycles of all parts together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.sums.iter().sum::<u64>() as f64 / self.count.max(1) as f64
    }
}

/// Statistics since the last `ChipStats::clear`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChipStats {
    /// Cycle at which counting began.
    pub since: u64,
    /// Completed operations.
    pub breakdown: Breakdown,
    /// Cycles from the begin of an operation to its end.
    pub latency: Histogram,
    /// Lines that were read, or whose writes were acknowledged, for operations of this chip.
    pub lines_own: u64,
    /// Lines that were read or written for other chips.
    pub lines_served: u64,
    /// Lines of both kinds that arrived at the chip.
    pub lines_in: u64,
    /// Lines of both kinds that left the chip.
    pub lines_out: u64,
    /// Cycles from the arrival of a remote request to its answer.
    pub served: Histogram,
    /// Flits that entered the network of the chip.
    pub flits: u64,
}

impl ChipStats {
    /// Counts a completed line of an operation of this chip.
    pub(crate) fn own(&mut self, kind: OpKind) {
        self.lines_own += 1;
        match kind {
            // A read brings its line to this chip, a write takes one away; for another chip it is the other way round.
            OpKind::Read => self.lines_in += 1,
            OpKind::Write => self.lines_out += 1,
        }
    }

    /// Counts a line that was read or written for another chip.
    pub(crate) fn serve(&mut self, kind: OpKind, cycles: u64) {
        self.lines_served += 1;
        self.served.record(cycles);
        match kind {
            OpKind::Read => self.lines_out += 1,
            OpKind::Write => self.lines_in += 1,
        }
    }

    /// Adds the statistics of another chip over the same time.
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

    /// Resets all statistics.
    pub(crate) fn clear(&mut self, now: u64, flits: u64) {
        // The network counts since its start, so its count at the reset is kept and subtracted later.
        *self = Self { since: now, flits, ..Self::default() };
    }
}
