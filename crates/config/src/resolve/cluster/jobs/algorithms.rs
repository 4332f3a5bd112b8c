//! Algorithms of collectives: those of each kind, and the steps that they add.

use super::chunks::{algorithm_name, check_chunk_size, message_bytes};
use super::program::Program;
use super::{direct, kind_name, training};
use crate::code::Code;
use crate::error::{suggestion, Issue};
use hostnet_params::AlgorithmSpec::{
    Aggregator, Auto, Direct, DoubleBinaryTree, HalvingDoubling, Hierarchical, InNetwork, Pairwise, RecursiveDoubling,
    Ring, Tree, TwoDimensionalRing,
};
use hostnet_params::JobKindSpec::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Reducescatter};
use hostnet_params::{AlgorithmSpec, JobKindSpec, JobSpec, Size};

/// Returns the algorithms of a kind of collective, the default first.
fn algorithms_of(kind: JobKindSpec) -> &'static [AlgorithmSpec] {
    match kind {
        Allreduce => &[
            Ring,
            RecursiveDoubling,
            HalvingDoubling,
            Tree,
            DoubleBinaryTree,
            Direct,
            TwoDimensionalRing,
            Hierarchical,
            Aggregator,
            InNetwork,
            Auto,
        ],
        Allgather => &[Ring, RecursiveDoubling, Direct, Auto],
        Reducescatter => &[Ring, HalvingDoubling, Direct, Auto],
        Alltoall => &[Pairwise, Direct, Auto],
        Broadcast => &[Tree, Ring, Auto],
        Barrier => &[RecursiveDoubling, Tree],
        _ => &[],
    }
}

/// Returns the error for an algorithm that a kind of collective does not have.
fn no_algorithm(path: &str, kind: JobKindSpec, algorithm: AlgorithmSpec) -> Issue {
    let names: Vec<String> = algorithms_of(kind).iter().copied().map(algorithm_name).collect();
    let nearest = suggestion(&algorithm_name(algorithm), names.iter().map(String::as_str));
    let message = format!("{} has no \"{}\"; {nearest}", kind_name(kind), algorithm_name(algorithm));
    Issue::between(Code::NotSupported, &[&format!("{path}.algorithm"), &format!("{path}.kind")], message)
}

/// Adds the steps of a collective of all ranks of a job.
pub(super) fn write(path: &str, spec: &mut JobSpec, program: &mut Program, group: &[u32]) -> Result<(), Issue> {
    let usual = algorithms_of(spec.kind).first().copied().unwrap_or(Ring);
    let algorithm = *spec.algorithm.get_or_insert(usual);
    let bytes = match (spec.bytes, spec.kind) {
        // A barrier carries no data, but a message has a byte at least.
        (_, Barrier) => 1,
        (Some(Size(bytes)), _) => bytes,
        (None, _) => {
            return Err(Issue::new(Code::MissingKey, format!("{path}.bytes"), "missing; give a size such as \"1 MB\""))
        }
    };
    if !algorithms_of(spec.kind).contains(&algorithm) {
        return Err(no_algorithm(path, spec.kind, algorithm));
    }
    if matches!(algorithm, Direct | DoubleBinaryTree) {
        direct::check(path, spec, program, usual)?;
    }
    // Only sums of whole vectors can fold in the ranks beyond a power of two.
    let needs_power = matches!((spec.kind, algorithm), (Allgather, _) | (Reducescatter, HalvingDoubling));
    if needs_power && matches!(algorithm, RecursiveDoubling | HalvingDoubling) && !program.ranks.is_power_of_two() {
        let (kind, name) = (kind_name(spec.kind), algorithm_name(algorithm));
        let message = format!(
            "\"{name}\" of {kind} needs a power of two ranks, not {}; \"ring\" takes any number",
            program.ranks
        );
        let keys = ["algorithm", "ranks", "hosts"].map(|key| format!("{path}.{key}"));
        return Err(Issue::between(Code::NotSupported, &[&keys[0], &keys[1], &keys[2]], message));
    }
    if spec.kind == Allreduce {
        return training::write(path, spec, program, algorithm, bytes);
    }
    check_chunk_size(path, spec, message_bytes(spec, bytes, program.ranks))?;
    match (spec.kind, program.choose(algorithm, spec.kind, group, bytes)) {
        (Barrier, Tree) => {
            program.tree_reduce(group, bytes);
            program.tree_broadcast(group, bytes);
        }
        (Barrier, _) => program.dissemination_barrier(group),
        (Allgather, Direct) => program.direct_allgather(group, bytes),
        (Allgather, RecursiveDoubling) => program.doubling_allgather(group, bytes),
        (Allgather, _) => program.ring_allgather(group, bytes),
        (Reducescatter, Direct) => program.direct_reduce_scatter(group, bytes),
        (Reducescatter, HalvingDoubling) => program.halving_reduce_scatter(group, bytes),
        (Reducescatter, _) => program.ring_reduce_scatter(group, bytes),
        (Alltoall, Direct) => direct::write(spec, program, group, bytes),
        (Alltoall, _) => program.pairwise_alltoall(group, "all-to-all", bytes),
        (Broadcast, Ring) => program.ring_broadcast(group, bytes),
        _ => program.tree_broadcast(group, bytes),
    }
    Ok(())
}
