//! Steps of collectives, computed from the place of a rank in its group and the index of the step (Thakur,
//! Rabenseifner, Gropp, IJHPCA 2005).

use super::chunks::{ChainChunks, RingChunks, RingRounds};
use super::double_tree::DoubleTree;
use super::member::{adding, receiving, sending, Member, PlaceStep};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Pattern by which the members of a group exchange messages. Members are numbered by their place in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CollectivePattern {
    /// Reduce-scatter around a ring: every member gets a part of the sum.
    RingReduceScatter,
    /// All-gather of the parts of a vector around a ring, after a reduce-scatter.
    RingPartsAllgather,
    /// All-gather of a vector of each member around a ring.
    RingAllgather,
    /// Exchange of every member with each other one in turn, so that no two members send to the same one at a time.
    Pairwise,
    /// Barrier: every member notifies members at doubling distances (Hensgen, Finkel, Manber, 1988).
    Dissemination,
    /// Sum by exchanges at doubling distances. Members beyond a power of two send their data to a neighbour before,
    /// and get the sum afterwards.
    DoublingSum,
    /// Reduce-scatter by exchanges of halves at distances that halve. Members beyond a power of two send their data to
    /// a neighbour before.
    HalvingReduceScatter,
    /// All-gather of the parts of a vector at doubling distances, after a reduce-scatter by halves. Members beyond a
    /// power of two get the sum afterwards.
    DoublingPartsAllgather,
    /// All-gather by exchanges at doubling distances, of a number of members that is a power of two.
    DoublingAllgather,
    /// Sum at the first member along a binomial tree.
    TreeReduce,
    /// Broadcast of the first member along a binomial tree.
    TreeBroadcast,
    /// Broadcast from the first member to the second, and so on.
    ChainBroadcast,
    /// Sum at one member, which receives the vectors of all others one after the other.
    GatherSum {
        /// Place of the member that adds.
        root: u32,
        /// True if that member has a vector of its own, so that the first one that it receives is added.
        has_own: bool,
    },
    /// Messages of one member to all others, one after the other.
    Scatter {
        /// Place of the sender.
        root: u32,
    },
    /// Reduce-scatter in which every member sends all others their parts at once.
    DirectReduceScatter,
    /// All-gather of the parts of a vector, which every member sends to all others at once, after a direct
    /// reduce-scatter.
    DirectPartsAllgather,
    /// All-gather of a vector of each member, which it sends to all others at once.
    DirectAllgather,
    /// Rounds around a ring with messages of several chunks. Each chunk goes on as soon as it has arrived.
    ChunkedRing {
        /// Purpose of these rounds.
        rounds: RingRounds,
        /// Chunks of a message; at least 1.
        chunks: u32,
    },
    /// Broadcast from the first member to the second, and so on, of chunks that each go on as soon as they have
    /// arrived.
    ChunkedChain {
        /// Chunks of the vector; at least 1.
        chunks: u32,
    },
    /// Sums of the two halves of a vector at the roots of two binary trees.
    DoubleTreeReduce {
        /// Chunks of a half; at least 1.
        chunks: u32,
    },
    /// Broadcasts of the two halves of a vector from the roots of two binary trees.
    DoubleTreeBroadcast {
        /// Chunks of a half; at least 1.
        chunks: u32,
    },
}

impl CollectivePattern {
    /// Returns the number of indices of a member's steps. A step whose action is empty is skipped.
    pub(super) fn indices(self, place: u32, count: u32) -> u32 {
        let (others, levels) = (count.saturating_sub(1), levels(count));
        match self {
            _ if others == 0 => 0,
            Self::RingReduceScatter => 2 * others,
            Self::RingPartsAllgather | Self::RingAllgather | Self::Pairwise => others,
            Self::Dissemination | Self::DoublingAllgather | Self::TreeBroadcast => levels,
            // An exchange and an addition per level, the same for members beyond a power of two, and their sums.
            Self::DoublingSum => 2 * count.ilog2() + 3,
            Self::HalvingReduceScatter => 2 * count.ilog2() + 2,
            Self::DoublingPartsAllgather => count.ilog2() + 1,
            Self::TreeReduce => 2 * levels,
            Self::ChainBroadcast => 2,
            Self::GatherSum { root, .. } if place == root => 2 * others,
            Self::Scatter { root } if place == root => others,
            Self::GatherSum { .. } | Self::Scatter { .. } => 1,
            Self::DirectReduceScatter => 3 * others,
            Self::DirectPartsAllgather | Self::DirectAllgather => 2 * others,
            Self::ChunkedRing { rounds, chunks } => rounds.indices(count, chunks),
            Self::ChunkedChain { chunks } => chunks + 1,
            Self::DoubleTreeReduce { chunks } => DoubleTree::indices_of_sum(place, count, chunks),
            Self::DoubleTreeBroadcast { chunks } => DoubleTree::indices_of_broadcast(place, count, chunks),
        }
    }

    /// Returns a number of steps that all members of a group together do not exceed, with their additions.
    pub(super) fn steps_of_all(self, count: u32) -> u64 {
        let (count, others) = (u64::from(count), u64::from(count.saturating_sub(1)));
        match self {
            Self::TreeReduce | Self::GatherSum { .. } => 3 * others,
            Self::TreeBroadcast | Self::ChainBroadcast | Self::Scatter { .. } => 2 * others,
            Self::DoubleTreeReduce { chunks } | Self::DoubleTreeBroadcast { chunks } => 6 * others * u64::from(chunks),
            _ => count * u64::from(self.indices(0, count as u32)),
        }
    }

    /// Returns the bytes of the largest message between members.
    pub(super) fn largest_message(self, bytes: u64, count: u32) -> u64 {
        match self {
            _ if count < 2 => 0,
            Self::RingReduceScatter
            | Self::RingPartsAllgather
            | Self::DirectReduceScatter
            | Self::DirectPartsAllgather => bytes.div_ceil(count.into()),
            Self::ChunkedRing { rounds: RingRounds::Allgather, chunks } | Self::ChunkedChain { chunks } => {
                bytes.div_ceil(chunks.into())
            }
            Self::ChunkedRing { chunks, .. } => bytes.div_ceil(count.into()).div_ceil(chunks.into()),
            Self::DoubleTreeReduce { chunks } | Self::DoubleTreeBroadcast { chunks } => {
                bytes.div_ceil(2).div_ceil(chunks.into())
            }
            Self::DoublingAllgather => bytes * u64::from(count / 2),
            Self::HalvingReduceScatter | Self::DoublingPartsAllgather if count.is_power_of_two() => bytes.div_ceil(2),
            _ => bytes,
        }
    }

    /// Returns the sizes of the vectors that members of a group of `count` add, in bytes; `None` where only the steps
    /// tell them.
    #[must_use]
    pub fn added_bytes(self, bytes: u64, count: u32) -> Option<BTreeSet<u64>> {
        use RingRounds::{Allgather, PartsAllgather};
        let parts = |bytes: u64, count: u32| [bytes / u64::from(count.max(1)), bytes.div_ceil(count.max(1).into())];
        let (messages, chunks) = match self {
            Self::ChunkedRing { rounds: Allgather | PartsAllgather, .. }
            | Self::ChunkedChain { .. }
            | Self::DoubleTreeBroadcast { .. }
            | Self::DirectPartsAllgather
            | Self::DirectAllgather => return Some(BTreeSet::new()),
            Self::DirectReduceScatter => (parts(bytes, count), 1),
            Self::ChunkedRing { chunks, .. } => (parts(bytes, count), chunks),
            Self::DoubleTreeReduce { chunks } => (parts(bytes, 2), chunks),
            _ => return None,
        };
        Some(messages.into_iter().flat_map(|message| parts(message, chunks)).filter(|&bytes| bytes > 0).collect())
    }

    /// Returns the pattern with a single chunk for each message.
    pub(super) fn of_whole_messages(self) -> Self {
        match self {
            Self::ChunkedRing { rounds, .. } => Self::ChunkedRing { rounds, chunks: 1 },
            Self::ChunkedChain { .. } => Self::ChunkedChain { chunks: 1 },
            Self::DoubleTreeReduce { .. } => Self::DoubleTreeReduce { chunks: 1 },
            Self::DoubleTreeBroadcast { .. } => Self::DoubleTreeBroadcast { chunks: 1 },
            _ => self,
        }
    }

    /// Returns what a member does in its step of an index below [`CollectivePattern::indices`].
    pub(super) fn step(self, member: Member, index: u32) -> PlaceStep {
        match self {
            Self::RingReduceScatter => {
                let exchange = member.ring_parts(index / 2 + 1, 0);
                // A received part is added before it is sent on.
                if index % 2 == 0 {
                    exchange
                } else {
                    adding(exchange.receive.1)
                }
            }
            Self::RingPartsAllgather => member.ring_parts(index + 1, 1),
            Self::RingAllgather => member.ring_whole(index + 1),
            Self::Pairwise => member.pairwise(index + 1),
            Self::Dissemination => member.dissemination(1 << index),
            Self::DoublingSum => member.doubling_sum(index),
            Self::HalvingReduceScatter => member.halving_reduce(index),
            Self::DoublingPartsAllgather => member.parts_allgather(index),
            Self::DoublingAllgather => member.doubling_allgather(1 << index),
            Self::TreeReduce => member.tree_reduce(index),
            Self::TreeBroadcast => member.tree_broadcast(index),
            Self::ChainBroadcast => member.chain(index),
            Self::GatherSum { root, has_own } => member.gather(root, has_own, index),
            Self::Scatter { root } if member.place == root => sending(skipping(index, root), member.bytes),
            Self::Scatter { root } => receiving(root, member.bytes),
            Self::DirectReduceScatter => member.direct_reduce(index),
            Self::DirectPartsAllgather => member.direct_parts(index),
            Self::DirectAllgather => member.direct_whole(index),
            Self::ChunkedRing { rounds, chunks } => RingChunks { member, rounds, chunks }.step(index),
            Self::ChunkedChain { chunks } => ChainChunks { member, chunks }.step(index),
            Self::DoubleTreeReduce { chunks } => DoubleTree { member, chunks }.reduce(index),
            Self::DoubleTreeBroadcast { chunks } => DoubleTree { member, chunks }.broadcast(index),
        }
    }
}

/// Returns the number of levels of a binomial tree.
fn levels(count: u32) -> u32 {
    count.next_power_of_two().ilog2()
}

/// Returns place `number` of all places but one.
fn skipping(number: u32, but: u32) -> u32 {
    number + u32::from(number >= but)
}

impl Member {
    /// Exchanges parts in a round around a ring. With `ahead` 0, the members add them; with 1, they gather sums.
    pub(super) fn ring_parts(self, round: u32, ahead: u32) -> PlaceStep {
        let sent = (self.place + self.count + ahead + 1 - round) % self.count;
        let received = (self.place + self.count + ahead - round) % self.count;
        PlaceStep {
            send: (self.after(1), self.part_bytes(sent)),
            at: self.begin_of(sent),
            receive: (self.before(1), self.part_bytes(received)),
            ..PlaceStep::default()
        }
    }

    pub(super) fn ring_whole(self, round: u32) -> PlaceStep {
        let whose = (self.place + self.count + 1 - round) % self.count;
        let at = self.bytes * u64::from(whose);
        PlaceStep {
            send: (self.after(1), self.bytes),
            at,
            receive: (self.before(1), self.bytes),
            ..PlaceStep::default()
        }
    }

    fn pairwise(self, round: u32) -> PlaceStep {
        let to = self.after(round);
        let at = self.bytes * u64::from(to);
        PlaceStep { send: (to, self.bytes), at, receive: (self.before(round), self.bytes), ..PlaceStep::default() }
    }

    fn dissemination(self, distance: u32) -> PlaceStep {
        let (send, receive) = ((self.after(distance), self.bytes), (self.before(distance), self.bytes));
        PlaceStep { send, receive, ..PlaceStep::default() }
    }

    /// The first two indices send the data of members beyond a power of two to their neighbours, which add it, and
    /// the last one returns the sum.
    fn doubling_sum(self, index: u32) -> PlaceStep {
        let Self { place, count, bytes } = self;
        let rounds = count.ilog2();
        let extra = count - (1 << rounds);
        let (paired, is_even) = (place < 2 * extra, place % 2 == 0);
        match index {
            0 if paired && is_even => sending(place + 1, bytes),
            0 if paired => receiving(place - 1, bytes),
            1 if paired && !is_even => adding(bytes),
            0 | 1 => PlaceStep::default(),
            last if last == 2 * rounds + 2 => match (paired, is_even) {
                (true, true) => receiving(place + 1, bytes),
                (true, false) => sending(place - 1, bytes),
                (false, _) => PlaceStep::default(),
            },
            _ if paired && is_even => PlaceStep::default(),
            sum if sum % 2 == 1 => adding(bytes),
            exchange => {
                let core = if paired { place / 2 } else { place - extra };
                let other = core ^ (1 << (exchange / 2 - 1));
                let other = if other < extra { 2 * other + 1 } else { other + extra };
                PlaceStep { send: (other, bytes), receive: (other, bytes), ..PlaceStep::default() }
            }
        }
    }

    /// Sends the vectors that `distance` members hold together.
    fn doubling_allgather(self, distance: u32) -> PlaceStep {
        let other = self.place ^ distance;
        let held = self.bytes * u64::from(distance);
        let at = self.bytes * u64::from(self.place / distance * distance);
        PlaceStep { send: (other, held), at, receive: (other, held), ..PlaceStep::default() }
    }

    fn tree_reduce(self, index: u32) -> PlaceStep {
        let distance = 1 << (index / 2);
        match (self.place % (2 * distance), index % 2) {
            (0, _) if self.place + distance >= self.count => PlaceStep::default(),
            (0, 0) => receiving(self.place + distance, self.bytes),
            (0, _) => adding(self.bytes),
            (rest, 0) if rest == distance => sending(self.place - distance, self.bytes),
            _ => PlaceStep::default(),
        }
    }

    fn tree_broadcast(self, index: u32) -> PlaceStep {
        let distance = self.count.next_power_of_two() >> (index + 1);
        match self.place % (2 * distance) {
            0 if self.place + distance < self.count => sending(self.place + distance, self.bytes),
            rest if rest == distance => receiving(self.place - distance, self.bytes),
            _ => PlaceStep::default(),
        }
    }

    /// Receives from the previous member, then sends to the next one.
    fn chain(self, index: u32) -> PlaceStep {
        match index {
            0 if self.place > 0 => receiving(self.place - 1, self.bytes),
            1 if self.place + 1 < self.count => sending(self.place + 1, self.bytes),
            _ => PlaceStep::default(),
        }
    }

    fn gather(self, root: u32, has_own: bool, index: u32) -> PlaceStep {
        match index % 2 {
            _ if self.place != root => sending(root, self.bytes),
            0 => receiving(skipping(index / 2, root), self.bytes),
            // The first vector is added to nothing unless the member has a vector itself.
            _ if index > 1 || has_own => adding(self.bytes),
            _ => PlaceStep::default(),
        }
    }
}
