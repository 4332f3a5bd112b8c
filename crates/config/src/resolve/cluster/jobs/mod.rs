//! `[job.*]`: jobs of ranks.

mod algorithms;
mod auto;
mod chakra;
mod check;
mod chunks;
mod collectives;
mod direct;
mod flows;
mod gro;
mod in_network;
mod model_traces;
mod npb;
mod profile;
mod program;
mod rdma;
mod rounding;
mod seats;
mod spread;
mod steps;
mod traces;
mod training;
mod transformer;
mod written_traces;

use super::classes::class_of;
use super::fabric::Fabric;
use super::hosts::Hosts;
use super::sums::Engines;
use super::{compress, host_keys, table, transport};
use crate::code::Code;
use crate::error::Issue;
use auto::{AutoChoice, MessageCosts, RankNetwork};
use flows::Flow;
use hostnet_params::{
    AlgorithmSpec, Bandwidth, ClusterSpec, ComputeSpec, FlowParams, JobKindSpec, JobParams, JobSpec, ReadyOrderSpec,
    Size, Time,
};
use in_network::Switches;
use npb::Benchmark;
use profile::Profile;
use program::{Adding, Program, STEPS_MAX};
use seats::Taken;
use std::path::Path;
pub use traces::chakra_traces;
pub use written_traces::WrittenTraces;

const OPS_PER_S: f64 = 1e9;
const COPY_RATE: Bandwidth = Bandwidth(10_000_000_000);
const COPY_LATENCY: Time = Time(500_000);
const DATA: Size = Size(64 << 20);
/// Kinds of jobs whose ranks execute the operations of execution traces.
const TRACED: &str = "kind = \"chakra\" and kind = \"transformer\"";

/// Resolves the jobs, and adds the flows that carry their messages.
pub(super) fn resolve(
    spec: &mut ClusterSpec,
    hosts: &mut Hosts,
    (fabric, engines): (&Fabric, &mut Engines),
    classes: &mut Vec<String>,
    (flows, notes): (&mut Vec<FlowParams>, &mut Vec<String>),
    base_dir: &Path,
) -> Result<Vec<JobParams>, Issue> {
    let ClusterSpec { job, transport: transports, network, host, .. } = spec;
    let mut jobs = Vec::new();
    let mut taken = Taken::new();
    let tables = (0..hosts.names.count()).map(|at| &host[&hosts.names.table_of(at).name]);
    let latencies_ps: Vec<u64> = tables.map(|spec| host_keys::endpoint(spec).latency_ps).collect();
    for (name, job) in job {
        let path = table("job", name);
        let named = job.transport.get_or_insert_with(|| "dctcp".to_owned());
        let at = format!("{path}.transport");
        let found = transport::find(transports, named, &at)?;
        let over_roce = transport::is_roce(found);
        let compresses = job.compress == Some(true);
        let whole = network.mtu.0 as u32;
        // Data that does not get smaller grows, and must still fit into a packet of the network.
        let mtu_bytes = if compresses { compress::mtu(whole) } else { whole };
        let carried = transport::resolve(named, found, mtu_bytes, "network.mtu")?;
        let class = class_of(classes, name, &path)?;
        let (packet_bytes, header_bytes) = transport::packet_of(&carried);
        let mut switches =
            Switches { fabric, engines: &mut *engines, packet_bytes, header_bytes, latencies_ps: &latencies_ps };
        let (mut params, chosen) = params(name, &path, job, hosts, (&mut taken, &mut switches), base_dir)?;
        notes.extend(chosen);
        check(&path, job, &params)?;
        if over_roce {
            rdma::check(&path, job)?;
        }
        let Hosts { names, servers, .. } = &*hosts;
        compress::check(&path, job, &params.hosts, names, servers, host)?;
        compress::forget_places(&mut params, job, names, servers, host);
        let aggregator = training::aggregator(job, params.hosts.len() as u32);
        let merged = gro::merged(&path, job, &params, servers, &carried)?;
        let flow = Flow { job: jobs.len() as u32, class, mtu_bytes, carried, merged, compresses, aggregator };
        flow.add(&path, &params, names, servers, fabric, flows)?;
        jobs.push(params);
    }
    Ok(jobs)
}

fn params(
    name: &str,
    path: &str,
    spec: &mut JobSpec,
    hosts: &mut Hosts,
    (taken, switches): (&mut Taken, &mut Switches),
    base_dir: &Path,
) -> Result<(JobParams, Vec<String>), Issue> {
    let Hosts { names: hosts, servers, cores: free, dimms } = hosts;
    let mut at = hosts.find_all(&spec.hosts, &format!("{path}.hosts"))?;
    let mut placed = spread::placed(path, spec, &at, hosts)?;
    check_keys(path, spec)?;
    training::check_keys(path, spec)?;
    chunks::check_chunk(path, spec)?;
    spread::group(path, spec, &placed, switches.fabric)?;
    if let Some(host) = spread::aggregator(path, spec, hosts)? {
        // The aggregator is the last rank (`training::aggregator`).
        placed.push(host);
        at.extend((!at.contains(&host)).then_some(host));
    }
    let cores = seats::take(path, spec, &placed, hosts, servers, free, taken)?;
    if spec.socket_rate.is_some() && placed.iter().all(|&host| servers.is_server(host)) {
        let message =
            "has an effect only on ranks at endpoints; at servers the lines of a message are copied one by one";
        return Err(Issue::new(Code::NoEffect, format!("{path}.socket_rate"), message));
    }
    if spec.socket_rate.is_none() && spec.socket_send_rate.is_some() {
        let message = format!("has an effect only with {path}.socket_rate, the rate of what comes");
        return Err(Issue::new(Code::NoEffect, format!("{path}.socket_send_rate"), message));
    }
    let mut program = Program::new(placed.len() as u32);
    program.adding = Adding { bytes_per_s: spec.sum.map_or(0, |Bandwidth(rate)| rate), cores: cores.clone() };
    chakra::order(path, spec, !cores.is_empty())?;
    program.chunk_bytes = spec.chunk.map_or(0, |Size(bytes)| bytes);
    program.blocking = spec.blocking == Some(true) && !is_traced(spec.kind);
    let Bandwidth(copy_bytes_per_s) = *spec.copy_rate.get_or_insert(COPY_RATE);
    let Time(copy_ps) = *spec.copy_latency.get_or_insert(COPY_LATENCY);
    program.auto = auto_choice(path, spec, &program, &placed, switches, (copy_bytes_per_s, copy_ps))?;
    let reducers = in_network::join(path, spec, &placed, hosts, dimms, switches, &mut program)?;
    write(path, spec, &mut program, base_dir)?;
    if program.is_too_long() {
        let message =
            format!("more than {STEPS_MAX} listed steps of all ranks together; fewer ranks or steps are wanted");
        let keys = ["ranks", "ranks_per_host", "hosts"].map(|key| format!("{path}.{key}"));
        return Err(Issue::between(Code::TooMany, &[&keys[0], &keys[1], &keys[2]], message));
    }
    let launch_ps = spec.start.0;
    let chosen = program.auto.as_ref().map_or(Vec::new(), |auto| auto.notes(path));
    let params = JobParams {
        name: name.to_owned(),
        kind: kind_name(spec.kind),
        start_ps: launch_ps.saturating_add(spec.launch.0.saturating_mul(rounds(at.len()))),
        launch_ps,
        hosts: placed.into_iter().map(|host| host as u16).collect(),
        iterations: program.blocks.iter().map(|block| block.times).max().unwrap_or(1),
        copy_bytes_per_s,
        copy_ps,
        socket_bytes_per_s: spec.socket_rate.map(|Bandwidth(rate)| {
            let sends = spec.socket_send_rate.map_or(rate, |Bandwidth(rate)| rate);
            [rate, sends]
        }),
        phases: program.phases,
        blocks: program.blocks,
        cores,
        works: program.works,
        reducers,
        first_ready: spec.order == Some(ReadyOrderSpec::Ready),
    };
    Ok((params, chosen))
}

/// Returns the choices of algorithms of a job, if closed forms are to choose. `copy` is the rate of copies between
/// ranks of a host, in bytes per second, and their latency in ps. Fails if a host has several ports.
fn auto_choice(
    path: &str,
    spec: &JobSpec,
    program: &Program,
    placed: &[usize],
    switches: &Switches,
    copy: (u64, u64),
) -> Result<Option<AutoChoice>, Issue> {
    if spec.algorithm != Some(AlgorithmSpec::Auto) {
        return Ok(None);
    }
    auto::check_ports(path, placed, &switches.fabric.cables)?;
    let packet = (switches.packet_bytes, switches.header_bytes);
    let costs = MessageCosts { packet, copy, sum: program.adding.bytes_per_s };
    let network = (&switches.fabric.switches[..], &switches.fabric.cables[..]);
    let latency_of = |host: usize| switches.latencies_ps[host];
    let network = RankNetwork::new(network, placed.iter().copied(), latency_of, costs);
    let posts = direct::check(path, spec, program, AlgorithmSpec::Ring).is_ok();
    Ok(Some(AutoChoice::new(network, spec, posts)))
}

/// Returns the rounds until `hosts` hosts run, if each running host launches another one in every round.
fn rounds(hosts: usize) -> u64 {
    u64::from(hosts.max(1).next_power_of_two().ilog2())
}

fn kind_name(kind: JobKindSpec) -> String {
    serde_json::to_value(kind).ok().and_then(|kind| Some(kind.as_str()?.to_owned())).unwrap_or_default()
}

fn is_npb(kind: JobKindSpec) -> bool {
    use JobKindSpec::{NpbCg, NpbEp, NpbFt, NpbIs, NpbLu, NpbMg};
    matches!(kind, NpbCg | NpbEp | NpbFt | NpbIs | NpbLu | NpbMg)
}

/// Returns true if jobs of a kind are archetypes, which stand for a class of programs.
fn is_archetype(kind: JobKindSpec) -> bool {
    use JobKindSpec::{Compute, Irregular, Shuffle, Streaming};
    matches!(kind, Compute | Irregular | Shuffle | Streaming)
}

/// Returns true if ranks execute the operations of execution traces, read or generated.
fn is_traced(kind: JobKindSpec) -> bool {
    matches!(kind, JobKindSpec::Chakra | JobKindSpec::Transformer)
}

/// Checks that every key belongs to the kind of job.
fn check_keys(path: &str, spec: &JobSpec) -> Result<(), Issue> {
    use JobKindSpec::{Barrier, Chakra, Program, Transformer};
    let counted = is_npb(spec.kind) || is_archetype(spec.kind);
    let traced = is_traced(spec.kind);
    let collective = !counted && !traced && spec.kind != Program;
    let keys = [
        ("bytes", spec.bytes.is_some(), collective && spec.kind != Barrier, "collectives but \"barrier\""),
        ("algorithm", spec.algorithm.is_some(), collective || traced, "collectives"),
        (
            "compute",
            spec.compute.is_some(),
            !counted && !traced,
            "jobs that are not of NPB, whose operations are known, no archetype, no trace and no transformer",
        ),
        ("trace", spec.trace.is_some(), spec.kind == Chakra, "kind = \"chakra\""),
        ("groups", spec.groups.is_some(), spec.kind == Chakra, "kind = \"chakra\""),
        ("model", spec.model.is_some(), spec.kind == Transformer, "kind = \"transformer\""),
        ("peak", spec.peak.is_some(), traced, TRACED),
        ("memory_rate", spec.memory_rate.is_some(), traced, TRACED),
        ("order", spec.order.is_some(), traced, TRACED),
        ("alltoall", spec.alltoall.is_some(), traced, TRACED),
        ("steps", !spec.steps.is_empty(), spec.kind == Program, "kind = \"program\""),
        ("problem", spec.problem.is_some(), is_npb(spec.kind), "jobs of NPB, such as \"npb-cg\""),
        ("data", spec.data.is_some(), is_archetype(spec.kind), "archetypes, such as \"streaming\""),
        ("ops_per_s", spec.ops_per_s.is_some(), is_npb(spec.kind), "jobs of NPB, such as \"npb-cg\""),
    ];
    match keys.into_iter().find(|(_, given, fits, _)| *given && !fits) {
        Some((key, _, _, kinds)) => {
            let message = format!("has an effect only with {kinds}");
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.kind")], message))
        }
        None => Ok(()),
    }
}

/// Adds the steps of all ranks to the program.
fn write(path: &str, spec: &mut JobSpec, program: &mut Program, base_dir: &Path) -> Result<(), Issue> {
    let group: Vec<u32> = (0..program.ranks).collect();
    if is_npb(spec.kind) {
        return benchmark(path, spec, program, &group);
    }
    if is_archetype(spec.kind) {
        let Size(data) = *spec.data.get_or_insert(DATA);
        program.block(*spec.iterations.get_or_insert(1));
        Profile::of(&kind_name(spec.kind))?.archetype(program, &group, data);
        return Ok(());
    }
    program.block(*spec.iterations.get_or_insert(1));
    // Operations refer to listed steps.
    if let (JobKindSpec::Alltoall, Some(given), Some(Size(bytes))) = (spec.kind, spec.algorithm, spec.bytes) {
        program.lists_all |= program.choose(given, spec.kind, &group, bytes) == AlgorithmSpec::Direct;
    }
    match spec.kind {
        JobKindSpec::Chakra => return chakra::write(path, spec, program, base_dir),
        JobKindSpec::Transformer => return chakra::write_model(path, spec, program),
        _ => {}
    }
    // An allreduce writes its computation itself, which may overlap with its buckets.
    if spec.kind == JobKindSpec::Allreduce {
        return algorithms::write(path, spec, program, &group);
    }
    if let ComputeSpec::Before(Time(ps)) = *spec.compute.get_or_insert(ComputeSpec::Before(Time(0))) {
        program.compute(&group, "compute", ps);
    }
    if spec.kind == JobKindSpec::Program {
        return steps::write(path, &spec.steps, program);
    }
    program.opens();
    algorithms::write(path, spec, program, &group)?;
    program.closes(traces::collective_of(spec, program.ranks));
    Ok(())
}

fn benchmark(path: &str, spec: &mut JobSpec, program: &mut Program, group: &[u32]) -> Result<(), Issue> {
    let problem = *spec.problem.get_or_insert_default();
    if let Some(most) = npb::most_ranks(spec.kind, problem) {
        if !program.ranks.is_power_of_two() || program.ranks > most {
            let message =
                format!("{} ranks; {} needs a power of two up to {most}", program.ranks, kind_name(spec.kind));
            let keys = ["ranks", "ranks_per_host", "hosts"].map(|key| format!("{path}.{key}"));
            return Err(Issue::between(Code::NotAMultiple, &[&keys[0], &keys[1], &keys[2]], message));
        }
    }
    let ops_per_s = *spec.ops_per_s.get_or_insert(OPS_PER_S);
    let profile = Profile::of(&kind_name(spec.kind))?;
    let benchmark = Benchmark { problem, ops_per_s, iterations: spec.iterations, profile };
    match spec.kind {
        JobKindSpec::NpbCg => benchmark.cg(program, group),
        JobKindSpec::NpbIs => benchmark.is(program, group),
        JobKindSpec::NpbMg => benchmark.mg(program, group),
        JobKindSpec::NpbLu => benchmark.lu(program, group),
        JobKindSpec::NpbFt => benchmark.ft(program, group),
        _ => benchmark.ep(program, group),
    }
    Ok(())
}

/// Checks that a user's program terminates; the built-in programs do.
fn check(path: &str, spec: &JobSpec, job: &JobParams) -> Result<(), Issue> {
    let name_of = |phase: u8| job.phases[usize::from(phase)].clone();
    let key = match spec.kind {
        JobKindSpec::Program => "steps",
        // Operations that begin when they are ready were checked with their trace.
        JobKindSpec::Chakra | JobKindSpec::Transformer if job.has_operations() => return Ok(()),
        JobKindSpec::Chakra => "trace",
        // All other programs are generated, with messages that match.
        _ => return Ok(()),
    };
    match job.blocks.iter().find_map(|block| check::problem(job.hosts.len() as u32, block, name_of)) {
        Some(problem) => Err(Issue::new(Code::Deadlock, format!("{path}.{key}"), problem)),
        None => Ok(()),
    }
}
