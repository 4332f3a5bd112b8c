//! Messages of ranks that a network carries whole.

use serde::{Deserialize, Serialize};

/// Event between endpoints and a network that carries messages whole. The documentation of each variant names the
/// receiver first, and says what the two numbers of [`super::Payload::Whole`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageEvent {
    /// To the network, from an endpoint: a message has been posted; its channel, and its bytes.
    Posted {
        /// True if its sender waits for room in the send buffer.
        waits: bool,
    },
    /// To the network, from itself: messages begin or end; both numbers are 0.
    Shares,
    /// To an endpoint: a message has arrived; its flow, and its bytes.
    Arrived,
    /// To an endpoint: messages that it sent are acknowledged; their flow, and the bytes since the start of the run.
    Acknowledged,
}
