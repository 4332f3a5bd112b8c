//! Converts the counts of a window of a chip to quantities.

use super::window::Window;
use hostnet_measure::Histogram;
use serde_json::{json, Value};

/// Size of a line, in bytes.
const LINE: f64 = 64.0;

/// Units that convert counts to quantities.
pub(super) struct ReportUnits {
    /// Length of a cycle, in ns.
    pub(super) ns: f64,
    /// Length of the window, in cycles.
    pub(super) cycles: f64,
    /// Number of chips in the counts.
    pub(super) chips: f64,
}

impl ReportUnits {
    /// Returns the throughput of `bytes` bytes in the window, in GB/s.
    pub(super) fn gb_per_s(&self, bytes: f64) -> f64 {
        bytes / (self.cycles * self.ns)
    }
}

/// Returns the ratio of two counts, or `None` if `to` is 0.
pub(super) fn ratio(of: u64, to: u64) -> Option<f64> {
    (to > 0).then(|| of as f64 / to as f64)
}

/// Returns the distribution of times in cycles.
pub(super) fn times(histogram: &Histogram, units: &ReportUnits) -> Value {
    let Some(mean) = histogram.mean() else { return Value::Null };
    let (p50, p99, most) = (histogram.quantile(0.5), histogram.quantile(0.99), histogram.most() as f64);
    let ns = |cycles: Option<f64>| cycles.map(|cycles| cycles * units.ns);
    json!({
        "count": histogram.count(),
        "mean_cycles": mean,
        "p50_cycles": p50,
        "p99_cycles": p99,
        "max_cycles": most,
        "mean_ns": mean * units.ns,
        "p50_ns": ns(p50),
        "p99_ns": ns(p99),
        "max_ns": most * units.ns,
    })
}

/// Returns the payload that entered and left the chips, for their own operations and for those of remote chips.
pub(super) fn bandwidth(window: &Window, units: &ReportUnits) -> Value {
    let own = units.gb_per_s(window.stats.lines_own as f64 * LINE);
    let served = units.gb_per_s(window.stats.lines_served as f64 * LINE);
    json!({
        "application_gb_per_s": own + served,
        "in_gb_per_s": units.gb_per_s(window.stats.lines_in as f64 * LINE),
        "out_gb_per_s": units.gb_per_s(window.stats.lines_out as f64 * LINE),
        "lines_own": window.stats.lines_own,
        "lines_served": window.stats.lines_served,
    })
}
