//! Collectives of a rank that executes operations: the steps of each follow each other.

use super::progress::Progress;
use crate::flow::completed_steps::CompletedStep;
use crate::flow::rank_request::{LocalMessage, RankLink, RankRequest};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Operation of a collective in progress: its current step.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Exchange {
    /// Index of the step among those of the operation.
    step: u32,
    record: CompletedStep,
}

/// Operations of collectives in progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Exchanges {
    all: BTreeMap<u32, Exchange>,
    /// Operations that add what they have received, and those that copy their message to another rank of this host, by
    /// the time until when they do.
    adding: BTreeSet<(Time, u32)>,
    copying: BTreeSet<(Time, u32)>,
    /// Operations that wait for a message, by the index of the connection.
    awaiting: BTreeMap<usize, u32>,
}

/// Takes the first operation whose time is over.
fn take_due(timed: &mut BTreeSet<(Time, u32)>, now: Time) -> Option<u32> {
    let first = *timed.first().filter(|&&(at, _)| at <= now)?;
    timed.remove(&first);
    Some(first.1)
}

impl Exchanges {
    /// Returns the time at which the next step ends, if one ends at a known time.
    pub(super) fn next_time(&self) -> Option<Time> {
        [&self.adding, &self.copying].into_iter().filter_map(|timed| Some(timed.first()?.0)).min()
    }

    /// Begins an operation of a collective.
    pub(super) fn begin(&mut self, progress: &mut Progress, index: u32, cause: u64, now: Time) {
        self.all.insert(index, Exchange { step: 0, record: CompletedStep::default() });
        self.begin_step(progress, index, cause, now);
    }

    /// Begins the current step of an operation. `after` is the number of the completed step that it waited for last.
    fn begin_step(&mut self, progress: &mut Progress, index: u32, mut after: u64, now: Time) {
        let lane = progress.operation(index).stream.lane();
        while let Some(exchange) = self.all.get_mut(&index) {
            let number = exchange.step;
            exchange.record = CompletedStep { began: now, after, lane, ..CompletedStep::default() };
            let Some(step) = progress.step(index, number) else { return };
            if step.compute_ps > 0 {
                self.adding.insert((now + step.compute_ps, index));
                return;
            }
            if self.send_step(progress, index, now) {
                return;
            }
            match self.end_step(progress, index, now) {
                Some(completed) => after = completed,
                None => return,
            }
        }
    }

    /// Sends the message of the current step. Returns false if there is none.
    fn send_step(&mut self, progress: &mut Progress, index: u32, now: Time) -> bool {
        let Some(exchange) = self.all.get_mut(&index) else { return false };
        (exchange.record.computed, exchange.record.written) = (now, now);
        let number = exchange.step;
        let Some(step) = progress.step(index, number) else { return false };
        let Some(message) = step.send else { return false };
        let Some(lane) = progress.lane_at(message.rank, progress.operation(index).stream.lane()) else { return false };
        match progress.lanes[lane].link {
            RankLink::End(end) if step.posts => {
                exchange.record.sent = Some((message.rank, progress.lanes[lane].count(message.bytes)));
                progress.requests.push_back(RankRequest::Send(end, message.bytes));
                return false;
            }
            RankLink::End(end) => {
                progress.lanes[lane].post(message.bytes, index);
                progress.requests.push_back(RankRequest::Send(end, message.bytes));
            }
            RankLink::Local(_) | RankLink::Core(_) => {
                self.copying.insert((now + progress.copy_time_ps(message.bytes), index));
            }
        }
        true
    }

    /// Ends the current step if its message has arrived, and completes the operation with its last step. Returns the
    /// number of the completed step if another one follows.
    fn end_step(&mut self, progress: &mut Progress, index: u32, now: Time) -> Option<u64> {
        let exchange = *self.all.get(&index)?;
        let (step, mut record) = (progress.step(index, exchange.step)?, exchange.record);
        if let Some(message) = step.receive {
            let lane = progress.lane_at(message.rank, record.lane)?;
            if !progress.lanes[lane].take(message.bytes) {
                self.awaiting.insert(lane, index);
                return None;
            }
            record.taken = Some((message.rank, progress.lanes[lane].taken));
        }
        record.received = now;
        if progress.step(index, exchange.step + 1).is_none() {
            self.all.remove(&index);
            progress.complete(index, step, record, now);
            return None;
        }
        self.all.insert(index, Exchange { step: exchange.step + 1, record });
        Some(progress.record(step, record, now))
    }

    /// Continues an operation whose current step has sent its message.
    fn go_on(&mut self, progress: &mut Progress, index: u32, now: Time) {
        if let Some(completed) = self.end_step(progress, index, now) {
            self.begin_step(progress, index, completed, now);
        }
    }

    /// Continues the operation that waits for a message of a connection, if there is one.
    pub(super) fn arrive(&mut self, progress: &mut Progress, lane: usize, now: Time) {
        if let Some(index) = self.awaiting.remove(&lane) {
            self.go_on(progress, index, now);
        }
    }

    /// Continues an operation whose message has been written, up to `total` bytes of its connection to rank `to`.
    pub(super) fn end_write(&mut self, progress: &mut Progress, index: u32, (to, total): (u32, u64), now: Time) {
        if let Some(exchange) = self.all.get_mut(&index) {
            exchange.record.written = now;
            exchange.record.sent = Some((to, total));
            self.go_on(progress, index, now);
        }
    }

    /// Continues an operation that has added what it received. Returns false if there is none.
    pub(super) fn end_additions(&mut self, progress: &mut Progress, now: Time) -> bool {
        let Some(index) = take_due(&mut self.adding, now) else { return false };
        if !self.send_step(progress, index, now) {
            self.go_on(progress, index, now);
        }
        true
    }

    /// Completes a copy of a collective to another rank of this host that is due, if there is one.
    pub(super) fn end_copy(&mut self, progress: &mut Progress, now: Time) -> Option<LocalMessage> {
        let index = take_due(&mut self.copying, now)?;
        let exchange = self.all.get_mut(&index)?;
        let number = exchange.record.lane;
        exchange.record.written = now;
        let step = exchange.step;
        let message = progress.step(index, step)?.send?;
        let lane = progress.lane_at(message.rank, number)?;
        let sent = Some((message.rank, progress.lanes[lane].count(message.bytes)));
        self.all.get_mut(&index)?.record.sent = sent;
        self.go_on(progress, index, now);
        progress.local(lane, message.bytes, None)
    }
}
