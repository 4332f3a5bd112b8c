//! Requests and answers over one byte stream. Answers come in the order of the requests.

use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The end that sends requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Caller {
    request_bytes: u64,
    response_bytes: u64,
    think_ps: u64,
    /// When each request without an answer began; the oldest first.
    waiting: VecDeque<Time>,
    /// When each of the other requests begins; the earliest first.
    thinking: VecDeque<Time>,
    begun: u64,
    unwritten: u64,
    /// Bytes of the answer that is coming in.
    answer: u64,
}

impl Caller {
    /// Requests and answers have at least one byte, and at least one request is in flight.
    pub(super) fn new(request_bytes: u64, response_bytes: u64, in_flight: u32, think_ps: u64) -> Self {
        let in_flight = in_flight.max(1) as usize;
        let mut thinking = VecDeque::with_capacity(in_flight);
        thinking.resize(in_flight, Time::ZERO);
        Self {
            request_bytes: request_bytes.max(1),
            response_bytes: response_bytes.max(1),
            think_ps,
            waiting: VecDeque::with_capacity(in_flight),
            thinking,
            begun: 0,
            unwritten: 0,
            answer: 0,
        }
    }

    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Takes in `read` bytes of answers. Returns what is written, and when the next request begins.
    pub(super) fn poll(
        &mut self,
        now: Time,
        read: u64,
        room: u64,
        stopped: bool,
        mut latency: Option<&mut Histogram>,
    ) -> (u64, Option<Time>) {
        self.answer += read;
        while self.answer >= self.response_bytes {
            let Some(since) = self.waiting.pop_front() else { break };
            self.answer -= self.response_bytes;
            if let Some(latency) = &mut latency {
                latency.record(now.since(since));
            }
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
            self.begun += 1;
            self.unwritten += self.request_bytes;
        }
    }
}

/// The end that answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Responder {
    request_bytes: u64,
    response_bytes: u64,
    /// Bytes of the request that is coming in.
    request: u64,
    unwritten: u64,
}

impl Responder {
    pub(super) fn new(request_bytes: u64, response_bytes: u64) -> Self {
        let (request_bytes, response_bytes) = (request_bytes.max(1), response_bytes.max(1));
        Self { request_bytes, response_bytes, request: 0, unwritten: 0 }
    }

    /// Takes in `read` bytes of requests. Returns what is written.
    pub(super) fn poll(&mut self, read: u64, room: u64) -> u64 {
        self.request += read;
        self.unwritten += self.request / self.request_bytes * self.response_bytes;
        self.request %= self.request_bytes;
        let write = room.min(self.unwritten);
        self.unwritten -= write;
        write
    }
}
