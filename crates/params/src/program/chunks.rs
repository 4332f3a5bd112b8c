//! Rounds around a ring, and along a chain, whose messages consist of chunks: a chunk goes on as soon as it has
//! arrived, while later chunks of the same message are still on their way.

use super::member::{adding, Member, PlaceStep};
use serde::{Deserialize, Serialize};

/// Purpose of rounds around a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RingRounds {
    /// Every member gets a part of the sum.
    ReduceScatter,
    /// The parts of a vector are gathered, after a reduce-scatter.
    PartsAllgather,
    /// A reduce-scatter, and the all-gather of its parts.
    Allreduce,
    /// The vectors of all members are gathered.
    Allgather,
}

impl RingRounds {
    /// Returns the number of rounds among `count` members.
    fn rounds(self, count: u32) -> u32 {
        let others = count.saturating_sub(1);
        match self {
            Self::Allreduce => 2 * others,
            _ => others,
        }
    }

    /// Returns true if the members add what they receive in a round.
    fn adds(self, round: u32, count: u32) -> bool {
        match self {
            Self::ReduceScatter => true,
            Self::Allreduce => round + 1 < count,
            Self::PartsAllgather | Self::Allgather => false,
        }
    }

    /// Returns the number of indices of a member's steps: for each chunk an exchange and an addition, and before them
    /// the chunks of the first message but one, which are sent while none has arrived.
    pub(super) fn indices(self, count: u32, chunks: u32) -> u32 {
        2 * (self.rounds(count) * chunks + chunks - 1)
    }
}

/// Returns the offset and the bytes of a chunk of some data, given by its offset and its bytes. Chunks differ by a byte
/// at most.
pub(super) fn chunk_of((begin, bytes): (u64, u64), number: u32, chunks: u32) -> (u64, u64) {
    let data = Member { place: 0, count: chunks, bytes };
    (begin + data.begin_of(number), data.part_bytes(number))
}

/// Rounds of a member around a ring, in chunks.
#[derive(Clone, Copy)]
pub(super) struct RingChunks {
    pub(super) member: Member,
    pub(super) rounds: RingRounds,
    /// Chunks of a message.
    pub(super) chunks: u32,
}

impl RingChunks {
    /// Returns the exchange of whole messages in a round around the ring.
    fn whole(self, round: u32) -> PlaceStep {
        let others = self.member.count - 1;
        match self.rounds {
            RingRounds::Allgather => self.member.ring_whole(round + 1),
            RingRounds::PartsAllgather => self.member.ring_parts(round + 1, 1),
            RingRounds::Allreduce if round >= others => self.member.ring_parts(round + 1 - others, 1),
            RingRounds::ReduceScatter | RingRounds::Allreduce => self.member.ring_parts(round + 1, 0),
        }
    }

    /// Returns the round of a received chunk, its sender and its bytes, by its number.
    fn received(self, number: u32) -> (u32, (u32, u64)) {
        let (round, chunk) = (number / self.chunks, number % self.chunks);
        let (from, bytes) = self.whole(round).receive;
        (round, (from, chunk_of((0, bytes), chunk, self.chunks).1))
    }

    /// Sends a chunk, and receives the one whose successor in the next round follows. A chunk that is added is added
    /// before the next one is sent.
    pub(super) fn step(self, index: u32) -> PlaceStep {
        let Self { member, rounds, chunks } = self;
        let (sent, is_addition) = (index / 2, index % 2 == 1);
        let received = sent.checked_sub(chunks - 1).map(|number| self.received(number));
        if is_addition {
            let added = received.filter(|&(round, _)| rounds.adds(round, member.count));
            return added.map_or(PlaceStep::default(), |(_, (_, bytes))| adding(bytes));
        }
        let receive = received.map_or((0, 0), |(_, message)| message);
        if sent >= rounds.rounds(member.count) * chunks {
            return PlaceStep { receive, ..PlaceStep::default() };
        }
        let whole = self.whole(sent / chunks);
        let (at, bytes) = chunk_of((whole.at, whole.send.1), sent % chunks, chunks);
        PlaceStep { send: (whole.send.0, bytes), at, receive, ..PlaceStep::default() }
    }
}

/// Chunks along a chain of members.
#[derive(Clone, Copy)]
pub(super) struct ChainChunks {
    pub(super) member: Member,
    /// Chunks of the vector.
    pub(super) chunks: u32,
}

impl ChainChunks {
    /// Sends the chunk that has arrived to the next member, and receives the following one from the previous member.
    pub(super) fn step(self, index: u32) -> PlaceStep {
        let Self { member: Member { place, count, bytes }, chunks } = self;
        let chunk = |number: u32| chunk_of((0, bytes), number, chunks);
        let sent = index.checked_sub(u32::from(place > 0)).filter(|&number| number < chunks);
        let (at, bytes) = sent.filter(|_| place + 1 < count).map_or((0, 0), chunk);
        let receives = place > 0 && index < chunks;
        let receive = if receives { (place - 1, chunk(index).1) } else { (0, 0) };
        PlaceStep { send: (self.member.after(1), bytes), at, receive, ..PlaceStep::default() }
    }
}
