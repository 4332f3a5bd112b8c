//! Ondemand governor: the highest frequency above a load, else one that fits the load.

use super::{restore_stateless, Governor, Look};
use crate::params::OndemandVariant;

/// Points of load by which the old rule stays below the threshold. The value is that of kernels with exact idle times
/// (`MICRO_FREQUENCY_DOWN_DIFFERENTIAL`), whose default threshold is 95.
const DOWN_DIFFERENTIAL: u64 = 3;

/// `cpufreq_ondemand.c`: the old rule as in Linux 2.6.38, and the proportional rule as since 3.17. Idle times are
/// exact here, as in a kernel without ticks, so the old rule uses the thresholds of exact idle times: with
/// `up_threshold` 95 the target is load times frequency over 92%.
#[derive(Clone, Copy, Debug)]
pub struct Ondemand {
    /// Variant of the rule.
    pub variant: OndemandVariant,
    /// Load above which the governor selects the fastest P-state, in percent.
    pub up_threshold: u32,
    /// True if waits for storage count as load, as on Intel processors (`should_io_be_busy`).
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
        restore_stateless(state)
    }
}

impl Ondemand {
    /// Returns the slowest P-state at which the load would stay a few points below the threshold. Between that point
    /// and the threshold, keeps the current P-state.
    fn below(&self, look: &Look, load: u64) -> usize {
        let aim = u64::from(self.up_threshold).saturating_sub(DOWN_DIFFERENTIAL);
        // Between the aim and the threshold the frequency stays, or it would oscillate.
        if load >= aim {
            return look.at.min(look.fastest());
        }
        // The load at the current frequency, as work per time, over the load aimed at.
        look.at_least(load * look.khz(look.at) / aim)
    }
}
