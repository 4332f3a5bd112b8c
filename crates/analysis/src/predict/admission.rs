//! Who waits how long for admission to the CHA.

/// The wait for admission to the CHA, which serves cores and the IIO in turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Admission {
    /// Over all lines, in ns.
    pub(super) mean: f64,
    /// Share of the lines that come from the IIO.
    pub(super) io_share: f64,
    /// Between two entries that come free in one slice, in ns.
    pub(super) turn_ns: f64,
}

impl Admission {
    /// The wait of the side with a share of less than half of the lines: every other entry is for it.
    fn lesser(&self, share: f64) -> f64 {
        (self.turn_ns * (0.5 + share) / (1.0 - 2.0 * share)).min(self.mean)
    }

    /// The wait of lines from the IIO, in ns.
    pub(super) fn io(&self) -> f64 {
        if self.io_share < 0.5 {
            self.lesser(self.io_share)
        } else {
            self.other(1.0 - self.io_share)
        }
    }

    /// The wait of lines from cores, in ns.
    pub(super) fn core(&self) -> f64 {
        if self.io_share < 0.5 {
            self.other(self.io_share)
        } else {
            self.lesser(1.0 - self.io_share)
        }
    }

    /// The wait of the other side of one with a `lesser` share.
    fn other(&self, lesser: f64) -> f64 {
        if lesser >= 0.5 {
            return self.mean;
        }
        (self.mean - lesser * self.lesser(lesser)) / (1.0 - lesser)
    }
}
