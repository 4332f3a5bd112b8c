//! Schedutil governor: the frequency that the tracked utilisation needs.

use super::{restore_stateless, Governor, Look};
use crate::power::util::CAPACITY;

/// `kernel/sched/cpufreq_schedutil.c` of Linux 4.19: 1.25 times the highest frequency times the utilisation of the
/// busiest core. The governor decides once per sample, so its rate limit is the sampling period.
#[derive(Clone, Copy, Debug)]
pub struct Schedutil;

impl Governor for Schedutil {
    fn decide(&mut self, look: &Look) -> usize {
        let max = look.khz(look.fastest());
        // 1.25 is the headroom of `map_util_freq`; utilisation is relative to the highest frequency.
        look.at_least((max + max / 4) * look.util().min(CAPACITY) / CAPACITY)
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        restore_stateless(state)
    }
}
