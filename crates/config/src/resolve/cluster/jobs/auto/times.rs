//! Closed forms of collectives: latencies of rounds, and the time of their data on the cable that most of them share.

use super::super::chunks::CHUNKS_MAX;
use super::network::{RankNetwork, Round};
use hostnet_params::AlgorithmSpec::{
    Direct, DoubleBinaryTree, HalvingDoubling, Pairwise, RecursiveDoubling, Ring, Tree, TwoDimensionalRing,
};
use hostnet_params::{AlgorithmSpec, JobKindSpec};

/// Numbers of chunks that are compared if the user gives none.
const CHUNKS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Maximum number of ranks with a connection for each pair.
const DIRECT_RANKS_MAX: usize = 256;

/// An algorithm and its estimated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Estimate {
    pub(in super::super) algorithm: AlgorithmSpec,
    /// Number of chunks of a message.
    pub(in super::super) chunks: u32,
    /// Maximum bytes of a chunk; 0 if messages are sent on as a whole.
    pub(in super::super) chunk_bytes: u64,
    pub(in super::super) ps: f64,
}

/// A collective of some ranks.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub(super) network: &'a RankNetwork,
    pub(super) ranks: &'a [u32],
    /// Bytes as the kind of collective counts them.
    pub(super) bytes: u64,
    /// Maximum bytes of a chunk; 0 if the user gives none.
    pub(super) chunk_bytes: u64,
    /// Ranks of a group of a "2d-ring".
    pub(super) size: u32,
    /// True if a rank can have several messages in flight.
    pub(super) posts: bool,
}

impl Exchange<'_> {
    fn count(self) -> u32 {
        self.ranks.len() as u32
    }

    fn levels(self) -> u32 {
        self.count().next_power_of_two().ilog2()
    }

    /// Returns an estimate of an algorithm whose messages of `message` bytes have chunks.
    fn estimate(self, algorithm: AlgorithmSpec, (message, chunks): (u64, u32), ps: f64) -> Estimate {
        let chunk_bytes = match self.chunk_bytes {
            0 if chunks == 1 => 0,
            0 => message.div_ceil(chunks.into()),
            given => given,
        };
        Estimate { algorithm, chunks, chunk_bytes, ps }
    }

    /// Returns the bytes of a part of the vector.
    fn part(self, parts: u32) -> u64 {
        self.bytes.div_ceil(u64::from(parts.max(1)))
    }

    /// Returns a round in which members send `bytes` bytes to others, by their places.
    fn round(self, bytes: u64, to: impl Fn(u32) -> Option<u32>) -> Round {
        let pairs = (0..self.count()).filter_map(|place| Some((place, to(place)?)));
        self.network.round(bytes, pairs.map(|(from, to)| (self.ranks[from as usize], self.ranks[to as usize])))
    }

    /// Returns the numbers of chunks of a message that are compared.
    fn chunks(self, message: u64) -> impl Iterator<Item = u32> {
        let given = self.chunk_bytes;
        let of_given = (given > 0).then(|| message.div_ceil(given.max(1)).clamp(1, CHUNKS_MAX) as u32);
        let packet = self.network.packet_bytes();
        let usual = CHUNKS.into_iter().filter(move |&chunks| chunks == 1 || message / u64::from(chunks) >= packet);
        of_given.into_iter().chain(usual.filter(move |_| given == 0))
    }

    /// Returns the time of rounds around a ring, in ps: of `adding` rounds whose members add what they receive, and
    /// `other` rounds. `next` returns the place of the next member.
    fn ring_ps(
        self,
        (message, chunks): (u64, u32),
        (adding, other): (u32, u32),
        next: impl Fn(u32) -> Option<u32>,
    ) -> f64 {
        let chunk = message.div_ceil(chunks.into());
        let (round, count) = (self.round(chunk, next), f64::from(chunks));
        // A chunk follows its predecessor in the same round, and waits for the one in the round before.
        let period_ps = |sum_ps: f64| (count * round.data_ps.max(sum_ps)).max(round.time_ps() + sum_ps);
        let sum_ps = self.network.sum_ps(chunk as f64);
        let (adding, other, last_sum_ps) = match other.checked_sub(1) {
            Some(other) => (adding, other, 0.0),
            None => (adding.saturating_sub(1), 0, sum_ps),
        };
        let last_ps = round.time_ps() + (count - 1.0) * round.data_ps + last_sum_ps;
        f64::from(adding) * period_ps(sum_ps) + f64::from(other) * period_ps(0.0) + last_ps
    }

    /// Returns the estimates of rounds around a ring for all numbers of chunks.
    fn rings(self, message: u64, adding: u32, other: u32) -> Vec<Estimate> {
        let count = self.count();
        let time = |chunks| self.ring_ps((message, chunks), (adding, other), |place| Some((place + 1) % count));
        self.chunks(message).map(|chunks| self.estimate(Ring, (message, chunks), time(chunks))).collect()
    }

    /// Returns the time of exchanges at distances that double, in ps; `bytes_at` returns the bytes at a distance.
    fn doubling_ps(self, bytes_at: impl Fn(u32) -> u64) -> f64 {
        let cores = 1 << self.count().ilog2();
        let extra = self.count() - cores;
        let place = |core: u32| if core < extra { 2 * core + 1 } else { core + extra };
        let core = |place: u32| match place < 2 * extra {
            true => (place % 2 == 1).then_some(place / 2),
            false => Some(place - extra),
        };
        let one = |distance: u32| self.round(bytes_at(distance), |at| Some(place(core(at)? ^ distance))).time_ps();
        (0..cores.ilog2()).map(|level| one(1 << level)).sum()
    }

    /// Returns the time in which members beyond a power of two send their vectors to a neighbour, and get the sum, in
    /// ps.
    fn fold_ps(self) -> f64 {
        let extra = self.count() - (1 << self.count().ilog2());
        if extra == 0 {
            return 0.0;
        }
        let fold = self.round(self.bytes, |place| (place < 2 * extra && place % 2 == 0).then_some(place + 1));
        2.0 * fold.time_ps() + self.network.sum_ps(self.bytes as f64)
    }

    /// Returns the time of a message along each level of a binomial tree, in ps.
    fn tree_ps(self) -> f64 {
        let count = self.count();
        let to =
            |place: u32, distance: u32| Some(place + distance).filter(|to| place % (2 * distance) == 0 && *to < count);
        (0..self.levels()).map(|level| self.round(self.bytes, |place| to(place, 1 << level)).time_ps()).sum()
    }

    fn double_tree_ps(self, chunks: u32) -> f64 {
        let (half, count) = (self.part(2), self.count());
        let chunk = half.div_ceil(chunks.into());
        let round = self.round(chunk, |place| Some((place + 1) % count));
        let (depth, sum_ps) = (f64::from(count.ilog2()), self.network.sum_ps(chunk as f64));
        let pair_ps = if count > 2 { 2.0 * round.data_ps } else { round.data_ps };
        // The root of a power of two has one child.
        let one_ps = if count.is_power_of_two() && count > 2 { round.data_ps } else { 0.0 };
        let fill_ps = depth * (round.latency_ps + pair_ps) - one_ps;
        // The roles of a rank are a chunk more apart than a chunk has levels to go.
        let period_ps = pair_ps.max(2.0 * sum_ps).max(depth * (round.latency_ps + pair_ps) / (depth + 1.0));
        2.0 * fill_ps + depth * 2.0 * sum_ps + 2.0 * f64::from(chunks - 1) * period_ps
    }

    fn two_dimensional_ps(self, size: u32) -> f64 {
        let (count, groups) = (self.count(), self.count() / size);
        let within = |place: u32| Some(place / size * size + (place + 1) % size);
        let across = |place: u32| Some((place + size) % count);
        let (part, piece) = (self.part(size), self.part(count));
        self.ring_ps((part, 1), (size - 1, size - 1), within)
            + self.ring_ps((piece, 1), (groups - 1, groups - 1), across)
    }

    /// Returns the estimates of the algorithms of a kind of collective.
    pub(super) fn estimates(self, kind: JobKindSpec) -> Vec<Estimate> {
        let (count, others) = (self.count(), self.count().saturating_sub(1));
        let is_power = count.is_power_of_two();
        let may_post = self.posts && self.ranks.len() <= DIRECT_RANKS_MAX;
        let whole = |algorithm, ps| self.estimate(algorithm, (0, 1), ps);
        let all = |bytes| self.network.round_of_all(bytes, self.ranks).time_ps();
        let added_ps = self.network.sum_ps(self.bytes as f64 * f64::from(others) / f64::from(count.max(1)));
        match kind {
            JobKindSpec::Allgather => {
                let mut found = self.rings(self.bytes, 0, others);
                let doubling = || self.doubling_ps(|distance| self.bytes * u64::from(distance));
                found.extend(is_power.then(|| whole(RecursiveDoubling, doubling())));
                found.extend(may_post.then(|| whole(Direct, all(self.bytes))));
                found
            }
            JobKindSpec::Reducescatter => {
                let mut found = self.rings(self.part(count), others, 0);
                let halving = || self.doubling_ps(|distance| self.part(count) * u64::from(distance)) + added_ps;
                found.extend(is_power.then(|| whole(HalvingDoubling, halving())));
                found.extend(may_post.then(|| whole(Direct, all(self.part(count)) + added_ps)));
                found
            }
            JobKindSpec::Alltoall => {
                let far = self.round(self.bytes, |place| Some((place + count / 2) % count)).time_ps();
                let mut found = vec![whole(Pairwise, f64::from(others) * far)];
                found.extend(may_post.then(|| whole(Direct, all(self.bytes))));
                found
            }
            JobKindSpec::Broadcast => self.broadcasts(),
            _ => {
                let mut found = self.rings(self.part(count), others, others);
                let vector_ps = self.network.sum_ps(self.bytes as f64);
                let levels_ps = f64::from(self.levels()) * vector_ps;
                let doubling = self.doubling_ps(|_| self.bytes) + f64::from(count.ilog2()) * vector_ps;
                let cores = 1 << count.ilog2();
                let halving = 2.0 * self.doubling_ps(|distance| self.part(cores) * u64::from(distance)) + added_ps;
                found.push(whole(RecursiveDoubling, doubling + self.fold_ps()));
                found.push(whole(HalvingDoubling, halving + self.fold_ps()));
                found.push(whole(Tree, 2.0 * self.tree_ps() + levels_ps));
                let half = self.part(2);
                let double = |chunks| self.estimate(DoubleBinaryTree, (half, chunks), self.double_tree_ps(chunks));
                found.extend(self.chunks(half).filter(|_| self.posts).map(double));
                found.extend(may_post.then(|| whole(Direct, 2.0 * all(self.part(count)) + added_ps)));
                let divides = self.size > 1 && self.size < count && count % self.size == 0;
                found.extend(divides.then(|| whole(TwoDimensionalRing, self.two_dimensional_ps(self.size))));
                found
            }
        }
    }

    fn broadcasts(self) -> Vec<Estimate> {
        let count = self.count();
        let chain = |chunks: u32| {
            let next = |place: u32| Some(place + 1).filter(|&next| next < count);
            let round = self.round(self.bytes.div_ceil(chunks.into()), next);
            let ps = f64::from(count.saturating_sub(1)) * round.time_ps() + f64::from(chunks - 1) * round.data_ps;
            self.estimate(Ring, (self.bytes, chunks), ps)
        };
        let tree = self.estimate(Tree, (0, 1), self.tree_ps());
        std::iter::once(tree).chain(self.chunks(self.bytes).map(chain)).collect()
    }
}
