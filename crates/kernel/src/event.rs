//! Events and their total order.

use crate::Time;
use serde::{Deserialize, Serialize};

/// Names a component of the simulated world; unique over all partitions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct ComponentId(pub u32);

/// The total order of events: time, then sender, then the sender's own count of sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct EventKey {
    /// When the event happens.
    pub time: Time,
    /// Who sent it.
    pub source: ComponentId,
    /// How many events the sender had sent before.
    pub sequence: u64,
}

/// Something that happens to `target` at `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event<P> {
    /// When it happens.
    pub time: Time,
    /// The sender's own count of sends.
    pub sequence: u64,
    /// Who sent it.
    pub source: ComponentId,
    /// Whom it happens to.
    pub target: ComponentId,
    /// What happens.
    pub payload: P,
}

impl<P> Event<P> {
    /// The place of this event in the total order.
    #[must_use]
    pub fn key(&self) -> EventKey {
        EventKey { time: self.time, source: self.source, sequence: self.sequence }
    }
}
