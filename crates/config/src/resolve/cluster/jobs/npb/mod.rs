//! The NAS Parallel Benchmarks as steps of ranks: problem sizes, operation counts and messages, as in the sources of
//! NPB 3.3 for MPI (cg.f, ep.f, is.c, mg.f, ft.f, lu.f; NAS Technical Reports 95-020 and 02-007). Only the timed part
//! is modelled. The time of a computation follows from its operations.

mod cg;
mod lu;
mod mg;

use super::profile::{Amount, Profile};
use super::program::Program;
use super::spread::RANKS_MAX;
use hostnet_params::ProblemSpec;

/// Bytes of a double and of an integer.
const DOUBLE: u64 = 8;
const INTEGER: u64 = 4;

/// Selects one of five values by the class of a problem.
fn of<T: Copy>(problem: ProblemSpec, values: [T; 5]) -> T {
    match problem {
        ProblemSpec::S => values[0],
        ProblemSpec::W => values[1],
        ProblemSpec::A => values[2],
        ProblemSpec::B => values[3],
        ProblemSpec::C => values[4],
    }
}

/// A benchmark with its problem and the speed of its ranks.
pub(super) struct Benchmark {
    pub(super) problem: ProblemSpec,
    /// Operations per second of a rank.
    pub(super) ops_per_s: f64,
    /// Number of iterations, if it differs from that of the problem.
    pub(super) iterations: Option<u32>,
    /// Instructions and memory accesses of the steps on cores of servers.
    pub(super) profile: Profile,
}

impl Benchmark {
    /// Returns the time that each of `ranks` ranks takes for its share of the operations, in ps.
    fn ps(&self, operations: f64, ranks: u32) -> u64 {
        (operations / f64::from(ranks) / self.ops_per_s * 1e12).round() as u64
    }

    /// Adds a step in which every rank does its share of the operations on `units` units of all ranks, with
    /// `elements` table elements per rank.
    fn compute(&self, program: &mut Program, name: &str, operations: f64, units: f64, elements: f64) {
        let (phase, ranks) = (program.phase(name), f64::from(program.ranks));
        let work = self.profile.work(name, Amount { operations: operations / ranks, units: units / ranks, elements });
        let ps = self.ps(operations, program.ranks);
        (0..program.ranks).for_each(|rank| program.labor(rank, phase, ps, work));
    }

    fn iterations(&self, own: [u32; 5]) -> u32 {
        self.iterations.unwrap_or(of(self.problem, own))
    }

    /// Adds the embarrassingly parallel benchmark: random numbers, and sums of them at the end.
    pub(super) fn ep(&self, program: &mut Program, group: &[u32]) {
        let log_pairs: i32 = of(self.problem, [24, 25, 28, 30, 32]);
        program.block(self.iterations([1; 5]));
        let pairs = 2_f64.powi(log_pairs);
        self.compute(program, "random numbers", 2.0 * pairs, pairs, 0.0);
        // The sums sx and sy, and the ten counts q (ep.f).
        for bytes in [DOUBLE, DOUBLE, 10 * DOUBLE] {
            program.doubling_sum(group, bytes);
        }
    }

    /// Adds the integer sort benchmark: sizes of buckets are summed, then keys are sent to the ranks of their
    /// buckets.
    pub(super) fn is(&self, program: &mut Program, group: &[u32]) {
        let ranks = program.ranks;
        let keys = 1_u64 << of(self.problem, [16, 20, 23, 25, 27]);
        let buckets = 1_u64 << of(self.problem, [9, 10, 10, 10, 10]);
        // Five more numbers than buckets are summed, for a test of the result.
        program.block(self.iterations([10; 5]));
        let values: f64 = 2_f64.powi(of(self.problem, [11, 16, 19, 21, 23]));
        self.compute(program, "ranking", keys as f64, keys as f64, values / f64::from(ranks));
        program.doubling_sum(group, (buckets + 5) * INTEGER);
        program.pairwise_alltoall(group, "counts", INTEGER);
        // Buckets are handed out so that all ranks get about the same number of keys (is.c).
        program.pairwise_alltoall(group, "keys", keys * INTEGER / u64::from(ranks).pow(2));
    }

    /// Adds the Fourier transform benchmark in slabs: a transpose among all ranks in each iteration, and a checksum.
    pub(super) fn ft(&self, program: &mut Program, group: &[u32]) {
        let ranks = program.ranks;
        let points = 1_u64 << of(self.problem, [18, 19, 23, 25, 27]);
        let times = self.iterations([6, 6, 6, 20, 20]);
        let (size, log) = (points as f64, f64::from(points.ilog2()) * std::f64::consts::LN_2);
        // A complex number is two doubles.
        let each = points * 2 * DOUBLE / u64::from(ranks).pow(2);
        program.block(1);
        // The operations are those of ft.f for its MFLOPS.
        self.compute(program, "transform", size * (14.8157 + 7.19641 * log), size, 0.0);
        program.pairwise_alltoall(group, "transpose", each);
        program.block(times);
        self.compute(program, "transform", size * (5.23518 + 7.21113 * log), size, 0.0);
        program.pairwise_alltoall(group, "transpose", each);
        // The checksum of an iteration is one complex number (ft.f).
        program.tree_reduce(group, 2 * DOUBLE);
    }
}

/// Returns the maximum number of ranks of a benchmark whose number of ranks must be a power of two, otherwise `None`.
pub(super) fn most_ranks(kind: hostnet_params::JobKindSpec, problem: ProblemSpec) -> Option<u32> {
    use hostnet_params::JobKindSpec::{NpbCg, NpbFt, NpbIs, NpbLu, NpbMg};
    match kind {
        // The limit is that of a job.
        NpbCg | NpbMg => Some(RANKS_MAX as u32),
        // lu.f requires at least four points per rank along both axes.
        NpbLu => Some(of(problem, [8, 64, 256, 512, 1024])),
        // One slab per point along the last axis.
        NpbFt => Some(of(problem, [64, 32, 128, 256, 512])),
        // "The largest verified number is 1024", and 128 for the smallest problem.
        NpbIs => Some(of(problem, [128, 1024, 1024, 1024, 1024])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::cluster::jobs::check::problem;

    pub(super) fn bytes_of(program: &Program) -> u64 {
        let steps = program.blocks.iter().flat_map(|block| {
            let steps = (0..program.ranks).flat_map(|rank| block.steps_of(rank, 0));
            steps.map(move |step| step.send.map_or(0, |message| message.bytes * u64::from(block.times)))
        });
        steps.sum()
    }

    pub(super) fn made(make: impl Fn(&Benchmark, &mut Program, &[u32]), ranks: u32) -> Program {
        let benchmark =
            Benchmark { problem: ProblemSpec::S, ops_per_s: 1e9, iterations: None, profile: Profile::default() };
        let (mut program, group) = (Program::new(ranks), (0..ranks).collect::<Vec<u32>>());
        make(&benchmark, &mut program, &group);
        program
    }

    #[test]
    fn work_is_shared_out_among_ranks() {
        for make in [Benchmark::ep, Benchmark::is, Benchmark::ft, Benchmark::cg, Benchmark::mg] {
            let work = |ranks| {
                let program = made(make, ranks);
                let of_block = |block: &hostnet_params::StepBlockParams| {
                    let steps = (0..ranks).flat_map(|rank| block.steps_of(rank, 0));
                    steps.map(|step| step.compute_ps).sum::<u64>() * u64::from(block.times)
                };
                program.blocks.iter().map(of_block).sum::<u64>() as f64
            };
            assert!((work(16) / work(1) - 1.0).abs() < 1e-3, "{} {}", work(16), work(1));
        }
    }

    #[test]
    fn transposes_move_all_points_but_those_that_stay() {
        // 2^18 complex points, six iterations and one before, of which one part in 16 stays; and checksums.
        let bytes = bytes_of(&made(Benchmark::ft, 16)) - 6 * 15 * 16;
        assert_eq!(bytes, 7 * (1 << 18) * 16 * 15 / 16);
    }

    #[test]
    fn all_that_is_sent_is_received() {
        for make in [Benchmark::ep, Benchmark::is, Benchmark::ft, Benchmark::cg, Benchmark::mg] {
            for ranks in [2, 4, 8, 16, 32, 64, 128] {
                let program = made(make, ranks);
                let name = |phase: u8| program.phases[usize::from(phase)].clone();
                assert_eq!(program.blocks.iter().find_map(|block| problem(ranks, block, name)), None, "{ranks} ranks");
            }
        }
    }

    #[test]
    fn one_rank_sends_nothing() {
        for make in [Benchmark::ep, Benchmark::is, Benchmark::ft, Benchmark::cg, Benchmark::mg] {
            assert_eq!(bytes_of(&made(make, 1)), 0);
        }
    }
}
