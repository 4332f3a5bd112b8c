//! Performance governor: the highest frequency.

use super::{restore_stateless, Governor, Look};

/// Always selects the fastest P-state (`cpufreq_performance.c`).
#[derive(Clone, Copy, Debug)]
pub struct Performance;

impl Governor for Performance {
    fn decide(&mut self, look: &Look) -> usize {
        look.fastest()
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        restore_stateless(state)
    }
}
