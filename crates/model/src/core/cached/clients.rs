//! The clients of a thread: a closed loop of operations, and how long they took.

use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A closed loop: as many operations are in flight as there are clients, or any number when there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clients {
    closed: bool,
    /// When the operations that wait arrived, or will arrive.
    arrivals: VecDeque<Time>,
    /// When the operations that have begun arrived.
    begun: VecDeque<Time>,
    count: u64,
    latency: Histogram,
}

impl Clients {
    pub(super) fn new(in_flight: u32) -> Self {
        Self {
            closed: in_flight > 0,
            arrivals: vec![Time::ZERO; in_flight as usize].into(),
            begun: VecDeque::with_capacity(in_flight as usize),
            count: 0,
            latency: Histogram::default(),
        }
    }

    /// Whether an operation may begin.
    pub(super) fn ready(&self) -> bool {
        !self.closed || !self.arrivals.is_empty()
    }

    /// An operation begins; returns when it arrived.
    pub(super) fn begin(&mut self) -> Time {
        let Some(arrival) = self.arrivals.pop_front() else { return Time::ZERO };
        self.begun.push_back(arrival);
        arrival
    }

    /// The oldest `count` operations end at `at`; their clients come back after `think_ps`.
    pub(super) fn end(&mut self, count: u32, at: Time, think_ps: u64) {
        self.count += u64::from(count);
        if !self.closed {
            return;
        }
        for _ in 0..count {
            let Some(arrival) = self.begun.pop_front() else { return };
            self.latency.record(at.since(arrival));
            self.arrivals.push_back(at + think_ps);
        }
    }

    pub(super) fn operations(&self) -> (u64, &Histogram) {
        (self.count, &self.latency)
    }

    pub(super) fn reset(&mut self) {
        self.count = 0;
        self.latency.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_loop_holds_as_many_operations_as_there_are_clients() {
        let mut clients = Clients::new(2);
        assert_eq!([clients.begin(), clients.begin()], [Time::ZERO; 2]);
        assert!(!clients.ready());
        clients.end(1, Time::from_ps(100), 30);
        assert!(clients.ready());
        assert_eq!(clients.begin(), Time::from_ps(130));
        assert_eq!(clients.operations().0, 1);
    }

    #[test]
    fn without_clients_operations_are_counted_only() {
        let mut clients = Clients::new(0);
        assert!(clients.ready());
        clients.end(3, Time::from_ps(9), 0);
        assert_eq!((clients.operations().0, clients.operations().1.count()), (3, 0));
    }
}
