//! The path that made a job take as long as it did: from the end of its last rank back to its beginning, always along
//! what was waited for last. Shortening anything beside it shortens nothing.

use hostnet_kernel::Time;
use hostnet_model::flow::{CompletedStep, Rank};
use std::collections::BTreeMap;

/// What is done in a piece of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    /// A rank computes.
    Compute,
    /// A rank waits for its accelerator.
    Device,
    /// A message is on its way from one rank to another, or is handed to its connection.
    Transfer,
    /// A core copies a message that has come through memory.
    Copy,
}

impl Does {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Compute | Self::Device => "compute",
            Self::Transfer => "transfer",
            Self::Copy => "copy",
        }
    }
}

/// A piece of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The name of its step, by number.
    pub(super) phase: u8,
    pub(super) does: Does,
    /// The rank that it is at, or that sends, and the one that receives.
    pub(super) ranks: (u32, u32),
    pub(super) from: Time,
    pub(super) to: Time,
    /// Of a transfer: bytes of the message; 0 if that is not known.
    pub(super) bytes: u64,
    /// Whether switches sum it up on its way.
    pub(super) summed: bool,
    /// Whether it followed the message before it at once, which its connection was still busy with.
    pub(super) follows: bool,
}

impl Piece {
    fn new(phase: u8, does: Does, ranks: (u32, u32), (from, to): (Time, Time)) -> Self {
        Self { phase, does, ranks, from, to, bytes: 0, summed: false, follows: false }
    }

    pub(super) fn ps(&self) -> u64 {
        self.to.ps().saturating_sub(self.from.ps())
    }
}

/// The steps of ranks, in their order, and who sent what when.
struct Steps {
    of: Vec<Vec<CompletedStep>>,
    /// All bytes that a rank had sent to another one by the end of a step of it, and which one that is.
    sent: BTreeMap<(u32, u32), Vec<(u64, usize)>>,
    /// Of vectors that switches sum up, by all bytes that each rank had sent by then: who sent its one last, when, and
    /// in which step.
    summed: BTreeMap<u64, (Time, u32, usize)>,
    /// Of each rank, whether all that it has passed is kept.
    whole: Vec<bool>,
}

impl Steps {
    fn new(ranks: &[&Rank]) -> Self {
        let of: Vec<Vec<CompletedStep>> = ranks.iter().map(|rank| rank.completed_steps().copied().collect()).collect();
        let taken = |rank: &Rank| rank.phases().iter().map(|books| books.steps).sum::<u64>();
        let whole = ranks.iter().zip(&of).map(|(rank, steps)| taken(rank) == steps.len() as u64).collect();
        let mut sent: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut summed = BTreeMap::new();
        for (rank, steps) in (0..).zip(&of) {
            for (index, step) in steps.iter().enumerate() {
                if let Some((to, total)) = step.sent {
                    sent.entry((rank, to)).or_default().push((total, index));
                    // Numbers after those of the ranks are switches.
                    if to as usize >= of.len() {
                        let last = summed.entry(total).or_insert((step.computed, rank, index));
                        *last = (*last).max((step.computed, rank, index));
                    }
                }
            }
        }
        Self { of, sent, summed, whole }
    }

    /// The last step that has ended.
    fn last(&self) -> Option<(u32, usize)> {
        let ends = (0..).zip(&self.of).filter_map(|(rank, steps)| Some((steps.last()?.ended, rank, steps.len() - 1)));
        ends.max_by_key(|&(ended, rank, _)| (ended, std::cmp::Reverse(rank))).map(|(_, rank, index)| (rank, index))
    }

    /// The rank that sent the last of so many bytes that came to a rank, by which step, and the bytes of that message
    /// if it came from rank to rank. None if that is not kept any more.
    fn sender(&self, from: u32, to: u32, total: u64) -> Option<(u32, usize, u64)> {
        if from as usize >= self.of.len() {
            return self.summed.get(&total).map(|&(_, from, index)| (from, index, 0));
        }
        let sent = self.sent.get(&(from, to))?;
        let at = sent.partition_point(|&(by_then, _)| by_then < total);
        // Where not all is kept, a step that is not may have sent what the first one that is seems to have.
        let nothing = self.whole[from as usize].then_some(0);
        let before = at.checked_sub(1).map_or(nothing, |before| Some(sent[before].0))?;
        let &(by_then, index) = sent.get(at)?;
        Some((from, index, by_then - before))
    }

    /// The message that a step waited for last, if it did.
    fn waited(&self, rank: u32, index: usize) -> Option<Message> {
        let step = self.of[rank as usize][index];
        let (from, total) = step.taken.filter(|_| step.received > step.written)?;
        Some(Message { to: rank, index, from, total })
    }

    /// The message from the same rank that a step before waited for.
    fn before(&self, message: &Message) -> Option<Message> {
        let mut earlier = self.of[message.to as usize][..message.index].iter();
        let index = earlier.rposition(|step| step.taken.is_some_and(|(from, _)| from == message.from))?;
        self.waited(message.to, index)
    }

    /// Goes back to the beginning of a step. Returns the one before it; of one that waited for its accelerator the one
    /// before that was given the first of the works since which the accelerator was busy.
    fn begin_of(&self, (rank, index): (u32, usize), pieces: &mut Vec<Piece>) -> Option<(u32, usize)> {
        let steps = &self.of[rank as usize];
        let CompletedStep { phase, began, device, computed, .. } = steps[index];
        let Some((busy_since, until)) = device else {
            pieces.push(Piece::new(phase, Does::Compute, (rank, rank), (began, computed)));
            return index.checked_sub(1).map(|before| (rank, before));
        };
        pieces.push(Piece::new(phase, Does::Compute, (rank, rank), (until, computed)));
        pieces.push(Piece::new(phase, Does::Device, (rank, rank), (busy_since, until)));
        let gave = steps[..=index].partition_point(|step| step.began < busy_since);
        gave.checked_sub(1).map(|before| (rank, before))
    }

    /// Goes back along a message, and those that were on their way before it when it was sent: its connection carries
    /// one after the other. Returns the step that sent the first of them.
    fn way_of(&self, mut message: Message, pieces: &mut Vec<Piece>) -> Option<(u32, usize)> {
        loop {
            let step = &self.of[message.to as usize][message.index];
            let (from, by, bytes) = self.sender(message.from, message.to, message.total)?;
            let sent = self.of[from as usize][by].computed;
            if sent >= step.received {
                return None;
            }
            let before =
                self.before(&message).map(|before| (self.of[before.to as usize][before.index].received, before));
            let before = before.filter(|&(came, _)| came > sent);
            let begins = before.as_ref().map_or(sent, |&(came, _)| came);
            let piece = Piece::new(step.phase, Does::Transfer, (from, message.to), (begins, step.received));
            let (summed, follows) = (message.from as usize >= self.of.len(), before.is_some());
            pieces.push(Piece { bytes, summed, follows, ..piece });
            match before {
                Some((_, earlier)) => message = earlier,
                None => return Some((from, by)),
            }
        }
    }
}

/// A message that a step waited for: the step of the receiver, the sender or the switch that it came from, and all
/// bytes that had come from there by then.
struct Message {
    to: u32,
    index: usize,
    from: u32,
    total: u64,
}

/// The pieces of the path of a job with these ranks, the last one first, as far back as steps are kept.
pub(super) fn path(ranks: &[&Rank]) -> Vec<Piece> {
    let steps = Steps::new(ranks);
    let mut pieces = Vec::new();
    let mut at = steps.last();
    while let Some((rank, index)) = at {
        let step = &steps.of[rank as usize][index];
        pieces.push(Piece::new(step.phase, Does::Copy, (rank, rank), (step.written.max(step.received), step.ended)));
        at = match steps.waited(rank, index) {
            Some(message) => steps.way_of(message, &mut pieces),
            None => {
                let to = step.sent.map_or(rank, |(to, _)| to);
                pieces.push(Piece::new(step.phase, Does::Transfer, (rank, to), (step.computed, step.written)));
                Some((rank, index))
            }
        };
        let Some((rank, index)) = at else { break };
        at = steps.begin_of((rank, index), &mut pieces);
    }
    pieces.retain(|piece| piece.to > piece.from);
    pieces
}
