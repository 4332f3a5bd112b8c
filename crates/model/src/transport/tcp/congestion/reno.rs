//! Reno (RFC 5681).

use super::{CongestionRule, CongestionWindow};
use serde::{Deserialize, Serialize};

/// Reno, whose window is all its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reno;

impl Reno {
    pub(super) fn new() -> Self {
        Self
    }
}

impl CongestionRule for Reno {
    fn on_echo(&mut self, window: &mut CongestionWindow) {
        window.halve();
    }
}
