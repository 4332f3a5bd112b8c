//! Counts of the counting units of a server, as files of hardware counters hold them.

use crate::read::crossed::{crossed, socket_pairs, UpiTraffic};
use crate::read::sample::{DomainTotals, PoolGroup};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use hostnet_model::link::Upi;
use hostnet_model::memory::{Channel, Controller};
use hostnet_model::{cha, Machine, PartKind, PartName, UpiPool};
use serde::{Deserialize, Serialize};

/// Counters of a pool of entries since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolUnit {
    /// Entries in use times time, in entries x ps.
    pub area_ps: u64,
    /// Lines that returned their entry.
    pub lines: u64,
    /// Time at or over the threshold of the counter, in ps; of the LFB, time with every entry in use.
    pub full_ps: u64,
}

impl PoolUnit {
    fn of(domain: &Domain, full_ps: u64, wanted: impl Fn(usize) -> bool) -> Self {
        let usages = domain.classes().iter().enumerate().filter(|(book, _)| wanted(*book));
        let mut totals = DomainTotals::default();
        usages.for_each(|(_, usage)| totals.add(usage));
        Self { area_ps: totals.area_ps, lines: totals.lines, full_ps }
    }
}

/// Counters of a memory channel since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelUnit {
    /// Lines read from DRAM.
    pub reads: u64,
    /// Lines written to DRAM.
    pub writes: u64,
    /// Row activations made for reads.
    pub read_activations: u64,
    /// Row activations made for writes.
    pub write_activations: u64,
    /// Precharges due to row conflicts of reads.
    pub read_conflicts: u64,
    /// Precharges due to row conflicts of writes.
    pub write_conflicts: u64,
    /// Entries into the write major mode.
    pub write_modes: u64,
    /// Read pending queue.
    pub rpq: PoolUnit,
    /// Write pending queue.
    pub wpq: PoolUnit,
}

impl ChannelUnit {
    fn of(controller: &Controller, now: Time) -> Self {
        let counts = controller.counters(now);
        let queue = |domain: &Domain| PoolUnit::of(domain, domain.over_threshold_ps(), |_| true);
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

/// Returns the number of a core. Cores of sockets that are not described are numbered after those of the server.
fn core_number(name: PartName, cores: u32) -> u32 {
    match name.kind {
        PartKind::Remote => cores + name.number,
        _ => name.number,
    }
}

/// Counters of a busy core since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreUnit {
    /// Number of the core.
    pub core: u32,
    /// Line fill buffer of the core.
    pub lfb: PoolUnit,
}

impl CoreUnit {
    fn of(core: u32, lfb: &Domain) -> Self {
        Self { core, lfb: PoolUnit::of(lfb, lfb.full_ps(), |_| true) }
    }
}

/// Counters of one socket of several since the start of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketUnit {
    /// Core reads in the CHAs of the socket, including those of remote sockets to lines homed here.
    pub core_read: PoolUnit,
    /// Core write-backs in the CHAs of the socket, including those of remote sockets.
    pub core_write: PoolUnit,
    /// Device reads in the CHAs of the socket, including those of remote sockets.
    pub io_read: PoolUnit,
    /// Device writes in the CHAs of the socket, including those of remote sockets.
    pub io_write: PoolUnit,
    /// Write buffer of the IIO.
    pub iio_write: PoolUnit,
    /// Read buffer of the IIO.
    pub iio_read: PoolUnit,
    /// Reads of the socket's cores from local memory. Kernel work of storage is not included.
    pub local_reads: u64,
    /// Reads of the socket's cores from remote memory. Kernel work of storage is not included.
    pub remote_reads: u64,
}

/// Counters of every unit of a server since the start of the window. The domains must have been settled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// Time since the start of the window, in ps.
    pub at_ps: u64,
    /// Memory channels.
    pub channels: Vec<ChannelUnit>,
    /// Busy cores.
    pub cores: Vec<CoreUnit>,
    /// Core reads in the CHAs, summed over all slices.
    pub core_read: PoolUnit,
    /// Core write-backs in the CHAs.
    pub core_write: PoolUnit,
    /// Device reads in the CHAs.
    pub io_read: PoolUnit,
    /// Device writes in the CHAs.
    pub io_write: PoolUnit,
    /// Write buffers of the IIOs.
    pub iio_write: PoolUnit,
    /// Read buffers of the IIOs.
    pub iio_read: PoolUnit,
    /// Counters of each socket, if there are several.
    pub sockets: Vec<SocketUnit>,
    /// UPI traffic between the sockets, if there are several.
    pub crossed: Vec<UpiTraffic>,
}

/// Sums the pools of `group` at the part with number `part`, or at all parts if `None`, over the accounts for which
/// `wanted` is true.
fn sum(machine: &Machine, group: PoolGroup, part: Option<u32>, wanted: &dyn Fn(usize) -> bool) -> PoolUnit {
    let mut sum = PoolUnit::default();
    machine.pools(|name, pool| {
        if pool.group == group && part.is_none_or(|part| part == name.number) {
            let PoolUnit { area_ps, lines, .. } = PoolUnit::of(pool.domain, 0, wanted);
            sum.area_ps += area_ps;
            sum.lines += lines;
        }
    });
    sum
}

fn is_of_cores(book: usize) -> bool {
    // The CHA keeps separate accounts of a workload: cores first, then devices.
    book % cha::CHA_CLASSES_PER_WORKLOAD == 0
}

fn is_of_devices(book: usize) -> bool {
    book % cha::CHA_CLASSES_PER_WORKLOAD == 1
}

impl SocketUnit {
    fn of(machine: &Machine, socket: u32) -> Self {
        let of = |group, wanted: &dyn Fn(usize) -> bool| sum(machine, group, Some(socket), wanted);
        Self {
            core_read: of(PoolGroup::ChaRead, &is_of_cores),
            core_write: of(PoolGroup::ChaWrite, &is_of_cores),
            io_read: of(PoolGroup::ChaRead, &is_of_devices),
            io_write: of(PoolGroup::ChaWrite, &is_of_devices),
            iio_write: of(PoolGroup::P2mWrite, &|_| true),
            iio_read: of(PoolGroup::P2mRead, &|_| true),
            local_reads: 0,
            remote_reads: 0,
        }
    }

    /// Returns the counters of all sockets of a server.
    fn all(machine: &Machine, count: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..count as u32).map(|socket| Self::of(machine, socket)).collect();
        let lines = |group, part, book: usize| sum(machine, group, part, &|other| other == book).lines;
        let stats = machine.each::<cha::Cha>().next().map_or(0, |cha| cha.read().classes().len());
        for class in 0..stats / cha::CHA_CLASSES_PER_WORKLOAD {
            let (of_cores, of_devices) =
                (class * cha::CHA_CLASSES_PER_WORKLOAD, class * cha::CHA_CLASSES_PER_WORKLOAD + 1);
            let groups = [PoolGroup::ChaRead, PoolGroup::ChaWrite, PoolGroup::ChaUpi];
            // UPI counts the requests of a class for cores and devices together, so classes with device traffic are
            // left out.
            if groups.into_iter().any(|group| lines(group, None, of_devices) > 0) {
                continue;
            }
            for (asks, asked, requests) in asked(machine, count, class) {
                all[asks].remote_reads += requests;
                all[asked].local_reads = all[asked].local_reads.wrapping_sub(requests);
            }
            for (socket, unit) in all.iter_mut().enumerate() {
                let reads = lines(PoolGroup::ChaRead, Some(socket as u32), of_cores);
                // Reads by remote sockets were subtracted first, so the value may have wrapped below 0.
                unit.local_reads = unit.local_reads.wrapping_add(reads);
            }
        }
        // UPI counts a request before its read finishes at the home CHA, so the difference can be below 0.
        all.iter_mut().for_each(|unit| unit.local_reads = (unit.local_reads as i64).max(0) as u64);
        all
    }
}

/// Counts the UPI requests of a class that returned their credit, as (requesting socket, home socket, requests).
fn asked(machine: &Machine, sockets: usize, class: usize) -> Vec<(usize, usize, u64)> {
    let ways = socket_pairs(sockets).zip(machine.each::<Upi>());
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
            if pool.group == PoolGroup::Lfb {
                units.cores.push(CoreUnit::of(core_number(name, cores), pool.domain));
            }
        });
        let of = |group, wanted: &dyn Fn(usize) -> bool| sum(machine, group, None, wanted);
        units.core_read = of(PoolGroup::ChaRead, &is_of_cores);
        units.core_write = of(PoolGroup::ChaWrite, &is_of_cores);
        units.io_read = of(PoolGroup::ChaRead, &is_of_devices);
        units.io_write = of(PoolGroup::ChaWrite, &is_of_devices);
        units.iio_write = of(PoolGroup::P2mWrite, &|_| true);
        units.iio_read = of(PoolGroup::P2mRead, &|_| true);
        let sockets = machine.each::<cha::Cha>().count();
        // A single socket would repeat the sums of the server.
        if sockets > 1 {
            units.sockets = SocketUnit::all(machine, sockets);
            units.crossed = crossed(machine, sockets);
        }
        units
    }
}

/// Reads the counting units at the end of every interval of a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitRecorder {
    window_start: Time,
    next: Time,
    step_ps: u64,
    samples: Vec<Units>,
}

impl UnitRecorder {
    /// Creates a recorder that never reads.
    pub(crate) fn idle() -> Self {
        Self { window_start: Time::ZERO, next: Time::MAX, step_ps: 0, samples: Vec::new() }
    }

    /// Starts the window at `now` with an interval of `step_ps`. With an interval of 0 it never reads.
    pub(crate) fn start(&mut self, now: Time, step_ps: u64) {
        self.window_start = now;
        self.step_ps = step_ps;
        self.next = if step_ps > 0 { now.saturating_add(step_ps) } else { Time::MAX };
    }

    /// Returns the end of the current interval.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Reads the units if an interval ends at `now`. Does nothing if another process simulates the machine.
    pub(crate) fn read_at_end(&mut self, machine: Option<&Machine>, now: Time) {
        if now == self.next {
            self.samples.extend(machine.map(|machine| Units::read(machine, self.window_start, now)));
            self.next = now.saturating_add(self.step_ps);
        }
    }

    /// Returns the readings so far, the last one at `now`, or `None` without an interval or before the window begins.
    pub(crate) fn finish(&self, machine: &Machine, now: Time) -> Option<Vec<Units>> {
        if self.step_ps == 0 {
            return None;
        }
        let mut samples = self.samples.clone();
        // Another reading at the same time would add a row of zeros.
        let at_ps = now.since(self.window_start);
        if samples.last().map_or(0, |last| last.at_ps) < at_ps {
            samples.push(Units::read(machine, self.window_start, now));
        }
        Some(samples)
    }
}
