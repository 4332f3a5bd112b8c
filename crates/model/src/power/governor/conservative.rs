//! Conservative governor: moves the frequency up and down by steps.

use super::{Governor, Look};

/// Smallest step, in kHz. Linux uses this value in place of a step of 0 kHz (`get_freq_step`).
const STEP_LEAST_KHZ: u64 = 5;

/// `cpufreq_conservative.c` of Linux 4.19, with `sampling_down_factor` 1. The governor keeps a requested frequency
/// that moves by steps, which may be smaller than those of the table.
#[derive(Clone, Debug)]
pub struct Conservative {
    up_threshold: u32,
    down_threshold: u32,
    step: u32,
    /// Requested frequency in kHz. `None` before the first sample.
    wanted_khz: Option<u64>,
}

impl Conservative {
    /// Creates the governor. The frequency goes up above `up_threshold` and down below `down_threshold`, both in
    /// percent of load, by `step` percent of the highest frequency. With a step of 0 the frequency never moves.
    #[must_use]
    pub fn new(up_threshold: u32, down_threshold: u32, step: u32) -> Self {
        Self { up_threshold, down_threshold, step, wanted_khz: None }
    }
}

impl Governor for Conservative {
    fn decide(&mut self, look: &Look) -> usize {
        let (load, at) = (look.percent(), look.at.min(look.fastest()));
        let (min, max) = (look.khz(0), look.khz(look.fastest()));
        let wanted = self.wanted_khz.unwrap_or(look.khz(at));
        self.wanted_khz = Some(wanted);
        let step = match self.step {
            0 => return at,
            // As `get_freq_step` of Linux.
            percent => (u64::from(percent) * max / 100).max(STEP_LEAST_KHZ),
        };
        if load > u64::from(self.up_threshold) && wanted < max {
            let up = (wanted + step).min(max);
            self.wanted_khz = Some(up);
            // `CPUFREQ_RELATION_H` upward and `CPUFREQ_RELATION_L` downward, as in Linux.
            look.at_most(up)
        } else if load < u64::from(self.down_threshold) && wanted > min {
            let down = wanted.saturating_sub(step).max(min);
            self.wanted_khz = Some(down);
            look.at_least(down)
        } else {
            at
        }
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(self.wanted_khz.map_or_else(Vec::new, |khz| khz.to_le_bytes().to_vec()))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        self.wanted_khz = match state {
            [] => None,
            bytes => Some(u64::from_le_bytes(bytes.try_into().map_err(|_| format!("{} bytes, not 8", bytes.len()))?)),
        };
        Ok(())
    }
}
