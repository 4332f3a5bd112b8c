//! The numbers of the predictor that no configuration gives.

/// What closed forms leave open of a memory controller, fitted once to simulated servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Time of a line on a saturated bus without row misses and turnarounds, in units of its transfer time.
    pub line: f64,
    /// What an activation for a read adds to that: in units of the square of a rank's share of tFAW over the transfer
    /// time.
    pub read_activation: f64,
    /// The same for a write.
    pub write_activation: f64,
    /// What the two turnarounds of a write mode cost, in units of their sum.
    pub turnaround: f64,
    /// Share of the bank that a stream occupies at a time, in units of the banks of a run.
    pub banks: f64,
    /// Accesses of a stream in a row that queueing adds, per queued request of the stream.
    pub batch: f64,
    /// Wait in the read queue, in units of service time x utilisation / (1 - utilisation).
    pub queue: f64,
    /// Wait of a row miss for its bank, in units of tRC x utilisation.
    pub bank: f64,
    /// Wait for write modes, in units of what a fluid would wait.
    pub blocked: f64,
    /// How steeply writes turn from opportunistic to forced with utilisation.
    pub forced: f64,
    /// How sharply the quota of a mode decides which direction is backlogged.
    pub quota: f64,
    /// Wait for a place in the write queue, in the units of `queue`.
    pub write_queue: f64,
    /// How evenly slices fill, in units of what random arrivals wait.
    pub slices: f64,
}

/// Fitted to the simulator over random servers and mixes; see docs/predict.md.
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
