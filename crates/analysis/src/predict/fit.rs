//! Constants of the predictor that follow from no configuration.

/// Constants of the memory controller and the CHA that closed forms leave open, fitted once to simulated servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Time of a line on a saturated bus without row misses and turnarounds, in units of its transfer time.
    pub line: f64,
    /// Time that an activation for a read adds to a line, in units of the square of a rank's share of tFAW over the
    /// transfer time.
    pub read_activation: f64,
    /// Like `read_activation`, but for a write.
    pub write_activation: f64,
    /// Effective cost of entering and leaving write mode, as a multiple of the two bus turnaround times together.
    pub turnaround: f64,
    /// Banks that a walk occupies at a time, in units of the banks of its run.
    pub banks: f64,
    /// Consecutive accesses of a stream to its row that queueing adds, per queued request of the stream.
    pub batch: f64,
    /// Wait in the read queue, in units of service time x backlog; the backlog is u^2 / (1 - u) at utilisation u.
    pub queue: f64,
    /// Wait of a row miss for its bank, in units of tRC x utilisation.
    pub bank: f64,
    /// Wait for write modes, in units of the wait of a fluid behind a gate.
    pub blocked: f64,
    /// Exponent of the utilisation that gives the share of writes forced into write modes rather than served
    /// opportunistically.
    pub forced: f64,
    /// Steepness with which the quota of a mode decides between a backlog of reads and one of writes.
    pub quota: f64,
    /// Wait for a free write queue entry, in units of service time x backlog, as for `queue`.
    pub write_queue: f64,
    /// Wait for admission to a CHA slice, in units of the wait of random arrivals: lower if slices fill more evenly.
    pub slices: f64,
}

/// Constants fitted to the simulator over random servers and mixes; see docs/predict.md.
pub const FIT: Fit = Fit {
    line: 0.99,
    read_activation: 0.14,
    write_activation: 0.147,
    turnaround: 1.417,
    banks: 1.02,
    batch: 0.573,
    queue: 1.35,
    bank: 0.542,
    blocked: 1.108,
    forced: 2.4,
    quota: 33.5,
    write_queue: 0.127,
    slices: 0.134,
};
