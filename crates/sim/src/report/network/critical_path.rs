//! The critical path of a job: from the end of its last rank back to its start, always along the input that arrived
//! last. Work off this path can be made faster without making the job faster.

use hostnet_kernel::Time;
use hostnet_model::flow::{CompletedStep, Rank};
use std::collections::BTreeMap;

/// Activity in a piece of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathActivity {
    /// A rank computes.
    Compute,
    /// A rank waits for its accelerator.
    Device,
    /// A message is in flight from one rank to another, or is written to its connection.
    Transfer,
    /// A core copies a message that arrived through shared memory.
    Copy,
}

impl PathActivity {
    /// Returns the name of the activity in the table `path`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Compute | Self::Device => "compute",
            Self::Transfer => "transfer",
            Self::Copy => "copy",
        }
    }
}

/// One piece of the critical path.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathPiece {
    /// Name of the step, as an index.
    pub(super) phase: u8,
    pub(super) activity: PathActivity,
    /// The rank, twice, or the ranks that send and receive.
    pub(super) ranks: (u32, u32),
    pub(super) from: Time,
    pub(super) to: Time,
    /// Bytes of the message of a transfer; 0 if not known.
    pub(super) bytes: u64,
    /// True if switches sum up the message.
    pub(super) summed: bool,
    /// True if the message waited for the previous message on its connection.
    pub(super) follows: bool,
}

impl PathPiece {
    fn new(phase: u8, activity: PathActivity, ranks: (u32, u32), (from, to): (Time, Time)) -> Self {
        Self { phase, activity, ranks, from, to, bytes: 0, summed: false, follows: false }
    }

    pub(super) fn ps(&self) -> u64 {
        self.to.ps().saturating_sub(self.from.ps())
    }
}

/// Completed steps of all ranks, with indices from received bytes to the step that sent them.
struct RankSteps {
    /// Steps by rank, in order.
    of: Vec<Vec<CompletedStep>>,
    /// By sender, receiver and connection: bytes sent up to the end of a step, and the index of the step.
    sent: BTreeMap<(u32, u32, u32), Vec<(u64, usize)>>,
    /// For vectors that switches sum up, by the bytes that each rank has sent so far: the rank that sent its vector
    /// last, with the time and the index of its step.
    summed: BTreeMap<u64, (Time, u32, usize)>,
    /// True for each rank whose steps are all kept.
    whole: Vec<bool>,
    /// For each rank that executes operations, the number of completed steps that are not kept.
    forgotten: Vec<Option<u64>>,
}

impl RankSteps {
    fn new(ranks: &[&Rank]) -> Self {
        let of: Vec<Vec<CompletedStep>> = ranks.iter().map(|rank| rank.completed_steps().copied().collect()).collect();
        let taken = |rank: &Rank| rank.phases().iter().map(|stats| stats.steps).sum::<u64>();
        let whole = ranks.iter().zip(&of).map(|(rank, steps)| taken(rank) == steps.len() as u64).collect();
        let forgotten = |(rank, steps): (&&Rank, &Vec<CompletedStep>)| {
            rank.has_operations().then(|| taken(rank).saturating_sub(steps.len() as u64))
        };
        let forgotten = ranks.iter().zip(&of).map(forgotten).collect();
        let mut sent: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut summed = BTreeMap::new();
        for (rank, steps) in (0..).zip(&of) {
            for (index, step) in steps.iter().enumerate() {
                if let Some((to, total)) = step.sent {
                    sent.entry((rank, to, step.lane)).or_default().push((total, index));
                    // Numbers above the ranks stand for switches.
                    if to as usize >= of.len() {
                        let last = summed.entry(total).or_insert((step.computed, rank, index));
                        *last = (*last).max((step.computed, rank, index));
                    }
                }
            }
        }
        Self { of, sent, summed, whole, forgotten }
    }

    /// Returns the step of the rank that a step waited for last, or the one before it if steps follow each other.
    fn previous(&self, rank: u32, index: usize) -> Option<usize> {
        let Some(forgotten) = self.forgotten[rank as usize] else { return index.checked_sub(1) };
        // Numbers count from 1 on; 0 is none.
        let number = self.of[rank as usize][index].after.checked_sub(forgotten + 1)?;
        usize::try_from(number).ok().filter(|&before| before < index)
    }

    /// Returns the step that ended last.
    fn last(&self) -> Option<(u32, usize)> {
        let ends = (0..).zip(&self.of).filter_map(|(rank, steps)| Some((steps.last()?.ended, rank, steps.len() - 1)));
        // `max_by_key` takes the last of equals, so the rank is reversed to get the first.
        ends.max_by_key(|&(ended, rank, _)| (ended, std::cmp::Reverse(rank))).map(|(_, rank, index)| (rank, index))
    }

    /// Returns the rank and the step that sent a message, and the bytes of the message, or 0 if switches summed it up.
    /// Returns `None` if the step is no longer kept.
    fn sender(&self, message: &AwaitedMessage) -> Option<(u32, usize, u64)> {
        let &AwaitedMessage { from, to, lane, total, .. } = message;
        if from as usize >= self.of.len() {
            return self.summed.get(&total).map(|&(_, from, index)| (from, index, 0));
        }
        let sent = self.sent.get(&(from, to, lane))?;
        let at = sent.partition_point(|&(by_then, _)| by_then < total);
        // The first kept step may not be the first that sent: then the bytes before it are unknown.
        let nothing = self.whole[from as usize].then_some(0);
        let before = at.checked_sub(1).map_or(nothing, |before| Some(sent[before].0))?;
        let &(by_then, index) = sent.get(at)?;
        Some((from, index, by_then - before))
    }

    /// Returns the message that a step waited for last, if it waited for one.
    fn awaited_message(&self, rank: u32, index: usize) -> Option<AwaitedMessage> {
        let step = self.of[rank as usize][index];
        let (from, total) = step.taken.filter(|_| step.received > step.written)?;
        Some(AwaitedMessage { to: rank, index, from, lane: step.lane, total })
    }

    /// Returns the previous message from the same rank that a step of the receiver waited for.
    fn before(&self, message: &AwaitedMessage) -> Option<AwaitedMessage> {
        let mut earlier = self.of[message.to as usize][..message.index].iter();
        let is_before = |step: &CompletedStep| {
            let taken = step.taken.filter(|_| step.lane == message.lane);
            taken.is_some_and(|(from, total)| from == message.from && total < message.total)
        };
        let index = earlier.rposition(is_before)?;
        self.awaited_message(message.to, index)
    }

    /// Walks back to the start of a step and adds its pieces. Returns the previous step. For a step that waited for
    /// its accelerator, this is the step that submitted the first work of the accelerator's busy period.
    fn walk_step(&self, (rank, index): (u32, usize), pieces: &mut Vec<PathPiece>) -> Option<(u32, usize)> {
        let steps = &self.of[rank as usize];
        let CompletedStep { phase, began, device, computed, .. } = steps[index];
        let Some((busy_since, until)) = device else {
            pieces.push(PathPiece::new(phase, PathActivity::Compute, (rank, rank), (began, computed)));
            return self.previous(rank, index).map(|before| (rank, before));
        };
        pieces.push(PathPiece::new(phase, PathActivity::Compute, (rank, rank), (until, computed)));
        pieces.push(PathPiece::new(phase, PathActivity::Device, (rank, rank), (busy_since, until)));
        // Steps are in the order of time, so the last one before the busy period submitted its first work.
        let gave = steps[..=index].partition_point(|step| step.began < busy_since);
        gave.checked_sub(1).map(|before| (rank, before))
    }

    /// Walks back along a message and adds its piece, and likewise for earlier messages that were still in flight
    /// when it was sent, because a connection carries one message after the other. Returns the step that sent the
    /// first of them.
    fn walk_message(&self, mut message: AwaitedMessage, pieces: &mut Vec<PathPiece>) -> Option<(u32, usize)> {
        loop {
            let step = &self.of[message.to as usize][message.index];
            let (from, by, bytes) = self.sender(&message)?;
            let sent = self.of[from as usize][by].computed;
            // The path must lead back in time, or the walk would not end.
            if sent >= step.received {
                return None;
            }
            let before =
                self.before(&message).map(|before| (self.of[before.to as usize][before.index].received, before));
            let before = before.filter(|&(came, _)| came > sent);
            let begins = before.as_ref().map_or(sent, |&(came, _)| came);
            let piece = PathPiece::new(step.phase, PathActivity::Transfer, (from, message.to), (begins, step.received));
            let (summed, follows) = (message.from as usize >= self.of.len(), before.is_some());
            pieces.push(PathPiece { bytes, summed, follows, ..piece });
            match before {
                Some((_, earlier)) => message = earlier,
                None => return Some((from, by)),
            }
        }
    }
}

/// A message that a step waited for.
struct AwaitedMessage {
    /// Receiver, and the index of its step.
    to: u32,
    index: usize,
    /// Rank or switch that the message came from.
    from: u32,
    /// Connection of the message.
    lane: u32,
    /// Bytes received from `from` by this connection so far, this message included.
    total: u64,
}

/// Returns the pieces of the critical path of a job with these ranks, the last one first, as far back as steps are
/// kept.
pub(super) fn trace_path(ranks: &[&Rank]) -> Vec<PathPiece> {
    let steps = RankSteps::new(ranks);
    let mut pieces = Vec::new();
    let mut at = steps.last();
    while let Some((rank, index)) = at {
        let step = &steps.of[rank as usize][index];
        pieces.push(PathPiece::new(
            step.phase,
            PathActivity::Copy,
            (rank, rank),
            // A step may send and receive: the copy begins after the later of both.
            (step.written.max(step.received), step.ended),
        ));
        at = match steps.awaited_message(rank, index) {
            Some(message) => steps.walk_message(message, &mut pieces),
            None => {
                let to = step.sent.map_or(rank, |(to, _)| to);
                pieces.push(PathPiece::new(
                    step.phase,
                    PathActivity::Transfer,
                    (rank, to),
                    (step.computed, step.written),
                ));
                Some((rank, index))
            }
        };
        let Some((rank, index)) = at else { break };
        at = steps.walk_step((rank, index), &mut pieces);
    }
    // Steps without a copy or a message give pieces of no length.
    pieces.retain(|piece| piece.to > piece.from);
    pieces
}
