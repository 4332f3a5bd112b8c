//! Reno (RFC 5681).

use super::{CongestionRule, CongestionWindow};
use crate::params::CongestionControl;
use serde::{Deserialize, Serialize};

/// Reno, whose window is all its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reno;

impl CongestionRule for Reno {
    fn new(_control: &CongestionControl) -> Self {
        Self
    }

    fn on_echo(&mut self, window: &mut CongestionWindow) {
        window.halve();
    }
}
