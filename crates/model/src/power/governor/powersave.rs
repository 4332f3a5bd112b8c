//! Powersave governor: the lowest frequency.

use super::{restore_stateless, Governor, Look};

/// Always selects the slowest P-state (`cpufreq_powersave.c`).
#[derive(Clone, Copy, Debug)]
pub struct Powersave;

impl Governor for Powersave {
    fn decide(&mut self, _look: &Look) -> usize {
        0
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        restore_stateless(state)
    }
}
