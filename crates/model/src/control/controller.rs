//! Interface of a controller: signals in, actions out.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Highest level, at which the processes are stopped. The level below is the strongest that registers can set.
pub const LEVEL_MAX: u8 = 4;

/// Signal that has just been sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sampled {
    /// Lines in the IIO.
    Occupancy,
    /// Lines that enter the IIO per time.
    Bandwidth,
}

/// Signals of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signals {
    /// Time, in ps.
    pub now_ps: u64,
    /// Signal that is new.
    pub sampled: Sampled,
    /// Mean lines in the IIO's buffer between the last two reads of its register (I_S), in units of 2^-10.
    pub occupancy: u64,
    /// Smoothed `occupancy`, in units of 2^-10 lines.
    pub occupancy_smoothed: u64,
    /// Bytes per second that entered the buffer between the last two reads of its register (B_S).
    pub bandwidth: u64,
    /// Smoothed `bandwidth`, in bytes per second.
    pub bandwidth_smoothed: u64,
    /// Current level, 0 to [`LEVEL_MAX`].
    pub level: u8,
}

/// Actions of a controller. `Actions::default()` does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actions {
    /// Level to go to, 0 to [`LEVEL_MAX`]; a larger number counts as that. Without effect while an earlier change is
    /// under way.
    pub level: Option<u8>,
    /// True to mark packets from now on, false to stop that; `None` changes nothing.
    pub echo: Option<bool>,
}

/// Smoothing of samples: a new one has a weight of 2 to the minus `shift`, the average so far has the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smoothing {
    /// Shift of occupancy, 0 to 16.
    pub occupancy_shift: u32,
    /// Shift of bandwidth, 0 to 16.
    pub bandwidth_shift: u32,
    /// Number of lines up to which samples of occupancy are discarded; 0 discards none.
    pub occupancy_floor: u64,
    /// Bandwidth, in bytes per second, at or above which a sample is discarded; with `u64::MAX` no sample is.
    pub bandwidth_ceiling: u64,
}

impl Default for Smoothing {
    /// Returns the weights of hostCC, 1/8 and 1/256; nothing is discarded.
    fn default() -> Self {
        Self { occupancy_shift: 3, bandwidth_shift: 8, occupancy_floor: 0, bandwidth_ceiling: u64::MAX }
    }
}

impl Smoothing {
    /// Returns true if a sample of occupancy, in units of 2^-10 lines, is a glitch.
    #[must_use]
    pub fn discards_occupancy(&self, occupancy: u64) -> bool {
        // A floor of 0 stands for none; a sample at the floor is a glitch (docs/models/control.md, Signals).
        self.occupancy_floor > 0 && occupancy <= self.occupancy_floor.saturating_mul(1 << 10)
    }

    /// Returns true if a sample of bandwidth, in bytes per second, is a glitch.
    #[must_use]
    pub fn discards_bandwidth(&self, bytes_per_s: u64) -> bool {
        bytes_per_s >= self.bandwidth_ceiling
    }
}

/// Targets of a controller for the signals, which decide the regime that time counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    /// Occupancy above which the host is congested (I_T), in units of 2^-10 lines.
    pub occupancy: u64,
    /// Bandwidth that network traffic must have (B_T), in bytes per second.
    pub bandwidth: u64,
}

/// Copies of boxed controllers; every controller that is `Clone` has this trait.
pub trait CloneController {
    /// Returns a boxed copy.
    fn clone_box(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> CloneController for T {
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Rule that acts on host congestion. It may depend only on the signals and its own state, otherwise runs are not
/// reproducible.
pub trait Controller: CloneController + Debug + Send + Sync {
    /// Returns the actions after a sample. Called once per sample that is not discarded.
    fn on_sample(&mut self, signals: &Signals) -> Actions;

    /// Returns the smoothing of samples.
    fn smoothing(&self) -> Smoothing {
        Smoothing::default()
    }

    /// Returns the targets of the controller, if it has any.
    fn targets(&self) -> Option<Targets> {
        None
    }

    /// Returns the whole state of the controller for a checkpoint, or `None` if it cannot be restored from one.
    fn state(&self) -> Option<Vec<u8>> {
        None
    }

    /// Restores the state that [`Controller::state`] returned.
    ///
    /// # Errors
    /// Returns the reason why the state cannot be restored.
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let _ = state;
        Err("this controller cannot be continued".to_owned())
    }
}
