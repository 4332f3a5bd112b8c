//! Fluid model of a memory system: rates instead of lines, with the IIO in front of it.
//!
//! Devices write in order, at the current rate of the memory; a copy proceeds at the current rate of the memory. Both
//! rates depend on the number of cores that copy, on what is throttled, and on how much devices write. The rates are
//! measured on the same server simulated line by line (see [`FluidParams`]).
//!
//! A write leaves the IIO when the previous write has left and the memory has had time for it, and not before the
//! residence time of a line is over. Its last line enters when an entry is free for it. Both times are known as soon
//! as the write arrives.

mod counters;
mod probe;
#[cfg(test)]
mod tests;
mod writes_in_flight;

pub use counters::FluidCounts;
pub use probe::{lines_of, Copier, Feeder, Probe};

use crate::link::Lane;
use crate::params::{FluidParams, FluidPoint, PcieParams, FLUID_SHARES};
use crate::part::{Context, CopyRates, IioCounter, Part, PartKind, Payload, TlpTag};
use counters::{FluidCounters, LINE};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use writes_in_flight::WritesInFlight;

/// Picoseconds per second.
const PS_PER_S: u128 = 1_000_000_000_000;
/// Averaging time of the rate at which devices write, in ps: several packets long, and less than transports need to
/// react.
const MEMORY_PS: u64 = 4_000_000;
/// Interval at which rates are updated while that average fades, in ps.
const FADE_PS: u64 = MEMORY_PS / 8;

/// Meaning of a throttle for the state of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Throttling {
    /// Every message throttles one more remote socket, or one less.
    Sockets,
    /// The delay grows up to a maximum in steps: one for each level between none and the stop.
    Local {
        /// Delay at the highest level, in ps.
        most_ps: u32,
    },
}

/// Parameters of a fluid memory.
#[derive(Clone, Debug)]
pub struct FluidSetup {
    /// Rates of the memory.
    pub params: FluidParams,
    /// NIC that reads and writes.
    pub device: ComponentId,
    /// Link of the NIC.
    pub pcie: PcieParams,
    /// Period of the IIO clock that accumulates occupancy, in ps.
    pub clock_ps: u64,
    /// Meaning of a throttle.
    pub throttling: Throttling,
    /// Cores of the socket.
    pub cores: u32,
    /// Classes of traffic.
    pub classes: usize,
}

/// Memory system as rates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FluidMemory {
    params: FluidParams,
    device: ComponentId,
    clock_ps: u64,
    latency_ps: u64,
    throttling: Throttling,
    /// Throttled sockets, or the level of a local throttle.
    throttled: u32,
    /// Stops of processes that are in effect.
    halted: u32,
    /// By core: end of the current copy of the core.
    copying_until: Vec<Time>,
    writes_in_flight: WritesInFlight,
    /// Moving average of the rate at which devices write, as a share of the drain rate in units of 2^-16.
    share: u32,
    /// Time of the last update of that average.
    share_at: Time,
    down: Lane,
    /// Time at which the last device read ends.
    reads_end: Time,
    /// Time since which the traffic of workloads that are not simulated has had its current rate.
    steady_since: Time,
    counters: FluidCounters,
}

impl FluidMemory {
    /// Creates an idle memory.
    ///
    /// # Panics
    /// Panics if there are no rates.
    #[must_use]
    pub fn new(setup: FluidSetup) -> Self {
        let FluidSetup { params, device, pcie, clock_ps, throttling, cores, classes } = setup;
        assert!(
            params.holds.iter().all(|hold| !hold.copying.is_empty()) && !params.holds.is_empty(),
            "there are rates"
        );
        let payload = u64::from(pcie.mps_bytes);
        // The overhead of completions is taken off the rate, because the lane sends their payload only.
        let bytes_per_s = pcie.bytes_per_s * payload / (payload + u64::from(pcie.completion_overhead_bytes));
        Self {
            writes_in_flight: WritesInFlight::new(),
            down: Lane::new(&PcieParams { bytes_per_s, ..pcie.clone() }),
            params,
            device,
            clock_ps: clock_ps.max(1),
            latency_ps: pcie.latency_ps.max(1),
            throttling,
            throttled: 0,
            halted: 0,
            copying_until: vec![Time::ZERO; cores as usize],
            share: 0,
            share_at: Time::ZERO,
            reads_end: Time::ZERO,
            steady_since: Time::ZERO,
            counters: FluidCounters::new(classes),
        }
    }

    /// Returns the counts since the last reset, up to `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> FluidCounts {
        self.counters.counts(self.writes_in_flight.area(now))
    }

    /// Returns the time until which the rates as of `from` hold if nothing arrives: until a copy ends, or the share
    /// has faded by a step.
    fn steady_until(&self, from: Time) -> Time {
        let copying_end = self.copying_until.iter().copied().filter(|&until| until > from).min().unwrap_or(Time::MAX);
        // Up to the first known share, rates do not depend on the share.
        if self.share_at(from) <= FLUID_SHARES[0] << 12 {
            return copying_end;
        }
        // The share fades in steps, so that rates are constant between two events and can be counted later.
        let steps = from.since(self.share_at) / FADE_PS + 1;
        copying_end.min(self.share_at + steps * FADE_PS)
    }

    /// Settles the counters before the state changes.
    fn settle_before_change(&mut self, now: Time) {
        self.settle(now);
        self.steady_since = now;
    }

    /// Returns the value of a register of the IIO.
    #[must_use]
    pub fn counter(&self, counter: IioCounter, now: Time) -> u64 {
        let clocks = |area: u128| (area / u128::from(self.clock_ps)) as u64;
        match counter {
            IioCounter::WriteOccupancy => clocks(self.writes_in_flight.area(now)),
            IioCounter::WriteInsertions => self.counters.lines_ever[0],
            IioCounter::ReadOccupancy => clocks(self.counters.read_area_ever),
            IioCounter::ReadInsertions => self.counters.lines_ever[1],
            IioCounter::ExpanderOccupancy | IioCounter::ExpanderInsertions => {
                unreachable!("no link to memory has rates")
            }
        }
    }

    /// Returns the level that a delay of `ps` belongs to.
    fn level(&self, ps: u32, most_ps: u32) -> u32 {
        let levels = self.params.holds.len().saturating_sub(2) as u64;
        let most_ps = u64::from(most_ps.max(1));
        // Rounded to the nearest level.
        ((u64::from(ps) * levels + most_ps / 2) / most_ps) as u32
    }

    /// Returns the index of the measured state of throttling that the memory is in.
    fn hold(&self) -> usize {
        let last = self.params.holds.len() - 1;
        if self.halted > 0 {
            last
        } else {
            (self.throttled as usize).min(last)
        }
    }

    /// Returns the number of cores that copy. A core whose piece ends now counts, because it continues.
    fn copying(&self, now: Time) -> usize {
        // A core that has never copied has its end at 0.
        self.copying_until.iter().filter(|&&until| until >= now && until > Time::ZERO).count()
    }

    /// Returns the share at `now` if nothing has arrived since its last update.
    fn share_at(&self, now: Time) -> u32 {
        let span = now.since(self.share_at);
        // Fades as M / (M + t), which needs no exponential and is the same on every machine.
        (u128::from(self.share) * u128::from(MEMORY_PS) / u128::from(MEMORY_PS + span)) as u32
    }

    /// Adds writes worth `service_ps` of the memory's time to the share.
    fn add_writes(&mut self, service_ps: u64, now: Time) {
        let span = now.since(self.share_at);
        // At most the time that has passed, so that the share stays at most 1.
        let come = u128::from(service_ps.min(span)) << 16;
        let sum = u128::from(self.share) * u128::from(MEMORY_PS) + come;
        self.share = (sum / u128::from(MEMORY_PS + span)) as u32;
        self.share_at = now;
    }

    /// Handles a write TLP. The device receives `tag`, unless it is [`TlpTag::NONE`], when its credits are back: that
    /// is as exact as rates are.
    fn write(&mut self, lines: u8, class: u8, tag: TlpTag, context: &mut Context) {
        let now = context.now();
        self.settle_before_change(now);
        let drain = u128::from(point(&self.params, self.hold(), self.copying(now)).drain_bytes_per_s.max(1));
        let service_ps = (u128::from(lines) * 64 * PS_PER_S / drain) as u64;
        // Before the rates are looked up, so that a write counts in its own load.
        self.add_writes(service_ps, now);
        let rates = point(&self.params, self.hold(), self.copying(now));
        let residence_ps = FluidPoint::at(&rates.write_ps, self.share);
        let entered = self.writes_in_flight.add(now, lines, service_ps, residence_ps, self.params.lines_held(rates));
        let each = rates.missed.as_ref().map_or(LINE, |missed| FluidPoint::at(&missed[1], self.share));
        self.counters.write(class, lines, each);
        let delay = entered.since(now) + self.latency_ps;
        context.send(self.device, delay, Payload::PostedCredit { lines });
        if tag != TlpTag::NONE {
            context.send(self.device, delay, Payload::Seen { tag });
        }
    }

    /// Handles a read request. Reads end in order, each after its latency, and as many at a time as there are entries.
    fn read(&mut self, lines: u8, class: u8, context: &mut Context) {
        let now = context.now();
        let point = point(&self.params, self.hold(), self.copying(now).max(1));
        let latency_ps = FluidPoint::at(&point.read_ps, self.share_at(now)) + self.params.read_more_ps;
        // Little's law: the entries bound the lines per latency.
        let turn_ps = latency_ps * u64::from(lines) / u64::from(self.params.read_credits.max(1));
        let end = (self.reads_end + turn_ps).max(now + latency_ps);
        self.reads_end = end;
        self.counters.read(class, lines, latency_ps);
        let wire_ps = self.down.send(end, u64::from(lines) * 64);
        context.send(self.device, end.since(now) + wire_ps, Payload::Completion { lines, class });
    }
}

impl CopyRates for FluidMemory {
    fn copy(&mut self, core: u32, class: u8, lines: u64, first: bool, now: Time) -> u64 {
        self.settle_before_change(now);
        // The core counts as copying while the rate of its own copy is looked up.
        self.copying_until[core as usize] = Time::MAX;
        let share = self.share_at(now);
        let point = point(&self.params, self.hold(), self.copying(now));
        let wait_ps = if first { FluidPoint::at(&point.read_ps, share) } else { 0 };
        // `FluidPoint` gives times per line in units of 2^-10 ps.
        let ps = (wait_ps + ((FluidPoint::at(&point.copy_ps, share) * lines) >> 10)).max(1);
        self.copying_until[core as usize] = now + ps;
        if let Some(missed) = &point.missed {
            self.counters.add(class, lines * FluidPoint::at(&missed[0], share), 0);
        }
        ps
    }

    fn count(&mut self, class: u8, reads: u64, writes: u64) {
        // With DDIO this traffic is measured and counted in `copy` and `write`.
        if self.params.holds[0].copying[0].missed.is_none() {
            self.counters.add(class, reads * LINE, writes * LINE);
        }
    }
}

impl Part for FluidMemory {
    fn kind(&self) -> PartKind {
        PartKind::Iio
    }

    fn on_event(&mut self, payload: Payload, source: ComponentId, context: &mut Context) {
        let now = context.now();
        match payload {
            Payload::WriteTlp { lines, class, tag, .. } => self.write(lines, class, tag, context),
            Payload::ReadTlp { lines, class, .. } => self.read(lines, class, context),
            Payload::ReadCounter { counter } => {
                let value = self.counter(counter, now);
                context.send(source, 1, Payload::Counter { counter, value });
            }
            Payload::Throttle { ps } => {
                self.settle_before_change(now);
                self.throttled = match self.throttling {
                    Throttling::Sockets if ps > 0 => self.throttled + 1,
                    Throttling::Sockets => self.throttled.saturating_sub(1),
                    Throttling::Local { most_ps } => self.level(ps, most_ps),
                };
            }
            Payload::Halt { on } => {
                self.settle_before_change(now);
                self.halted = if on { self.halted + 1 } else { self.halted.saturating_sub(1) };
            }
            other => unreachable!("a memory of rates was sent {other:?}"),
        }
    }

    /// Brings the traffic of workloads that are not simulated up to `now`. Extra calls change nothing: rates hold from
    /// one change of the state to the next.
    fn settle(&mut self, now: Time) {
        // Piece by piece, because rates change when a copy ends or the share fades.
        while self.counters.settled() < now {
            let from = self.steady_since;
            let end = self.steady_until(from);
            let copying = self.copying_until.iter().filter(|&&until| until > from).count();
            let (share, point) = (self.share_at(from), point(&self.params, self.hold(), copying));
            self.counters.add_workloads(point, share, end.min(now));
            if end <= now {
                self.steady_since = end;
            }
        }
    }

    fn reset(&mut self, now: Time) {
        self.settle(now);
        self.counters.reset(self.writes_in_flight.area(now));
    }
}

/// Returns the rates of a state.
fn point(params: &FluidParams, hold: usize, copying: usize) -> &FluidPoint {
    let known = &params.holds[hold].copying;
    &known[copying.min(known.len() - 1)]
}
