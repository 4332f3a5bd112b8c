//! Sums of vectors in training: the computation before, the exchange in buckets, and the update with the sum.

use super::chunks::{check_chunk_size, message_bytes};
use super::is_traced;
use super::program::Program;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{AlgorithmSpec, AnswerSpec, ComputePartsSpec, ComputeSpec, JobKindSpec, JobSpec, Size, Time};
use hostnet_traffic::chakra::Collective;

/// Maximum number of buckets of an iteration.
const BUCKETS_MAX: u64 = 4096;

/// Checks the keys that depend on other keys.
pub(super) fn check_keys(path: &str, spec: &JobSpec) -> Result<(), Issue> {
    use AlgorithmSpec::{Auto, Hierarchical, TwoDimensionalRing};
    let sums = spec.kind == JobKindSpec::Allreduce;
    let traced = is_traced(spec.kind);
    let does = |algorithm| spec.algorithm == Some(algorithm);
    let parts = matches!(spec.compute, Some(ComputeSpec::Parts(_)));
    let kind = "kind = \"allreduce\"";
    let keys = [
        (
            "sum",
            spec.sum.is_some(),
            sums || traced || spec.kind == JobKindSpec::Reducescatter,
            "kind",
            "kind = \"allreduce\" or \"reducescatter\"",
        ),
        ("bucket", spec.bucket.is_some(), sums, "kind", kind),
        ("compute", parts, sums, "kind", "kind = \"allreduce\" as a table; give a time"),
        (
            "aggregator",
            spec.aggregator.is_some(),
            sums && does(AlgorithmSpec::Aggregator),
            "algorithm",
            "algorithm = \"aggregator\" of \"allreduce\"",
        ),
        (
            "answer",
            spec.answer.is_some(),
            sums && does(AlgorithmSpec::Aggregator),
            "algorithm",
            "algorithm = \"aggregator\" of \"allreduce\"",
        ),
        (
            "group",
            spec.group.is_some(),
            (sums || traced) && [Hierarchical, TwoDimensionalRing, Auto].into_iter().any(does),
            "algorithm",
            "algorithm = \"hierarchical\", \"2d-ring\" or \"auto\" of \"allreduce\"",
        ),
        (
            "blocking",
            spec.blocking.is_some(),
            traced
                || (sums || spec.kind == JobKindSpec::Allgather)
                    && matches!(spec.algorithm, None | Some(AlgorithmSpec::Ring)),
            "algorithm",
            "algorithm = \"ring\" of \"allreduce\" and \"allgather\", and with kinds \"chakra\" and \"transformer\"",
        ),
    ];
    match keys.into_iter().find(|(_, given, fits, ..)| *given && !fits) {
        Some((key, _, _, other, what)) => {
            let message = format!("has an effect only with {what}");
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.{other}")], message))
        }
        None => Ok(()),
    }
}

/// Returns the rank that all others send their vectors to, if the algorithm has an aggregator.
pub(super) fn aggregator(spec: &JobSpec, ranks: u32) -> Option<u32> {
    let sums = spec.algorithm == Some(AlgorithmSpec::Aggregator);
    // A host of its own for the aggregator is placed after all workers, so it has the last rank.
    sums.then_some(if spec.aggregator.is_some() { ranks - 1 } else { 0 })
}

/// Algorithm by which the ranks of a group compute a sum.
pub(super) struct Sum<'a> {
    pub(super) algorithm: AlgorithmSpec,
    pub(super) group: &'a [u32],
    /// The rank that aggregates, and the number of ranks of a group, if the algorithm has them.
    pub(super) aggregator: u32,
    pub(super) answer: AnswerSpec,
    pub(super) size: u32,
}

impl Sum<'_> {
    /// Adds a sum of `bytes` bytes; the aggregator takes `update_ps` to apply the sum.
    pub(super) fn write(&self, program: &mut Program, bytes: u64, update_ps: u64) {
        program.opens();
        match program.choose(self.algorithm, JobKindSpec::Allreduce, self.group, bytes) {
            AlgorithmSpec::RecursiveDoubling => program.doubling_sum(self.group, bytes),
            AlgorithmSpec::HalvingDoubling => program.halving_sum(self.group, bytes),
            AlgorithmSpec::Tree => {
                program.tree_reduce(self.group, bytes);
                program.tree_broadcast(self.group, bytes);
            }
            AlgorithmSpec::Aggregator => {
                program.gather_sum(self.group, bytes, self.aggregator);
                program.compute(&[self.aggregator], "update", update_ps);
                self.answer(program, bytes);
            }
            AlgorithmSpec::Hierarchical => program.hierarchical(self.group, bytes, self.size),
            AlgorithmSpec::InNetwork => program.in_network(bytes),
            AlgorithmSpec::Direct => program.direct_allreduce(self.group, bytes),
            AlgorithmSpec::DoubleBinaryTree => program.double_tree_allreduce(self.group, bytes),
            AlgorithmSpec::TwoDimensionalRing => program.two_dimensional_ring(self.group, bytes, self.size),
            AlgorithmSpec::Ring | AlgorithmSpec::Pairwise | AlgorithmSpec::Auto => {
                program.ring_allreduce(self.group, bytes)
            }
        }
        let whole = self.algorithm != AlgorithmSpec::Aggregator && self.group.len() == program.ranks as usize;
        program.closes(whole.then_some((Collective::AllReduce, bytes)));
    }

    /// Adds the messages by which the aggregator sends the result to the others.
    fn answer(&self, program: &mut Program, bytes: u64) {
        match self.answer {
            AnswerSpec::Each => program.send_each(self.group, bytes, self.aggregator),
            AnswerSpec::Tree => {
                let workers = self.group.iter().copied().filter(|&rank| rank != self.aggregator);
                let all: Vec<u32> = std::iter::once(self.aggregator).chain(workers).collect();
                program.tree_broadcast(&all, bytes);
            }
        }
    }
}

/// Adds an iteration: computation of the ranks, exchange, and update with the sum.
pub(super) fn write(
    path: &str,
    spec: &mut JobSpec,
    program: &mut Program,
    algorithm: AlgorithmSpec,
    bytes: u64,
) -> Result<(), Issue> {
    let ranks = program.ranks;
    let own = if spec.aggregator.is_some() { ranks - 1 } else { ranks };
    let group: Vec<u32> = (0..own).collect();
    let aggregator = aggregator(spec, ranks).unwrap_or(0);
    let sum = Sum {
        algorithm,
        group: &group,
        aggregator,
        answer: spec.answer.unwrap_or_default(),
        size: spec.group.unwrap_or(1),
    };
    let parts = match spec.compute.get_or_insert(ComputeSpec::Before(Time(0))) {
        ComputeSpec::Before(Time(ps)) => {
            program.compute(&group, "compute", *ps);
            ComputePartsSpec::default()
        }
        ComputeSpec::Parts(parts) => *parts,
    };
    let [forward, backward, copy, update] =
        [parts.forward, parts.backward, parts.copy, parts.update].map(|part| part.map_or(0, |Time(ps)| ps));
    let buckets = match spec.bucket {
        Some(Size(bucket)) => bytes.div_ceil(bucket),
        None => 1,
    };
    if buckets > BUCKETS_MAX {
        let message = format!("{buckets} buckets; there are {BUCKETS_MAX} at most");
        return Err(Issue::between(Code::TooMany, &[&format!("{path}.bucket"), &format!("{path}.bytes")], message));
    }
    check_chunk_size(path, spec, message_bytes(spec, bytes.div_ceil(buckets), own))?;
    let part = |of: u64, number: u64| {
        let until = |number: u64| (u128::from(of) * u128::from(number) / u128::from(buckets)) as u64;
        until(number + 1) - until(number)
    };
    if forward > 0 {
        let phase = program.phase("forward");
        program.devices(&group, phase, forward, 0);
    }
    if backward > 0 {
        let phase = program.phase("backward");
        // All works but the last are only begun here, so that the accelerator computes while the first buckets are
        // exchanged.
        for number in 1..buckets {
            program.devices(&group, phase, part(backward, number - 1), u32::MAX - 1);
        }
    }
    let updates_once = algorithm == AlgorithmSpec::Aggregator;
    for number in 0..buckets {
        if backward > 0 {
            let phase = program.phase("backward");
            let more = if number == 0 { part(backward, buckets - 1) } else { 0 };
            let left = (buckets - 1 - number) as u32;
            program.devices(&group, phase, more, left);
        }
        program.compute(&group, "copy", part(copy, number));
        program.base = (0..number).map(|before| part(bytes, before)).sum();
        sum.write(program, part(bytes, number), if updates_once { part(update, number) } else { 0 });
    }
    if !updates_once {
        program.compute(&group, "update", update);
    }
    Ok(())
}
