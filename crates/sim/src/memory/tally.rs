//! Counts the requests of a memory run.

use hostnet_measure::Histogram;

/// A request in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestInFlight {
    pub(super) arrived: u64,
    pub(super) accepted: u64,
    pub(super) measured: bool,
}

/// Measurements of the requests after the warm-up. Latencies are in clocks.
#[derive(Clone, Debug, Default)]
pub struct RequestTally {
    /// Requests accepted.
    pub accepted: u64,
    /// Clock of the first acceptance.
    pub first: u64,
    /// Clock of the last acceptance.
    pub last: u64,
    /// Reads and writes accepted, per source.
    pub sources: Vec<[u64; 2]>,
    /// Latencies of reads from arrival at the source to the last data beat.
    pub from_arrival: Histogram,
    /// Latencies of reads from acceptance to the last data beat.
    pub from_acceptance: Histogram,
}

impl RequestTally {
    pub(super) fn new(sources: usize) -> Self {
        Self { sources: vec![[0; 2]; sources], ..Self::default() }
    }

    #[inline]
    pub(super) fn accept(&mut self, clock: u64, source: u8, write: bool) {
        if self.accepted == 0 {
            self.first = clock;
        }
        self.last = clock;
        self.accepted += 1;
        self.sources[usize::from(source)][usize::from(write)] += 1;
    }

    #[inline]
    pub(super) fn read_done(&mut self, flight: &RequestInFlight, done: u64) {
        // Reads accepted in the warm-up are left out, even if their data arrive later.
        if flight.measured {
            self.from_arrival.record(done - flight.arrived);
            self.from_acceptance.record(done - flight.accepted);
        }
    }
}
