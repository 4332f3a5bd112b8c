//! The values that a round of the fixed point assumes.

use super::admission::Admission;
use super::channel::{Load, State};

/// Values that a round assumes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundValues {
    pub(super) load: Load,
    pub(super) state: State,
    pub(super) forced: f64,
    pub(super) port_ns: f64,
    pub(super) admission: Admission,
}

/// Number of values that are corrected step by step.
pub(super) const NUMBERS: usize = 8;
/// Index of [`State::lean`], which is a logarithm, among these values.
pub(super) const LEAN: usize = 4;

impl RoundValues {
    /// Returns the values that are corrected step by step.
    pub(super) fn numbers(&mut self) -> [&mut f64; NUMBERS] {
        [
            &mut self.load.read_misses,
            &mut self.load.write_misses,
            &mut self.forced,
            &mut self.state.read_wait_ns,
            &mut self.state.lean,
            &mut self.port_ns,
            &mut self.admission.io_share,
            &mut self.admission.turn_ns,
        ]
    }
}
