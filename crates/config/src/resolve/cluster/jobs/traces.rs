//! Jobs as execution traces of Chakra, a file per rank.
//!
//! Computations are nodes with durations, collectives of all ranks are single nodes, and the rest are messages. A
//! message is split where its receiver splits the received data, so that every send node has one receive node.

use super::auto::{AutoChoice, MessageCosts, RankNetwork};
use super::is_traced;
use super::model_traces;
use super::program::{listed, Adding, Mark, Program, STEPS_MAX};
use super::rounding::Rounding;
use super::written_traces::{check_count, WrittenTraces};
use crate::code::Code;
use crate::error::suggestion;
use crate::error::Fault;
use crate::plan::Plan;
use crate::resolve::cluster::host_keys::ENDPOINT_LATENCY_PS;
use crate::resolve::cluster::transport;
use hostnet_params::{
    AlgorithmSpec, Bandwidth, FlowParams, HostKind, JobKindSpec, JobParams, JobSpec, RankMessageParams, RankStepParams,
    Size, StepBlockParams, Traffic,
};
use hostnet_traffic::chakra::{Collective, NodeAction, TraceReader, TraceWriter, BYTES_MAX};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of tags, which have 31 bits.
const TAGS: u64 = 1 << 31;

/// Returns the traces of a job. Without a name, the plan must have a single job. With `messages`, collectives are
/// written as the messages that they send, not as single nodes.
///
/// # Errors
/// Returns an error if there is no such job, or if traces cannot express its steps.
pub fn chakra_traces(
    plan: &Plan,
    job: Option<&str>,
    messages: bool,
    reader: TraceReader,
) -> Result<WrittenTraces, Fault> {
    let job = found(plan, job)?;
    let path = format!("job.{}", job.name);
    let mut spec = JobSpec::deserialize(&plan.effective["job"][&job.name])
        .map_err(|error| Fault::new(Code::Defect, error.to_string()))?;
    if spec.kind == JobKindSpec::Transformer && !messages {
        return model_traces::write(&path, &mut spec, job.hosts.len() as u32, reader);
    }
    let program = program(plan, spec, job, messages)?;
    let is_execution = |step: &RankStepParams| step.work > 0;
    if !job.cores.is_empty() && (0..program.ranks).any(|rank| has(&program, rank, is_execution)) {
        return Err(Fault::new(
            Code::NotSupported,
            format!(
                "{path}.hosts: its ranks execute instructions on cores of servers, which have no durations; traces are \
                 of ranks at endpoints, and of collectives"
            ),
        ));
    }
    let lines: Vec<Lines> = program.blocks.iter().map(|block| Lines::of(block, &program)).collect();
    let mut written = WrittenTraces::default();
    for rank in 0..program.ranks {
        let mut pen = Pen::new(rank, reader);
        for (block, lines) in program.blocks.iter().zip(&lines) {
            for _ in 0..block.times {
                pen.write(&program, block, lines);
                check_count(&path, pen.scribe.nodes(), written.nodes)?;
            }
        }
        written.nodes += pen.scribe.nodes();
        written.traces.push(pen.scribe.finish());
    }
    Ok(written)
}

/// Returns the job of that name, or the only job.
fn found<'a>(plan: &'a Plan, name: Option<&str>) -> Result<&'a JobParams, Fault> {
    let jobs = &plan.cluster.jobs;
    let names = || jobs.iter().map(|job| job.name.as_str());
    match (name, &jobs[..]) {
        (Some(name), _) => jobs.iter().find(|job| job.name == name).ok_or_else(|| {
            Fault::new(Code::DoesNotExist, format!("job: there is no \"{name}\"; {}", suggestion(name, names())))
        }),
        (None, [job]) => Ok(job),
        (None, []) => Err(Fault::new(Code::NothingToDo, "job: the configuration has none")),
        (None, _) => {
            Err(Fault::new(Code::MissingKey, format!("job: give one of {}", names().collect::<Vec<_>>().join(", "))))
        }
    }
}

/// Returns true if a step of a rank is of a kind.
fn has(program: &Program, rank: u32, is: fn(&RankStepParams) -> bool) -> bool {
    program.blocks.iter().any(|block| listed(block, rank).iter().any(is))
}

/// Rebuilds the program of a job, with its collectives marked unless `messages` is true.
fn program(plan: &Plan, mut spec: JobSpec, job: &JobParams, messages: bool) -> Result<Program, Fault> {
    let path = format!("job.{}", job.name);
    if messages && !job.reducers.is_empty() {
        return Err(Fault::new(
            Code::NotSupported,
            format!(
            "{path}.algorithm: switches sum up what its ranks send, and traces have no messages with switches; without \
             --messages its sums are collectives"
        ),
        ));
    }
    // Traces of steps that follow each other are written as such.
    spec.blocking = spec.blocking.map(|blocking| blocking || is_traced(spec.kind));
    // Written again, as the plan no longer tells collectives from messages.
    let mut program = Program::new(job.hosts.len() as u32);
    program.adding = Adding { bytes_per_s: spec.sum.map_or(0, |Bandwidth(rate)| rate), cores: job.cores.clone() };
    program.chunk_bytes = spec.chunk.map_or(0, |Size(bytes)| bytes);
    program.auto = (spec.algorithm == Some(AlgorithmSpec::Auto)).then(|| auto_choice(plan, job, &spec));
    program.marks = (!messages).then(Vec::new);
    program.lists_all = true;
    super::write(&path, &mut spec, &mut program, Path::new("")).map_err(Fault::from)?;
    if program.is_too_long() {
        let message = format!("{path}: more than {STEPS_MAX} steps of all ranks together; traces have no more");
        return Err(Fault::new(Code::TooMany, message));
    }
    if let Some(mark) = program.marks.iter().flatten().find(|mark| mark.bytes > BYTES_MAX) {
        return Err(Fault::new(
            Code::OutOfRange,
            format!("{path}.bytes: {} B of a rank in {}; at most {BYTES_MAX} B", mark.bytes, mark.kind.name()),
        ));
    }
    Ok(program)
}

/// Returns the choices of algorithms of a job of a plan, as they were when it was resolved.
fn auto_choice(plan: &Plan, job: &JobParams, spec: &JobSpec) -> AutoChoice {
    let cluster = &*plan.cluster;
    let number = cluster.jobs.iter().position(|other| other.name == job.name).unwrap_or_default() as u32;
    let is_own = |flow: &&FlowParams| matches!(flow.traffic, Traffic::Messages(channel) if channel.job == number);
    let packet = cluster.flows.iter().find(is_own).map_or((1, 0), |flow| transport::packet_of(&flow.transport));
    let latency_of = |host: usize| match &cluster.hosts[host].kind {
        HostKind::Endpoint(endpoint) => endpoint.latency_ps,
        HostKind::Server(_) => ENDPOINT_LATENCY_PS,
    };
    let costs = MessageCosts {
        packet,
        copy: (job.copy_bytes_per_s, job.copy_ps),
        sum: spec.sum.map_or(0, |Bandwidth(rate)| rate),
    };
    let placed = job.hosts.iter().map(|&host| usize::from(host));
    let network = RankNetwork::new((&cluster.switches, &cluster.cables), placed, latency_of, costs);
    let posts = job.cores.is_empty() && spec.socket_rate.is_none() && spec.compress != Some(true);
    AutoChoice::new(network, spec, posts)
}

/// Returns the collective of a job as traces name it, and its bytes as traces count them.
pub(super) fn collective_of(spec: &JobSpec, ranks: u32) -> Option<(Collective, u64)> {
    let bytes = spec.bytes.map_or(1, |Size(bytes)| bytes);
    match spec.kind {
        JobKindSpec::Allgather => Some((Collective::AllGather, bytes)),
        JobKindSpec::Reducescatter => Some((Collective::ReduceScatter, bytes)),
        JobKindSpec::Alltoall => Some((Collective::AllToAll, bytes.saturating_mul(u64::from(ranks)))),
        JobKindSpec::Broadcast => Some((Collective::Broadcast, bytes)),
        JobKindSpec::Barrier => Some((Collective::Barrier, bytes)),
        _ => None,
    }
}

/// Offsets at which the data from one rank to another is cut, in bytes from the beginning of a block.
struct Lines(BTreeMap<(u32, u32), Vec<u64>>);

impl Lines {
    fn of(block: &StepBlockParams, program: &Program) -> Self {
        let mut cuts: BTreeMap<(u32, u32), BTreeSet<u64>> = BTreeMap::new();
        for rank in 0..program.ranks {
            let steps = listed(block, rank);
            let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
            for (_, step) in outside(rank, steps, &program.marks) {
                for (message, at, line) in [
                    (step.send, &mut sent, step.send.map(|to| (rank, to.rank))),
                    (step.receive, &mut received, step.receive.map(|from| (from.rank, rank))),
                ] {
                    if let (Some(RankMessageParams { bytes, .. }), Some(line)) = (message, line) {
                        let at: &mut u64 = at.entry(line).or_default();
                        *at += bytes;
                        cuts.entry(line).or_default().insert(*at);
                    }
                }
            }
        }
        Self(cuts.into_iter().map(|(line, cuts)| (line, cuts.into_iter().collect())).collect())
    }

    /// Returns the pieces of a message that begins at byte `begin`: number and bytes of each piece.
    fn pieces(&self, line: (u32, u32), begin: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let cuts = self.0.get(&line).map_or(&[][..], Vec::as_slice);
        let first = cuts.partition_point(|&cut| cut <= begin);
        let before = move |number: usize| if number == first { begin } else { cuts[number - 1] };
        let inside = (first..cuts.len()).take_while(move |&number| cuts[number] <= begin + bytes);
        inside.map(move |number| (number as u64, cuts[number] - before(number)))
    }

    /// Returns the number of pieces of all messages from one rank to another.
    fn count(&self, line: (u32, u32)) -> u64 {
        self.0.get(&line).map_or(0, |cuts| cuts.len() as u64)
    }
}

/// Returns the steps of a rank that are in no marked collective, with their positions.
fn outside<'a>(
    rank: u32,
    steps: &'a [RankStepParams],
    marks: &'a Option<Vec<Mark>>,
) -> impl Iterator<Item = (usize, &'a RankStepParams)> {
    let own = rank as usize;
    let mut spans = marks.iter().flatten().map(move |mark| (mark.begin[own], mark.end[own])).peekable();
    steps.iter().enumerate().filter(move |&(place, _)| {
        while spans.next_if(|&(_, end)| end <= place).is_some() {}
        spans.peek().is_none_or(|&(begin, _)| place < begin)
    })
}

/// Writes the trace of a rank.
struct Pen {
    rank: u32,
    scribe: TraceWriter,
    /// Nodes that the next node of the rank depends on.
    last: Vec<u64>,
    /// Nodes of the accelerator's works.
    works: Vec<u64>,
    own: Rounding,
    device: Rounding,
    /// Number of message pieces of all previous rounds, by sender and receiver.
    numbers: BTreeMap<(u32, u32), u64>,
}

impl Pen {
    fn new(rank: u32, reader: TraceReader) -> Self {
        Self {
            rank,
            scribe: TraceWriter::new(rank, reader),
            last: Vec::new(),
            works: Vec::new(),
            own: Rounding::default(),
            device: Rounding::default(),
            numbers: BTreeMap::new(),
        }
    }

    /// Writes one round of a block.
    fn write(&mut self, program: &Program, block: &StepBlockParams, lines: &Lines) {
        let own = self.rank as usize;
        let steps = listed(block, self.rank);
        let mut marks = program.marks.iter().flatten().peekable();
        let mut at = BTreeMap::new();
        for (place, step) in outside(self.rank, steps, &program.marks) {
            while let Some(mark) = marks.next_if(|mark| mark.end[own] <= place) {
                self.collective(mark);
            }
            let name = &program.phases[usize::from(step.phase)];
            self.device(name, step);
            let ps = self.own.of(step.compute_ps);
            if ps > 0 {
                self.last = vec![self.scribe.node(name, NodeAction::Host(ps), &self.last)];
            }
            self.messages(name, step, lines, &mut at);
        }
        marks.for_each(|mark| self.collective(mark));
        for line in at.into_keys() {
            // Numbers go on in the next iteration, so that its messages have tags of their own.
            *self.numbers.entry(line).or_default() += lines.count(line);
        }
    }

    fn collective(&mut self, mark: &Mark) {
        let act = NodeAction::Collective { kind: mark.kind, bytes: mark.bytes, group: 0 };
        self.last = vec![self.scribe.node(mark.kind.name(), act, &self.last)];
    }

    /// Writes the work that a step gives to the accelerator, and the works that the rank waits for.
    fn device(&mut self, name: &str, step: &RankStepParams) {
        if step.device.work_ps > 0 {
            let mut after = self.last.clone();
            after.extend(self.works.last().filter(|work| !self.last.contains(work)));
            let act = NodeAction::Compute(self.device.of(step.device.work_ps));
            self.works.push(self.scribe.node(name, act, &after));
        }
        let waited = self.works.len().checked_sub(step.device.left as usize).filter(|&done| done > 0);
        let Some(work) = waited.map(|done| self.works[done - 1]) else { return };
        // A work depends on earlier works, and on the rank's nodes before the work was given.
        if !self.last.iter().any(|id| *id >= work && self.works.binary_search(id).is_ok()) {
            self.last.retain(|&id| id > work);
            self.last.push(work);
        }
    }

    /// Writes the messages that a step sends and receives concurrently.
    fn messages(&mut self, name: &str, step: &RankStepParams, lines: &Lines, at: &mut BTreeMap<(u32, u32), u64>) {
        let before = std::mem::take(&mut self.last);
        for (message, sends) in [(step.send, true), (step.receive, false)] {
            let Some(RankMessageParams { rank: other, bytes }) = message else { continue };
            let line = if sends { (self.rank, other) } else { (other, self.rank) };
            let begin = at.entry(line).or_default();
            let number = self.numbers.get(&line).copied().unwrap_or(0);
            let mut after = before.clone();
            for (piece, bytes) in lines.pieces(line, *begin, bytes) {
                let tag = (number + piece) % TAGS;
                let act = if sends {
                    NodeAction::Send { to: other, bytes, tag }
                } else {
                    NodeAction::Receive { from: other, bytes, tag }
                };
                after = vec![self.scribe.node(name, act, &after)];
            }
            *begin += bytes;
            self.last.extend(after);
        }
        if step.posts || (step.send.is_none() && step.receive.is_none()) {
            // What follows does not wait for the message.
            self.last = before;
        }
    }
}
