//! What the counting units of a server have counted: what a file of hardware counters is made of.

use crate::read::crossed::{crossed, pairs, Crossed};
use crate::read::sample::{Group, Totals};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use hostnet_model::link::Upi;
use hostnet_model::memory::{Channel, Controller};
use hostnet_model::{cha, Machine, PartKind, PartName, UpiPool};
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

/// The units of one socket of several since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketUnit {
    /// Reads of cores in its CHAs, those of other sockets that are at home there among them.
    pub core_read: Pool,
    /// Write-backs of cores, likewise.
    pub core_write: Pool,
    /// Reads of devices, likewise.
    pub io_read: Pool,
    /// Writes of devices, likewise.
    pub io_write: Pool,
    /// The write buffer of its IIO.
    pub iio_write: Pool,
    /// The read buffer of its IIO.
    pub iio_read: Pool,
    /// Lines that its cores have asked its own memory for. What the kernel does for storage is not among them.
    pub local_reads: u64,
    /// Lines that its cores have asked other sockets for, likewise.
    pub remote_reads: u64,
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
    /// The sockets, if there are several.
    pub sockets: Vec<SocketUnit>,
    /// What they have sent to each other.
    pub crossed: Vec<Crossed>,
}

/// The pools of a group and a part, or of all parts, whose books are `wanted`.
fn sum(machine: &Machine, group: Group, part: Option<u32>, wanted: &dyn Fn(usize) -> bool) -> Pool {
    let mut sum = Pool::default();
    machine.pools(|name, pool| {
        if pool.group == group && part.is_none_or(|part| part == name.number) {
            let Pool { area_ps, lines, .. } = Pool::of(pool.domain, 0, wanted);
            sum.area_ps += area_ps;
            sum.lines += lines;
        }
    });
    sum
}

fn is_of_cores(book: usize) -> bool {
    book % cha::BOOKS == 0
}

fn is_of_devices(book: usize) -> bool {
    book % cha::BOOKS == 1
}

impl SocketUnit {
    fn of(machine: &Machine, socket: u32) -> Self {
        let of = |group, wanted: &dyn Fn(usize) -> bool| sum(machine, group, Some(socket), wanted);
        Self {
            core_read: of(Group::ChaRead, &is_of_cores),
            core_write: of(Group::ChaWrite, &is_of_cores),
            io_read: of(Group::ChaRead, &is_of_devices),
            io_write: of(Group::ChaWrite, &is_of_devices),
            iio_write: of(Group::P2mWrite, &|_| true),
            iio_read: of(Group::P2mRead, &|_| true),
            local_reads: 0,
            remote_reads: 0,
        }
    }

    /// All sockets of a server.
    fn all(machine: &Machine, count: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..count as u32).map(|socket| Self::of(machine, socket)).collect();
        let lines = |group, part, book: usize| sum(machine, group, part, &|other| other == book).lines;
        let books = machine.each::<cha::Cha>().next().map_or(0, |cha| cha.read().classes().len());
        for class in 0..books / cha::BOOKS {
            let (of_cores, of_devices) = (class * cha::BOOKS, class * cha::BOOKS + 1);
            let groups = [Group::ChaRead, Group::ChaWrite, Group::ChaUpi];
            if groups.into_iter().any(|group| lines(group, None, of_devices) > 0) {
                continue;
            }
            for (asks, asked, requests) in asked(machine, count, class) {
                all[asks].remote_reads += requests;
                all[asked].local_reads = all[asked].local_reads.wrapping_sub(requests);
            }
            for (socket, unit) in all.iter_mut().enumerate() {
                let reads = lines(Group::ChaRead, Some(socket as u32), of_cores);
                unit.local_reads = unit.local_reads.wrapping_add(reads);
            }
        }
        // A request may have crossed that is not done at home.
        all.iter_mut().for_each(|unit| unit.local_reads = (unit.local_reads as i64).max(0) as u64);
        all
    }
}

/// Requests of a class that have ended: of which socket, to which, how many.
fn asked(machine: &Machine, sockets: usize, class: usize) -> Vec<(usize, usize, u64)> {
    let ways = pairs(sockets).zip(machine.each::<Upi>());
    ways.flat_map(|([one, other], upi)| {
        let requests = |end: usize| upi.credits(end, UpiPool::Request).classes()[class].residence().count();
        [(one.into(), other.into(), requests(0)), (other.into(), one.into(), requests(1))]
    })
    .collect()
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
        let of = |group, wanted: &dyn Fn(usize) -> bool| sum(machine, group, None, wanted);
        units.core_read = of(Group::ChaRead, &is_of_cores);
        units.core_write = of(Group::ChaWrite, &is_of_cores);
        units.io_read = of(Group::ChaRead, &is_of_devices);
        units.io_write = of(Group::ChaWrite, &is_of_devices);
        units.iio_write = of(Group::P2mWrite, &|_| true);
        units.iio_read = of(Group::P2mRead, &|_| true);
        let sockets = machine.each::<cha::Cha>().count();
        if sockets > 1 {
            units.sockets = SocketUnit::all(machine, sockets);
            units.crossed = crossed(machine, sockets);
        }
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

    /// Reads the units if an interval ends now; nothing of a machine that is elsewhere.
    pub(crate) fn stop_at(&mut self, machine: Option<&Machine>, now: Time) {
        if now == self.next {
            self.samples.extend(machine.map(|machine| Units::read(machine, self.window_start, now)));
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
