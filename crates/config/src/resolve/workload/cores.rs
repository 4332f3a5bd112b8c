//! Assigns cores to workloads.

use super::keys_of;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{CoreList, FioJobSpec, FioSpec, Spec, WorkloadSpec};
use std::collections::BTreeMap;

/// Assignment of cores to workloads.
pub(super) struct Cores {
    /// Number of sockets, and the first core and the first drive of each.
    sockets: usize,
    firsts: [Vec<u32>; 2],
    pub(super) owners: Vec<Vec<String>>,
    /// Workload for which each core does the kernel's storage work.
    storage: Vec<Option<String>>,
    /// Number of fio workloads that still need a core.
    pub(super) waiting: usize,
}

impl Cores {
    /// Assigns every workload the cores that it names.
    pub(super) fn claim(workloads: &BTreeMap<String, WorkloadSpec>, sockets: &[Spec]) -> Result<Self, Issue> {
        let count = sockets.iter().map(|socket| socket.core.count).sum::<u32>() as usize;
        if count == 0 {
            let message = "no socket has cores (core.count = 0); a server has one at least";
            return Err(Issue::new(Code::WrongCount, "socket", message));
        }
        let (owners, storage) = (vec![Vec::new(); count], vec![None; count]);
        let firsts = [firsts(sockets, |socket| socket.core.count), firsts(sockets, |socket| socket.ssd.count)];
        let mut cores = Cores { sockets: sockets.len(), firsts, owners, storage, waiting: 0 };
        for (name, workload) in workloads {
            keys_of(workload).claim(name, &mut cores)?;
        }
        Ok(cores)
    }

    /// Like [`Cores::take`], but the workload must not have the core already.
    pub(super) fn take_alone(&mut self, core: u32, name: &str, path: &str) -> Result<(), Issue> {
        if self.owners.get(core as usize).is_some_and(|owners| owners.iter().any(|owner| owner == name)) {
            let message = format!("core {core} is one of workload.{name}.cores already");
            return Err(Issue::between(Code::CoreTaken, &[path, &format!("workload.{name}.cores")], message));
        }
        self.take(core, name, path)
    }

    /// Assigns a workload the cores in the list under `key`.
    pub(super) fn take_all(&mut self, list: &CoreList, name: &str, key: &str) -> Result<(), Issue> {
        list.0.iter().try_for_each(|&core| self.take(core, name, &format!("workload.{name}.{key}")))
    }

    /// Assigns a core to a workload.
    pub(super) fn take(&mut self, core: u32, name: &str, path: &str) -> Result<(), Issue> {
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

    /// Returns the cores among `cores` that are on a socket with a drive of `jobs`.
    fn near(&self, cores: &[u32], jobs: &[FioJobSpec]) -> Vec<u32> {
        let socket = |firsts: &[u32], number: u32| firsts.partition_point(|&first| first <= number);
        let [of_cores, of_drives] = &self.firsts;
        let sockets: Vec<usize> =
            jobs.iter().flat_map(|job| job.ssd.numbers()).map(|&drive| socket(of_drives, drive)).collect();
        cores.iter().copied().filter(|&core| sockets.contains(&socket(of_cores, core))).collect()
    }

    /// Assigns the storage work of a workload to a core. A core does that work for at most one workload.
    pub(super) fn store(&mut self, core: u32, name: &str, path: &str) -> Result<(), Issue> {
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

    /// Returns the cores for those jobs of a fio workload that name none: its list, or the last free cores of the
    /// sockets of their drives.
    pub(super) fn of_fio(&mut self, name: &str, fio: &FioSpec, jobs: &[FioJobSpec]) -> Result<Vec<u32>, Issue> {
        if let Some(CoreList(cores)) = &fio.cores {
            return Ok(cores.clone());
        }
        if !fio_wants_cores(fio, jobs) {
            return Ok(Vec::new());
        }
        self.waiting -= 1;
        let free: Vec<u32> = (0..).zip(&self.owners).filter(|(_, own)| own.is_empty()).map(|(at, _)| at).collect();
        let near = self.near(&free, jobs);
        let free = if near.is_empty() { free } else { near };
        // One core stays for each workload that still waits for its own.
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

/// Returns true if a job of a fio workload needs a core that neither the job nor the workload names.
pub(super) fn fio_wants_cores(fio: &FioSpec, jobs: &[FioJobSpec]) -> bool {
    fio.cores.is_none() && jobs.iter().any(|job| job.core.is_none())
}
