//! The effect of the caches on a workload.

use serde::{Deserialize, Serialize};

/// Hit, miss and eviction ratios of a workload, 0 to 1; `None` where there were no accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cached {
    /// Share of the workload's core accesses that miss the L2 of the core.
    pub l2_miss_ratio: Option<f64>,
    /// Share of the workload's LLC reads by cores that miss.
    pub llc_miss_ratio: Option<f64>,
    /// Share of the lines that the workload's devices write to the LLC and that a cache already holds.
    pub ddio_hit_ratio: Option<f64>,
    /// Share of the lines that the workload's devices write to the LLC and that are evicted to memory before a read.
    pub ddio_leak_ratio: Option<f64>,
    /// Lines evicted to memory that the workload's devices wrote, per line that the devices write to the LLC.
    pub ddio_eviction_ratio: Option<f64>,
}

impl Cached {
    /// Describes the miss and eviction ratios that are known, as clauses of a sentence.
    #[must_use]
    pub fn clauses(&self) -> Vec<String> {
        let misses =
            self.llc_miss_ratio.map(|share| format!("{:.0} % of the reads of its cores miss the LLC", 100.0 * share));
        let leaks = self.ddio_eviction_ratio.zip(self.ddio_leak_ratio).map(|(evicted, leaked)| {
            let (evicted, leaked) = (100.0 * evicted, 100.0 * leaked);
            format!("of 100 lines that its devices write to the LLC {evicted:.0} leave for memory, {leaked:.0} unread")
        });
        misses.into_iter().chain(leaks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_happened_is_told() {
        assert!(Cached::default().clauses().is_empty());
        let cores = Cached { llc_miss_ratio: Some(0.987), ..Cached::default() };
        assert_eq!(cores.clauses(), ["99 % of the reads of its cores miss the LLC"]);
        let devices = Cached { ddio_eviction_ratio: Some(0.5), ddio_leak_ratio: Some(0.25), ..cores };
        assert_eq!(devices.clauses().len(), 2);
        assert!(devices.clauses()[1].contains(" 50 leave for memory, 25 unread"));
    }
}
