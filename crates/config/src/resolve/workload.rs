//! `[workload.*]`: jobs, drives and cores.

mod app;
mod cores;
mod dma;
mod fio;
mod job_files;
mod stream;
mod tiering;

use self::cores::Cores;
use self::job_files::JobReader;
use super::app::find_trace;
use super::context::Context;
use super::pool;
use super::sockets::{placement, Nodes};
use crate::code::Code;
use crate::cores::idle_note;
use crate::error::Issue;
use hostnet_params::{Placement, Spec, Workload, WorkloadKind, WorkloadSpec};
use std::collections::BTreeMap;

const WORKLOADS_MAX: usize = 64;
/// Maximum number of commands in flight of all jobs.
const COMMANDS_MAX: u64 = 1 << 20;

/// The workloads, and other results of reading their job files.
pub(super) struct Workloads {
    pub(super) resolved: Vec<Workload>,
    /// The specification with job files replaced by their jobs.
    pub(super) effective: BTreeMap<String, WorkloadSpec>,
    pub(super) ramp_ps: u64,
    pub(super) ignored: Vec<String>,
    /// Workloads of each core.
    pub(super) owners: Vec<Vec<String>>,
}

/// Server that the workloads run on, and its cores that are still free.
struct WorkloadScope<'a> {
    spec: &'a Spec,
    cores: Cores,
}

/// Keys of a workload.
trait ResolveWorkload {
    /// Assigns the workload the cores that it names.
    fn claim(&self, name: &str, cores: &mut Cores) -> Result<(), Issue>;

    /// Returns the kind of the workload and its parameters.
    fn resolve(&self, name: &str, scope: &mut WorkloadScope) -> Result<WorkloadKind, Issue>;
}

fn keys_of(workload: &WorkloadSpec) -> &dyn ResolveWorkload {
    match workload {
        WorkloadSpec::Stream(stream) => stream,
        WorkloadSpec::Fio(fio) => fio,
        WorkloadSpec::App(app) => &**app,
        WorkloadSpec::Remote(stream) => stream,
        WorkloadSpec::Dma(dma) => dma,
        WorkloadSpec::Tiering(tiering) => tiering,
    }
}

pub(super) fn resolve(spec: &Spec, sockets: &[Spec], context: &Context) -> Result<Workloads, Issue> {
    let least = context.workloads_min;
    if !(least..=WORKLOADS_MAX).contains(&spec.workload.len()) {
        let message = format!("{} workloads; {least} to {WORKLOADS_MAX} are allowed", spec.workload.len());
        return Err(Issue::new(Code::WrongCount, "workload", message));
    }
    let drives = sockets.iter().map(|socket| socket.ssd.count).sum();
    let nodes = Nodes::new(sockets.len(), spec);
    let host = crate::fio::Host { nodes: nodes.of_all_sockets() };
    let mut reader = JobReader { context, host, drives, files: Vec::new(), ramp_ps: 0, ignored: Vec::new() };
    let mut effective = spec.workload.clone();
    for (name, workload) in &mut effective {
        // Files are read before cores are claimed, as job files name cores, too.
        match workload {
            WorkloadSpec::Fio(fio) => {
                reader.read_into(name, fio)?;
                fio::check_jobs(name, fio, spec, drives)?;
            }
            WorkloadSpec::App(app) => find_trace(name, app, context)?,
            _ => {}
        }
    }
    let mut scope = WorkloadScope { spec, cores: Cores::claim(&effective, sockets)? };
    // After errors about cores, which name jobs by their position in the file.
    for workload in effective.values_mut() {
        if let WorkloadSpec::Fio(fio) = workload {
            fio.split_jobs();
        }
    }
    let resolved = effective.iter().map(|(name, workload)| {
        let kind = keys_of(workload).resolve(name, &mut scope)?;
        let place = |text: &str| match text {
            "pool" => pool::placement(spec, &format!("workload.{name}.memory")),
            _ => placement(text, [&format!("workload.{name}.memory"), "server.sockets"], nodes),
        };
        let memory = workload.memory().map_or(Ok(Placement::Local), place)?;
        Ok(Workload { name: name.clone(), kind, memory })
    });
    let resolved: Vec<Workload> = resolved.collect::<Result<_, Issue>>()?;
    check_commands(&resolved)?;
    let JobReader { ramp_ps, mut ignored, .. } = reader;
    ignored.extend(resolved.iter().filter_map(|workload| without_jobs(workload, &effective)));
    Ok(Workloads { resolved, effective, ramp_ps, ignored, owners: scope.cores.owners })
}

/// Returns a note about cores of a workload without a fio job.
fn without_jobs(workload: &Workload, specs: &BTreeMap<String, WorkloadSpec>) -> Option<String> {
    let WorkloadSpec::Fio(spec) = specs.get(&workload.name)? else { return None };
    let jobs = &workload.kind.fio()?.jobs;
    let used = |core| jobs.iter().any(|job| job.core == core);
    idle_note(&format!("workload.{}.cores", workload.name), &spec.cores.as_ref()?.0, used, "job")
}

/// Returns the bytes of the buffers of a workload, and the key that determines them.
pub(super) fn needs(workload: &Workload) -> (u128, String) {
    match &workload.kind {
        WorkloadKind::Stream(stream) => (stream::bytes(stream), format!("workload.{}.working_set", workload.name)),
        WorkloadKind::Fio(fio) => (fio::bytes(fio), format!("workload.{}", workload.name)),
        WorkloadKind::App(app) => (app::bytes(app), format!("workload.{}", workload.name)),
        WorkloadKind::Dma(dma) => (dma::bytes(dma), format!("workload.{}.window", workload.name)),
        WorkloadKind::Tiering(tiering) => (tiering::bytes(tiering), format!("workload.{}.workloads", workload.name)),
        WorkloadKind::Network => (0, format!("workload.{}", workload.name)),
    }
}

fn check_commands(workloads: &[Workload]) -> Result<(), Issue> {
    let jobs = workloads.iter().filter_map(|workload| workload.kind.fio()).flat_map(|fio| &fio.jobs);
    let commands: u64 = jobs.map(|job| u64::from(job.io_depth)).sum();
    if commands > COMMANDS_MAX {
        let message = format!("{commands} commands in flight over all jobs; at most {COMMANDS_MAX}");
        return Err(Issue::new(Code::TooMany, "workload", message));
    }
    Ok(())
}
