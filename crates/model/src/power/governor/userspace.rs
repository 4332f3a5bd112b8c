//! Userspace governor: a fixed frequency.

use super::{restore_stateless, Governor, Look};

/// Always selects one P-state (`cpufreq_userspace.c`).
#[derive(Clone, Copy, Debug)]
pub struct Userspace {
    /// Index of the P-state. An index beyond the table means the fastest.
    pub at: u32,
}

impl Governor for Userspace {
    fn decide(&mut self, look: &Look) -> usize {
        (self.at as usize).min(look.fastest())
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        restore_stateless(state)
    }
}
