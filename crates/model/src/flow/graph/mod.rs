//! Operations of a rank: each begins when all operations that it waits for are complete and its stream is free
//! (docs/chakra.md, Streams). A pure state machine: requests come out, completed work goes in.
//!
//! * [`progress`]: operations that are ready, and those that are complete.
//! * [`streams`]: streams that execute one operation at a time.
//! * [`lanes`]: connections to other ranks.
//! * [`messages`]: operations that send or receive.
//! * [`exchange`]: operations of collectives.

mod exchange;
mod lanes;
mod messages;
mod progress;
mod streams;

pub(super) use progress::copy_time_ps;

use super::completed_steps::CompletedStep;
use super::rank_request::{LocalMessage, RankLink, RankRequest};
use crate::params::{JobParams, OperationStream, RankStepParams};
use exchange::Exchanges;
use hostnet_kernel::Time;
use lanes::Lane;
use messages::{end_post, Messages};
use progress::Progress;
use serde::{Deserialize, Serialize};
use streams::Stream;

/// Operations of a rank and its streams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Graph {
    progress: Progress,
    first_ready: bool,
    compute: Stream,
    host: Stream,
    messages: Messages,
    exchanges: Exchanges,
    /// Start of the first repetition.
    began: Option<Time>,
    /// Time in which the accelerator or the rank computed so far, in ps, and since when one of them computes.
    computed_ps: u64,
    computes_since: Option<Time>,
}

impl Graph {
    /// Creates the operations of a rank, if its job has any. `link` returns the connection with a number to another
    /// rank.
    pub(super) fn new(
        params: &JobParams,
        rank: u32,
        link: impl FnMut(u32, u32) -> Option<RankLink>,
    ) -> Option<Box<Self>> {
        let graph = params.operations_of(rank)?;
        let lanes = Lane::all(&graph, &params.lanes_of(rank), link);
        Some(Box::new(Self {
            progress: Progress::new(rank, (params.copy_bytes_per_s, params.copy_ps), graph, lanes),
            first_ready: params.first_ready,
            compute: Stream::default(),
            host: Stream::default(),
            messages: Messages::default(),
            exchanges: Exchanges::default(),
            began: None,
            computed_ps: 0,
            computes_since: None,
        }))
    }

    /// Returns the next request of the rank.
    pub(super) fn next(&mut self, now: Time) -> RankRequest {
        if self.began.is_none() {
            self.began = Some(now);
            self.progress.begin_round(now);
        }
        while self.progress.requests.is_empty() && (self.end_timed(now) || self.begin_ready(now)) {}
        self.note_computing(now);
        if let Some(request) = self.progress.requests.pop_front() {
            return request;
        }
        let streams = [&self.compute, &self.host].into_iter();
        let timed = streams.filter_map(|stream| stream.current.map(|current| current.ends));
        let next = timed.chain(self.messages.next_time()).chain(self.exchanges.next_time()).min();
        next.map_or(RankRequest::Nothing, RankRequest::Wake)
    }

    /// Completes an operation or a step whose time is over. Returns false if there is none.
    fn end_timed(&mut self, now: Time) -> bool {
        for stream in [&mut self.compute, &mut self.host] {
            let Some(current) = stream.take_ended(now) else { continue };
            let Some(step) = self.progress.step(current.operation, 0) else { continue };
            let (began, after) = (current.began, current.after);
            let record = CompletedStep { began, computed: now, written: now, after, ..CompletedStep::default() };
            let completed = self.progress.complete(current.operation, step, record, now);
            stream.end(now, completed);
            return true;
        }
        self.exchanges.end_additions(&mut self.progress, now)
    }

    /// Begins ready operations of free streams. Returns false if there are none.
    fn begin_ready(&mut self, now: Time) -> bool {
        let mut any = false;
        // All before any begins: a stream chooses among all that are ready now.
        while let Some(index) = self.progress.take_pending(now) {
            self.make_ready(index, now);
            any = true;
        }
        for stream in [&mut self.compute, &mut self.host] {
            let Some(index) = stream.take_next() else { continue };
            // A step computes on the accelerator or on the rank.
            let ps = self.progress.step(index, 0).map_or(0, |step| step.device.work_ps + step.compute_ps);
            stream.begin(index, now, ps, self.progress.ready(index));
            any = true;
        }
        self.messages.begin(&mut self.progress, now) || any
    }

    /// Passes an operation that waits for no other to its stream.
    fn make_ready(&mut self, index: u32, now: Time) {
        let operation = self.progress.operation(index);
        let key = (if self.first_ready { now.ps() } else { 0 }, operation.id);
        let (_, cause) = self.progress.ready(index);
        match operation.stream {
            _ if operation.steps == 0 => self.progress.release(index, cause, now),
            OperationStream::Compute => self.compute.add(key, index),
            OperationStream::Host => self.host.add(key, index),
            OperationStream::Send => self.messages.add(&self.progress, key, index),
            OperationStream::Receive => self.messages.receive(&mut self.progress, index, now),
            OperationStream::Group(_) => self.exchanges.begin(&mut self.progress, index, cause, now),
        }
    }

    /// Records that the rank at the other end of a connection has sent a message.
    pub(super) fn announce(&mut self, from: u32, message: (u32, u32)) {
        if let Some(lane) = self.progress.lane_at(from, 0) {
            self.progress.lanes[lane].announce(message);
        }
    }

    /// Records bytes that have arrived by a connection.
    pub(super) fn arrive(&mut self, (from, number): (u32, u32), bytes: u64, now: Time) {
        let Some(lane) = self.progress.lane_at(from, number) else { return };
        self.progress.lanes[lane].arrive(bytes);
        match number {
            0 => self.messages.arrive(&mut self.progress, lane, now),
            _ => self.exchanges.arrive(&mut self.progress, lane, now),
        }
    }

    /// Records the bytes that a connection has written so far. Returns false if no operation waited for them.
    pub(super) fn written(&mut self, (to, number): (u32, u32), bytes: u64, now: Time) -> bool {
        let Some(lane) = self.progress.lane_at(to, number) else { return false };
        let mut any = false;
        while let Some((total, index)) = self.progress.lanes[lane].take_written(bytes) {
            match number {
                0 => end_post(&mut self.progress, index, (to, total), now),
                _ => self.exchanges.end_write(&mut self.progress, index, (to, total), now),
            }
            any = true;
        }
        any
    }

    /// Completes a copy to another rank of this host that is due, if there is one.
    pub(super) fn copied(&mut self, now: Time) -> Option<LocalMessage> {
        let message = self.messages.end_copy(&mut self.progress, now);
        message.or_else(|| self.exchanges.end_copy(&mut self.progress, now))
    }

    /// Takes the steps that have ended since the last call.
    pub(super) fn take_ended(&mut self) -> Vec<(RankStepParams, CompletedStep)> {
        std::mem::take(&mut self.progress.ended)
    }

    /// Returns the time at which the last operation was complete, if all are.
    pub(super) fn done_at(&self) -> Option<Time> {
        self.progress.done
    }

    /// Records whether the accelerator or the rank computes from now on.
    fn note_computing(&mut self, now: Time) {
        let computes = self.compute.current.is_some() || self.host.current.is_some();
        match self.computes_since {
            Some(since) if !computes => {
                self.computed_ps += now.since(since);
                self.computes_since = None;
            }
            None if computes => self.computes_since = Some(now),
            _ => {}
        }
    }

    /// Returns the time up to `now` since the rank began, and the time in which it did not compute, in ps.
    pub(super) fn communication_ps(&self, now: Time) -> (u64, u64) {
        let total_ps = self.began.map_or(0, |began| now.since(began));
        let computed_ps = self.computed_ps + self.computes_since.map_or(0, |since| now.since(since));
        (total_ps, total_ps.saturating_sub(computed_ps))
    }

    /// Returns the bytes that have arrived and that no operation has received.
    pub(super) fn unreceived_bytes(&self) -> u64 {
        self.progress.lanes.iter().map(Lane::unreceived_bytes).sum()
    }
}
