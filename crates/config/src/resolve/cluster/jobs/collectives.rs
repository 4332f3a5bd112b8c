//! Collectives as steps of ranks (Thakur, Rabenseifner, Gropp, IJHPCA 2005).

use super::program::Program;

const NOTHING: (u32, u64) = (0, 0);

/// Place of the receiver in the group, number of bytes, and offset of the first byte in the exchanged data.
type Sent = ((u32, u64), u64);

/// Returns the ranks of a group except one.
fn others(group: &[u32], but: u32) -> impl Iterator<Item = u32> + '_ {
    group.iter().copied().filter(move |&rank| rank != but)
}

impl Program {
    /// Adds an exchange between the ranks of a group. For each place in the group, `with` returns the send and the
    /// receive.
    fn exchange(&mut self, group: &[u32], phase: u8, with: impl Fn(u32) -> (Sent, (u32, u64))) {
        self.exchange_and(group, phase, with, |_, _, _| {});
    }

    /// Like [`Program::exchange`], but calls `then` for each rank with the bytes that it has received.
    fn exchange_and(
        &mut self,
        group: &[u32],
        phase: u8,
        with: impl Fn(u32) -> (Sent, (u32, u64)),
        then: impl Fn(&mut Self, u32, u64),
    ) {
        if self.is_too_long() {
            return;
        }
        for (place, &rank) in (0..).zip(group) {
            let (((to, bytes), further), receive) = with(place);
            let send = ((group[to as usize], bytes), further);
            let receive = (group[receive.0 as usize], receive.1);
            self.step_from(rank, phase, 0, send, receive);
            then(self, rank, receive.1);
        }
    }

    /// Adds an all-reduce around a ring: a reduce-scatter, then an all-gather.
    pub(super) fn ring_allreduce(&mut self, group: &[u32], bytes: u64) {
        self.ring_reduce_scatter(group, bytes);
        self.ring_round(group, bytes, "all-gather", 1);
    }

    /// Adds a reduce-scatter around a ring: each rank gets a part of the sum.
    pub(super) fn ring_reduce_scatter(&mut self, group: &[u32], bytes: u64) {
        self.ring_round(group, bytes, "reduce-scatter", 0);
    }

    /// Adds one revolution around a ring in `ranks - 1` steps. With `ahead` 0 the ranks add the parts that they
    /// receive; with 1 they gather the sums.
    fn ring_round(&mut self, group: &[u32], bytes: u64, name: &str, ahead: u32) {
        let ranks = group.len() as u32;
        // Parts differ by a byte at most and add up to `bytes`.
        let until = |number: u32| (u128::from(bytes) * u128::from(number) / u128::from(ranks)) as u64;
        let part = |number: u32| until(number + 1) - until(number);
        let phase = self.phase(name);
        for step in 1..ranks {
            let with = |place| {
                let sent = (place + ranks + ahead + 1 - step) % ranks;
                let received = (place + ranks + ahead - step) % ranks;
                let send = ((place + 1) % ranks, part(sent));
                ((send, until(sent)), ((place + ranks - 1) % ranks, part(received)))
            };
            // A reduce-scatter (`ahead` 0) adds each part on arrival. An all-gather only forwards it.
            match ahead {
                0 => self.exchange_and(group, phase, with, |program, rank, bytes| program.add(rank, bytes)),
                _ => self.exchange(group, phase, with),
            }
        }
    }

    /// Adds a gather in which every rank of a group sends its vector to `aggregator`, which adds the vectors one by
    /// one.
    pub(super) fn gather_sum(&mut self, group: &[u32], bytes: u64, aggregator: u32) {
        let gather = self.phase("gather");
        let others = others(group, aggregator);
        // The first vector is added to nothing unless the aggregator has a vector itself.
        let mut has_one = group.contains(&aggregator);
        for rank in others {
            self.step(rank, gather, 0, (aggregator, bytes), NOTHING);
            self.step(aggregator, gather, 0, NOTHING, (rank, bytes));
            if std::mem::replace(&mut has_one, true) {
                self.add(aggregator, bytes);
            }
        }
    }

    /// Adds the messages of a rank that sends its data to the others of a group, one after the other.
    pub(super) fn send_each(&mut self, group: &[u32], bytes: u64, from: u32) {
        let scatter = self.phase("scatter");
        for rank in others(group, from) {
            self.step(from, scatter, 0, (rank, bytes), NOTHING);
            self.step(rank, scatter, 0, NOTHING, (from, bytes));
        }
    }

    /// Adds a hierarchical all-reduce: sums of groups of `size` ranks along trees, a ring of the first rank of each
    /// group, and broadcasts along the trees.
    pub(super) fn hierarchical(&mut self, group: &[u32], bytes: u64, size: u32) {
        let groups = || group.chunks(size as usize);
        groups().for_each(|group| self.tree_reduce(group, bytes));
        let leaders: Vec<u32> = groups().map(|group| group[0]).collect();
        self.ring_allreduce(&leaders, bytes);
        groups().for_each(|group| self.tree_broadcast(group, bytes));
    }

    /// Gathers the data of all ranks at each rank, around a ring.
    pub(super) fn ring_allgather(&mut self, group: &[u32], bytes: u64) {
        let ranks = group.len() as u32;
        let phase = self.phase("all-gather");
        for step in 1..ranks {
            self.exchange(group, phase, |place| {
                let send = ((place + 1) % ranks, bytes);
                let whose = (place + ranks + 1 - step) % ranks;
                ((send, bytes * u64::from(whose)), ((place + ranks - 1) % ranks, bytes))
            });
        }
    }

    /// Adds an exchange between ranks whose distance doubles. The data grows by `growth` per round: 1 for sums, 2 for
    /// gathers. If the number of ranks is no power of two, surplus ranks send their data to a neighbour before and
    /// get the sum afterwards. Only sums support that.
    pub(super) fn recursive_doubling(&mut self, group: &[u32], bytes: u64, growth: u64) {
        let ranks = group.len() as u32;
        let core = 1 << ranks.max(1).ilog2();
        let extra = ranks - core;
        // Places of the core ranks: the odd places below 2 * extra, and all places from there.
        let place = |core: u32| if core < extra { 2 * core + 1 } else { core + extra };
        let phase = self.phase("recursive doubling");
        let fold = |program: &mut Self, back: bool| {
            for pair in 0..extra {
                let (even, odd) = (group[2 * pair as usize], group[2 * pair as usize + 1]);
                let (from, to) = if back { (odd, even) } else { (even, odd) };
                program.step(from, phase, 0, (to, bytes), NOTHING);
                program.step(to, phase, 0, NOTHING, (from, bytes));
                if !back {
                    program.add(to, bytes);
                }
            }
        };
        fold(self, false);
        let (mut distance, mut held) = (1, bytes);
        while distance < core {
            for own in 0..core {
                // A sum exchanges whole vectors; an all-gather sends the parts that `distance` ranks hold together.
                let first = if growth == 1 { 0 } else { own / distance * distance };
                let [own, other] = [own, own ^ distance].map(|core| group[place(core) as usize]);
                self.step_from(own, phase, 0, ((other, held), bytes * u64::from(first)), (other, held));
                if growth == 1 {
                    self.add(own, held);
                }
            }
            distance *= 2;
            held *= growth;
        }
        fold(self, true);
    }

    /// Adds a broadcast from the first rank along a binomial tree.
    pub(super) fn tree_broadcast(&mut self, group: &[u32], bytes: u64) {
        let phase = self.phase("broadcast");
        let ranks = group.len() as u32;
        let mut distance = ranks.next_power_of_two() / 2;
        while distance > 0 {
            for from in (0..ranks).step_by(2 * distance as usize).filter(|from| from + distance < ranks) {
                let [from, to] = [from, from + distance].map(|place| group[place as usize]);
                self.step(from, phase, 0, (to, bytes), NOTHING);
                self.step(to, phase, 0, NOTHING, (from, bytes));
            }
            distance /= 2;
        }
    }

    /// Adds a reduction to the first rank along a binomial tree.
    pub(super) fn tree_reduce(&mut self, group: &[u32], bytes: u64) {
        let phase = self.phase("reduce");
        let ranks = group.len() as u32;
        let mut distance = 1;
        while distance < ranks {
            for to in (0..ranks).step_by(2 * distance as usize).filter(|to| to + distance < ranks) {
                let [from, to] = [to + distance, to].map(|place| group[place as usize]);
                self.step(from, phase, 0, (to, bytes), NOTHING);
                self.step(to, phase, 0, NOTHING, (from, bytes));
                self.add(to, bytes);
            }
            distance *= 2;
        }
    }

    /// Adds a broadcast from the first rank to the second, and so on.
    pub(super) fn ring_broadcast(&mut self, group: &[u32], bytes: u64) {
        let phase = self.phase("broadcast");
        for pair in group.windows(2) {
            self.step(pair[0], phase, 0, (pair[1], bytes), NOTHING);
            self.step(pair[1], phase, 0, NOTHING, (pair[0], bytes));
        }
    }

    /// Adds an all-to-all: every rank sends to each other one in turn, so that no two ranks send to the same one at a
    /// time.
    pub(super) fn pairwise_alltoall(&mut self, group: &[u32], name: &str, bytes: u64) {
        let ranks = group.len() as u32;
        let phase = self.phase(name);
        for step in 1..ranks {
            self.exchange(group, phase, |place| {
                let to = (place + step) % ranks;
                (((to, bytes), bytes * u64::from(to)), ((place + ranks - step) % ranks, bytes))
            });
        }
    }

    /// Adds a barrier: every rank notifies ranks at doubling distances of its arrival (Hensgen, Finkel, Manber,
    /// 1988).
    pub(super) fn dissemination_barrier(&mut self, group: &[u32]) {
        let ranks = group.len() as u32;
        let phase = self.phase("barrier");
        let mut distance = 1;
        while distance < ranks {
            self.exchange(group, phase, |place| {
                ((((place + distance) % ranks, 1), 0), ((place + ranks - distance) % ranks, 1))
            });
            distance *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::problem;
    use super::*;

    #[test]
    fn all_that_is_sent_is_received_whatever_the_number_of_ranks() {
        type Collective = fn(&mut Program, &[u32]);
        let collectives: [Collective; 14] = [
            |program, group| program.ring_allreduce(group, 1000),
            |program, group| program.ring_allgather(group, 1000),
            |program, group| program.recursive_doubling(group, 1000, 1),
            |program, group| program.tree_reduce(group, 1000),
            |program, group| program.tree_broadcast(group, 1000),
            |program, group| program.ring_broadcast(group, 1000),
            |program, group| program.pairwise_alltoall(group, "all-to-all", 1000),
            |program, group| program.dissemination_barrier(group),
            // With fewer bytes than ranks, some parts are empty.
            |program, group| program.ring_allreduce(group, 3),
            |program, group| {
                program.gather_sum(group, 1000, group[0]);
                program.send_each(group, 1000, group[0]);
            },
            |program, group| {
                let (&last, others) = group.split_last().expect("a group has ranks");
                program.gather_sum(others, 1000, last);
                program.tree_broadcast(&[&[last], others].concat(), 1000);
            },
            |program, group| program.hierarchical(group, 1000, 1),
            |program, group| program.hierarchical(group, 1000, 3),
            |program, group| program.hierarchical(group, 1000, 100),
        ];
        for (number, collective) in collectives.into_iter().enumerate() {
            for ranks in 1..40 {
                let mut program = Program::new(ranks);
                collective(program.block(1), &(0..ranks).collect::<Vec<_>>());
                assert_eq!(problem(&program.blocks[0], |_| String::new()), None, "{number} of {ranks}");
            }
        }
    }

    #[test]
    fn a_ring_sends_every_part_but_one_twice() {
        for (ranks, bytes) in [(2, 10), (8, 1000), (7, 1000), (5, 3)] {
            let mut program = Program::new(ranks);
            program.block(1).ring_allreduce(&(0..ranks).collect::<Vec<_>>(), bytes);
            let sent = program.blocks[0].steps.iter().flatten().filter_map(|step| step.send);
            assert_eq!(sent.map(|message| message.bytes).sum::<u64>(), 2 * u64::from(ranks - 1) * bytes);
        }
    }
}
