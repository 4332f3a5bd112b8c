//! What a rank counts of its steps, and what it tells of itself.

use super::super::passed::Passed;
use super::super::phases::PhaseBooks;
use super::super::sockets::Sockets;
use super::{Link, Peer, Rank, State};
use crate::params::{MessageParams, StepParams};
use hostnet_kernel::Time;
use hostnet_measure::Bins;

impl Rank {
    /// Notes that a step has come to its end, and turns to the next one.
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

    /// Time that the step that it is in computed, if it is through with that, in ps.
    #[must_use]
    pub fn computed_ps(&self) -> u64 {
        self.computed_ps
    }

    /// The job, and which rank of it this is.
    #[must_use]
    pub fn number(&self) -> (u32, u32) {
        (self.job, self.rank)
    }

    /// When it was done with all of its steps, if it is.
    #[must_use]
    pub fn done_at(&self) -> Option<Time> {
        match self.state {
            State::Done(at) => Some(at),
            _ => None,
        }
    }

    /// What its core at an endpoint copied and computed until `now`, in ps; nothing without one.
    #[must_use]
    pub fn core_busy_ps(&self, now: Time) -> Option<u64> {
        self.sockets.as_ref().map(|sockets| sockets.busy_ps(now))
    }

    /// What its steps did since the start of the run, by their names.
    #[must_use]
    pub fn phases(&self) -> &[PhaseBooks] {
        &self.phases
    }

    /// When its core at an endpoint was busy; nothing without one.
    #[must_use]
    pub fn core_busy(&self) -> Option<&Bins> {
        self.sockets.as_ref().map(Sockets::busy)
    }

    /// The steps that it has passed, the latest ones as far as they are kept, in their order.
    pub fn passed(&self) -> impl Iterator<Item = &Passed> {
        self.passed.steps()
    }

    /// Bytes that have come from other ranks and that no step has received.
    #[must_use]
    pub fn unreceived_bytes(&self) -> u64 {
        let unread = self.sockets.as_ref().map_or(0, Sockets::unread_bytes);
        self.peers.iter().map(|peer| peer.inbox).sum::<u64>() + unread
    }

    /// The other ranks that it knows, and how messages to them go.
    pub fn links(&self) -> impl Iterator<Item = (u32, Link)> + '_ {
        self.peers.iter().map(|peer| (peer.rank, peer.link))
    }
}
