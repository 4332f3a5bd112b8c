//! Workloads of kind "fio".

use super::super::arithmetic::share;
use super::cores::{fio_wants_cores, Cores};
use super::{ResolveWorkload, WorkloadScope};
use crate::code::Code;
use crate::error::Issue;
use crate::resolve::app;
use hostnet_params::{
    FioJob, FioJobSpec, FioParams, FioSpec, Spec, WorkloadKind, BUFFER_ALIGNMENT, EXTRA_BYTES, KERNEL_BYTES,
};

impl ResolveWorkload for FioSpec {
    fn claim(&self, name: &str, cores: &mut Cores) -> Result<(), Issue> {
        let path = format!("workload.{name}.cores");
        for &core in self.cores.iter().flat_map(|list| &list.0) {
            cores.take(core, name, &path)?;
            cores.store(core, name, &path)?;
        }
        let jobs = self.jobs.as_deref().unwrap_or_default();
        for (at, core) in jobs.iter().enumerate().filter_map(|(at, job)| Some((at, job.core?))) {
            let path = format!("workload.{name}.jobs[{at}].core");
            cores.take(core, name, &path)?;
            cores.store(core, name, &path)?;
        }
        cores.waiting += usize::from(fio_wants_cores(self, jobs));
        Ok(())
    }

    fn resolve(&self, name: &str, scope: &mut WorkloadScope) -> Result<WorkloadKind, Issue> {
        let WorkloadScope { spec, cores, .. } = scope;
        if self.consume && !spec.cache.enabled {
            return Err(app::needs_caches(&format!("workload.{name}.consume"), "reading the data of storage reads"));
        }
        let jobs = self.jobs.as_deref().unwrap_or_default();
        let own = cores.of_fio(name, self, jobs)?;
        let core = |at: usize| own.get(at % own.len().max(1)).copied();
        Ok(WorkloadKind::Fio(FioParams {
            jobs: jobs.iter().enumerate().flat_map(|(at, job)| resolve_job(job, core(at))).collect(),
            rate_bytes_per_s: self.rate.map_or(0, |rate| rate.0),
            dma_lines_per_page: (spec.fio.dma_lines_per_page * 65536.0).round() as u64,
            kernel_lines_per_page: (spec.fio.kernel_lines_per_page * 65536.0).round() as u64,
            kernel_loads: share(spec.fio.kernel_loads),
            consume: self.consume,
        }))
    }
}

/// Checks the jobs as the user wrote them, so that errors give the place in the file.
pub(super) fn check_jobs(name: &str, fio: &FioSpec, spec: &Spec, drives: u32) -> Result<(), Issue> {
    for (at, job) in fio.jobs.iter().flatten().enumerate() {
        let path = |key: &str| format!("workload.{name}.jobs[{at}].{key}");
        if let Some(drive) = job.ssd.numbers().iter().find(|&&drive| drive >= drives) {
            let has = match spec.server.sockets {
                None | Some(1) => format!("ssd.count = {drives}"),
                Some(sockets) => format!("the {sockets} sockets have {drives}"),
            };
            let message = format!("drive {drive} does not exist; {has}");
            return Err(Issue::between(Code::DoesNotExist, &[&path("ssd"), "ssd.count"], message));
        }
        if job.size.is_some_and(|size| size < job.bs) {
            let message = "size is less than a block (bs)";
            return Err(Issue::between(Code::WrongOrder, &[&path("size"), &path("bs")], message));
        }
    }
    Ok(())
}

/// Resolves a job into one for each of its drives, which run on `core` if the job names none itself.
fn resolve_job(job: &FioJobSpec, core: Option<u32>) -> impl Iterator<Item = FioJob> + use<'_> {
    job.ssd.numbers().iter().map(move |&ssd| FioJob {
        ssd,
        core: job.core.or(core).unwrap_or(0),
        block_bytes: job.bs.0,
        io_depth: job.iodepth,
        size_bytes: job.size.unwrap_or(job.bs).0,
        random: job.rw.is_random(),
        reads: share(f64::from(job.rw.reads_percent(job.rwmixread.unwrap_or(50))) / 100.0),
    })
}

/// Returns the bytes of the buffers of all jobs.
pub(super) fn bytes(fio: &FioParams) -> u128 {
    let mut cores: Vec<u32> = fio.jobs.iter().map(|job| job.core).collect();
    // The kernel has its memory per core, whatever the number of jobs there.
    cores.sort_unstable();
    cores.dedup();
    let blocks = |job: &FioJob| (job.block_bytes * u64::from(job.io_depth)).next_multiple_of(BUFFER_ALIGNMENT);
    let jobs: u128 = fio.jobs.iter().map(|job| u128::from(blocks(job) + EXTRA_BYTES)).sum();
    jobs + u128::from(KERNEL_BYTES) * cores.len() as u128
}
