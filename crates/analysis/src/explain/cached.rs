//! What the caches do for a workload.

use serde::{Deserialize, Serialize};

/// What the caches do for a workload, as shares; nothing where nothing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cached {
    /// Of the accesses of its cores, those that its L2s have not.
    pub l2_miss_ratio: Option<f64>,
    /// Of the reads of its cores that look into the LLC, those that it has not.
    pub llc_miss_ratio: Option<f64>,
    /// Of the lines that its devices write to the LLC, those that a cache has already.
    pub ddio_hit_ratio: Option<f64>,
    /// Of the lines that its devices write to the LLC, those that leave for memory before anything has read them.
    pub ddio_leak_ratio: Option<f64>,
    /// Lines written by its devices that leave the LLC for memory, per line that they write to the LLC.
    pub ddio_eviction_ratio: Option<f64>,
}

impl Cached {
    /// What counts, as clauses of a sentence.
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
