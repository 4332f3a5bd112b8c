//! The highest frequency above a load, else one that fits it.

use super::{nothing, Governor, Look};
use crate::params::OndemandVariant;

/// Percent by which the old rule stays below the threshold: that of kernels that know idle times exactly
/// (`MICRO_FREQUENCY_DOWN_DIFFERENTIAL`), whose threshold is 95 unless it is set.
const DOWN_DIFFERENTIAL: u64 = 3;

/// `cpufreq_ondemand.c`: the old rule as in Linux 2.6.38, the proportional one as since 3.17. A core without a tick is
/// idle to the picosecond here, so that the old rule has the thresholds of exact idle times: with `up_threshold` 95 it
/// goes to load times frequency over 92%.
#[derive(Clone, Copy, Debug)]
pub struct Ondemand {
    /// The rule.
    pub variant: OndemandVariant,
    /// Load above which it goes to the fastest, in percent.
    pub up_threshold: u32,
    /// Whether waits for storage count as load: so they do on processors of Intel (`should_io_be_busy`).
    pub io_busy: bool,
}

impl Governor for Ondemand {
    fn decide(&mut self, look: &Look) -> usize {
        let load = if self.io_busy { look.percent_with_io() } else { look.percent() };
        if load > u64::from(self.up_threshold) {
            return look.fastest();
        }
        match self.variant {
            OndemandVariant::Old => self.below(look, load),
            OndemandVariant::Proportional => {
                let (min, max) = (look.khz(0), look.khz(look.fastest()));
                look.closest(min + load * (max - min) / 100)
            }
        }
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        nothing(state)
    }
}

impl Ondemand {
    /// The slowest P-state at which the load would stay a few points below the threshold; what is there from that point
    /// up to the threshold.
    fn below(&self, look: &Look, load: u64) -> usize {
        let aim = u64::from(self.up_threshold).saturating_sub(DOWN_DIFFERENTIAL);
        if load >= aim {
            return look.at.min(look.fastest());
        }
        look.at_least(load * look.khz(look.at) / aim)
    }
}
