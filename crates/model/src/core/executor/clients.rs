//! Clients of a thread: a closed loop of operations, and their latencies.
//!
//! Clients without a core are think time alone. If clients have a core, every operation that a server ends goes to
//! that core as a reply; what the core makes of the reply returns as a request after the think time.
//!
//! Operations end in any order: one whose data is at hand ends before an older one that waits for memory.

use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Operation that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientOperation(u32);

impl ClientOperation {
    /// Operation that no client requested.
    pub(super) const UNASKED: Self = Self(u32::MAX);
}

/// Closed loop: as many operations are in flight as there are clients, or any number when there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clients {
    closed: bool,
    /// Arrival times of the operations that wait or will arrive, the earliest first.
    arrivals: VecDeque<Time>,
    /// Arrival times of the operations that have begun, by their numbers.
    begun: Vec<Time>,
    /// Numbers that no operation has.
    free: Vec<u32>,
    count: u64,
    latency: Histogram,
}

impl Clients {
    /// Creates the loop of a thread that begins with `ready` of its `in_flight` operations at hand. Without any in
    /// flight there is no loop.
    pub(super) fn new(in_flight: u32, ready: u32) -> Self {
        let mut arrivals = VecDeque::with_capacity(in_flight as usize);
        arrivals.resize(ready as usize, Time::ZERO);
        Self {
            closed: in_flight > 0,
            arrivals,
            begun: vec![Time::ZERO; in_flight as usize],
            free: (0..in_flight).rev().collect(),
            count: 0,
            latency: Histogram::default(),
        }
    }

    /// Returns true if an operation may begin.
    pub(super) fn ready(&self) -> bool {
        !self.closed || !self.arrivals.is_empty()
    }

    /// Begins an operation. Returns the operation and its arrival time.
    pub(super) fn begin(&mut self) -> (ClientOperation, Time) {
        let Some(arrival) = self.arrivals.pop_front() else { return (ClientOperation::UNASKED, Time::ZERO) };
        // As many numbers as clients: an operation begins only when a client has asked for it.
        let number = self.free.pop().expect("no more operations than clients");
        self.begun[number as usize] = arrival;
        (ClientOperation(number), arrival)
    }

    /// Ends an operation at `at`. Returns true if the operation is part of a loop, and so leads to another one.
    pub(super) fn end(&mut self, operation: ClientOperation, at: Time) -> bool {
        self.count += 1;
        let Some(arrival) = self.begun.get(operation.0 as usize) else { return false };
        self.latency.record(at.since(*arrival));
        self.free.push(operation.0);
        true
    }

    /// Adds an operation that arrives at `at`.
    pub(super) fn arrive(&mut self, at: Time) {
        // Think times differ, so operations may arrive out of order; the list stays sorted.
        let later = self.arrivals.iter().rev().take_while(|arrival| **arrival > at).count();
        self.arrivals.insert(self.arrivals.len() - later, at);
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
        let [(first, arrival), (second, _)] = [clients.begin(), clients.begin()];
        assert_eq!(arrival, Time::ZERO);
        assert!(!clients.ready());
        assert!(clients.end(first, Time::from_ps(100)));
        assert!(!clients.ready());
        clients.arrive(Time::from_ps(130));
        assert!(clients.ready());
        assert_eq!(clients.begin().1, Time::from_ps(130));
        assert!(clients.end(second, Time::from_ps(140)));
        assert_eq!(clients.operations().0, 2);
    }

    #[test]
    fn an_operation_that_ends_before_an_older_one_has_its_own_latency() {
        let mut clients = Clients::new(2, 1);
        let (old, _) = clients.begin();
        clients.arrive(Time::from_ps(1000));
        let (young, arrival) = clients.begin();
        assert_eq!(arrival, Time::from_ps(1000));
        assert!(clients.end(young, Time::from_ps(1001)));
        assert!(clients.end(old, Time::from_ps(500)));
        let latency = clients.operations().1;
        assert_eq!((latency.count(), latency.sum()), (2, 501));
    }

    #[test]
    fn the_earliest_arrival_begins_first() {
        let mut clients = Clients::new(3, 0);
        [30, 10, 20].into_iter().for_each(|ps| clients.arrive(Time::from_ps(ps)));
        let order = [(); 3].map(|()| clients.begin().1.ps());
        assert_eq!(order, [10, 20, 30]);
    }

    #[test]
    fn operations_that_nobody_asked_for_are_counted_only() {
        let mut clients = Clients::new(0, 0);
        assert!(clients.ready());
        let (operation, _) = clients.begin();
        assert!(!clients.end(operation, Time::from_ps(9)));
        assert_eq!((clients.operations().0, clients.operations().1.count()), (1, 0));
    }
}
