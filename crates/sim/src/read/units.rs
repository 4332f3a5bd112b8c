//! What the counting units of a server have counted: what a file of hardware counters is made of.

use crate::read::sample::{domains, Group, Totals};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use hostnet_model::memory::{Channel, Controller};
use hostnet_model::{cha, Machine, PartKind, PartName};
use serde::{Deserialize, Serialize};

/// A pool of entries since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// Entries times ps.
    pub area_ps: u64,
    /// Lines that gave their entry back.
    pub lines: u64,
    /// Time at or over the threshold of the counter in ps; of the LFB, time with every entry in use.
    pub full_ps: u64,
}

impl Pool {
    fn of(domain: &Domain, full_ps: u64, wanted: impl Fn(usize) -> bool) -> Self {
        let usages = domain.classes().iter().enumerate().filter(|(book, _)| wanted(*book));
        let mut totals = Totals::default();
        usages.for_each(|(_, usage)| totals.add(usage));
        Self { area_ps: totals.area_ps, lines: totals.lines, full_ps }
    }
}

/// A channel since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelUnit {
    /// Lines read from DRAM.
    pub reads: u64,
    /// Lines written to DRAM.
    pub writes: u64,
    /// Activations made for reads.
    pub read_activations: u64,
    /// Activations made for writes.
    pub write_activations: u64,
    /// Precharges because a read wanted another row.
    pub read_conflicts: u64,
    /// Precharges because a write wanted another row.
    pub write_conflicts: u64,
    /// Write major modes entered.
    pub write_modes: u64,
    /// The read pending queue.
    pub rpq: Pool,
    /// The write pending queue.
    pub wpq: Pool,
}

impl ChannelUnit {
    fn of(controller: &Controller, now: Time) -> Self {
        let counts = controller.counters(now);
        let queue = |domain: &Domain| Pool::of(domain, domain.over_threshold_ps(), |_| true);
        Self {
            reads: counts.reads.iter().sum(),
            writes: counts.writes.iter().sum(),
            read_activations: counts.read_activations,
            write_activations: counts.write_activations,
            read_conflicts: counts.read_conflicts,
            write_conflicts: counts.write_conflicts,
            write_modes: counts.write_modes,
            rpq: queue(controller.rpq()),
            wpq: queue(controller.wpq()),
        }
    }
}

/// The number of a core; those of other sockets follow those of this one.
fn core_number(name: PartName, cores: u32) -> u32 {
    match name.kind {
        PartKind::Remote => cores + name.number,
        _ => name.number,
    }
}

/// A busy core since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreUnit {
    /// Its number.
    pub core: u32,
    /// Its line fill buffers.
    pub lfb: Pool,
}

impl CoreUnit {
    fn of(core: u32, lfb: &Domain) -> Self {
        Self { core, lfb: Pool::of(lfb, lfb.full_ps(), |_| true) }
    }
}

/// Every unit of a server since the start of the window. Domains must have been settled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// Time since the start of the window in ps.
    pub at_ps: u64,
    /// The channels.
    pub channels: Vec<ChannelUnit>,
    /// The busy cores.
    pub cores: Vec<CoreUnit>,
    /// Reads of cores in the CHAs, all slices together.
    pub core_read: Pool,
    /// Write-backs of cores in the CHAs.
    pub core_write: Pool,
    /// Reads of devices in the CHAs.
    pub io_read: Pool,
    /// Writes of devices in the CHAs.
    pub io_write: Pool,
    /// The write buffer of the IIO.
    pub iio_write: Pool,
    /// The read buffer of the IIO.
    pub iio_read: Pool,
}

impl Units {
    fn read(machine: &Machine, window_start: Time, now: Time) -> Self {
        let mut units = Self { at_ps: now.since(window_start), ..Self::default() };
        let channels = machine.each::<Channel>();
        units.channels = channels.map(|channel| ChannelUnit::of(channel.controller(), now)).collect();
        let cores = machine.parts().filter(|(name, _)| name.kind == PartKind::Core).count() as u32;
        machine.pools(|name, pool| {
            if pool.group == Group::Lfb {
                units.cores.push(CoreUnit::of(core_number(name, cores), pool.domain));
            }
        });
        let sum = |group: Group, wanted: &dyn Fn(usize) -> bool| {
            let pools = domains(machine, group).into_iter().map(|(_, domain)| Pool::of(domain, 0, wanted));
            pools.fold(Pool::default(), |sum, pool| Pool {
                area_ps: sum.area_ps + pool.area_ps,
                lines: sum.lines + pool.lines,
                full_ps: 0,
            })
        };
        let (of_cores, of_devices) = (|book| book % cha::BOOKS == 0, |book| book % cha::BOOKS == 1);
        units.core_read = sum(Group::ChaRead, &of_cores);
        units.core_write = sum(Group::ChaWrite, &of_cores);
        units.io_read = sum(Group::ChaRead, &of_devices);
        units.io_write = sum(Group::ChaWrite, &of_devices);
        units.iio_write = sum(Group::P2mWrite, &|_| true);
        units.iio_read = sum(Group::P2mRead, &|_| true);
        units
    }
}

/// Reads the units at the end of every interval of a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recorder {
    window_start: Time,
    next: Time,
    step_ps: u64,
    samples: Vec<Units>,
}

impl Recorder {
    /// A recorder that has nothing to do.
    pub(crate) fn idle() -> Self {
        Self { window_start: Time::ZERO, next: Time::MAX, step_ps: 0, samples: Vec::new() }
    }

    /// Begins at `now`, with an interval of `step_ps`, or never when that is 0.
    pub(crate) fn start(&mut self, now: Time, step_ps: u64) {
        self.window_start = now;
        self.step_ps = step_ps;
        self.next = if step_ps > 0 { now.saturating_add(step_ps) } else { Time::MAX };
    }

    /// The end of the current interval.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Reads the units if an interval ends now.
    pub(crate) fn stop_at(&mut self, machine: &Machine, now: Time) {
        if now == self.next {
            self.samples.push(Units::read(machine, self.window_start, now));
            self.next = now.saturating_add(self.step_ps);
        }
    }

    /// The readings so far, the last one of now. Nothing without an interval, or before the window begins.
    pub(crate) fn finish(&self, machine: &Machine, now: Time) -> Option<Vec<Units>> {
        if self.step_ps == 0 {
            return None;
        }
        let mut samples = self.samples.clone();
        let at_ps = now.since(self.window_start);
        if samples.last().map_or(0, |last| last.at_ps) < at_ps {
            samples.push(Units::read(machine, self.window_start, now));
        }
        Some(samples)
    }
}
