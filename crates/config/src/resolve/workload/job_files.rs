//! Job files of fio that workloads refer to.

use crate::code::Code;
use crate::document::read_text;
use crate::error::Issue;
use crate::fio;
use crate::resolve::context::Context;
use crate::units::shorten;
use hostnet_params::{FioSpec, JobDrives};

/// Reads job files and numbers their drives.
pub(super) struct JobReader<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) host: fio::Host,
    pub(super) drives: u32,
    /// Names of drive files in order of appearance; each is a drive.
    pub(super) files: Vec<String>,
    pub(super) ramp_ps: u64,
    pub(super) ignored: Vec<String>,
}

impl JobReader<'_> {
    /// Replaces the name of a job file by the jobs in it.
    pub(super) fn read_into(&mut self, name: &str, fio: &mut FioSpec) -> Result<(), Issue> {
        let path = format!("workload.{name}.job");
        let file = match (fio.job.take(), &fio.jobs) {
            (Some(file), None) => file,
            (None, Some(_)) => return Ok(()),
            (Some(_), Some(_)) => {
                return Err(Issue::new(Code::ConflictingKeys, path, "excludes jobs; give one of them"))
            }
            (None, None) => {
                let message = "missing; give a fio job file (job = \"quadrant.fio\") or jobs";
                return Err(Issue::new(Code::MissingKey, path, message));
            }
        };
        let text = read_text(self.context.base_dir, &file, &path, "a fio job file")?;
        let job_file = fio::parse(&text, &file, self.host)?;
        self.ramp_ps = self.ramp_ps.max(job_file.ramp_ps);
        self.ignored.extend(job_file.notes);
        let unnamed = job_file.jobs.iter().filter(|job| job.filename.is_none()).count();
        if unnamed > 1 && self.drives > 1 {
            self.ignored
                .push(format!("{file}: {unnamed} jobs without filename take the {} drives in turn", self.drives));
        }
        let mut jobs = Vec::new();
        let mut pinned = false;
        for (at, mut job) in job_file.jobs.into_iter().enumerate() {
            let drive = match &job.filename {
                Some(drive) => self.drive(drive, &file, job.line)?,
                None => at as u32 % self.drives,
            };
            job.spec.ssd = JobDrives::One(drive);
            // The cores of the workload go before those in the file.
            if fio.cores.is_some() {
                pinned |= job.spec.core.take().is_some();
            }
            jobs.push(job.spec);
        }
        if pinned {
            self.ignored.push(format!("{file}: cpus_allowed is overridden by workload.{name}.cores"));
        }
        fio.jobs = Some(jobs);
        Ok(())
    }

    fn drive(&mut self, name: &str, file: &str, line: usize) -> Result<u32, Issue> {
        if let Some(at) = self.files.iter().position(|known| known == name) {
            return Ok(at as u32);
        }
        if self.files.len() as u32 >= self.drives {
            let message =
                format!("{} is one file more than there are drives (ssd.count = {})", shorten(name), self.drives);
            return Err(Issue::in_file(Code::TooFewSlots, file, Some(line), "filename", message));
        }
        self.files.push(name.to_string());
        Ok(self.files.len() as u32 - 1)
    }
}
