//! Reorder window of a core: loads in program order, and the stalls of the front end that they cause.

use super::clients::ClientOperation;
use super::lines_in_flight::NO_LINE_IN_FLIGHT;
use super::waits::NEARLY;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Load in the window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct WindowLoad {
    /// Instructions of the thread before the load.
    position: u64,
    /// Line in flight that the load waits for, or [`NO_LINE_IN_FLIGHT`].
    flight: u16,
    /// Operation that ends with the load, if one does.
    ends: Option<ClientOperation>,
    /// Time at which the data arrived or will arrive.
    done: Time,
}

/// Loads that the front end has passed and that may still stall it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReorderWindow {
    rob: u64,
    loads: VecDeque<WindowLoad>,
    /// Number of the first load in the list.
    first: u64,
    /// Loads without data.
    outstanding: u32,
    last_done: Time,
}

impl ReorderWindow {
    pub(super) fn new(rob: u32) -> Self {
        // One more than the window, because the load that overflows it is added before one leaves.
        let capacity = rob as usize + 1;
        Self {
            rob: u64::from(rob),
            loads: VecDeque::with_capacity(capacity),
            first: 0,
            outstanding: 0,
            last_done: Time::ZERO,
        }
    }

    /// Returns the loads without data.
    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Returns the time at which the last data of all loads so far arrived or will arrive.
    pub(super) fn last_done(&self) -> Time {
        self.last_done
    }

    /// Lets the instruction at `position` into the window, where the front end arrives at `front_fs`. Returns the time
    /// of that in fs, or nothing while a load that must leave first has no data.
    pub(super) fn enter(&mut self, position: u64, mut front_fs: u64, instruction_fs: u64) -> Option<u64> {
        while let Some(oldest) = self.loads.front() {
            let leaves_at = oldest.position + self.rob;
            // The list is bounded too, since loads of 0 instructions do not advance the position.
            if leaves_at >= position && self.loads.len() <= self.rob as usize {
                break;
            }
            if oldest.flight != NO_LINE_IN_FLIGHT {
                return None;
            }
            // Instructions behind the point where the load left pass at the rate of the core.
            let behind = position.saturating_sub(leaves_at);
            front_fs = front_fs.max(oldest.done.ps() * 1000 + behind * instruction_fs);
            self.loads.pop_front();
            self.first += 1;
        }
        Some(front_fs)
    }

    /// Returns true if the instruction at `position` leaves hardly any room in the window.
    pub(super) fn is_nearly_full(&self, position: u64) -> bool {
        let oldest = self.loads.iter().find(|load| load.flight != NO_LINE_IN_FLIGHT);
        let span = oldest.map_or(0, |oldest| position.saturating_sub(oldest.position));
        span + self.rob / u64::from(NEARLY) > self.rob
    }

    /// Adds a load at `position` whose data arrives at `done`.
    pub(super) fn push_done(&mut self, position: u64, done: Time) {
        self.last_done = self.last_done.max(done);
        self.loads.push_back(WindowLoad { position, flight: NO_LINE_IN_FLIGHT, ends: None, done });
    }

    /// Adds a load at `position` that waits for a line in flight. Returns the number of the load.
    pub(super) fn push_waiting(&mut self, position: u64, flight: u16, ends: Option<ClientOperation>) -> u64 {
        self.outstanding += 1;
        self.loads.push_back(WindowLoad { position, flight, ends, done: Time::ZERO });
        self.first + self.loads.len() as u64 - 1
    }

    /// Completes the loads that wait for the line of `flight`, which has arrived. `number` is the first of these loads
    /// and, unless `several`, the only one. Calls `on_end` with each operation that ends with one of them.
    pub(super) fn complete(
        &mut self,
        flight: u16,
        number: u64,
        several: bool,
        now: Time,
        on_end: impl FnMut(ClientOperation),
    ) {
        // Loads are numbered in a row, so the distance from the first is the index.
        let start = (number - self.first) as usize;
        // Only if several wait is the rest of the window searched.
        let stop = if several { self.loads.len() } else { start + 1 };
        let waiting = self.loads.range_mut(start..stop).filter(|load| load.flight == flight);
        let outstanding = &mut self.outstanding;
        let ended = waiting.filter_map(|load| {
            load.flight = NO_LINE_IN_FLIGHT;
            load.done = now;
            *outstanding -= 1;
            load.ends
        });
        ended.for_each(on_end);
        self.last_done = self.last_done.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_end_runs_ahead_by_the_window_and_no_further() {
        let mut window = ReorderWindow::new(100);
        let load = window.push_waiting(10, 3, Some(ClientOperation::UNASKED));
        assert_eq!(window.enter(110, 5_000, 100), Some(5_000), "position 110 is within 100 instructions of 10");
        assert_eq!(window.enter(111, 5_000, 100), None, "position 111 is not");
        let mut ended = 0;
        window.complete(3, load, false, Time::from_ps(70), |_| ended += 1);
        assert_eq!(ended, 1);
        assert_eq!(window.enter(111, 5_000, 100), Some(70_100), "one instruction after the data");
        assert_eq!(window.enter(112, 70_200, 100), Some(70_200), "the load has left the window");
    }

    #[test]
    fn several_loads_may_wait_for_one_line() {
        let mut window = ReorderWindow::new(10);
        let first = window.push_waiting(1, 7, None);
        window.push_waiting(2, 8, Some(ClientOperation::UNASKED));
        window.push_waiting(3, 7, Some(ClientOperation::UNASKED));
        let mut ended = 0;
        window.complete(7, first, true, Time::from_ps(5), |_| ended += 1);
        assert_eq!(ended, 1);
        assert_eq!((window.outstanding(), window.last_done()), (1, Time::from_ps(5)));
    }
}
