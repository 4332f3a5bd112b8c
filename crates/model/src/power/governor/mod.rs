//! Who decides on frequencies: the governors of Linux (cpufreq), or another rule in their place.

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
pub use seat::Seat;
pub use userspace::Userspace;

use crate::params::{GovernorParams, PState, PowerParams};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What a core has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Time in which it was not idle since the last look, in ps.
    pub busy_ps: u64,
    /// Time in which it was idle and something that it had asked of storage was waited for, in ps.
    pub waiting_ps: u64,
    /// Its utilisation as the scheduler tracks it, in units of 1/1024 of a core at the highest frequency; see
    /// [`Util`](crate::power::Util).
    pub util: u64,
}

/// What a governor sees when it looks.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The time in ps.
    pub now_ps: u64,
    /// Time since the last look, in ps.
    pub window_ps: u64,
    /// Which frequency domain this is, by its place among those of the server.
    pub domain: usize,
    /// The P-state that was set last.
    pub at: usize,
    /// What each core of the frequency domain has done.
    pub loads: &'a [Load],
    /// From the slowest to the fastest, at least one.
    pub pstates: &'a [PState],
}

impl Look<'_> {
    /// Load of the busiest core in whole percent, rounded down, at most 100; 0 of an empty window.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.percent_of(|load| load.busy_ps)
    }

    /// The same if cores that wait for storage are as busy as those at work.
    #[must_use]
    pub fn percent_with_io(&self) -> u64 {
        self.percent_of(|load| load.busy_ps.saturating_add(load.waiting_ps))
    }

    fn percent_of(&self, part: impl Fn(&Load) -> u64) -> u64 {
        let busiest = self.loads.iter().map(part).max().unwrap_or(0).min(self.window_ps);
        (u128::from(busiest) * 100).checked_div(u128::from(self.window_ps)).unwrap_or(0) as u64
    }

    /// The highest utilisation of a core.
    #[must_use]
    pub fn util(&self) -> u64 {
        self.loads.iter().map(|load| load.util).max().unwrap_or(0)
    }

    /// The fastest P-state.
    #[must_use]
    pub fn fastest(&self) -> usize {
        self.pstates.len() - 1
    }

    /// Frequency of P-state `at` in kHz; one that is not there is taken for the fastest.
    #[must_use]
    pub fn khz(&self, at: usize) -> u64 {
        u64::from(self.pstates[at.min(self.fastest())].khz)
    }

    /// The slowest P-state of at least `khz`, else the fastest (`CPUFREQ_RELATION_L`).
    #[must_use]
    pub fn at_least(&self, khz: u64) -> usize {
        (0..self.fastest()).find(|at| self.khz(*at) >= khz).unwrap_or(self.fastest())
    }

    /// The fastest P-state of at most `khz`, else the slowest (`CPUFREQ_RELATION_H`).
    #[must_use]
    pub fn at_most(&self, khz: u64) -> usize {
        at_most(self.pstates, khz)
    }

    /// The P-state closest to `khz`, of two that are as close the slower (`CPUFREQ_RELATION_C`).
    #[must_use]
    pub fn closest(&self, khz: u64) -> usize {
        let (below, above) = (self.at_most(khz), self.at_least(khz));
        let further_down = self.khz(below).abs_diff(khz) > self.khz(above).abs_diff(khz);
        if further_down {
            above
        } else {
            below
        }
    }
}

/// The fastest P-state of at most `khz`, else the slowest.
pub(super) fn at_most(pstates: &[PState], khz: u64) -> usize {
    (1..pstates.len()).rev().find(|at| u64::from(pstates[*at].khz) <= khz).unwrap_or(0)
}

/// A copy of a governor; every governor that is `Clone` has it.
pub trait CloneGovernor {
    /// The copy.
    fn clone_box(&self) -> Box<dyn Governor>;
}

impl<T: Governor + Clone + 'static> CloneGovernor for T {
    fn clone_box(&self) -> Box<dyn Governor> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Governor> {
    fn clone(&self) -> Self {
        // Of what is in the box: the box is no governor.
        (**self).clone_box()
    }
}

/// A rule that says which frequency cores have. It may depend on nothing but what it sees and its own state, else runs
/// are not reproducible.
pub trait Governor: CloneGovernor + Debug + Send + Sync {
    /// The P-state to go to, by its place in the table; one that is not there is taken for the fastest. Called once per
    /// period.
    fn decide(&mut self, look: &Look) -> usize;

    /// All that it remembers, for a checkpoint; `None` if it cannot be continued from one.
    fn state(&self) -> Option<Vec<u8>> {
        None
    }

    /// Becomes what [`Governor::state`] wrote.
    ///
    /// # Errors
    /// Why it cannot.
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Err("this governor cannot be continued".to_owned())
    }
}

/// The governor that parameters name; none for one from outside.
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

/// What a governor without a memory makes of the state that a checkpoint has of it.
fn nothing(state: &[u8]) -> Result<(), String> {
    if state.is_empty() {
        Ok(())
    } else {
        Err(format!("{} bytes of state for a governor without any", state.len()))
    }
}
