//! Collectives of groups of ranks, as patterns whose steps are computed when they are asked for.

#[cfg(test)]
mod unrolled;

use super::chunks::CHUNKS_MAX;
use super::program::Program;
use hostnet_params::{AdditionParams, CollectiveParams, CollectivePattern, GroupParams, RankMessageParams};
use hostnet_params::{RankStepParams, RingRounds, StepBlockParams, StepPartParams};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Number of indices of steps among which every size of vectors is added that a collective adds.
const INDICES_OF_ALL_SIZES: u32 = 8;

impl Program {
    /// Adds an all-reduce around a ring: a reduce-scatter, then an all-gather.
    pub(super) fn ring_allreduce(&mut self, group: &[u32], bytes: u64) {
        let chunks = self.chunks(bytes.div_ceil(group.len() as u64));
        if chunks > 1 {
            let pattern = CollectivePattern::ChunkedRing { rounds: RingRounds::Allreduce, chunks };
            return self.collective("all-reduce", pattern, group, bytes);
        }
        self.ring_reduce_scatter(group, bytes);
        self.collective("all-gather", CollectivePattern::RingPartsAllgather, group, bytes);
    }

    /// Adds a reduce-scatter around a ring: each rank gets a part of the sum.
    pub(super) fn ring_reduce_scatter(&mut self, group: &[u32], bytes: u64) {
        self.rings("reduce-scatter", RingRounds::ReduceScatter, group, group.len() as u32, bytes);
    }

    /// Adds rounds around a ring of every `size` ranks of a group, in chunks if messages have several.
    fn rings(&mut self, name: &str, rounds: RingRounds, group: &[u32], size: u32, bytes: u64) {
        let whole = match rounds {
            RingRounds::Allgather => bytes,
            _ => bytes.div_ceil(size.into()),
        };
        let pattern = match (rounds, self.chunks(whole)) {
            (RingRounds::ReduceScatter, 1) => CollectivePattern::RingReduceScatter,
            (RingRounds::PartsAllgather, 1) => CollectivePattern::RingPartsAllgather,
            (RingRounds::Allgather, 1) => CollectivePattern::RingAllgather,
            (rounds, chunks) => CollectivePattern::ChunkedRing { rounds, chunks },
        };
        self.collectives(name, pattern, group, size, bytes);
    }

    /// Returns the number of chunks of a message.
    fn chunks(&self, bytes: u64) -> u32 {
        match self.chunk_bytes {
            0 => 1,
            chunk => bytes.div_ceil(chunk).clamp(1, CHUNKS_MAX) as u32,
        }
    }

    /// Adds an all-reduce of groups of `size` ranks: reduce-scatters around rings within groups, all-reduces of the
    /// parts around rings of the ranks with the same place in their groups, and all-gathers within groups.
    pub(super) fn two_dimensional_ring(&mut self, group: &[u32], bytes: u64, size: u32) {
        let size = size.clamp(1, group.len() as u32);
        self.rings("reduce-scatter in groups", RingRounds::ReduceScatter, group, size, bytes);
        let base = self.base;
        let begin = |part: u32| (u128::from(bytes) * u128::from(part) / u128::from(size)) as u64;
        for place in 0..size {
            let peers: Vec<u32> = group.iter().copied().skip(place as usize).step_by(size as usize).collect();
            // After the rounds of a reduce-scatter, a rank has the part of the next one.
            let part = (place + 1) % size;
            self.base = base + begin(part);
            self.ring_allreduce(&peers, begin(part + 1) - begin(part));
        }
        self.base = base;
        self.rings("all-gather in groups", RingRounds::PartsAllgather, group, size, bytes);
    }

    /// Adds an all-reduce along two binary trees: sums of half of the vector each, then broadcasts of these sums.
    pub(super) fn double_tree_allreduce(&mut self, group: &[u32], bytes: u64) {
        let chunks = self.chunks(bytes.div_ceil(2));
        self.collective("reduce", CollectivePattern::DoubleTreeReduce { chunks }, group, bytes);
        self.collective("broadcast", CollectivePattern::DoubleTreeBroadcast { chunks }, group, bytes);
    }

    /// Adds an all-reduce whose messages are all in flight at once: a reduce-scatter, then an all-gather.
    pub(super) fn direct_allreduce(&mut self, group: &[u32], bytes: u64) {
        self.direct_reduce_scatter(group, bytes);
        self.collective("all-gather", CollectivePattern::DirectPartsAllgather, group, bytes);
    }

    /// Adds a reduce-scatter whose messages are all in flight at once.
    pub(super) fn direct_reduce_scatter(&mut self, group: &[u32], bytes: u64) {
        self.collective("reduce-scatter", CollectivePattern::DirectReduceScatter, group, bytes);
    }

    /// Adds an all-gather whose messages are all in flight at once.
    pub(super) fn direct_allgather(&mut self, group: &[u32], bytes: u64) {
        self.collective("all-gather", CollectivePattern::DirectAllgather, group, bytes);
    }

    /// Adds a gather in which every rank of a group sends its vector to `aggregator`, which adds the vectors one by
    /// one.
    pub(super) fn gather_sum(&mut self, group: &[u32], bytes: u64, aggregator: u32) {
        let has_own = group.contains(&aggregator);
        let (members, root) = with_root(group, aggregator);
        self.collective("gather", CollectivePattern::GatherSum { root, has_own }, &members, bytes);
    }

    /// Adds the messages of a rank that sends its data to the others of a group, one after the other.
    pub(super) fn send_each(&mut self, group: &[u32], bytes: u64, from: u32) {
        let (members, root) = with_root(group, from);
        self.collective("scatter", CollectivePattern::Scatter { root }, &members, bytes);
    }

    /// Adds a hierarchical all-reduce: sums of groups of `size` ranks along trees, a ring of the first rank of each
    /// group, and broadcasts along the trees.
    pub(super) fn hierarchical(&mut self, group: &[u32], bytes: u64, size: u32) {
        self.collectives("reduce", CollectivePattern::TreeReduce, group, size, bytes);
        let leaders: Vec<u32> = group.chunks(size as usize).map(|group| group[0]).collect();
        self.ring_allreduce(&leaders, bytes);
        self.collectives("broadcast", CollectivePattern::TreeBroadcast, group, size, bytes);
    }

    /// Gathers the data of all ranks at each rank, around a ring.
    pub(super) fn ring_allgather(&mut self, group: &[u32], bytes: u64) {
        self.rings("all-gather", RingRounds::Allgather, group, group.len() as u32, bytes);
    }

    /// Adds a sum by exchanges between ranks whose distance doubles.
    pub(super) fn doubling_sum(&mut self, group: &[u32], bytes: u64) {
        self.collective("recursive doubling", CollectivePattern::DoublingSum, group, bytes);
    }

    /// Adds an all-reduce by halves: a reduce-scatter at distances that halve, then an all-gather.
    pub(super) fn halving_sum(&mut self, group: &[u32], bytes: u64) {
        self.halving_reduce_scatter(group, bytes);
        self.collective("all-gather", CollectivePattern::DoublingPartsAllgather, group, bytes);
    }

    /// Adds a reduce-scatter by halves.
    pub(super) fn halving_reduce_scatter(&mut self, group: &[u32], bytes: u64) {
        self.collective("reduce-scatter", CollectivePattern::HalvingReduceScatter, group, bytes);
    }

    /// Gathers the data of all ranks at each rank, by exchanges between ranks whose distance doubles.
    pub(super) fn doubling_allgather(&mut self, group: &[u32], bytes: u64) {
        self.collective("recursive doubling", CollectivePattern::DoublingAllgather, group, bytes);
    }

    /// Adds a broadcast from the first rank along a binomial tree.
    pub(super) fn tree_broadcast(&mut self, group: &[u32], bytes: u64) {
        self.collective("broadcast", CollectivePattern::TreeBroadcast, group, bytes);
    }

    /// Adds a reduction to the first rank along a binomial tree.
    pub(super) fn tree_reduce(&mut self, group: &[u32], bytes: u64) {
        self.collective("reduce", CollectivePattern::TreeReduce, group, bytes);
    }

    /// Adds a broadcast from the first rank to the second, and so on.
    pub(super) fn ring_broadcast(&mut self, group: &[u32], bytes: u64) {
        let pattern = match self.chunks(bytes) {
            1 => CollectivePattern::ChainBroadcast,
            chunks => CollectivePattern::ChunkedChain { chunks },
        };
        self.collective("broadcast", pattern, group, bytes);
    }

    /// Adds an all-to-all: every rank sends to each other one in turn.
    pub(super) fn pairwise_alltoall(&mut self, group: &[u32], name: &str, bytes: u64) {
        self.collective(name, CollectivePattern::Pairwise, group, bytes);
    }

    /// Adds a barrier: every rank notifies ranks at doubling distances of its arrival.
    pub(super) fn dissemination_barrier(&mut self, group: &[u32]) {
        self.collective("barrier", CollectivePattern::Dissemination, group, 1);
    }

    /// Adds a collective of a group.
    fn collective(&mut self, name: &str, pattern: CollectivePattern, group: &[u32], bytes: u64) {
        self.collectives(name, pattern, group, group.len() as u32, bytes);
    }

    /// Adds a collective of every `size` ranks of a group.
    fn collectives(&mut self, name: &str, pattern: CollectivePattern, ranks: &[u32], size: u32, bytes: u64) {
        let phase = self.phase(name);
        let count = ranks.len() as u32;
        // Members by their place at first, as the ranks may be in any order.
        let group = GroupParams { first: 0, stride: 1, count, size };
        let (base, additions, blocking) = (Some(self.base), Vec::new(), self.blocking);
        let mut collective = CollectiveParams { pattern, group, bytes, phase, base, additions, blocking };
        collective.additions = self.additions(&collective, ranks);
        match GroupParams::of(ranks).filter(|_| !self.lists_all) {
            Some(group) => {
                collective.group = GroupParams { size, ..group };
                self.part(StepPartParams::Collective(Arc::new(collective)));
            }
            None => self.list(collective, ranks),
        }
    }

    /// Returns the costs of the additions of a collective whose members are numbered by their place in `ranks`.
    fn additions(&mut self, collective: &CollectiveParams, ranks: &[u32]) -> Vec<AdditionParams> {
        let mut known: Vec<AdditionParams> = Vec::new();
        if self.adding.bytes_per_s == 0 {
            return known;
        }
        if let Some(sizes) = collective.pattern.added_bytes(collective.bytes, collective.group.size) {
            let times: BTreeSet<u64> = ranks.iter().map(|&rank| self.instruction_fs(rank)).collect();
            let costs = times.into_iter().flat_map(|fs| sizes.iter().map(move |&bytes| (bytes, fs)));
            return costs.map(|(bytes, fs)| self.addition(bytes, fs)).collect();
        }
        let most = match collective.pattern {
            // Every exchange has a size of its own.
            CollectivePattern::HalvingReduceScatter => u32::MAX,
            // Endpoints differ in nothing. Works of cores are numbered in the order in which ranks come to them.
            _ if self.adding.cores.is_empty() => INDICES_OF_ALL_SIZES,
            _ => u32::MAX,
        };
        let places: Vec<u32> = collective.group.ranks().collect();
        for group in places.chunks(collective.group.size.max(1) as usize) {
            let indices = group.iter().map(|&place| collective.indices(place)).max().unwrap_or(0);
            for index in 0..indices.min(most) {
                for &place in group {
                    let bytes = collective.action(place, index).map_or(0, |action| action.added);
                    let fs = self.instruction_fs(ranks[place as usize]);
                    let is_known = known.iter().any(|known| known.bytes == bytes && known.instruction_fs == fs);
                    if bytes > 0 && !is_known {
                        known.push(self.addition(bytes, fs));
                    }
                }
            }
        }
        known
    }

    /// Lists the steps of a collective whose members are numbered by their place in `ranks`.
    fn list(&mut self, collective: CollectiveParams, ranks: &[u32]) {
        let part = StepPartParams::Collective(Arc::new(collective));
        let block = StepBlockParams { times: 1, parts: vec![part], operations: Vec::new() };
        let renamed = |message: RankMessageParams| RankMessageParams { rank: ranks[message.rank as usize], ..message };
        for (place, &rank) in (0..).zip(ranks) {
            for step in block.steps_of(place, self.instruction_fs(rank)) {
                let (send, receive) = (step.send.map(renamed), step.receive.map(renamed));
                self.push(rank, RankStepParams { send, receive, ..step });
                if self.is_too_long() {
                    return;
                }
            }
        }
    }
}

/// Returns the ranks of a group and of its root, which follows them if it is no member, and the place of the root.
fn with_root(group: &[u32], root: u32) -> (Vec<u32>, u32) {
    let mut members = group.to_vec();
    let place = group.iter().position(|&rank| rank == root).unwrap_or_else(|| {
        members.push(root);
        group.len()
    });
    (members, place as u32)
}
