//! Statistics and state of a rank, for reports.

use super::super::completed_steps::CompletedStep;
use super::super::phases::PhaseStats;
use super::super::sockets::SocketCore;
use super::{Rank, RankLink, RankPeer, RankState};
use crate::params::{RankMessageParams, RankStepParams};
use hostnet_kernel::Time;
use hostnet_measure::Bins;

impl Rank {
    /// Adds the completed step to the statistics, and advances to the next one.
    pub(super) fn record_step(&mut self, step: &RankStepParams, now: Time) {
        let took_ps = now.since(self.since);
        let stats = &mut self.phases[usize::from(step.phase)];
        stats.steps += 1;
        stats.time_ps += took_ps;
        stats.most_ps = stats.most_ps.max(took_ps);
        stats.compute_ps += std::mem::take(&mut self.computed_ps);
        stats.device_ps += self.completed_steps.now.device.map_or(0, |(_, until)| until.since(self.since));
        if let Some(message) = step.send {
            stats.messages += 1;
            stats.bytes += message.bytes;
        }
        stats.received_bytes += step.receive.map_or(0, |message| message.bytes);
        let total = |message: Option<RankMessageParams>, of: fn(&RankPeer) -> u64| {
            let peer = self.peers.iter().find(|peer| Some(peer.rank) == message.map(|message| message.rank))?;
            Some((peer.rank, of(peer)))
        };
        let (sent, taken) = (total(step.send, |peer| peer.sent), total(step.receive, |peer| peer.taken));
        self.completed_steps.end(now, step.phase, sent, taken);
        self.program.advance();
    }

    /// Adds a step of an operation that has ended to the statistics.
    pub(super) fn add_ended(&mut self, step: &RankStepParams, record: CompletedStep) {
        let stats = &mut self.phases[usize::from(step.phase)];
        let took_ps = record.ended.since(record.began);
        stats.steps += 1;
        stats.time_ps += took_ps;
        stats.most_ps = stats.most_ps.max(took_ps);
        stats.compute_ps += step.compute_ps + step.device.work_ps;
        stats.device_ps += step.device.work_ps;
        if let Some(message) = step.send {
            stats.messages += 1;
            stats.bytes += message.bytes;
        }
        stats.received_bytes += step.receive.map_or(0, |message| message.bytes);
        self.completed_steps.add(record);
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
            RankState::Done(at) => Some(at),
            _ => None,
        }
    }

    /// Returns the time up to `now` that a core at an endpoint spent copying and computing, in ps; none without one.
    #[must_use]
    pub fn core_busy_ps(&self, now: Time) -> Option<u64> {
        self.sockets.as_ref().map(|sockets| sockets.busy_ps(now))
    }

    /// Returns true if the rank executes operations as soon as they are ready, and not one step after the other.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        self.graph.is_some()
    }

    /// Returns the time up to `now` since the rank began, and the time in which it did not compute, in ps.
    #[must_use]
    pub fn communication_ps(&self, now: Time) -> (u64, u64) {
        if let Some(graph) = &self.graph {
            return graph.communication_ps(self.done_at().unwrap_or(now));
        }
        let stats = self.phases.iter().fold(PhaseStats::default(), |sum, stats| sum.plus(stats));
        (stats.time_ps, stats.time_ps - stats.compute_ps)
    }

    /// Returns the statistics of the steps since the start of the run, by name.
    #[must_use]
    pub fn phases(&self) -> &[PhaseStats] {
        &self.phases
    }

    /// Returns the busy time of a core at an endpoint; none without one.
    #[must_use]
    pub fn core_busy(&self) -> Option<&Bins> {
        self.sockets.as_ref().map(SocketCore::busy)
    }

    /// Iterates over the latest completed steps that are kept, in order.
    pub fn completed_steps(&self) -> impl Iterator<Item = &CompletedStep> {
        self.completed_steps.steps()
    }

    /// Returns the bytes that have arrived from other ranks and that no step has received.
    #[must_use]
    pub fn unreceived_bytes(&self) -> u64 {
        let unread = self.sockets.as_ref().map_or(0, SocketCore::unread_bytes);
        let of_operations = self.graph.as_ref().map_or(0, |graph| graph.unreceived_bytes());
        self.peers.iter().map(|peer| peer.inbox).sum::<u64>() + unread + of_operations
    }

    /// Iterates over the other ranks that this one exchanges messages with, and the connections to them.
    pub fn links(&self) -> impl Iterator<Item = (u32, RankLink)> + '_ {
        self.peers.iter().map(|peer| (peer.rank, peer.link))
    }
}
