//! The messages between the chips of a rack.

use crate::OpKind;
use serde::{Deserialize, Serialize};

/// A message to another chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outbound {
    pub(crate) to: u16,
    pub(crate) word: RackMessage,
}

/// Content of a message between chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RackMessage {
    /// A request to read or write a line, for the line `flight` of an operation of the sender.
    Request { flight: u32, kind: OpKind, line: u64 },
    /// The answer to a request, with the cycles that its service took.
    Answer { flight: u32, cycles: u64 },
}
