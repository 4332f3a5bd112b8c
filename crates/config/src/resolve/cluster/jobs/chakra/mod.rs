//! Jobs from execution traces of Chakra, a file `NAME.RANK.et` per rank.
//!
//! * [`walk`]: progress of a rank through the nodes of its file.
//! * [`schedule`]: all ranks together, with their messages and collectives.
//! * [`streams`]: operations that ranks begin as soon as they are ready.
//! * [`matched`]: nodes of different ranks that belong together.
//! * [`groups`]: the ranks of each communication group.

mod groups;
mod matched;
mod schedule;
mod streams;
mod walk;

use super::direct;
use super::is_traced;
use super::program::Program;
use super::training::Sum;
use super::transformer::{self, NamedTrace};
use crate::code::Code;
use crate::content::place_of;
use crate::error::Fault;
use crate::error::Issue;
use crate::units::shorten;
use groups::Groups;
use hostnet_params::{AlgorithmSpec, AlltoallSpec, AnswerSpec, Bandwidth, JobKindSpec, JobSpec};
use hostnet_traffic::chakra::{self, Collective, DURATION_MAX_PS};
use schedule::Schedule;
use std::path::Path;
use walk::Walk;

/// Maximum number of nodes of all ranks.
const NODES_MAX: usize = 1 << 22;

/// Placeholder for the number of a rank in the name of its file.
const RANK: &str = "%d";

const PS_PER_S: f64 = 1e12;

/// Adds the steps of a job's traces to its program.
pub(super) fn write(path: &str, spec: &mut JobSpec, program: &mut Program, base_dir: &Path) -> Result<(), Issue> {
    let key = format!("{path}.trace");
    let Some(name) = &mut spec.trace else {
        let message = "missing; give the files of the ranks without their ends, such as \"dir/name\" of dir/name.0.et";
        return Err(Issue::new(Code::MissingKey, key, message));
    };
    *name = place_of(base_dir, name, &key)?;
    let name = name.clone();
    let collectives = Collectives::new(path, spec, program)?;
    let more = file_of(&name, program.ranks);
    if hostnet_files::exists(Path::new(&more)) {
        let message = format!(
            "the job has {} ranks, but there is {}; give as many ranks as the trace has",
            program.ranks,
            shorten(&more)
        );
        let keys = ["ranks", "ranks_per_host", "hosts", "trace"].map(|key| format!("{path}.{key}"));
        return Err(Issue::between(Code::WrongCount, &[&keys[0], &keys[1], &keys[2], &keys[3]], message));
    }
    let mut groups = Groups::new(path, spec, program.ranks, base_dir)?;
    let accelerator = Accelerator::new(spec);
    let mut walks = Vec::new();
    let mut nodes = 0;
    for rank in 0..program.ranks {
        let file = file_of(&name, rank);
        let wrong = |code: Code, message: String| Issue::in_file(code, &file, None, &key, message);
        let place = Path::new(&file);
        let trace = chakra::read(place).map_err(|error| wrong(Code::of_file(place), error.to_string()))?;
        nodes += trace.nodes.len();
        if nodes > NODES_MAX {
            return Err(wrong(Code::TooMany, format!("more than {NODES_MAX} nodes of all ranks together")));
        }
        let issue = |id: u64, Fault { code, message }: Fault| {
            Issue::in_file(code, &file, None, &key, format!("node {id}: {message}"))
        };
        walks.push(
            Walk::new(rank, file.clone(), trace, &mut groups, &accelerator).map_err(|(id, fault)| issue(id, fault))?,
        );
    }
    execute(path, spec, program, walks, groups, collectives)
}

/// Adds the steps of the training of a model to a program.
pub(super) fn write_model(path: &str, spec: &mut JobSpec, program: &mut Program) -> Result<(), Issue> {
    let collectives = Collectives::new(path, spec, program)?;
    let mut groups = Groups::new(path, spec, program.ranks, Path::new(""))?;
    let traces = transformer::traces(path, spec, program.ranks)?;
    let accelerator = Accelerator::new(spec);
    let mut walks = Vec::new();
    for (rank, NamedTrace { trace, names }) in (0..).zip(traces) {
        let key = format!("{path}.model");
        let walk = Walk::new(rank, key.clone(), trace, &mut groups, &accelerator)
            .map_err(|(_, Fault { code, message })| Issue::new(code, key, message))?;
        walks.push(walk.named(names));
    }
    execute(path, spec, program, walks, groups, collectives)
}

/// Adds the nodes of all ranks to a program: as steps one after the other, or as operations that begin when they are
/// ready.
fn execute(
    path: &str,
    spec: &JobSpec,
    program: &mut Program,
    walks: Vec<Walk>,
    groups: Groups,
    collectives: Collectives,
) -> Result<(), Issue> {
    // Collectives of few ranks and single steps alternate, so that lists take less than parts.
    program.lists_all = true;
    let groups = groups.into_members();
    if collectives.algorithm == AlgorithmSpec::TwoDimensionalRing {
        groups.iter().try_for_each(|group| check_divides(path, group, collectives.size))?;
    }
    let schedule = Schedule::new(path, program, walks, groups, collectives);
    if spec.blocking == Some(true) {
        return schedule.run();
    }
    let is_direct = spec.alltoall == Some(AlltoallSpec::Direct);
    let (walks, matched) = schedule.match_nodes()?;
    streams::write(program, &walks, &matched, (collectives, is_direct));
    Ok(())
}

/// Checks that a group of ranks divides into groups of `size`. Smaller groups are one each.
fn check_divides(path: &str, (name, ranks): &(String, Vec<u32>), size: u32) -> Result<(), Issue> {
    if ranks.len() <= size as usize || ranks.len() % size as usize == 0 {
        return Ok(());
    }
    let group = if name.is_empty() { "the job".to_owned() } else { format!("the group {}", shorten(name)) };
    let message = format!("the {} ranks of {group} do not divide into groups of {size}", ranks.len());
    Err(Issue::between(Code::NotAMultiple, &[&format!("{path}.group"), &format!("{path}.groups")], message))
}

/// Decides in which order ranks execute the operations of their traces. Ranks on cores, with sockets or with compressed
/// messages execute one after the other.
pub(super) fn order(path: &str, spec: &mut JobSpec, has_cores: bool) -> Result<(), Issue> {
    if !is_traced(spec.kind) {
        return Ok(());
    }
    let needs = [
        ("hosts", has_cores, "a rank at a server"),
        ("socket_rate", spec.socket_rate.is_some(), "a core of a rank that copies"),
        ("compress", spec.compress == Some(true), "compressed data"),
    ];
    let need = needs.into_iter().find(|(_, needs, _)| *needs);
    if let (Some((key, _, what)), Some(false)) = (need, spec.blocking) {
        let message = format!("{what} needs blocking = true: one operation after the other");
        let keys = [format!("{path}.blocking"), format!("{path}.{key}")];
        return Err(Issue::between(Code::NotSupported, &[&keys[0], &keys[1]], message));
    }
    let is_blocking = *spec.blocking.get_or_insert(need.is_some());
    let is_model = spec.kind == JobKindSpec::Transformer;
    if is_model && !transformer::has_all_to_alls(spec) {
        if spec.alltoall.is_some() {
            let message = "has an effect only with experts and without skew, which sends messages of different sizes";
            let keys = [format!("{path}.alltoall"), format!("{path}.model")];
            return Err(Issue::between(Code::NoEffect, &[&keys[0], &keys[1]], message));
        }
    } else {
        // As training frameworks exchange tokens with experts.
        let in_flight = is_model && !is_blocking;
        spec.alltoall.get_or_insert(if in_flight { AlltoallSpec::Direct } else { AlltoallSpec::Pairwise });
    }
    if !is_blocking {
        spec.order.get_or_insert_default();
        return Ok(());
    }
    let is_direct = spec.alltoall == Some(AlltoallSpec::Direct);
    if spec.order.is_some() || is_direct {
        let given = if is_direct { "alltoall" } else { "order" };
        let why = need.map_or(String::new(), |(_, _, what)| format!(", which {what} needs"));
        let message = format!("has an effect only without blocking{why}");
        let keys = [given, need.map_or("blocking", |(key, ..)| key)].map(|key| format!("{path}.{key}"));
        return Err(Issue::between(Code::NoEffect, &[&keys[0], &keys[1]], message));
    }
    Ok(())
}

/// Returns the name of a rank's file.
fn file_of(name: &str, rank: u32) -> String {
    if name.contains(RANK) {
        name.replace(RANK, &rank.to_string())
    } else {
        format!("{name}.{rank}.et")
    }
}

/// Performance of the accelerators, for works without durations.
pub(super) struct Accelerator {
    /// Operations per second.
    peak: Option<f64>,
    /// Bandwidth of the memory of the accelerator, in bytes per second.
    memory_rate: Option<u64>,
}

impl Accelerator {
    pub(super) fn new(spec: &JobSpec) -> Self {
        Self { peak: spec.peak, memory_rate: spec.memory_rate.map(|Bandwidth(rate)| rate) }
    }

    /// Returns the duration of a work in ps: the maximum of its computation time and its memory time.
    pub(super) fn time_ps(&self, ops: u64, bytes: u64) -> Result<u64, Fault> {
        let of_ops = match self.peak {
            Some(peak) => ops as f64 / peak,
            None if ops == 0 => 0.0,
            None => {
                return Err(Fault::new(
                    Code::MissingKey,
                    format!(
                        "computes {ops} operations (num_ops), and no duration; give peak, in operations per \
                                    second"
                    ),
                ))
            }
        };
        let of_memory = match self.memory_rate {
            Some(rate) => bytes as f64 / rate as f64,
            None if ops > 0 => 0.0,
            None => {
                return Err(Fault::new(
                    Code::MissingKey,
                    format!(
                        "moves {bytes} B of memory (tensor_size), and has no duration; give memory_rate, \
                                    such as \"2 TB/s\""
                    ),
                ))
            }
        };
        // Roofline: the slower of operations and memory decides.
        let ps = of_ops.max(of_memory) * PS_PER_S;
        if ps > DURATION_MAX_PS as f64 {
            return Err(Fault::new(
                Code::OutOfRange,
                format!("{ops} operations and {bytes} B take more than 1000 s with peak and memory_rate"),
            ));
        }
        Ok(ps.round() as u64)
    }
}

/// Algorithms of the collectives.
#[derive(Clone, Copy)]
struct Collectives {
    algorithm: AlgorithmSpec,
    /// Number of ranks of a group of hierarchical sums.
    size: u32,
}

impl Collectives {
    /// Chooses the algorithms.
    ///
    /// # Errors
    /// Returns an error if the algorithm of the job does no sums of traces.
    fn new(path: &str, spec: &mut JobSpec, program: &Program) -> Result<Self, Issue> {
        use AlgorithmSpec::{Aggregator, Direct, DoubleBinaryTree, InNetwork, Pairwise, Ring};
        let algorithm = *spec.algorithm.get_or_insert(Ring);
        if matches!(algorithm, Pairwise | Aggregator | InNetwork) {
            let message = "sums of a trace are done with \"ring\", \"recursive-doubling\", \"halving-doubling\", \
                \"tree\", \"double-binary-tree\", \"direct\", \"2d-ring\", \"hierarchical\" or \"auto\"";
            let keys = ["algorithm", "kind"].map(|key| format!("{path}.{key}"));
            return Err(Issue::between(Code::NotSupported, &[&keys[0], &keys[1]], message));
        }
        if matches!(algorithm, Direct | DoubleBinaryTree) {
            direct::check(path, spec, program, Ring)?;
        }
        Ok(Self { algorithm, size: spec.group.unwrap_or(1) })
    }

    /// Returns the algorithm of a collective that is no all-reduce: a ring unless all messages are in flight at once,
    /// or closed forms choose.
    fn other(self, program: &mut Program, kind: JobKindSpec, group: &[u32], bytes: u64) -> AlgorithmSpec {
        match self.algorithm {
            AlgorithmSpec::Direct => AlgorithmSpec::Direct,
            AlgorithmSpec::Auto => program.choose(AlgorithmSpec::Auto, kind, group, bytes),
            _ => AlgorithmSpec::Ring,
        }
    }

    /// Adds the steps of a collective of a group. The first rank of the group is its root.
    fn write(self, program: &mut Program, group: &[u32], kind: Collective, bytes: u64) {
        let ranks = group.len() as u64;
        match kind {
            Collective::AllReduce => {
                let Self { algorithm, size } = self;
                Sum { algorithm, group, aggregator: 0, answer: AnswerSpec::Each, size }.write(program, bytes, 0);
            }
            Collective::Reduce => program.tree_reduce(group, bytes),
            Collective::AllGather => match self.other(program, JobKindSpec::Allgather, group, bytes) {
                AlgorithmSpec::Direct => program.direct_allgather(group, bytes),
                AlgorithmSpec::RecursiveDoubling => program.doubling_allgather(group, bytes),
                _ => program.ring_allgather(group, bytes),
            },
            Collective::Gather => gather(program, group, bytes),
            Collective::Scatter => program.send_each(group, bytes / ranks, group[0]),
            Collective::Broadcast => program.tree_broadcast(group, bytes),
            Collective::AllToAll => program.pairwise_alltoall(group, "all-to-all", bytes / ranks),
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                match self.other(program, JobKindSpec::Reducescatter, group, bytes) {
                    AlgorithmSpec::Direct => program.direct_reduce_scatter(group, bytes),
                    AlgorithmSpec::HalvingDoubling => program.halving_reduce_scatter(group, bytes),
                    _ => program.ring_reduce_scatter(group, bytes),
                }
            }
            Collective::Barrier => program.dissemination_barrier(group),
        }
    }
}

/// Adds a gather: the first rank of a group receives the data of each other rank, one after the other.
fn gather(program: &mut Program, group: &[u32], bytes: u64) {
    let phase = program.phase("gather");
    let (&root, others) = group.split_first().expect("a group has ranks");
    for &rank in others {
        program.step(rank, phase, 0, (root, bytes), (0, 0));
        program.step(root, phase, 0, (0, 0), (rank, bytes));
    }
}
