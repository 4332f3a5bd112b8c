//! Counters of a network.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NetworkCounters {
    /// Flits sent by output, `router * ports + port`.
    pub(super) sent: Vec<u64>,
    /// Flits that terminals have sent.
    pub(super) injected: u64,
    /// Flits that have arrived at terminals.
    pub(super) ejected: u64,
}

impl NetworkCounters {
    pub(super) fn new(outputs: usize) -> Self {
        Self { sent: vec![0; outputs], injected: 0, ejected: 0 }
    }
}
