//! Messages of operations that send or receive.

use super::progress::Progress;
use super::streams::{Stream, StreamKey};
use crate::flow::completed_steps::CompletedStep;
use crate::flow::rank_request::{LocalMessage, RankLink, RankRequest};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Messages of a rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Messages {
    /// Sends to ranks of the same host.
    copies: Stream,
    /// Ready sends to other hosts.
    posts: Stream,
    /// Receives that wait for a message, by the index of the connection and the number of the message.
    awaited: BTreeSet<(usize, u32)>,
}

impl Messages {
    /// Returns the end of the copy in progress.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.copies.current.map(|current| current.ends)
    }

    /// Adds a ready operation that sends.
    pub(super) fn add(&mut self, progress: &Progress, key: StreamKey, index: u32) {
        let message = progress.step(index, 0).and_then(|step| step.send);
        let lane = message.and_then(|message| progress.lane_at(message.rank, 0));
        match lane.map(|lane| progress.lanes[lane].link) {
            Some(RankLink::Local(_)) => self.copies.add(key, index),
            _ => self.posts.add(key, index),
        }
    }

    /// Begins ready sends. Returns false if there are none.
    pub(super) fn begin(&mut self, progress: &mut Progress, now: Time) -> bool {
        let mut any = false;
        if let Some(index) = self.copies.take_next() {
            let bytes = progress.step(index, 0).and_then(|step| step.send).map_or(0, |message| message.bytes);
            self.copies.begin(index, now, progress.copy_time_ps(bytes), progress.ready(index));
            any = true;
        }
        // The NIC queues messages without limit, so that one does not wait for another.
        while let Some(index) = self.posts.take_next() {
            post(progress, index);
            any = true;
        }
        any
    }

    /// Begins to wait for a message, which may be there already.
    pub(super) fn receive(&mut self, progress: &mut Progress, index: u32, now: Time) {
        let message = progress.step(index, 0).and_then(|step| step.receive);
        let Some(lane) = message.and_then(|message| progress.lane_at(message.rank, 0)) else { return };
        let number = progress.operation(index).message;
        match progress.lanes[lane].take_early((progress.round, number)) {
            Some(total) => end_receive(progress, index, (lane, total), now),
            None => drop(self.awaited.insert((lane, number))),
        }
    }

    /// Completes the receives whose messages have arrived by a connection.
    pub(super) fn arrive(&mut self, progress: &mut Progress, lane: usize, now: Time) {
        while let Some((message, index)) = progress.lanes[lane].take_message() {
            // The sender may be ahead by repetitions.
            let is_awaited = message.0 == progress.round && self.awaited.remove(&(lane, message.1));
            if is_awaited {
                let total = progress.lanes[lane].taken;
                end_receive(progress, index, (lane, total), now);
            } else {
                progress.lanes[lane].keep(message);
            }
        }
    }

    /// Completes a copy to another rank of this host that is due, if there is one.
    pub(super) fn end_copy(&mut self, progress: &mut Progress, now: Time) -> Option<LocalMessage> {
        let current = self.copies.take_ended(now)?;
        let index = current.operation;
        let step = progress.step(index, 0)?;
        let message = step.send?;
        let lane = progress.lane_at(message.rank, 0)?;
        let sent = Some((message.rank, progress.lanes[lane].count(message.bytes)));
        let record = CompletedStep {
            began: current.began,
            computed: current.began,
            written: now,
            sent,
            after: current.after,
            ..CompletedStep::default()
        };
        // Before the operation is complete, as a repetition may end with it.
        let number = (progress.round, progress.operation(index).message);
        let completed = progress.complete(index, step, record, now);
        self.copies.end(now, completed);
        progress.local(lane, message.bytes, Some(number))
    }
}

/// Posts the message of an operation to its connection.
fn post(progress: &mut Progress, index: u32) {
    let Some(message) = progress.step(index, 0).and_then(|step| step.send) else { return };
    let Some(lane) = progress.lane_at(message.rank, 0) else { return };
    let RankLink::End(end) = progress.lanes[lane].link else { return };
    progress.lanes[lane].post(message.bytes, index);
    let number = (progress.round, progress.operation(index).message);
    progress.requests.push_back(RankRequest::Announce(end, number));
    progress.requests.push_back(RankRequest::Send(end, message.bytes));
}

/// Completes an operation whose message has arrived, up to `total` bytes of the connection.
fn end_receive(progress: &mut Progress, index: u32, (lane, total): (usize, u64), now: Time) {
    let (began, after) = progress.ready(index);
    let Some(step) = progress.step(index, 0) else { return };
    let number = progress.operation(index).message;
    progress.lanes[lane].received(number);
    let taken = Some((progress.lanes[lane].rank, total));
    let record = CompletedStep {
        began,
        computed: began,
        written: began,
        received: now,
        taken,
        after,
        ..CompletedStep::default()
    };
    progress.complete(index, step, record, now);
}

/// Completes an operation whose message has been written, up to `total` bytes of the connection to rank `to`.
pub(super) fn end_post(progress: &mut Progress, index: u32, (to, total): (u32, u64), now: Time) {
    let (began, after) = progress.ready(index);
    let Some(step) = progress.step(index, 0) else { return };
    let sent = Some((to, total));
    let record = CompletedStep { began, computed: began, written: now, sent, after, ..CompletedStep::default() };
    progress.complete(index, step, record, now);
}
