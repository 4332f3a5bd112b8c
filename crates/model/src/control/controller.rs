//! What a controller is: signals in, actions out.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// The highest level: the processes are stopped. One less is the strongest that registers can do.
pub const LEVEL_MAX: u8 = 4;

/// Which signal has just been sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sampled {
    /// Lines in the IIO.
    Occupancy,
    /// Lines that enter the IIO per time.
    Bandwidth,
}

/// What is known about the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    /// The time in ps.
    pub now_ps: u64,
    /// What is new.
    pub sampled: Sampled,
    /// Mean lines in the IIO's buffer between the last two reads of its register (I_S), in units of 2^-10.
    pub occupancy: u64,
    /// The same, smoothed.
    pub occupancy_smoothed: u64,
    /// Bytes per second that entered the buffer between the last two reads of its register (B_S).
    pub bandwidth: u64,
    /// The same, smoothed.
    pub bandwidth_smoothed: u64,
    /// The level, 0 to [`LEVEL_MAX`].
    pub level: u8,
}

/// What shall be done. `Actions::default()` is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actions {
    /// The level to go to, 0 to [`LEVEL_MAX`]; more is taken for that. Without effect while an earlier change is under
    /// way.
    pub level: Option<u8>,
    /// Whether packets are marked from now on.
    pub echo: Option<bool>,
}

/// How samples are smoothed: a new one has a weight of 2 to the minus `shift`, the sum so far the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smoothing {
    /// Of occupancy, 0 to 16.
    pub occupancy_shift: u32,
    /// Of bandwidth, 0 to 16.
    pub bandwidth_shift: u32,
    /// Samples of occupancy of up to so many lines are discarded; 0 = none.
    pub occupancy_floor: u64,
    /// Samples of bandwidth from so many bytes per second on are discarded; `u64::MAX` = none that can occur.
    pub bandwidth_ceiling: u64,
}

impl Default for Smoothing {
    /// The weights of hostCC, 1/8 and 1/256; nothing is discarded.
    fn default() -> Self {
        Self { occupancy_shift: 3, bandwidth_shift: 8, occupancy_floor: 0, bandwidth_ceiling: u64::MAX }
    }
}

impl Smoothing {
    /// Whether a sample of occupancy, in units of 2^-10 lines, is a glitch.
    #[must_use]
    pub fn discards_occupancy(&self, occupancy: u64) -> bool {
        self.occupancy_floor > 0 && occupancy <= self.occupancy_floor.saturating_mul(1 << 10)
    }

    /// Whether a sample of bandwidth, in bytes per second, is a glitch.
    #[must_use]
    pub fn discards_bandwidth(&self, bytes_per_s: u64) -> bool {
        bytes_per_s >= self.bandwidth_ceiling
    }
}

/// What a controller wants the signals to be; this decides which regime a moment counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    /// Occupancy above which the host is congested (I_T), in lines, in units of 2^-10.
    pub occupancy: u64,
    /// Bandwidth that network traffic shall have (B_T), in bytes per second.
    pub bandwidth: u64,
}

/// A copy of a controller; every controller that is `Clone` has it.
pub trait CloneController {
    /// The copy.
    fn clone_box(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> CloneController for T {
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// A rule that says what is done about host congestion. It may depend on nothing but the signals and its own state,
/// else runs are not reproducible.
pub trait Controller: CloneController + Debug + Send + Sync {
    /// Called once per sample that is not discarded.
    fn on_sample(&mut self, signals: &Signals) -> Actions;

    /// How samples are smoothed.
    fn smoothing(&self) -> Smoothing {
        Smoothing::default()
    }

    /// What it aims at, if it does.
    fn targets(&self) -> Option<Targets> {
        None
    }

    /// All that it remembers, for a checkpoint; `None` if it cannot be continued from one.
    fn state(&self) -> Option<Vec<u8>> {
        None
    }

    /// Becomes what [`Controller::state`] wrote.
    ///
    /// # Errors
    /// Why it cannot.
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Err("this controller cannot be continued".to_owned())
    }
}
