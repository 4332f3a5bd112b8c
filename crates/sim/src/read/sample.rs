//! Totals of a machine, read from its domains and counters.

pub use hostnet_model::PoolGroup;

use hostnet_kernel::Time;
use hostnet_measure::{Domain, Histogram, Usage};
use hostnet_model::cache::{Caches, ClassCounts};
use hostnet_model::core::Executor;
use hostnet_model::dma::Dma;
use hostnet_model::memory::Channel;
use hostnet_model::nvme::Ssd;
use hostnet_model::Machine;
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// Brings the statistics of every domain and level up to `now`, so that areas and means cover the time until `now`.
pub fn settle(machine: &mut Machine, now: Time) {
    machine.settle(now);
}

/// Starts a new measurement window at `now`.
pub fn reset(machine: &mut Machine, now: Time) {
    machine.reset(now);
}

/// Like [`settle`], but for any partition.
pub fn settle_world(world: &mut World, now: Time) {
    match world {
        World::Server(machine) => machine.settle(now),
        World::Fabric(fabric) => fabric.settle(now),
        World::Remote => {}
    }
}

/// Like [`reset`], but for any partition.
pub fn reset_world(world: &mut World, now: Time) {
    match world {
        World::Server(machine) => machine.reset(now),
        World::Fabric(fabric) => fabric.reset(now),
        World::Remote => {}
    }
}

/// Returns the domains of one group, each with the name of its part.
#[must_use]
pub fn domains(machine: &Machine, group: PoolGroup) -> Vec<(String, &Domain)> {
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
pub struct DomainTotals {
    /// Lines that returned their credit.
    pub lines: u64,
    /// Time for which the lines counted in `lines` held their credit, in ps.
    pub residence_ps: u64,
    /// Credits in use times time, in credits x ps.
    pub area_ps: u64,
}

impl DomainTotals {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.lines += usage.residence().count();
        self.residence_ps += usage.residence().sum() as u64;
        self.area_ps += usage.area_ps();
    }
}

/// Running totals of a machine since the start of the window. Its domains must have been settled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Time of the sample.
    pub at: Time,
    /// Totals per pool group and workload.
    pub totals: Vec<Vec<DomainTotals>>,
    /// Time at or over the counter's threshold per group, summed over the domains of the group, in ps.
    pub over_threshold_ps: Vec<u64>,
    /// Bytes that storage commands have moved, per workload.
    pub app_bytes: Vec<u64>,
    /// Storage commands whose latency was recorded, and the sum of these latencies in ps, per workload.
    pub commands: Vec<[u64; 2]>,
    /// Lines read from DRAM.
    pub lines_read: u64,
    /// Row activations made for reads.
    pub read_activations: u64,
    /// Operations of applications that have finished, per core and workload; see [`Sample::operations`].
    pub operations: Vec<u64>,
    /// Operations that clients requested and that have ended, and the sum of their latencies in ps, per workload.
    pub operation_times: Vec<[u64; 2]>,
    /// Cache counters per workload; empty without caches.
    pub caches: Vec<ClassCounts>,
}

impl Sample {
    /// Creates the sample of a window in which nothing has happened.
    #[must_use]
    pub fn read_empty(classes: usize) -> Self {
        Self {
            at: Time::ZERO,
            totals: vec![vec![DomainTotals::default(); classes]; PoolGroup::ALL.len()],
            over_threshold_ps: vec![0; PoolGroup::ALL.len()],
            app_bytes: vec![0; classes],
            commands: vec![[0; 2]; classes],
            lines_read: 0,
            read_activations: 0,
            operations: Vec::new(),
            operation_times: vec![[0; 2]; classes],
            caches: Vec::new(),
        }
    }

    /// Samples the counters of a machine that runs `classes` workloads.
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
            // Engines come by core, not by index, so the list grows as needed.
            self.operations.resize(self.operations.len().max(place + 1), 0);
            let (ended, latency) = core.operations();
            self.operations[place] = ended;
            let [count, sum] = &mut self.operation_times[usize::from(core.class())];
            *count += latency.count();
            *sum += latency.sum() as u64;
        }
        for channel in machine.each::<Channel>() {
            let counters = channel.controller().counters(now);
            self.lines_read += counters.reads.iter().sum::<u64>();
            self.read_activations += counters.read_activations;
        }
        let drives = machine.each::<Ssd>().map(Ssd::services);
        for services in drives.chain(machine.each::<Dma>().map(Dma::services)) {
            for ((bytes, [count, sum]), service) in self.app_bytes.iter_mut().zip(&mut self.commands).zip(services) {
                *bytes += service.bytes;
                *count += service.latency.count();
                *sum += service.latency.sum() as u64;
            }
        }
    }

    /// Returns the totals of one group and workload.
    #[must_use]
    pub fn of(&self, group: PoolGroup, class: usize) -> DomainTotals {
        self.totals[group as usize][class]
    }

    /// Returns the index into `operations` of a workload on a core.
    fn place(&self, core: u32, class: u8) -> usize {
        core as usize * self.app_bytes.len() + usize::from(class)
    }

    /// Returns the operations of a workload that have finished on `cores`.
    #[must_use]
    pub fn operations(&self, class: usize, cores: &[u32]) -> u64 {
        cores.iter().filter_map(|&core| self.operations.get(self.place(core, class as u8))).sum()
    }

    /// Returns the cache counters of a workload; all 0 without caches.
    #[must_use]
    pub fn cached(&self, class: usize) -> ClassCounts {
        self.caches.get(class).copied().unwrap_or_default()
    }

    /// Returns the sum of the cache counters of all workloads.
    #[must_use]
    pub fn total_cache_counts(&self) -> ClassCounts {
        self.caches.iter().fold(ClassCounts::default(), |sum, counts| sum.plus(counts))
    }

    /// Returns a number that grows as long as the machine is not stuck: lines, operations, and accesses that a cache
    /// may serve.
    #[must_use]
    pub fn progress(&self) -> u64 {
        let ended: u64 = self.operations.iter().sum();
        // Cores that hit in their caches move no line, but they make progress.
        let looked: u64 = self.caches.iter().map(|counts| counts.l2_lookups).sum();
        self.lines() + ended + looked
    }

    /// Returns the lines of a workload that have passed `groups`. A prefetched line that a demand access waited for
    /// has passed C2M-Read and is not counted again.
    #[must_use]
    pub fn moved(&self, groups: &[PoolGroup], class: usize) -> u64 {
        let lines = |&group: &PoolGroup| match group {
            PoolGroup::Prefetch => self.cached(class).prefetch_filled,
            _ => self.of(group, class).lines,
        };
        groups.iter().map(lines).sum()
    }

    /// Returns the lines that have passed any of the four domains, or were prefetched.
    #[must_use]
    pub fn lines(&self) -> u64 {
        let domains = [PoolGroup::C2mRead, PoolGroup::C2mWrite, PoolGroup::P2mWrite, PoolGroup::P2mRead];
        let passed = domains.iter().flat_map(|&group| &self.totals[group as usize]).map(|totals| totals.lines);
        passed.sum::<u64>() + self.total_cache_counts().prefetch_filled
    }
}

/// Returns the histogram of residences of one group, of one workload or of all.
#[must_use]
pub fn residences(machine: &Machine, group: PoolGroup, class: Option<usize>) -> Histogram {
    let mut merged = Histogram::default();
    for (_, domain) in domains(machine, group) {
        group.usages(domain, class).for_each(|usage| merged.merge(usage.residence()));
    }
    merged
}

/// Returns the lines of a workload per batch, in the four domains.
pub(crate) fn batch_lines(samples: &[Sample], class: usize) -> Vec<f64> {
    increases(samples, |sample| {
        // The first four groups are the four domains of the host network.
        let own = PoolGroup::ALL[..4].iter().map(|&group| sample.of(group, class).lines);
        own.sum::<u64>() as f64
    })
}

/// Returns the growth of a running total in each batch.
pub(crate) fn increases(samples: &[Sample], total: impl Fn(&Sample) -> f64) -> Vec<f64> {
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
