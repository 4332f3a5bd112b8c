//! What a machine has done so far, read off its domains and counters.

use hostnet_kernel::Time;
use hostnet_measure::{Domain, Histogram, Usage};
use hostnet_model::cache::{Caches, ClassCounts};
use hostnet_model::cha::{self, Cha};
use hostnet_model::upi::UpiPool;
use hostnet_model::{Component, Layout, Machine};
use serde::{Deserialize, Serialize};

/// The domains of a machine and its hops' queues, in the order of the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Reads of cores: LFB to DRAM and back.
    C2mRead,
    /// Write-backs of cores: LFB to CHA.
    C2mWrite,
    /// Writes of devices: IIO to the memory controller.
    P2mWrite,
    /// Reads of devices: IIO to DRAM and back.
    P2mRead,
    /// The line fill buffers.
    Lfb,
    /// The request buffers of the CHA.
    Tor,
    /// Reads between CHA and DRAM.
    ChaRead,
    /// Writes between CHA and memory controller.
    ChaWrite,
    /// The read pending queues.
    Rpq,
    /// The write pending queues.
    Wpq,
    /// Posted credits of the PCIe links.
    Posted,
    /// Lines that devices have asked for.
    NonPosted,
    /// Lines on their way to an L2 for its prefetchers.
    Prefetch,
    /// Reads on their way to the CHA of another socket.
    UpiRequest,
    /// Write-backs on their way to the CHA of another socket.
    UpiWriteBack,
    /// Data on its way to a core of another socket.
    UpiData,
    /// Acknowledgements on their way to a core of another socket.
    UpiAnswer,
}

impl Group {
    /// Every group.
    pub const ALL: [Self; 17] = [
        Self::C2mRead,
        Self::C2mWrite,
        Self::P2mWrite,
        Self::P2mRead,
        Self::Lfb,
        Self::Tor,
        Self::ChaRead,
        Self::ChaWrite,
        Self::Rpq,
        Self::Wpq,
        Self::Posted,
        Self::NonPosted,
        Self::Prefetch,
        Self::UpiRequest,
        Self::UpiWriteBack,
        Self::UpiData,
        Self::UpiAnswer,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C2mRead => "C2M-Read",
            Self::C2mWrite => "C2M-Write",
            Self::P2mWrite => "P2M-Write",
            Self::P2mRead => "P2M-Read",
            Self::Lfb => "LFB",
            Self::Tor => "CHA TOR",
            Self::ChaRead => "CHA->DRAM read",
            Self::ChaWrite => "CHA->MC write",
            Self::Rpq => "RPQ",
            Self::Wpq => "WPQ",
            Self::Posted => "PCIe posted",
            Self::NonPosted => "PCIe non-posted",
            Self::Prefetch => "L2 prefetch",
            Self::UpiRequest => "UPI request",
            Self::UpiWriteBack => "UPI write-back",
            Self::UpiData => "UPI data",
            Self::UpiAnswer => "UPI answer",
        }
    }

    /// Classes that its domains keep per workload.
    fn books(self) -> usize {
        match self {
            Self::Tor | Self::ChaRead | Self::ChaWrite => cha::BOOKS,
            _ => 1,
        }
    }

    /// What the workload `class`, or each of them, made of a domain of the group.
    pub fn usages(self, domain: &Domain, class: Option<usize>) -> impl Iterator<Item = &Usage> {
        let usages = domain.classes().iter().enumerate();
        usages.filter(move |(book, _)| class.is_none_or(|class| class == book / self.books())).map(|(_, usage)| usage)
    }

    /// The pool that it shares its credits with, or nothing.
    #[must_use]
    pub fn shares_with(self) -> &'static str {
        match self {
            Self::C2mRead | Self::C2mWrite => "LFB",
            Self::ChaRead | Self::ChaWrite => "CHA TOR",
            _ => "",
        }
    }
}

/// The domains of one group: the part that each belongs to, and the domain.
#[must_use]
pub fn domains(machine: &Machine, group: Group) -> Vec<(String, &Domain)> {
    let layout = machine.layout();
    let parts = machine.components().iter().enumerate();
    parts.filter_map(|(index, component)| domain_of(component, group, layout.core + index as u32, machine)).collect()
}

fn domain_of<'a>(component: &'a Component, group: Group, id: u32, machine: &Machine) -> Option<(String, &'a Domain)> {
    let layout = machine.layout();
    match (component, group) {
        (Component::Core(core), Group::C2mRead | Group::C2mWrite | Group::Lfb) if core.is_busy() => {
            let domain = match group {
                Group::C2mRead => core.read(),
                Group::C2mWrite => core.write(),
                _ => core.lfb(),
            };
            Some((core_name(&layout, id), domain))
        }
        (Component::CachedCore(core), Group::C2mRead | Group::C2mWrite | Group::Lfb | Group::Prefetch)
            if core.is_busy() =>
        {
            let domain = match group {
                Group::C2mRead => core.read(),
                Group::C2mWrite => core.write(),
                Group::Prefetch => core.prefetch(),
                _ => core.lfb(),
            };
            Some((format!("core {}", id - layout.core), domain))
        }
        (Component::NetCore(core), Group::C2mRead | Group::C2mWrite | Group::Lfb) => {
            let domain = match group {
                Group::C2mRead => core.read(),
                Group::C2mWrite => core.write(),
                _ => core.lfb(),
            };
            Some((format!("core {}", id - layout.core), domain))
        }
        (Component::Cha(cha), Group::Tor) => Some(("cha".to_owned(), cha.tor())),
        (Component::Cha(cha), Group::ChaRead) => Some(("cha".to_owned(), cha.read())),
        (Component::Cha(cha), Group::ChaWrite) => Some(("cha".to_owned(), cha.write())),
        (Component::Channel(channel), Group::Rpq) => {
            Some((format!("channel {}", id - layout.channel), channel.controller().rpq()))
        }
        (Component::Channel(channel), Group::Wpq) => {
            Some((format!("channel {}", id - layout.channel), channel.controller().wpq()))
        }
        (Component::Iio(iio), Group::P2mWrite) => Some(("iio".to_owned(), iio.write())),
        (Component::Iio(iio), Group::P2mRead) => Some(("iio".to_owned(), iio.read())),
        (Component::Ssd(ssd), Group::Posted) => Some((format!("ssd {}", id - layout.ssd), ssd.posted())),
        (Component::Ssd(ssd), Group::NonPosted) => Some((format!("ssd {}", id - layout.ssd), ssd.nonposted())),
        (Component::Nic(nic), Group::Posted) => Some(("nic".to_owned(), nic.posted())),
        (Component::Nic(nic), Group::NonPosted) => Some(("nic".to_owned(), nic.nonposted())),
        (Component::Upi(upi), Group::UpiRequest | Group::UpiWriteBack | Group::UpiData | Group::UpiAnswer) => {
            let pool = match group {
                Group::UpiRequest => UpiPool::Request,
                Group::UpiWriteBack => UpiPool::WriteBack,
                Group::UpiData => UpiPool::Data,
                _ => UpiPool::Answer,
            };
            Some((format!("upi {}", id - layout.upi), upi.credits(pool)))
        }
        _ => None,
    }
}

/// What a core is called in reports; those of other sockets are numbered by themselves.
fn core_name(layout: &Layout, id: u32) -> String {
    if id >= layout.remote {
        format!("remote {}", id - layout.remote)
    } else {
        format!("core {}", id - layout.core)
    }
}

/// Settles every domain and level at `now`, so that areas and means speak of this moment.
pub fn settle(machine: &mut Machine, now: Time) {
    for_each_domain(machine, |domain| domain.settle_all(now));
    for_each_cha(machine, |cha| cha.settle(now));
    for component in machine.components_mut() {
        match component {
            Component::Nic(nic) => nic.settle(now),
            Component::Control(control) => control.settle(now),
            _ => {}
        }
    }
    if let Some(memory) = machine.fluid_mut() {
        memory.settle(now);
    }
}

/// Starts a new measuring window at `now`.
pub fn reset(machine: &mut Machine, now: Time) {
    for_each_domain(machine, |domain| domain.reset(now));
    for_each_cha(machine, |cha| cha.reset(now));
    for component in machine.components_mut() {
        match component {
            Component::Channel(channel) => channel.controller_mut().reset_counters(now),
            Component::Ssd(ssd) => ssd.reset_services(),
            Component::CachedCore(core) => core.reset_operations(),
            Component::NetCore(core) => core.reset(now),
            Component::Nic(nic) => nic.reset(now),
            Component::Control(control) => control.reset(now),
            _ => {}
        }
    }
    if let Some(caches) = machine.caches_mut() {
        caches.reset_counts();
    }
    if let Some(memory) = machine.fluid_mut() {
        memory.reset(now);
    }
}

fn for_each_cha(machine: &mut Machine, mut action: impl FnMut(&mut Cha)) {
    for component in machine.components_mut() {
        if let Component::Cha(cha) = component {
            action(cha);
        }
    }
}

/// Every domain but those of the CHAs, which depend on each other.
fn for_each_domain(machine: &mut Machine, mut action: impl FnMut(&mut Domain)) {
    for component in machine.components_mut() {
        match component {
            Component::Core(core) => core.domains_mut().into_iter().for_each(&mut action),
            Component::CachedCore(core) => core.domains_mut().into_iter().for_each(&mut action),
            Component::NetCore(core) => core.domains_mut().into_iter().for_each(&mut action),
            Component::Cha(_) => {}
            Component::Channel(channel) => channel.controller_mut().domains_mut().into_iter().for_each(&mut action),
            Component::Iio(iio) => iio.domains_mut().into_iter().for_each(&mut action),
            Component::Ssd(ssd) => ssd.domains_mut().into_iter().for_each(&mut action),
            Component::Nic(nic) => nic.domains_mut().into_iter().for_each(&mut action),
            Component::Upi(upi) => upi.domains_mut().into_iter().for_each(&mut action),
            Component::Control(_) | Component::Fluid => {}
            Component::Probe(probe) => probe.domains_mut().into_iter().for_each(&mut action),
        }
    }
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
    /// Per core with caches: operations of its application that have ended.
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
        for (index, group) in Group::ALL.into_iter().enumerate() {
            for (_, domain) in domains(machine, group) {
                sample.over_threshold_ps[index] += domain.over_threshold_ps();
                for (class, totals) in sample.totals[index].iter_mut().enumerate() {
                    group.usages(domain, Some(class)).for_each(|usage| totals.add(usage));
                }
            }
        }
        sample.count(machine, now);
        sample
    }

    fn count(&mut self, machine: &Machine, now: Time) {
        self.caches = machine.caches().map(Caches::counts).map_or_else(Vec::new, |counts| counts.classes().to_vec());
        for component in machine.components() {
            match component {
                Component::CachedCore(core) => {
                    self.operations.push(core.operations().0);
                }
                Component::Channel(channel) => {
                    let counters = channel.controller().counters(now);
                    self.lines_read += counters.reads.iter().sum::<u64>();
                    self.read_activations += counters.read_activations;
                }
                Component::Ssd(ssd) => {
                    for (bytes, service) in self.app_bytes.iter_mut().zip(ssd.services()) {
                        *bytes += service.bytes;
                    }
                }
                _ => {}
            }
        }
    }

    /// Totals of one group and workload.
    #[must_use]
    pub fn of(&self, group: Group, class: usize) -> Totals {
        self.totals[group as usize][class]
    }

    /// Operations that have ended on some cores.
    #[must_use]
    pub fn operations(&self, cores: &[u32]) -> u64 {
        cores.iter().filter_map(|&core| self.operations.get(core as usize)).sum()
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

    /// Lines of a workload that have passed some groups. A prefetched line that an access came to wait for on its way has passed
    /// C2M-Read, and is not counted again.
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
