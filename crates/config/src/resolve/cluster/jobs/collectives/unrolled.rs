//! The steps of collectives as lists, written in loops over rounds and ranks: what computed steps are compared with.

use super::super::check::problem;
use super::super::program::{Adding, Program};
use hostnet_params::{RankCore, RankMessageParams, RankStepParams};

const NOTHING: (u32, u64) = (0, 0);

/// Place of the receiver in the group, number of bytes, and offset of the first byte in the exchanged data.
type Sent = ((u32, u64), u64);

/// Returns the ranks of a group except one.
fn others(group: &[u32], but: u32) -> impl Iterator<Item = u32> + '_ {
    group.iter().copied().filter(move |&rank| rank != but)
}

/// A program whose collectives are written as lists.
struct Unrolled(Program);

impl Unrolled {
    /// Adds a step whose sent bytes begin `further` bytes after the base in the vector.
    fn step_from(
        &mut self,
        rank: u32,
        phase: u8,
        compute_ps: u64,
        (send, further): ((u32, u64), u64),
        receive: (u32, u64),
    ) {
        let message = |(rank, bytes): (u32, u64)| (bytes > 0).then_some(RankMessageParams { rank, bytes });
        let (send, receive) = (message(send), message(receive));
        let at = send.map_or(0, |_| self.0.base + further);
        self.0.push(rank, RankStepParams { compute_ps, send, at, receive, ..RankStepParams::of(phase) });
    }

    fn add(&mut self, rank: u32, bytes: u64) {
        if self.0.adding.bytes_per_s > 0 && bytes > 0 {
            let cost = self.0.addition(bytes, self.0.instruction_fs(rank));
            let step =
                RankStepParams { compute_ps: cost.compute_ps, work: cost.work, ..RankStepParams::of(cost.phase) };
            self.0.push(rank, step);
        }
    }

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
        for (place, &rank) in (0..).zip(group) {
            let (((to, bytes), further), receive) = with(place);
            let send = ((group[to as usize], bytes), further);
            let receive = (group[receive.0 as usize], receive.1);
            self.step_from(rank, phase, 0, send, receive);
            then(self, rank, receive.1);
        }
    }

    /// Adds an all-reduce around a ring: a reduce-scatter, then an all-gather.
    fn ring_allreduce(&mut self, group: &[u32], bytes: u64) {
        self.ring_reduce_scatter(group, bytes);
        self.ring_round(group, bytes, "all-gather", 1);
    }

    /// Adds a reduce-scatter around a ring: each rank gets a part of the sum.
    fn ring_reduce_scatter(&mut self, group: &[u32], bytes: u64) {
        self.ring_round(group, bytes, "reduce-scatter", 0);
    }

    /// Adds one revolution around a ring in `ranks - 1` steps. With `ahead` 0 the ranks add the parts that they
    /// receive; with 1 they gather the sums.
    fn ring_round(&mut self, group: &[u32], bytes: u64, name: &str, ahead: u32) {
        let ranks = group.len() as u32;
        // Parts differ by a byte at most and add up to `bytes`.
        let until = |number: u32| (u128::from(bytes) * u128::from(number) / u128::from(ranks)) as u64;
        let part = |number: u32| until(number + 1) - until(number);
        let phase = self.0.phase(name);
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
    fn gather_sum(&mut self, group: &[u32], bytes: u64, aggregator: u32) {
        let gather = self.0.phase("gather");
        let others = others(group, aggregator);
        // The first vector is added to nothing unless the aggregator has a vector itself.
        let mut has_one = group.contains(&aggregator);
        for rank in others {
            self.0.step(rank, gather, 0, (aggregator, bytes), NOTHING);
            self.0.step(aggregator, gather, 0, NOTHING, (rank, bytes));
            if std::mem::replace(&mut has_one, true) {
                self.add(aggregator, bytes);
            }
        }
    }

    /// Adds the messages of a rank that sends its data to the others of a group, one after the other.
    fn send_each(&mut self, group: &[u32], bytes: u64, from: u32) {
        let scatter = self.0.phase("scatter");
        for rank in others(group, from) {
            self.0.step(from, scatter, 0, (rank, bytes), NOTHING);
            self.0.step(rank, scatter, 0, NOTHING, (from, bytes));
        }
    }

    /// Adds a hierarchical all-reduce: sums of groups of `size` ranks along trees, a ring of the first rank of each
    /// group, and broadcasts along the trees.
    fn hierarchical(&mut self, group: &[u32], bytes: u64, size: u32) {
        let groups = || group.chunks(size as usize);
        groups().for_each(|group| self.tree_reduce(group, bytes));
        let leaders: Vec<u32> = groups().map(|group| group[0]).collect();
        self.ring_allreduce(&leaders, bytes);
        groups().for_each(|group| self.tree_broadcast(group, bytes));
    }

    /// Gathers the data of all ranks at each rank, around a ring.
    fn ring_allgather(&mut self, group: &[u32], bytes: u64) {
        let ranks = group.len() as u32;
        let phase = self.0.phase("all-gather");
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
    fn recursive_doubling(&mut self, group: &[u32], bytes: u64, growth: u64) {
        let ranks = group.len() as u32;
        let core = 1 << ranks.max(1).ilog2();
        let extra = ranks - core;
        // Places of the core ranks: the odd places below 2 * extra, and all places from there.
        let place = |core: u32| if core < extra { 2 * core + 1 } else { core + extra };
        let phase = self.0.phase("recursive doubling");
        let fold = |program: &mut Self, back: bool| {
            for pair in 0..extra {
                let (even, odd) = (group[2 * pair as usize], group[2 * pair as usize + 1]);
                let (from, to) = if back { (odd, even) } else { (even, odd) };
                program.0.step(from, phase, 0, (to, bytes), NOTHING);
                program.0.step(to, phase, 0, NOTHING, (from, bytes));
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
    fn tree_broadcast(&mut self, group: &[u32], bytes: u64) {
        let phase = self.0.phase("broadcast");
        let ranks = group.len() as u32;
        let mut distance = ranks.next_power_of_two() / 2;
        while distance > 0 {
            for from in (0..ranks).step_by(2 * distance as usize).filter(|from| from + distance < ranks) {
                let [from, to] = [from, from + distance].map(|place| group[place as usize]);
                self.0.step(from, phase, 0, (to, bytes), NOTHING);
                self.0.step(to, phase, 0, NOTHING, (from, bytes));
            }
            distance /= 2;
        }
    }

    /// Adds a reduction to the first rank along a binomial tree.
    fn tree_reduce(&mut self, group: &[u32], bytes: u64) {
        let phase = self.0.phase("reduce");
        let ranks = group.len() as u32;
        let mut distance = 1;
        while distance < ranks {
            for to in (0..ranks).step_by(2 * distance as usize).filter(|to| to + distance < ranks) {
                let [from, to] = [to + distance, to].map(|place| group[place as usize]);
                self.0.step(from, phase, 0, (to, bytes), NOTHING);
                self.0.step(to, phase, 0, NOTHING, (from, bytes));
                self.add(to, bytes);
            }
            distance *= 2;
        }
    }

    /// Adds a broadcast from the first rank to the second, and so on.
    fn ring_broadcast(&mut self, group: &[u32], bytes: u64) {
        let phase = self.0.phase("broadcast");
        for pair in group.windows(2) {
            self.0.step(pair[0], phase, 0, (pair[1], bytes), NOTHING);
            self.0.step(pair[1], phase, 0, NOTHING, (pair[0], bytes));
        }
    }

    /// Adds an all-to-all: every rank sends to each other one in turn, so that no two ranks send to the same one at a
    /// time.
    fn pairwise_alltoall(&mut self, group: &[u32], name: &str, bytes: u64) {
        let ranks = group.len() as u32;
        let phase = self.0.phase(name);
        for step in 1..ranks {
            self.exchange(group, phase, |place| {
                let to = (place + step) % ranks;
                (((to, bytes), bytes * u64::from(to)), ((place + ranks - step) % ranks, bytes))
            });
        }
    }

    /// Adds a barrier: every rank notifies ranks at doubling distances of its arrival (Hensgen, Finkel, Manber,
    /// 1988).
    fn dissemination_barrier(&mut self, group: &[u32]) {
        let ranks = group.len() as u32;
        let phase = self.0.phase("barrier");
        let mut distance = 1;
        while distance < ranks {
            self.exchange(group, phase, |place| {
                ((((place + distance) % ranks, 1), 0), ((place + ranks - distance) % ranks, 1))
            });
            distance *= 2;
        }
    }
}

/// A collective as a program, and as lists.
type Collective = (fn(&mut Program, &[u32], u64), fn(&mut Unrolled, &[u32], u64));

const COLLECTIVES: [Collective; 15] = [
    (Program::ring_allreduce, Unrolled::ring_allreduce),
    (Program::ring_reduce_scatter, Unrolled::ring_reduce_scatter),
    (Program::ring_allgather, Unrolled::ring_allgather),
    (Program::doubling_sum, |program, group, bytes| program.recursive_doubling(group, bytes, 1)),
    (
        // Gathers are of powers of two.
        |program, group, bytes| program.doubling_allgather(&group[..1 << group.len().ilog2()], bytes),
        |program, group, bytes| program.recursive_doubling(&group[..1 << group.len().ilog2()], bytes, 2),
    ),
    (Program::tree_reduce, Unrolled::tree_reduce),
    (Program::tree_broadcast, Unrolled::tree_broadcast),
    (Program::ring_broadcast, Unrolled::ring_broadcast),
    (
        |program, group, bytes| program.pairwise_alltoall(group, "all-to-all", bytes),
        |program, group, bytes| program.pairwise_alltoall(group, "all-to-all", bytes),
    ),
    (
        |program, group, _| program.dissemination_barrier(group),
        |program, group, _| program.dissemination_barrier(group),
    ),
    (
        |program, group, bytes| program.gather_sum(group, bytes, group[0]),
        |program, group, bytes| program.gather_sum(group, bytes, group[0]),
    ),
    (
        |program, group, bytes| {
            let (&last, others) = group.split_last().expect("a group has ranks");
            program.gather_sum(others, bytes, last);
            program.send_each(others, bytes, last);
        },
        |program, group, bytes| {
            let (&last, others) = group.split_last().expect("a group has ranks");
            program.gather_sum(others, bytes, last);
            program.send_each(others, bytes, last);
        },
    ),
    (
        |program, group, bytes| program.hierarchical(group, bytes, 1),
        |program, group, bytes| program.hierarchical(group, bytes, 1),
    ),
    (
        |program, group, bytes| program.hierarchical(group, bytes, 3),
        |program, group, bytes| program.hierarchical(group, bytes, 3),
    ),
    (
        |program, group, bytes| program.hierarchical(group, bytes, 100),
        |program, group, bytes| program.hierarchical(group, bytes, 100),
    ),
];

/// Returns the costs of additions at endpoints without such costs, at endpoints with them, and at unequal servers.
fn addings(ranks: u32) -> [Adding; 3] {
    let core = |rank: u32| RankCore { core: 0, instruction_fs: 250 + 50 * u64::from(rank % 3) };
    let cores = (0..ranks).map(core).collect();
    [
        Adding::default(),
        Adding { bytes_per_s: 1_000_000_000, cores: Vec::new() },
        Adding { bytes_per_s: 1_000_000_000, cores },
    ]
}

fn new(ranks: u32, adding: &Adding) -> Program {
    let mut program = Program::new(ranks);
    program.adding = adding.clone();
    program.base = 7;
    program.block(1);
    program
}

#[test]
fn computed_steps_are_those_of_lists() {
    for (number, (compute, list)) in COLLECTIVES.into_iter().enumerate() {
        for (count, bytes) in (1..=17).flat_map(|count| [0, 1, 3, 1000, 4099].map(|bytes| (count, bytes))) {
            let ranks = 3 * count;
            let adding = addings(ranks);
            for (group, adding) in
                groups(count).into_iter().flat_map(|group| adding.iter().map(move |of| (group.clone(), of)))
            {
                let (mut computed, mut listed) = (new(ranks, adding), Unrolled(new(ranks, adding)));
                compute(&mut computed, &group, bytes);
                list(&mut listed, &group, bytes);
                let what = format!("{number} of {group:?} with {bytes} B");
                assert_eq!((&computed.phases, &computed.works), (&listed.0.phases, &listed.0.works), "{what}");
                for rank in 0..ranks {
                    let steps = |program: &Program| {
                        program.blocks[0].steps_of(rank, program.instruction_fs(rank)).collect::<Vec<_>>()
                    };
                    assert_eq!(steps(&computed), steps(&listed.0), "rank {rank}, {what}");
                }
                assert_eq!(problem(ranks, &computed.blocks[0], |_| String::new()), None, "{what}");
            }
        }
    }
}

/// Returns groups of ranks: all from the first on, some at equal distances, and some in any order.
fn groups(count: u32) -> [Vec<u32>; 3] {
    let mut uneven: Vec<u32> = (0..count).map(|place| place * 7 % (3 * count)).collect();
    uneven.sort_unstable();
    uneven.dedup();
    uneven.rotate_left(1);
    [(0..count).collect(), (0..count).map(|place| 1 + 2 * place).collect(), uneven]
}

#[test]
fn a_ring_sends_every_part_but_one_twice() {
    for (ranks, bytes) in [(2, 10), (8, 1000), (7, 1000), (5, 3)] {
        let mut program = new(ranks, &Adding::default());
        program.ring_allreduce(&(0..ranks).collect::<Vec<_>>(), bytes);
        let steps = (0..ranks).flat_map(|rank| program.blocks[0].steps_of(rank, 0));
        let sent: u64 = steps.filter_map(|step| step.send).map(|message| message.bytes).sum();
        assert_eq!(sent, 2 * u64::from(ranks - 1) * bytes);
    }
}
