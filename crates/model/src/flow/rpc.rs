//! Requests and answers over one byte stream. Answers arrive in the order of the requests.

use crate::params::OtherRequests;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Sizes of requests and answers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RpcSizes {
    request_bytes: u64,
    response_bytes: u64,
    other: Option<OtherRequests>,
}

impl RpcSizes {
    /// Creates the sizes of requests of one kind, or with requests of another kind among them. Requests and answers
    /// have at least one byte.
    pub(super) fn new(request_bytes: u64, response_bytes: u64, other: Option<OtherRequests>) -> Self {
        let other = other.map(|other| OtherRequests {
            request_bytes: other.request_bytes.max(1),
            response_bytes: other.response_bytes.max(1),
            ..other
        });
        Self { request_bytes: request_bytes.max(1), response_bytes: response_bytes.max(1), other }
    }

    /// Returns the bytes of request `number` and of its answer.
    fn of(&self, number: u64) -> (u64, u64) {
        match self.other.filter(|other| other.is(number)) {
            Some(other) => (other.request_bytes, other.response_bytes),
            None => (self.request_bytes, self.response_bytes),
        }
    }
}

/// The end that sends requests (closed loop).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RpcClient {
    sizes: RpcSizes,
    think_ps: u64,
    /// Start time of each request without an answer, oldest first.
    waiting: VecDeque<Time>,
    /// Start time of each request that waits for its think time to end, earliest first.
    thinking: VecDeque<Time>,
    begun: u64,
    answered: u64,
    unwritten: u64,
    /// Bytes received of the next answer.
    answer: u64,
}

impl RpcClient {
    /// Creates an end with `in_flight` requests in flight, at least one.
    pub(super) fn new(sizes: RpcSizes, in_flight: u32, think_ps: u64) -> Self {
        let in_flight = in_flight.max(1) as usize;
        let mut thinking = VecDeque::with_capacity(in_flight);
        // All requests begin with the flow.
        thinking.resize(in_flight, Time::ZERO);
        Self {
            sizes,
            think_ps,
            waiting: VecDeque::with_capacity(in_flight),
            thinking,
            begun: 0,
            answered: 0,
            unwritten: 0,
            answer: 0,
        }
    }

    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Handles `read` bytes of answers. Returns the bytes to write, and the start time of the next request.
    pub(super) fn poll(
        &mut self,
        now: Time,
        read: u64,
        room: u64,
        stopped: bool,
        mut latency: Option<&mut Histogram>,
    ) -> (u64, Option<Time>) {
        self.answer += read;
        while let Some(&since) = self.waiting.front() {
            let (_, response_bytes) = self.sizes.of(self.answered);
            if self.answer < response_bytes {
                break;
            }
            self.waiting.pop_front();
            self.answer -= response_bytes;
            self.answered += 1;
            if let Some(latency) = &mut latency {
                latency.record(now.since(since));
            }
            // A response releases one request, so the number in flight stays (closed loop).
            self.thinking.push_back(now + self.think_ps);
        }
        if !stopped {
            self.begin(now);
        }
        let write = room.min(self.unwritten);
        self.unwritten -= write;
        (write, self.thinking.front().copied().filter(|_| !stopped))
    }

    fn begin(&mut self, now: Time) {
        while self.thinking.front().is_some_and(|&at| at <= now) {
            self.thinking.pop_front();
            self.waiting.push_back(now);
            self.unwritten += self.sizes.of(self.begun).0;
            self.begun += 1;
        }
    }
}

/// The end that answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RpcServer {
    sizes: RpcSizes,
    answered: u64,
    /// Bytes received of the next request.
    request: u64,
    unwritten: u64,
}

impl RpcServer {
    pub(super) fn new(sizes: RpcSizes) -> Self {
        Self { sizes, answered: 0, request: 0, unwritten: 0 }
    }

    /// Handles `read` bytes of requests. Returns the bytes to write.
    pub(super) fn poll(&mut self, read: u64, room: u64) -> u64 {
        self.request += read;
        loop {
            // Both ends know the size of request number n, so no header is needed.
            let (request_bytes, response_bytes) = self.sizes.of(self.answered);
            if self.request < request_bytes {
                break;
            }
            self.request -= request_bytes;
            self.unwritten += response_bytes;
            self.answered += 1;
        }
        let write = room.min(self.unwritten);
        self.unwritten -= write;
        write
    }
}
