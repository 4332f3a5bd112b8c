//! Streams of a rank: ready operations, and the operation that each stream executes.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Operation of a stream that takes a known time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct TimedOperation {
    pub(super) operation: u32,
    pub(super) began: Time,
    pub(super) ends: Time,
    /// Number of the completed step that the operation waited for last.
    pub(super) after: u64,
}

/// Order of ready operations: a time in ps, then an id.
pub(super) type StreamKey = (u64, u64);

/// Stream that executes one operation at a time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stream {
    /// Ready operations in the order in which they are executed.
    ready: BTreeSet<(StreamKey, u32)>,
    pub(super) current: Option<TimedOperation>,
    /// End of the last operation, and the number of its completed step.
    last: Option<(Time, u64)>,
}

impl Stream {
    /// Adds a ready operation; those with smaller keys are executed first.
    pub(super) fn add(&mut self, key: StreamKey, operation: u32) {
        self.ready.insert((key, operation));
    }

    /// Returns the next operation if the stream is free.
    pub(super) fn take_next(&mut self) -> Option<u32> {
        if self.current.is_some() {
            return None;
        }
        self.ready.pop_first().map(|(_, operation)| operation)
    }

    /// Begins an operation that was ready `since` a time, when the step with the number `cause` ended.
    pub(super) fn begin(&mut self, operation: u32, now: Time, ps: u64, (since, cause): (Time, u64)) {
        // An operation that waited for the stream waited for the previous operation last.
        let after = self.last.filter(|&(ended, _)| ended > since).map_or(cause, |(_, step)| step);
        self.current = Some(TimedOperation { operation, began: now, ends: now + ps, after });
    }

    /// Takes the operation that has ended by now.
    pub(super) fn take_ended(&mut self, now: Time) -> Option<TimedOperation> {
        self.current.take_if(|current| current.ends <= now)
    }

    /// Records the number of the step of the operation that has ended.
    pub(super) fn end(&mut self, ended: Time, step: u64) {
        self.last = Some((ended, step));
    }
}
