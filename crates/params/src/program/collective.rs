//! Collectives of ranks, described by their pattern, group and bytes.

use super::group::GroupParams;
use super::member::{Member, PlaceStep};
use super::pattern::CollectivePattern;
use crate::{AcceleratorParams, RankMessageParams, RankStepParams};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A collective of the ranks of a group, or of each of several groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveParams {
    /// Messages and additions of the members.
    pub pattern: CollectivePattern,
    /// Ranks that take part.
    pub group: GroupParams,
    /// Bytes of the vector, or of a message.
    pub bytes: u64,
    /// Phase of the messages, as an index into [`super::JobParams::phases`].
    pub phase: u8,
    /// Offset of the exchanged data in the vector of the job, in bytes; `None` = offsets are not used.
    pub base: Option<u64>,
    /// Costs of the additions; empty if adding takes no time.
    pub additions: Vec<AdditionParams>,
    /// True if a member sends and receives one after the other: at even places it sends first, at odd ones it receives
    /// first.
    pub blocking: bool,
}

/// Cost of adding a received vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdditionParams {
    /// Bytes of the vector.
    pub bytes: u64,
    /// Time per instruction of the rank's core, in fs; 0 at an endpoint.
    pub instruction_fs: u64,
    /// Phase of the addition, as an index into [`super::JobParams::phases`].
    pub phase: u8,
    /// Time at an endpoint, in ps.
    pub compute_ps: u64,
    /// Work of a core, as [`RankStepParams::work`].
    pub work: u16,
}

/// A rank as a collective needs to know it: its number, and the time per instruction of its core, in fs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Runner {
    pub(super) rank: u32,
    pub(super) instruction_fs: u64,
}

impl CollectiveParams {
    /// Returns the number of indices of the steps of a rank, some of which may be empty.
    #[must_use]
    pub fn indices(&self, rank: u32) -> u32 {
        self.group.seat(rank).map_or(0, |seat| self.pattern.indices(seat.place, seat.count) * self.halves())
    }

    /// Returns the number of indices that an exchange takes: two if it is blocking.
    fn halves(&self) -> u32 {
        1 + u32::from(self.blocking)
    }

    /// Returns what a rank of the group does in its step of an index, with other members by their ranks; `None` after
    /// the last step. The step may be empty.
    #[must_use]
    pub fn action(&self, rank: u32, index: u32) -> Option<PlaceStep> {
        let seat = self.group.seat(rank).filter(|_| index < self.indices(rank))?;
        let member = Member { place: seat.place, count: seat.count, bytes: self.bytes };
        let whole = self.pattern.step(member, index / self.halves());
        let step = if self.blocking { whole.half(index % 2, member.place % 2 == 0) } else { whole };
        let PlaceStep { send: (to, sent), at, receive: (from, received), .. } = step;
        let ranked = |place: u32, bytes: u64| if bytes > 0 { (self.group.at(seat, place), bytes) } else { (0, 0) };
        Some(PlaceStep { send: ranked(to, sent), at, receive: ranked(from, received), ..step })
    }

    /// Returns the step of a rank, unless the step is empty.
    fn step(&self, runner: Runner, index: u32) -> Option<RankStepParams> {
        let PlaceStep { send, at, receive, added, posts } = self.action(runner.rank, index)?;
        if added > 0 {
            let is_cost = |cost: &&AdditionParams| cost.bytes == added && cost.instruction_fs == runner.instruction_fs;
            let cost = self.additions.iter().find(is_cost)?;
            let step =
                RankStepParams { compute_ps: cost.compute_ps, work: cost.work, ..RankStepParams::of(cost.phase) };
            return (!step.is_empty()).then_some(step);
        }
        let message = |(rank, bytes): (u32, u64)| (bytes > 0).then_some(RankMessageParams { rank, bytes });
        let (send, receive) = (message(send), message(receive));
        let at = self.base.filter(|_| send.is_some()).map_or(0, |base| base + at);
        let posts = posts && send.is_some();
        let step = RankStepParams { send, at, receive, posts, ..RankStepParams::of(self.phase) };
        (!step.is_empty()).then_some(step)
    }

    /// Returns the first step of a rank from an index on that is not empty, and its index.
    pub(super) fn next_step(&self, runner: Runner, from: u32) -> Option<(u32, RankStepParams)> {
        (from..self.indices(runner.rank)).find_map(|index| Some((index, self.step(runner, index)?)))
    }

    /// Returns a number of steps that all ranks together do not exceed.
    pub(super) fn steps_of_all(&self) -> u64 {
        let each = self.group.sizes().map(|(size, groups)| groups * self.pattern.steps_of_all(size));
        let steps = each.iter().sum::<u64>() * u64::from(self.halves());
        match self.pattern {
            // Every other step is an addition.
            CollectivePattern::RingReduceScatter if self.additions.is_empty() => steps / 2,
            _ => steps,
        }
    }

    /// Returns the bytes of the largest message.
    pub(super) fn largest_message(&self) -> u64 {
        self.group.sizes().map(|(size, _)| self.pattern.largest_message(self.bytes, size)).into_iter().fold(0, u64::max)
    }

    /// Adds the ranks that a rank exchanges messages with to a set.
    pub(super) fn add_peers(&self, rank: u32, peers: &mut BTreeSet<u32>) {
        let found = match self.pattern {
            // The steps repeat after the peers; with fewer bytes than members some of them are empty.
            CollectivePattern::RingReduceScatter
            | CollectivePattern::RingPartsAllgather
            | CollectivePattern::RingAllgather
                if self.bytes >= u64::from(self.group.size) =>
            {
                self.halves() as usize
            }
            _ => usize::MAX,
        };
        // However many chunks there are, the peers are those of whole messages.
        let whole = Self { pattern: self.pattern.of_whole_messages(), additions: Vec::new(), ..self.clone() };
        let actions = (0..whole.indices(rank)).take(found).filter_map(|index| whole.action(rank, index));
        for PlaceStep { send, receive, .. } in actions {
            peers.extend([send, receive].into_iter().filter(|(_, bytes)| *bytes > 0).map(|(rank, _)| rank));
        }
    }
}

impl RankStepParams {
    /// Returns a step of a phase that does nothing.
    #[must_use]
    pub fn of(phase: u8) -> Self {
        let device = AcceleratorParams::default();
        Self { phase, compute_ps: 0, work: 0, device, send: None, at: 0, receive: None, posts: false }
    }

    /// Returns true if the step does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::of(self.phase)
    }
}
