//! Backends: generate a request for every line of an operation, and store the lines that return.

use crate::op::LineTimes;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of packets queued at a terminal at or above which a pipeline stalls.
pub(crate) const QUEUED: usize = 8;

/// Backend of request generation and completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Backend {
    /// Operations whose requests are being generated.
    pub(crate) unrolling: VecDeque<u32>,
    /// True while a generation step is scheduled.
    pub(crate) awake: bool,
    pub(crate) in_flight: u32,
    /// Responses that wait for the completion pipeline.
    pub(crate) responses: VecDeque<u32>,
    /// True while the pipelines continue in the next cycle.
    pub(crate) pumping: bool,
    /// True if the last line sent was for a remote request.
    pub(crate) remote_before: bool,
    pub(crate) closed: bool,
}

/// A line of an operation, in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LineInFlight {
    pub(crate) op: u32,
    pub(crate) index: u32,
    pub(crate) times: LineTimes,
}
