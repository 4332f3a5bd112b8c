//! A frequency that somebody chose.

use super::{nothing, Governor, Look};

/// Always one P-state (`cpufreq_userspace.c`).
#[derive(Clone, Copy, Debug)]
pub struct Userspace {
    /// Its place in the table; one that is not there is taken for the fastest.
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
        nothing(state)
    }
}
