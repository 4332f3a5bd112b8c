//! What a machine has done so far, read off its domains and counters.

pub use hostnet_model::Group;

use hostnet_kernel::Time;
use hostnet_measure::{Domain, Histogram, Usage};
use hostnet_model::cache::{Caches, ClassCounts};
use hostnet_model::core::Executor;
use hostnet_model::memory::Channel;
use hostnet_model::nvme::Ssd;
use hostnet_model::Machine;
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// Settles every domain and level at `now`, so that areas and means speak of this moment.
pub fn settle(machine: &mut Machine, now: Time) {
    machine.settle(now);
}

/// Starts a new measuring window at `now`.
pub fn reset(machine: &mut Machine, now: Time) {
    machine.reset(now);
}

/// As [`settle`], for any partition.
pub fn settle_world(world: &mut World, now: Time) {
    match world {
        World::Server(machine) => machine.settle(now),
        World::Fabric(fabric) => fabric.settle(now),
        World::Remote => {}
    }
}

/// As [`reset`], for any partition.
pub fn reset_world(world: &mut World, now: Time) {
    match world {
        World::Server(machine) => machine.reset(now),
        World::Fabric(fabric) => fabric.reset(now),
        World::Remote => {}
    }
}

/// The domains of one group: the part that each belongs to, and the domain.
#[must_use]
pub fn domains(machine: &Machine, group: Group) -> Vec<(String, &Domain)> {
    let mut found = Vec::new();
    machine.pools(|part, pool| {
        if pool.group == group {
            found.push((part.to_string(), pool.domain));
        }
    });
    found
}

/// Running totals of one domain group and one workload since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Lines that gave their credit back.
    pub lines: u64,
    /// What they had held it for, in ps.
    pub residence_ps: u64,
    /// Credits times ps.
    pub area_ps: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.lines += usage.residence().count();
        self.residence_ps += usage.residence().sum() as u64;
        self.area_ps += usage.area_ps();
    }
}

/// Running totals of a machine since the start of the window. Domains must have been settled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When it was taken.
    pub at: Time,
    /// Per group, per workload.
    pub totals: Vec<Vec<Totals>>,
    /// Per group: ps at or over the counter's threshold, summed over the domains of the group.
    pub over_threshold_ps: Vec<u64>,
    /// Per workload: bytes that its application has moved.
    pub app_bytes: Vec<u64>,
    /// Lines read from DRAM.
    pub lines_read: u64,
    /// Activations made for reads.
    pub read_activations: u64,
    /// Per core, by its number: operations of its application that have ended.
    pub operations: Vec<u64>,
    /// Per workload: what the caches did; nothing without caches.
    pub caches: Vec<ClassCounts>,
}

impl Sample {
    /// A sample of a window in which nothing has happened.
    #[must_use]
    pub fn read_empty(classes: usize) -> Self {
        Self {
            at: Time::ZERO,
            totals: vec![vec![Totals::default(); classes]; Group::ALL.len()],
            over_threshold_ps: vec![0; Group::ALL.len()],
            app_bytes: vec![0; classes],
            lines_read: 0,
            read_activations: 0,
            operations: Vec::new(),
            caches: Vec::new(),
        }
    }

    /// Reads a machine with `classes` workloads.
    #[must_use]
    pub fn read(machine: &Machine, classes: usize, now: Time) -> Self {
        let mut sample = Self { at: now, ..Self::read_empty(classes) };
        machine.pools(|_, pool| {
            let index = pool.group as usize;
            sample.over_threshold_ps[index] += pool.domain.over_threshold_ps();
            for (class, totals) in sample.totals[index].iter_mut().enumerate() {
                pool.group.usages(pool.domain, Some(class)).for_each(|usage| totals.add(usage));
            }
        });
        sample.count(machine, now);
        sample
    }

    fn count(&mut self, machine: &Machine, now: Time) {
        for counts in machine.caches().map(Caches::counts) {
            self.caches.resize(counts.classes().len(), ClassCounts::default());
            self.caches.iter_mut().zip(counts.classes()).for_each(|(sum, of_socket)| *sum = sum.plus(of_socket));
        }
        for core in machine.engines::<Executor>() {
            let place = self.place(core.index(), core.class());
            self.operations.resize(self.operations.len().max(place + 1), 0);
            self.operations[place] = core.operations().0;
        }
        for channel in machine.each::<Channel>() {
            let counters = channel.controller().counters(now);
            self.lines_read += counters.reads.iter().sum::<u64>();
            self.read_activations += counters.read_activations;
        }
        for drive in machine.each::<Ssd>() {
            for (bytes, service) in self.app_bytes.iter_mut().zip(drive.services()) {
                *bytes += service.bytes;
            }
        }
    }

    /// Totals of one group and workload.
    #[must_use]
    pub fn of(&self, group: Group, class: usize) -> Totals {
        self.totals[group as usize][class]
    }

    /// Where the operations of a workload on a core are counted.
    fn place(&self, core: u32, class: u8) -> usize {
        core as usize * self.app_bytes.len() + usize::from(class)
    }

    /// Operations of a workload that have ended on some cores.
    #[must_use]
    pub fn operations(&self, class: usize, cores: &[u32]) -> u64 {
        cores.iter().filter_map(|&core| self.operations.get(self.place(core, class as u8))).sum()
    }

    /// What the caches did for a workload; nothing without caches.
    #[must_use]
    pub fn cached(&self, class: usize) -> ClassCounts {
        self.caches.get(class).copied().unwrap_or_default()
    }

    /// What the caches did for all workloads together.
    #[must_use]
    pub fn cached_in_all(&self) -> ClassCounts {
        self.caches.iter().fold(ClassCounts::default(), |sum, counts| sum.plus(counts))
    }

    /// All that moves on while a machine is not stuck: lines, operations, and accesses that a cache may serve.
    #[must_use]
    pub fn progress(&self) -> u64 {
        let ended: u64 = self.operations.iter().sum();
        let looked: u64 = self.caches.iter().map(|counts| counts.l2_lookups).sum();
        self.lines() + ended + looked
    }

    /// Lines of a workload that have passed some groups. A prefetched line that an access came to wait for on its way
    /// has passed C2M-Read, and is not counted again.
    #[must_use]
    pub fn moved(&self, groups: &[Group], class: usize) -> u64 {
        let lines = |&group: &Group| match group {
            Group::Prefetch => self.cached(class).prefetch_filled,
            _ => self.of(group, class).lines,
        };
        groups.iter().map(lines).sum()
    }

    /// Lines that have passed any of the four domains, or were prefetched.
    #[must_use]
    pub fn lines(&self) -> u64 {
        let domains = [Group::C2mRead, Group::C2mWrite, Group::P2mWrite, Group::P2mRead];
        let passed = domains.iter().flat_map(|&group| &self.totals[group as usize]).map(|totals| totals.lines);
        passed.sum::<u64>() + self.cached_in_all().prefetch_filled
    }
}

/// All residences of one group, of one workload or of all.
#[must_use]
pub fn residences(machine: &Machine, group: Group, class: Option<usize>) -> Histogram {
    let mut merged = Histogram::default();
    for (_, domain) in domains(machine, group) {
        group.usages(domain, class).for_each(|usage| merged.merge(usage.residence()));
    }
    merged
}

/// Lines of a workload per batch, in the domains that it is measured by.
pub(crate) fn batch_lines(samples: &[Sample], class: usize) -> Vec<f64> {
    differences(samples, |sample| {
        let own = Group::ALL[..4].iter().map(|&group| sample.of(group, class).lines);
        own.sum::<u64>() as f64
    })
}

/// What a running total grew by in each batch.
pub(crate) fn differences(samples: &[Sample], total: impl Fn(&Sample) -> f64) -> Vec<f64> {
    let mut before = 0.0;
    samples
        .iter()
        .map(|sample| {
            let now = total(sample);
            let grown = now - before;
            before = now;
            grown
        })
        .collect()
}
