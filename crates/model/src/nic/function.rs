//! A function of the card: its link, and whose turn there is.

use super::FunctionWiring;
use crate::link::Endpoint;
use crate::part::{Context, Payload};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// A function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Function {
    pub(super) endpoint: Endpoint,
    /// The time of the pending `Send` that counts; an earlier one makes a later one void.
    wake: Option<Time>,
    /// Whether reads have the next turn on the lane.
    pub(super) read_turn: bool,
    /// Flows that were steered to its queues since the last reset.
    pub(super) steered: u64,
}

impl Function {
    pub(super) fn new(wiring: FunctionWiring, classes: usize) -> Self {
        let FunctionWiring { iio, link, pcie } = wiring;
        Self { endpoint: Endpoint::new(iio, link, pcie, classes), wake: None, read_turn: false, steered: 0 }
    }

    /// Starts a new measuring window of what it counts.
    pub(super) fn reset(&mut self, now: Time) {
        self.endpoint.reset_moved(now);
        self.steered = 0;
    }

    /// Sees to it that a `Send` comes at `time`, or as soon as the lane is free after it.
    pub(super) fn wake_at(&mut self, time: Time, context: &mut Context) {
        let time = time.max(self.endpoint.free_at()).max(context.now() + 1);
        if self.wake.is_none_or(|wake| wake > time) {
            self.wake = Some(time);
            context.send(context.id, time.since(context.now()), Payload::Send);
        }
    }

    /// Whether the `Send` that came is one that counts for it.
    pub(super) fn awake(&mut self, now: Time) -> bool {
        let due = self.wake == Some(now);
        if due {
            self.wake = None;
        }
        due
    }
}
