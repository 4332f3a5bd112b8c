//! The clients of a thread: a closed loop of operations, and how long they took.
//!
//! Clients without a core of their own are think time alone. With one, every operation that a server ends goes to the
//! core of its clients as a reply; what that makes of it goes back as a request, after the think time.

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
    /// A loop of a thread that begins with `ready` operations of the `in_flight` at hand; none in flight = no loop.
    pub(super) fn new(in_flight: u32, ready: u32) -> Self {
        let mut arrivals = VecDeque::with_capacity(in_flight as usize);
        arrivals.resize(ready as usize, Time::ZERO);
        Self {
            closed: in_flight > 0,
            arrivals,
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

    /// The oldest `count` operations end at `at`. Returns how many of them are of a loop, and so lead to another.
    pub(super) fn end(&mut self, count: u32, at: Time) -> u32 {
        self.count += u64::from(count);
        let begun = self.begun.len().min(count as usize);
        for arrival in self.begun.drain(..begun) {
            self.latency.record(at.since(arrival));
        }
        begun as u32
    }

    /// An operation arrives at `at`.
    pub(super) fn arrive(&mut self, at: Time) {
        self.arrivals.push_back(at);
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
        let mut clients = Clients::new(2, 2);
        assert_eq!([clients.begin(), clients.begin()], [Time::ZERO; 2]);
        assert!(!clients.ready());
        assert_eq!(clients.end(1, Time::from_ps(100)), 1);
        assert!(!clients.ready());
        clients.arrive(Time::from_ps(130));
        assert!(clients.ready());
        assert_eq!(clients.begin(), Time::from_ps(130));
        assert_eq!(clients.operations().0, 1);
    }

    #[test]
    fn without_clients_operations_are_counted_only() {
        let mut clients = Clients::new(0, 0);
        assert!(clients.ready());
        assert_eq!(clients.end(3, Time::from_ps(9)), 0);
        assert_eq!((clients.operations().0, clients.operations().1.count()), (3, 0));
    }
}
