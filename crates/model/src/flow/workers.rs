//! Workers of a service at a host. Each serves one request at a time; all share one queue, first come, first served.

use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A request that waits for a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct WaitingRequest {
    end: u32,
    number: u64,
    time_ps: u64,
    since: Time,
}

/// Statistics of the workers in the measurement window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServiceStats {
    /// Requests that arrived, and requests that were served.
    pub arrived: u64,
    /// See `arrived`.
    pub served: u64,
    /// Waiting time of each request in the queue, in ps.
    pub wait: Histogram,
    /// Integral over time of the queue length and of the busy workers, in requests times ps and workers times ps.
    pub queue_area_ps: u128,
    /// See `queue_area_ps`.
    pub busy_area_ps: u128,
    /// Longest queue, in requests. Merged statistics have the sum of the longest queues.
    pub queue_max: u64,
}

impl ServiceStats {
    /// Adds the statistics of other workers of the same service.
    pub fn merge(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.served += other.served;
        self.wait.merge(&other.wait);
        self.queue_area_ps += other.queue_area_ps;
        self.busy_area_ps += other.busy_area_ps;
        self.queue_max += other.queue_max;
    }
}

/// The workers of a service.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workers {
    service: u32,
    workers: u32,
    queue: VecDeque<WaitingRequest>,
    /// Requests in service: completion time, order in which they began, and the end and number of each.
    busy: BinaryHeap<Reverse<(Time, u64, u32, u64)>>,
    begun: u64,
    settled: Time,
    stats: ServiceStats,
}

impl Workers {
    /// Creates `workers` workers (at least one) of service number `service`.
    #[must_use]
    pub fn new(service: u32, workers: u32) -> Self {
        Self {
            service,
            workers: workers.max(1),
            queue: VecDeque::new(),
            busy: BinaryHeap::new(),
            begun: 0,
            settled: Time::ZERO,
            stats: ServiceStats::default(),
        }
    }

    /// Handles the arrival of a request of an end, for which a worker takes `time_ps`.
    pub fn arrive(&mut self, now: Time, end: u32, number: u64, time_ps: u64) {
        self.settle(now);
        self.stats.arrived += 1;
        self.queue.push_back(WaitingRequest { end, number, time_ps, since: now });
        self.begin(now);
        // After `begin`: a request that finds a worker never waits in the queue.
        self.stats.queue_max = self.stats.queue_max.max(self.queue.len() as u64);
    }

    /// Returns the end and the number of a request that has been served by `now`, if there is one. Its worker takes
    /// the next request.
    pub fn served(&mut self, now: Time) -> Option<(u32, u64)> {
        let &Reverse((_, _, end, number)) = self.busy.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.settle(now);
        self.busy.pop();
        self.stats.served += 1;
        self.begin(now);
        Some((end, number))
    }

    /// Returns the time at which the next request will have been served.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        self.busy.peek().map(|Reverse((at, ..))| *at)
    }

    fn begin(&mut self, now: Time) {
        while (self.busy.len() as u64) < u64::from(self.workers) {
            let Some(waiting) = self.queue.pop_front() else { return };
            self.stats.wait.record(now.since(waiting.since));
            // Ties in time go to the request that began first, which keeps the order deterministic.
            self.busy.push(Reverse((now + waiting.time_ps, self.begun, waiting.end, waiting.number)));
            self.begun += 1;
        }
    }

    /// Brings the statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        let passed = u128::from(now.since(self.settled));
        self.stats.queue_area_ps += passed * self.queue.len() as u128;
        self.stats.busy_area_ps += passed * self.busy.len() as u128;
        self.settled = now;
    }

    /// Begins a new measurement window.
    pub fn reset(&mut self, now: Time) {
        self.settle(now);
        // The longest queue of a window begins with the requests that wait at its start.
        self.stats = ServiceStats { queue_max: self.queue.len() as u64, ..ServiceStats::default() };
    }

    /// Returns the number of the service.
    #[must_use]
    pub fn service(&self) -> u32 {
        self.service
    }

    /// Returns the number of workers.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Returns the requests in the queue, and the requests in service.
    #[must_use]
    pub fn held(&self) -> [usize; 2] {
        [self.queue.len(), self.busy.len()]
    }

    /// Returns the statistics since the window began.
    #[must_use]
    pub fn stats(&self) -> &ServiceStats {
        &self.stats
    }
}
