//! A function of the NIC: its PCIe link, and the arbitration between reads and writes on the link.

use super::FunctionWiring;
use crate::link::PcieEndpoint;
use crate::part::{Context, Payload};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Function of the NIC with a private PCIe link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Function {
    pub(super) endpoint: PcieEndpoint,
    /// Time of the pending `Send` event that is valid. Scheduling an earlier one invalidates a later one.
    wake: Option<Time>,
    /// True if reads go next on the lane.
    pub(super) read_turn: bool,
    /// Flows steered to queues of this function since the last reset.
    pub(super) steered: u64,
}

impl Function {
    pub(super) fn new(wiring: FunctionWiring, classes: usize) -> Self {
        let FunctionWiring { iio, link, pcie } = wiring;
        Self { endpoint: PcieEndpoint::new(iio, link, pcie, classes), wake: None, read_turn: false, steered: 0 }
    }

    /// Starts a new measurement window of the counters.
    pub(super) fn reset(&mut self, now: Time) {
        self.endpoint.reset_moved(now);
        self.steered = 0;
    }

    /// Schedules a `Send` event at `time`, or as soon as the lane is free after `time`.
    pub(super) fn wake_at(&mut self, time: Time, context: &mut Context) {
        // A TLP waits for the lane, and a `Send` for the next ps: the function sends one TLP per event.
        let time = time.max(self.endpoint.free_at()).max(context.now() + 1);
        // Only an earlier time needs a new event; the later one finds `wake` changed and is ignored.
        if self.wake.is_none_or(|wake| wake > time) {
            self.wake = Some(time);
            context.send(context.id, time.since(context.now()), Payload::Send);
        }
    }

    /// Returns true if the `Send` event at `now` is the valid one, and clears it.
    pub(super) fn take_due_wake(&mut self, now: Time) -> bool {
        let due = self.wake == Some(now);
        if due {
            self.wake = None;
        }
        due
    }
}
