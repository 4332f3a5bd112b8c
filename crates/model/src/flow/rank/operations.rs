//! Ranks that execute operations in place of the steps of a program.

use super::super::graph::Graph;
use super::super::rank_request::{LocalMessage, RankLink, RankRequest};
use super::{Rank, RankState};
use crate::params::JobParams;
use hostnet_kernel::Time;

impl Rank {
    /// Has the rank execute the operations of its job, if there are any. `link` returns the connection with a number
    /// to another rank.
    #[must_use]
    pub fn executing(mut self, params: &JobParams, link: impl FnMut(u32, u32) -> Option<RankLink>) -> Self {
        self.graph = Graph::new(params, self.rank, link);
        if self.graph.is_some() {
            self.peers = Vec::new();
        }
        self
    }

    /// Returns the next request of a rank that executes operations.
    pub(super) fn next_of_operations(&mut self, now: Time) -> Option<RankRequest> {
        match self.state {
            _ if self.graph.is_none() => None,
            RankState::Before(at) if at > now => Some(RankRequest::Wake(at)),
            RankState::Done(_) => Some(RankRequest::Nothing),
            _ => self.with_operations(|graph| graph.next(now)),
        }
    }

    /// Applies a change to the operations, and adds the steps that have ended to the statistics.
    pub(super) fn with_operations<T>(&mut self, change: impl FnOnce(&mut Graph) -> T) -> Option<T> {
        let graph = self.graph.as_mut()?;
        let result = change(graph);
        let done = graph.done_at();
        for (step, record) in graph.take_ended() {
            self.add_ended(&step, record);
        }
        if let Some(at) = done {
            self.state = RankState::Done(at);
        }
        Some(result)
    }

    /// Records that the rank at the other end of a connection has sent a message.
    pub fn announce(&mut self, from: u32, message: (u32, u32)) {
        if let Some(graph) = &mut self.graph {
            graph.announce(from, message);
        }
    }

    /// Records a message of another rank of this host.
    pub fn deliver(&mut self, local: &LocalMessage, now: Time) {
        let (from, _) = local.from;
        if let Some(message) = local.message {
            self.announce(from, message);
        }
        if self.with_operations(|graph| graph.arrive(local.from, local.bytes, now)).is_none() {
            self.arrive(from, local.bytes);
        }
    }

    /// Records bytes of another rank that have arrived over the connection `lane` to it.
    pub fn arrive_on(&mut self, (from, lane): (u32, u32), bytes: u64, now: Time) {
        if self.with_operations(|graph| graph.arrive((from, lane), bytes, now)).is_none() {
            match &mut self.sockets {
                // The core must read the bytes before the rank has them.
                Some(sockets) => sockets.arrive(from, bytes),
                None => self.arrive(from, bytes),
            }
        }
    }

    /// Records that the connection `lane` to another rank, at an end, has written `bytes` bytes so far, and true if
    /// that is everything passed to it. Returns false if the rank does not wait for that.
    pub fn written_on(&mut self, to: (u32, u32), end: u32, (bytes, is_all): (u64, bool), now: Time) -> bool {
        let written = self.with_operations(|graph| graph.written(to, bytes, now));
        written.unwrap_or_else(|| is_all && self.written(end, now))
    }
}
