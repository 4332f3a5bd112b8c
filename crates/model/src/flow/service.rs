//! Open-loop requests, which arrive whether or not earlier ones have been answered, and the end that answers them
//! after a worker has served them. Answers on a connection are sent in the order of its requests.

use crate::params::{FirstArrival, ServiceParams};
use hostnet_kernel::{Rng, Time};
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Counters of the requests of an end in the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCounts {
    /// Requests begun.
    pub begun: u64,
    /// Requests answered.
    pub answered: u64,
    /// Requests given up at once because too many others had no answer.
    pub given_up: u64,
}

impl RequestCounts {
    /// Returns the sum of two counters.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            begun: self.begun + other.begun,
            answered: self.answered + other.answered,
            given_up: self.given_up + other.given_up,
        }
    }
}

/// The end that sends requests (open loop).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenLoopClient {
    params: ServiceParams,
    arrivals: Rng,
    /// Arrival time of the next request; none before the flow has begun.
    next_at: Option<Time>,
    /// Arrival time of each request without an answer, oldest first, and bytes of its answer.
    waiting: VecDeque<(Time, u64)>,
    begun: u64,
    /// Requests of the current burst that have arrived, and the time at which the burst began.
    of_burst: u32,
    burst_at: Time,
    unwritten: u64,
    /// Bytes received of the next answer.
    answer: u64,
    counts: RequestCounts,
}

impl OpenLoopClient {
    pub(super) fn new(params: &ServiceParams) -> Self {
        Self {
            arrivals: params.arrivals(),
            params: params.clone(),
            next_at: None,
            waiting: VecDeque::new(),
            begun: 0,
            of_burst: 0,
            burst_at: Time::ZERO,
            unwritten: 0,
            answer: 0,
            counts: RequestCounts::default(),
        }
    }

    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    pub(super) fn counts(&self) -> RequestCounts {
        self.counts
    }

    pub(super) fn reset(&mut self) {
        self.counts = RequestCounts::default();
    }

    /// Handles `read` bytes of answers. Returns the bytes to write, and the arrival time of the next request.
    pub(super) fn poll(
        &mut self,
        now: Time,
        read: u64,
        room: u64,
        stopped: bool,
        latency: &mut Histogram,
    ) -> (u64, Option<Time>) {
        self.answer += read;
        while let Some(&(since, bytes)) = self.waiting.front().filter(|(_, bytes)| *bytes <= self.answer) {
            self.waiting.pop_front();
            self.answer -= bytes;
            self.counts.answered += 1;
            latency.record(now.since(since));
        }
        // After the responses, which make room for requests in flight.
        let next_at = if stopped { None } else { Some(self.come(now)) };
        let write = room.min(self.unwritten);
        self.unwritten -= write;
        (write, next_at)
    }

    /// Begins the requests that have arrived up to `now`. Returns the arrival time of the next one.
    fn come(&mut self, now: Time) -> Time {
        let mut next_at = match (self.next_at, self.params.first) {
            (Some(at), _) => at,
            (None, FirstArrival::At(ps)) => now + ps,
            (None, FirstArrival::Interval | FirstArrival::Drawn(_)) => now + self.interval_ps(),
        };
        while next_at <= now {
            // From its arrival and not from now, so that latencies include all queueing (open loop).
            self.begin(next_at);
            next_at = self.following(next_at);
        }
        self.next_at = Some(next_at);
        next_at
    }

    fn interval_ps(&mut self) -> u64 {
        // At least 1 ps, so that the loop over arrivals ends.
        self.params.interval_ps.next(&mut self.arrivals).max(1)
    }

    fn begin(&mut self, at: Time) {
        // The bound on requests without an answer; one beyond it is given up, not queued.
        if self.waiting.len() < self.params.in_flight as usize {
            let request = self.params.request(self.begun);
            self.waiting.push_back((at, request.response_bytes));
            self.unwritten += request.request_bytes;
            self.begun += 1;
            self.counts.begun += 1;
        } else {
            self.counts.given_up += 1;
        }
    }

    /// Returns the arrival time of the request after the one at `at`: the next of its burst, or the first of the next
    /// burst.
    fn following(&mut self, at: Time) -> Time {
        if self.of_burst == 0 {
            self.burst_at = at;
        }
        self.of_burst += 1;
        if self.of_burst < self.params.burst {
            return at + self.params.spacing_ps;
        }
        self.of_burst = 0;
        // Requests stay in order even if a burst takes longer than the time between two bursts.
        (self.burst_at + self.interval_ps()).max(at)
    }
}

/// The end that answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ServiceServer {
    params: ServiceParams,
    /// Requests received completely, and bytes received of the next one.
    arrived: u64,
    request: u64,
    /// Requests that were passed to a worker, and requests that were answered.
    taken: u64,
    answered: u64,
    /// True for each request passed to a worker and not answered that has been served.
    served: VecDeque<bool>,
    unwritten: u64,
}

impl ServiceServer {
    pub(super) fn new(params: &ServiceParams) -> Self {
        let params = params.clone();
        Self { params, arrived: 0, request: 0, taken: 0, answered: 0, served: VecDeque::new(), unwritten: 0 }
    }

    /// Handles `read` bytes of requests. Returns the bytes to write.
    pub(super) fn poll(&mut self, read: u64, room: u64) -> u64 {
        self.request += read;
        loop {
            let bytes = self.params.request(self.arrived).request_bytes;
            if self.request < bytes {
                break;
            }
            self.request -= bytes;
            self.arrived += 1;
        }
        let write = room.min(self.unwritten);
        self.unwritten -= write;
        write
    }

    /// Returns the number of the next request that has not been passed to a worker, and its service time, in ps.
    pub(super) fn take(&mut self) -> Option<(u64, u64)> {
        if self.taken == self.arrived {
            return None;
        }
        let number = self.taken;
        self.taken += 1;
        self.served.push_back(false);
        Some((number, self.params.request(number).time_ps))
    }

    /// Records that a request has been served. Its answer follows those of all earlier requests.
    pub(super) fn serve(&mut self, number: u64) {
        if let Some(served) = self.served.get_mut((number - self.answered) as usize) {
            *served = true;
        }
        // A request served early waits for those before it, as web servers answer pipelined requests.
        while self.served.front() == Some(&true) {
            self.served.pop_front();
            self.unwritten += self.params.request(self.answered).response_bytes;
            self.answered += 1;
        }
    }
}
