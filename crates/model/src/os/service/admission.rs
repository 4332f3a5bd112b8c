//! Requests of a service that wait for a worker at a core.

use crate::flow::ServiceStats;
use crate::params::ServiceParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Request of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServiceRequest {
    /// Number of the connection of the request at the core.
    pub(super) socket: u32,
    /// Number of the request at that connection.
    pub(super) number: u64,
    /// Work of the request, in ps at the reference clock.
    pub(super) work_ps: u64,
    /// Time at which the request had been read.
    pub(super) since: Time,
}

/// Queue of the requests of a service at a core, and its workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ServiceQueue {
    service: u32,
    reads: u8,
    read_ps: u64,
    most: u32,
    begun: u32,
    waiting: VecDeque<ServiceRequest>,
    settled: Time,
    counters: ServiceStats,
}

/// Returns the length of a piece of work in ns, where `work_ps` is divided evenly before, between and after `reads`
/// reads of storage.
pub(super) fn piece_ns(work_ps: u64, reads: u8) -> u32 {
    // In ns to fit the event; saturates at 4 s of work.
    (work_ps / (u64::from(reads) + 1)).div_ceil(1000).min(u64::from(u32::MAX)) as u32
}

impl ServiceQueue {
    /// Creates the queue of a service. The core has at most `most` requests of it in progress at a time: at least 1,
    /// if any arrive.
    pub(super) fn new(params: &ServiceParams, most: u32) -> Self {
        Self {
            service: params.number,
            reads: params.reads,
            read_ps: params.read_ps,
            most,
            begun: 0,
            waiting: VecDeque::new(),
            settled: Time::ZERO,
            counters: ServiceStats::default(),
        }
    }

    pub(super) fn service(&self) -> u32 {
        self.service
    }

    pub(super) fn most(&self) -> u32 {
        self.most
    }

    /// Returns the number of reads of storage per request.
    pub(super) fn reads(&self) -> u8 {
        self.reads
    }

    /// Returns the latency of a read of storage, in ps.
    pub(super) fn read_ps(&self) -> u64 {
        self.read_ps
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn counters(&self) -> &ServiceStats {
        &self.counters
    }

    /// Queues a request that has been read.
    pub(super) fn arrive(&mut self, request: ServiceRequest) {
        self.settle(request.since);
        self.counters.arrived += 1;
        self.waiting.push_back(request);
        self.counters.queue_max = self.counters.queue_max.max(self.waiting.len() as u64);
    }

    /// Begins the next request, if a request waits and a worker is free.
    pub(super) fn begin(&mut self, now: Time) -> Option<ServiceRequest> {
        if self.begun == self.most {
            return None;
        }
        self.settle(now);
        let request = self.waiting.pop_front()?;
        self.counters.wait.record(now.since(request.since));
        self.begun += 1;
        Some(request)
    }

    /// Ends a request that has been served.
    pub(super) fn end(&mut self, now: Time) {
        self.settle(now);
        self.begun -= 1;
        self.counters.served += 1;
    }

    /// Brings the statistics up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        let passed = u128::from(now.since(self.settled));
        self.counters.queue_area_ps += passed * self.waiting.len() as u128;
        self.counters.busy_area_ps += passed * u128::from(self.begun);
        self.settled = now;
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.settle(now);
        // The maximum of a window begins with the requests that wait at its start.
        self.counters = ServiceStats { queue_max: self.waiting.len() as u64, ..ServiceStats::default() };
    }
}
