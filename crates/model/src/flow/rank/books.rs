//! Statistics and state of a rank, for reports.

use super::super::passed::Passed;
use super::super::phases::PhaseBooks;
use super::super::sockets::Sockets;
use super::{Link, Peer, Rank, State};
use crate::params::{MessageParams, StepParams};
use hostnet_kernel::Time;
use hostnet_measure::Bins;

impl Rank {
    /// Adds the completed step to the statistics, and advances to the next one.
    pub(super) fn ends(&mut self, step: &StepParams, now: Time) {
        let took_ps = now.since(self.since);
        let books = &mut self.phases[usize::from(step.phase)];
        books.steps += 1;
        books.time_ps += took_ps;
        books.most_ps = books.most_ps.max(took_ps);
        books.compute_ps += std::mem::take(&mut self.computed_ps);
        books.device_ps += self.passed.now.device.map_or(0, |(_, until)| until.since(self.since));
        if let Some(message) = step.send {
            books.messages += 1;
            books.bytes += message.bytes;
        }
        books.received_bytes += step.receive.map_or(0, |message| message.bytes);
        let total = |message: Option<MessageParams>, of: fn(&Peer) -> u64| {
            let peer = self.peers.iter().find(|peer| Some(peer.rank) == message.map(|message| message.rank))?;
            Some((peer.rank, of(peer)))
        };
        let (sent, taken) = (total(step.send, |peer| peer.sent), total(step.receive, |peer| peer.taken));
        self.passed.end(now, step.phase, sent, taken);
        self.at.2 += 1;
        self.skip();
    }

    /// Returns the time that the current step spent computing, in ps, if computing has ended.
    #[must_use]
    pub fn computed_ps(&self) -> u64 {
        self.computed_ps
    }

    /// Returns the number of the job, and the number of the rank within it.
    #[must_use]
    pub fn number(&self) -> (u32, u32) {
        (self.job, self.rank)
    }

    /// Returns the time at which the rank completed its last step, if it has.
    #[must_use]
    pub fn done_at(&self) -> Option<Time> {
        match self.state {
            State::Done(at) => Some(at),
            _ => None,
        }
    }

    /// Returns the time up to `now` that a core at an endpoint spent copying and computing, in ps; none without one.
    #[must_use]
    pub fn core_busy_ps(&self, now: Time) -> Option<u64> {
        self.sockets.as_ref().map(|sockets| sockets.busy_ps(now))
    }

    /// Returns the statistics of the steps since the start of the run, by name.
    #[must_use]
    pub fn phases(&self) -> &[PhaseBooks] {
        &self.phases
    }

    /// Returns the busy time of a core at an endpoint; none without one.
    #[must_use]
    pub fn core_busy(&self) -> Option<&Bins> {
        self.sockets.as_ref().map(Sockets::busy)
    }

    /// Iterates over the latest completed steps that are kept, in order.
    pub fn passed(&self) -> impl Iterator<Item = &Passed> {
        self.passed.steps()
    }

    /// Returns the bytes that have arrived from other ranks and that no step has received.
    #[must_use]
    pub fn unreceived_bytes(&self) -> u64 {
        let unread = self.sockets.as_ref().map_or(0, Sockets::unread_bytes);
        self.peers.iter().map(|peer| peer.inbox).sum::<u64>() + unread
    }

    /// Iterates over the other ranks that this one exchanges messages with, and the connections to them.
    pub fn links(&self) -> impl Iterator<Item = (u32, Link)> + '_ {
        self.peers.iter().map(|peer| (peer.rank, peer.link))
    }
}
