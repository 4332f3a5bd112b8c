//! Events and their total order.

use crate::Time;
use serde::{Deserialize, Serialize};

/// Id of a component of the simulated world, unique across all partitions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct ComponentId(pub u32);

/// Total order of events: by time, then by sender, then by the sender's count of sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct EventKey {
    /// Time of the event.
    pub time: Time,
    /// Component that sent the event.
    pub source: ComponentId,
    /// Number of events that the sender had sent before.
    pub sequence: u64,
}

/// Event that occurs at `target` at `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event<P> {
    /// Time of the event.
    pub time: Time,
    /// Number of events that the sender had sent before.
    pub sequence: u64,
    /// Component that sent the event.
    pub source: ComponentId,
    /// Component that handles the event.
    pub target: ComponentId,
    /// Content of the event.
    pub payload: P,
}

impl<P> Event<P> {
    /// Returns the key of the event in the total order.
    #[must_use]
    pub fn key(&self) -> EventKey {
        EventKey { time: self.time, source: self.source, sequence: self.sequence }
    }
}
