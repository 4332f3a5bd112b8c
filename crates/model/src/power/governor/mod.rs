//! Frequency governors: those of Linux (cpufreq), or a user-defined rule.

mod conservative;
mod ondemand;
mod performance;
mod powersave;
mod schedutil;
mod seat;
#[cfg(test)]
mod tests;
mod userspace;

pub use conservative::Conservative;
pub use ondemand::Ondemand;
pub use performance::Performance;
pub use powersave::Powersave;
pub use schedutil::Schedutil;
pub use seat::GovernorSlot;
pub use userspace::Userspace;

use crate::params::{GovernorParams, PState, PowerParams};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Load of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Time that the core was not idle since the last sample, in ps.
    pub busy_ps: u64,
    /// Time that the core was idle while its storage reads were outstanding, in ps.
    pub waiting_ps: u64,
    /// Utilisation as the scheduler tracks it, in units of 1/1024 of a core at the highest frequency. See
    /// [`UtilTracker`](crate::power::UtilTracker).
    pub util: u64,
}

/// Input of a governor's decision.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Current time, in ps.
    pub now_ps: u64,
    /// Time since the last sample, in ps.
    pub window_ps: u64,
    /// Index of the frequency domain in the server.
    pub domain: usize,
    /// P-state that was requested last.
    pub at: usize,
    /// Load of each core of the frequency domain.
    pub loads: &'a [Load],
    /// P-states from the slowest to the fastest, at least one.
    pub pstates: &'a [PState],
}

impl Look<'_> {
    /// Returns the load of the busiest core in whole percent, rounded down, at most 100. Returns 0 for an empty
    /// window.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.percent_of(|load| load.busy_ps)
    }

    /// Returns the load of the busiest core as [`Look::percent`] does, but counts waits for storage as busy.
    #[must_use]
    pub fn percent_with_io(&self) -> u64 {
        self.percent_of(|load| load.busy_ps.saturating_add(load.waiting_ps))
    }

    fn percent_of(&self, part: impl Fn(&Load) -> u64) -> u64 {
        // A report may cover a little more than the window, since reports arrive at different times.
        let busiest = self.loads.iter().map(part).max().unwrap_or(0).min(self.window_ps);
        (u128::from(busiest) * 100).checked_div(u128::from(self.window_ps)).unwrap_or(0) as u64
    }

    /// Returns the highest utilisation of a core.
    #[must_use]
    pub fn util(&self) -> u64 {
        self.loads.iter().map(|load| load.util).max().unwrap_or(0)
    }

    /// Returns the fastest P-state.
    #[must_use]
    pub fn fastest(&self) -> usize {
        self.pstates.len() - 1
    }

    /// Returns the frequency of P-state `at` in kHz, or that of the fastest if `at` does not exist.
    #[must_use]
    pub fn khz(&self, at: usize) -> u64 {
        u64::from(self.pstates[at.min(self.fastest())].khz)
    }

    /// Returns the slowest P-state of at least `khz`, else the fastest (`CPUFREQ_RELATION_L`).
    #[must_use]
    pub fn at_least(&self, khz: u64) -> usize {
        // P-states are in the order of their frequencies.
        (0..self.fastest()).find(|at| self.khz(*at) >= khz).unwrap_or(self.fastest())
    }

    /// Returns the fastest P-state of at most `khz`, else the slowest (`CPUFREQ_RELATION_H`).
    #[must_use]
    pub fn at_most(&self, khz: u64) -> usize {
        at_most(self.pstates, khz)
    }

    /// Returns the P-state closest to `khz`, and the slower of two that are equally close (`CPUFREQ_RELATION_C`).
    #[must_use]
    pub fn closest(&self, khz: u64) -> usize {
        let (below, above) = (self.at_most(khz), self.at_least(khz));
        // Strictly further: of two equally close the slower is taken.
        let further_down = self.khz(below).abs_diff(khz) > self.khz(above).abs_diff(khz);
        if further_down {
            above
        } else {
            below
        }
    }
}

/// Returns the fastest P-state of at most `khz`, else the slowest.
pub(super) fn at_most(pstates: &[PState], khz: u64) -> usize {
    (1..pstates.len()).rev().find(|at| u64::from(pstates[*at].khz) <= khz).unwrap_or(0)
}

/// Cloning of boxed governors, implemented for every governor that is `Clone`.
pub trait CloneGovernor {
    /// Returns a boxed copy.
    fn clone_box(&self) -> Box<dyn Governor>;
}

impl<T: Governor + Clone + 'static> CloneGovernor for T {
    fn clone_box(&self) -> Box<dyn Governor> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Governor> {
    fn clone(&self) -> Self {
        // Calls `clone_box` of the governor inside: the box itself is not a governor.
        (**self).clone_box()
    }
}

/// Rule that decides on the frequency of cores. A decision may depend only on the input and on the governor's own
/// state, otherwise runs are not reproducible.
pub trait Governor: CloneGovernor + Debug + Send + Sync {
    /// Returns the index of the P-state to switch to. An index beyond the table means the fastest. Called once per
    /// period.
    fn decide(&mut self, look: &Look) -> usize;

    /// Returns the full state for a checkpoint, or `None` if the governor cannot continue from one.
    fn state(&self) -> Option<Vec<u8>> {
        None
    }

    /// Restores the state that [`Governor::state`] returned.
    ///
    /// # Errors
    /// Returns an error if the state is not valid for this governor.
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Err("this governor cannot be continued".to_owned())
    }
}

/// Returns the governor that the parameters name, or `None` for a user-defined one.
#[must_use]
pub fn of(params: &PowerParams) -> Option<Box<dyn Governor>> {
    built(&params.governor)
}

fn built(params: &GovernorParams) -> Option<Box<dyn Governor>> {
    Some(match *params {
        GovernorParams::Performance => Box::new(Performance),
        GovernorParams::Powersave => Box::new(Powersave),
        GovernorParams::Userspace(at) => Box::new(Userspace { at }),
        GovernorParams::Ondemand { variant, up_threshold, io_busy } => {
            Box::new(Ondemand { variant, up_threshold, io_busy })
        }
        GovernorParams::Conservative { up_threshold, down_threshold, step } => {
            Box::new(Conservative::new(up_threshold, down_threshold, step))
        }
        GovernorParams::Schedutil => Box::new(Schedutil),
        GovernorParams::User(_) => return None,
    })
}

/// Restores a governor without state, whose state in a checkpoint must be empty.
fn restore_stateless(state: &[u8]) -> Result<(), String> {
    if state.is_empty() {
        Ok(())
    } else {
        Err(format!("{} bytes of state for a governor without any", state.len()))
    }
}
