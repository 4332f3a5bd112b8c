//! Waits of cores and of the IIO for admission to the CHA.

/// Wait for admission to the CHA, which admits lines of cores and of the IIO alternately.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Admission {
    /// Mean over all lines, in ns.
    pub(super) mean: f64,
    /// Share of the lines that come from the IIO, 0 to 1.
    pub(super) io_share: f64,
    /// Time between two entries that become free in the same slice, in ns.
    pub(super) turn_ns: f64,
}

impl Admission {
    /// Wait in ns of the side that sends `share` of the lines, less than half: every other entry that becomes free
    /// goes to it.
    fn lesser(&self, share: f64) -> f64 {
        // Half a turn to the next free entry, plus the wait of an M/D/1 queue: service of two turns, load 2 x share.
        (self.turn_ns * (0.5 + share) / (1.0 - 2.0 * share)).min(self.mean)
    }

    /// Wait of lines from the IIO, in ns.
    pub(super) fn io(&self) -> f64 {
        if self.io_share < 0.5 {
            self.lesser(self.io_share)
        } else {
            self.other(1.0 - self.io_share)
        }
    }

    /// Wait of lines from cores, in ns.
    pub(super) fn core(&self) -> f64 {
        if self.io_share < 0.5 {
            self.other(self.io_share)
        } else {
            self.lesser(1.0 - self.io_share)
        }
    }

    /// Wait in ns of the side whose counterpart sends the share `lesser` of the lines, such that the mean holds.
    fn other(&self, lesser: f64) -> f64 {
        // Equal sides wait equally; `lesser` has a pole there.
        if lesser >= 0.5 {
            return self.mean;
        }
        (self.mean - lesser * self.lesser(lesser)) / (1.0 - lesser)
    }
}
