//! `[workload.*]`: jobs, drives and cores.

mod job_files;

use self::job_files::JobReader;
use super::arithmetic::share;
use super::context::Context;
use super::sockets::placement;
use super::stream::{remote_stream, resolve_stream};
use super::{app, pool};
use crate::code::Code;
use crate::cores::idle_note;
use crate::error::Issue;
use crate::fio;
use crate::spec::{CoreList, FioJobSpec, FioSpec, Spec, WorkloadSpec};
use hostnet_model::app::{footprint, Footprint};
use hostnet_model::params::{
    AppParams, FioJob, FioParams, Placement, StreamParams, Workload, WorkloadKind, BUFFER_ALIGNMENT, EXTRA_BYTES,
    KERNEL_BYTES,
};
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

pub(super) fn resolve(spec: &Spec, sockets: &[Spec], context: &Context) -> Result<Workloads, Issue> {
    let least = context.workloads_min;
    if !(least..=WORKLOADS_MAX).contains(&spec.workload.len()) {
        let message = format!("{} workloads; {least} to {WORKLOADS_MAX} are allowed", spec.workload.len());
        return Err(Issue::new(Code::WrongCount, "workload", message));
    }
    let drives = sockets.iter().map(|socket| socket.ssd.count).sum();
    let host = fio::Host { sockets: sockets.len() };
    let mut reader = JobReader { context, host, drives, files: Vec::new(), ramp_ps: 0, ignored: Vec::new() };
    let mut effective = spec.workload.clone();
    for (name, workload) in &mut effective {
        match workload {
            WorkloadSpec::Stream(_) | WorkloadSpec::Remote(_) => {}
            WorkloadSpec::Fio(fio) => reader.read_into(name, fio)?,
            WorkloadSpec::App(app) => app::find_trace(name, app, context)?,
        }
    }
    let mut cores = Cores::claim(&effective, sockets)?;
    let resolved = effective.iter().map(|(name, workload)| {
        let kind = match workload {
            WorkloadSpec::Stream(stream) => WorkloadKind::Stream(resolve_stream(name, stream)?),
            WorkloadSpec::Fio(fio) => WorkloadKind::Fio(resolve_fio(name, fio, spec, drives, &mut cores)?),
            WorkloadSpec::App(app) => WorkloadKind::App(app::resolve(name, app, spec)?),
            WorkloadSpec::Remote(stream) => WorkloadKind::Stream(remote_stream(name, stream)?),
        };
        let nodes = sockets.len() + usize::from(spec.expander.is_some());
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
    Ok(Workloads { resolved, effective, ramp_ps, ignored, owners: cores.owners })
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
        WorkloadKind::Stream(stream) => (stream_bytes(stream), format!("workload.{}.working_set", workload.name)),
        WorkloadKind::Fio(fio) => (fio_bytes(fio), format!("workload.{}", workload.name)),
        WorkloadKind::App(app) => (app_bytes(app), format!("workload.{}", workload.name)),
        WorkloadKind::Network => (0, format!("workload.{}", workload.name)),
    }
}

fn stream_bytes(stream: &StreamParams) -> u128 {
    let buffer = stream.working_set_bytes.next_multiple_of(BUFFER_ALIGNMENT);
    u128::from(buffer) * stream.cores.len() as u128
}

fn fio_bytes(fio: &FioParams) -> u128 {
    let mut cores: Vec<u32> = fio.jobs.iter().map(|job| job.core).collect();
    cores.sort_unstable();
    cores.dedup();
    let blocks = |job: &FioJob| (job.block_bytes * u64::from(job.io_depth)).next_multiple_of(BUFFER_ALIGNMENT);
    let jobs: u128 = fio.jobs.iter().map(|job| u128::from(blocks(job) + EXTRA_BYTES)).sum();
    jobs + u128::from(KERNEL_BYTES) * cores.len() as u128
}

fn app_bytes(app: &AppParams) -> u128 {
    let Footprint { shared_bytes, thread_bytes, client_bytes } = footprint(app);
    let aligned = |bytes: u64| u128::from(bytes).next_multiple_of(BUFFER_ALIGNMENT.into());
    let (threads, clients) = (app.cores.len() as u128, app.clients.len() as u128);
    aligned(shared_bytes) + aligned(thread_bytes) * threads + aligned(client_bytes) * clients
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

fn resolve_fio(name: &str, fio: &FioSpec, spec: &Spec, drives: u32, cores: &mut Cores) -> Result<FioParams, Issue> {
    if fio.consume && !spec.cache.enabled {
        return Err(app::needs_caches(&format!("workload.{name}.consume"), "reading the data of storage reads"));
    }
    let jobs = fio.jobs.as_deref().unwrap_or_default();
    let own = cores.of_fio(name, fio, jobs)?;
    let resolve_job = |(at, job): (usize, &FioJobSpec)| {
        let path = |key: &str| format!("workload.{name}.jobs[{at}].{key}");
        if job.ssd >= drives {
            let has = match spec.server.sockets {
                None | Some(1) => format!("ssd.count = {drives}"),
                Some(sockets) => format!("the {sockets} sockets have {drives}"),
            };
            let message = format!("drive {} does not exist; {has}", job.ssd);
            return Err(Issue::between(Code::DoesNotExist, &[&path("ssd"), "ssd.count"], message));
        }
        if job.size < job.bs {
            let message = "size is less than a block (bs)";
            return Err(Issue::between(Code::WrongOrder, &[&path("size"), &path("bs")], message));
        }
        Ok(FioJob {
            ssd: job.ssd,
            core: job.core.or_else(|| own.get(at % own.len().max(1)).copied()).unwrap_or(0),
            block_bytes: job.bs.0,
            io_depth: job.iodepth,
            size_bytes: job.size.0,
            random: job.rw.is_random(),
            reads: share(f64::from(job.rw.reads_percent(job.rwmixread.unwrap_or(50))) / 100.0),
        })
    };
    Ok(FioParams {
        jobs: jobs.iter().enumerate().map(resolve_job).collect::<Result<_, _>>()?,
        rate_bytes_per_s: fio.rate.map_or(0, |rate| rate.0),
        dma_lines_per_page: (spec.fio.dma_lines_per_page * 65536.0).round() as u64,
        kernel_lines_per_page: (spec.fio.kernel_lines_per_page * 65536.0).round() as u64,
        kernel_loads: share(spec.fio.kernel_loads),
        consume: fio.consume,
    })
}

/// Assignment of cores to workloads.
struct Cores {
    /// Number of sockets, and the first core and the first drive of each.
    sockets: usize,
    firsts: [Vec<u32>; 2],
    owners: Vec<Vec<String>>,
    /// Workload for which each core does the kernel's storage work.
    storage: Vec<Option<String>>,
    /// Number of fio workloads that still need a core.
    waiting: usize,
}

impl Cores {
    /// Assigns every workload the cores that it names.
    fn claim(workloads: &BTreeMap<String, WorkloadSpec>, sockets: &[Spec]) -> Result<Self, Issue> {
        let count = sockets.iter().map(|socket| socket.core.count).sum::<u32>() as usize;
        if count == 0 {
            let message = "no socket has cores (core.count = 0); a server has one at least";
            return Err(Issue::new(Code::WrongCount, "socket", message));
        }
        let (owners, storage) = (vec![Vec::new(); count], vec![None; count]);
        let firsts = [firsts(sockets, |socket| socket.core.count), firsts(sockets, |socket| socket.ssd.count)];
        let mut cores = Cores { sockets: sockets.len(), firsts, owners, storage, waiting: 0 };
        for (name, workload) in workloads {
            let list = match workload {
                WorkloadSpec::Stream(stream) => Some(&stream.cores),
                WorkloadSpec::Fio(fio) => fio.cores.as_ref(),
                WorkloadSpec::App(app) => Some(&app.cores),
                WorkloadSpec::Remote(_) => None,
            };
            for &core in list.into_iter().flat_map(|CoreList(cores)| cores) {
                cores.take(core, name, &format!("workload.{name}.cores"))?;
                cores.store(core, name, workload, &format!("workload.{name}.cores"))?;
            }
            if let WorkloadSpec::App(app) = workload {
                for &core in app.clients.iter().flat_map(|CoreList(clients)| clients) {
                    cores.take_alone(core, name, &format!("workload.{name}.clients"))?;
                }
            }
            if let WorkloadSpec::Fio(fio) = workload {
                let jobs = fio.jobs.as_deref().unwrap_or_default();
                for (at, core) in jobs.iter().enumerate().filter_map(|(at, job)| Some((at, job.core?))) {
                    let path = format!("workload.{name}.jobs[{at}].core");
                    cores.take(core, name, &path)?;
                    cores.store(core, name, workload, &path)?;
                }
                cores.waiting += usize::from(wants_cores(fio, jobs));
            }
        }
        Ok(cores)
    }

    /// As [`Cores::take`], but the workload must not have the core already.
    fn take_alone(&mut self, core: u32, name: &str, path: &str) -> Result<(), Issue> {
        if self.owners.get(core as usize).is_some_and(|owners| owners.iter().any(|owner| owner == name)) {
            let message = format!("core {core} is one of workload.{name}.cores already");
            return Err(Issue::between(Code::CoreTaken, &[path, &format!("workload.{name}.cores")], message));
        }
        self.take(core, name, path)
    }

    fn take(&mut self, core: u32, name: &str, path: &str) -> Result<(), Issue> {
        let count = self.owners.len();
        let Some(owners) = self.owners.get_mut(core as usize) else {
            let has = match self.sockets {
                1 => format!("core.count = {count} means"),
                sockets => format!("the {sockets} sockets have"),
            };
            let message = format!("core {core} does not exist; {has} cores 0 to {}", count - 1);
            let job = format!("workload.{name}.job");
            return Err(Issue::between(Code::DoesNotExist, &[path, &job, "core.count"], message));
        };
        if !owners.iter().any(|owner| owner == name) {
            owners.push(name.to_string());
        }
        Ok(())
    }

    /// Assigns the storage work of a workload to a core. A core does that work for at most one workload.
    fn store(&mut self, core: u32, name: &str, workload: &WorkloadSpec, path: &str) -> Result<(), Issue> {
        if !matches!(workload, WorkloadSpec::Fio(_)) {
            return Ok(());
        }
        match self.storage[core as usize].replace(name.to_string()).filter(|other| other != name) {
            Some(other) => {
                let message =
                    format!("core {core} does the kernel's work for workload.{other}; one fio workload may use a core");
                let theirs = format!("workload.{other}.cores");
                Err(Issue::between(Code::CoreTaken, &[path, &theirs, &format!("workload.{name}.job")], message))
            }
            None => Ok(()),
        }
    }

    /// Returns the cores among `cores` that are on a socket with a drive of `jobs`.
    fn near(&self, cores: &[u32], jobs: &[FioJobSpec]) -> Vec<u32> {
        let socket = |firsts: &[u32], number: u32| firsts.partition_point(|&first| first <= number);
        let [of_cores, of_drives] = &self.firsts;
        let sockets: Vec<usize> = jobs.iter().map(|job| socket(of_drives, job.ssd)).collect();
        cores.iter().copied().filter(|&core| sockets.contains(&socket(of_cores, core))).collect()
    }

    /// Returns the cores for those jobs of a fio workload that name none: its list, or the last free cores of the
    /// sockets of their drives.
    fn of_fio(&mut self, name: &str, fio: &FioSpec, jobs: &[FioJobSpec]) -> Result<Vec<u32>, Issue> {
        if let Some(CoreList(cores)) = &fio.cores {
            return Ok(cores.clone());
        }
        if !wants_cores(fio, jobs) {
            return Ok(Vec::new());
        }
        self.waiting -= 1;
        let free: Vec<u32> = (0..).zip(&self.owners).filter(|(_, own)| own.is_empty()).map(|(at, _)| at).collect();
        let near = self.near(&free, jobs);
        let free = if near.is_empty() { free } else { near };
        let count = jobs.len().min(free.len().saturating_sub(self.waiting));
        if count == 0 {
            let all = format!("0-{}", self.owners.len() - 1);
            let message = format!("no core of {all} is free for jobs that name none; cores = \"{all}\" shares them");
            let table = format!("workload.{name}");
            return Err(Issue::between(Code::TooManyCores, &[&format!("{table}.cores"), &table], message));
        }
        let own = free[free.len() - count..].to_vec();
        for &core in &own {
            self.owners[core as usize].push(name.to_string());
        }
        Ok(own)
    }
}

/// Returns the number of the first core or drive of each socket.
fn firsts(sockets: &[Spec], count: impl Fn(&Spec) -> u32) -> Vec<u32> {
    let begin = |next: &mut u32, socket: &Spec| Some(std::mem::replace(next, *next + count(socket)));
    sockets.iter().scan(0, begin).collect()
}

fn wants_cores(fio: &FioSpec, jobs: &[FioJobSpec]) -> bool {
    fio.cores.is_none() && jobs.iter().any(|job| job.core.is_none())
}
