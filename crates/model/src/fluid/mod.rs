//! A memory system that has rates instead of lines, with the IIO in front of it.
//!
//! Devices write in turn, as fast as the memory lets them at the moment; a copy goes on as fast as the memory lets it.
//! Both depend on how many cores copy, on what is held back, and on how much devices write. The numbers come from the
//! same server simulated line by line (see [`FluidParams`]).
//!
//! A write leaves the IIO when the write before it has left and the memory has had time for it, and not before a line's
//! residence is over; its last line enters when there is an entry for it. Both are known as soon as it arrives.

mod books;
mod flights;
mod probe;
#[cfg(test)]
mod tests;

pub use books::FluidCounts;
pub use probe::{lines_of, Copier, Feeder, Probe};

use crate::link::Lane;
use crate::params::{FluidParams, FluidPoint, PcieParams, FLUID_SHARES};
use crate::part::{Context, IioCounter, Part, PartKind, Payload, Rates, Tag};
use books::{Books, LINE};
use flights::Flights;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Bytes per second times this many ps are a byte.
const PS_PER_S: u128 = 1_000_000_000_000;
/// How much devices write is a moving average over about so long: several packets, and less than transports need to
/// react.
const MEMORY_PS: u64 = 4_000_000;
/// While the average fades, rates are taken anew so often.
const FADE_PS: u64 = MEMORY_PS / 8;

/// What a throttle means for the state that the memory is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Throttling {
    /// Every message is of one more socket, or of one less.
    Sockets,
    /// The wait goes up to so many ps in steps: one for each level between nothing and the stop.
    Local {
        /// At the highest level, in ps.
        most_ps: u32,
    },
}

/// What a fluid memory is made with.
#[derive(Clone, Debug)]
pub struct FluidSetup {
    /// Rates.
    pub params: FluidParams,
    /// The NIC.
    pub device: ComponentId,
    /// Its link.
    pub pcie: PcieParams,
    /// Period of the IIO clock that occupancy is accumulated by, in ps.
    pub clock_ps: u64,
    /// What a throttle means.
    pub throttling: Throttling,
    /// Cores of the socket.
    pub cores: u32,
    /// Classes of traffic.
    pub classes: usize,
}

/// A memory system as rates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FluidMemory {
    params: FluidParams,
    device: ComponentId,
    clock_ps: u64,
    latency_ps: u64,
    throttling: Throttling,
    throttled: u32,
    halted: u32,
    /// By core: until when it copies.
    copying_until: Vec<Time>,
    flights: Flights,
    /// Moving average of what devices write, as a share of the drain rate in 2^-16, as of its time.
    share: u32,
    share_at: Time,
    down: Lane,
    reads_end: Time,
    /// Since when the traffic of what is not simulated has the rate that it has.
    steady_since: Time,
    books: Books,
}

impl FluidMemory {
    /// A memory that nobody uses yet.
    ///
    /// # Panics
    /// If there are no rates.
    #[must_use]
    pub fn new(setup: FluidSetup) -> Self {
        let FluidSetup { params, device, pcie, clock_ps, throttling, cores, classes } = setup;
        assert!(
            params.holds.iter().all(|hold| !hold.copying.is_empty()) && !params.holds.is_empty(),
            "there are rates"
        );
        let payload = u64::from(pcie.mps_bytes);
        let bytes_per_s = pcie.bytes_per_s * payload / (payload + u64::from(pcie.completion_overhead_bytes));
        Self {
            flights: Flights::new(),
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
            books: Books::new(classes),
        }
    }

    /// What it did since the last reset, up to `now`.
    #[must_use]
    pub fn counts(&self, now: Time) -> FluidCounts {
        self.books.counts(self.flights.area(now))
    }

    /// Until when rates as of `from` hold if nothing comes: a copy ends, or the share has faded.
    fn steady_until(&self, from: Time) -> Time {
        let copying_end = self.copying_until.iter().copied().filter(|&until| until > from).min().unwrap_or(Time::MAX);
        if self.share_at(from) <= FLUID_SHARES[0] << 12 {
            return copying_end;
        }
        let steps = from.since(self.share_at) / FADE_PS + 1;
        copying_end.min(self.share_at + steps * FADE_PS)
    }

    /// The state is about to change.
    fn change(&mut self, now: Time) {
        self.settle(now);
        self.steady_since = now;
    }

    /// The value of a register of the IIO.
    #[must_use]
    pub fn counter(&self, counter: IioCounter, now: Time) -> u64 {
        let clocks = |area: u128| (area / u128::from(self.clock_ps)) as u64;
        match counter {
            IioCounter::WriteOccupancy => clocks(self.flights.area(now)),
            IioCounter::WriteInsertions => self.books.ever[0],
            IioCounter::ReadOccupancy => clocks(self.books.read_area_ever),
            IioCounter::ReadInsertions => self.books.ever[1],
        }
    }

    /// The level that a wait of `ps` belongs to.
    fn level(&self, ps: u32, most_ps: u32) -> u32 {
        let levels = self.params.holds.len().saturating_sub(2) as u64;
        let most_ps = u64::from(most_ps.max(1));
        ((u64::from(ps) * levels + most_ps / 2) / most_ps) as u32
    }

    /// Which of the known states it is in.
    fn hold(&self) -> usize {
        let last = self.params.holds.len() - 1;
        if self.halted > 0 {
            last
        } else {
            (self.throttled as usize).min(last)
        }
    }

    /// Cores that copy. One whose piece ends now goes on.
    fn copying(&self, now: Time) -> usize {
        self.copying_until.iter().filter(|&&until| until >= now && until > Time::ZERO).count()
    }

    /// The share as it is when nothing has come since.
    fn share_at(&self, now: Time) -> u32 {
        let span = now.since(self.share_at);
        (u128::from(self.share) * u128::from(MEMORY_PS) / u128::from(MEMORY_PS + span)) as u32
    }

    /// Writes worth `service_ps` of the memory's time have come since the last ones.
    fn take_in(&mut self, service_ps: u64, now: Time) {
        let span = now.since(self.share_at);
        let come = u128::from(service_ps.min(span)) << 16;
        let sum = u128::from(self.share) * u128::from(MEMORY_PS) + come;
        self.share = (sum / u128::from(MEMORY_PS + span)) as u32;
        self.share_at = now;
    }

    /// Lines are written. The device is told by `tag`, if it wants to be, when its credits are back: that is as exact
    /// as rates are.
    fn write(&mut self, lines: u8, class: u8, tag: Tag, context: &mut Context) {
        let now = context.now();
        self.change(now);
        let drain = u128::from(point(&self.params, self.hold(), self.copying(now)).drain_bytes_per_s.max(1));
        let service_ps = (u128::from(lines) * 64 * PS_PER_S / drain) as u64;
        self.take_in(service_ps, now);
        let rates = point(&self.params, self.hold(), self.copying(now));
        let residence_ps = FluidPoint::at(&rates.write_ps, self.share);
        let entered = self.flights.add(now, lines, service_ps, residence_ps, self.params.lines_held(rates));
        let each = rates.missed.as_ref().map_or(LINE, |missed| FluidPoint::at(&missed[1], self.share));
        self.books.write(class, lines, each);
        let delay = entered.since(now) + self.latency_ps;
        context.send(self.device, delay, Payload::PostedCredit { lines });
        if tag != Tag::NONE {
            context.send(self.device, delay, Payload::Seen { tag });
        }
    }

    /// Reads of devices end in turn, each after its latency, as many at a time as there are entries for.
    fn read(&mut self, lines: u8, class: u8, context: &mut Context) {
        let now = context.now();
        let point = point(&self.params, self.hold(), self.copying(now).max(1));
        let latency_ps = FluidPoint::at(&point.read_ps, self.share_at(now)) + self.params.read_more_ps;
        let turn_ps = latency_ps * u64::from(lines) / u64::from(self.params.read_credits.max(1));
        let end = (self.reads_end + turn_ps).max(now + latency_ps);
        self.reads_end = end;
        self.books.read(class, lines, latency_ps);
        let wire_ps = self.down.send(end, u64::from(lines) * 64);
        context.send(self.device, end.since(now) + wire_ps, Payload::Completion { lines, class });
    }
}

impl Rates for FluidMemory {
    fn copy(&mut self, core: u32, class: u8, lines: u64, first: bool, now: Time) -> u64 {
        self.change(now);
        self.copying_until[core as usize] = Time::MAX;
        let share = self.share_at(now);
        let point = point(&self.params, self.hold(), self.copying(now));
        let wait_ps = if first { FluidPoint::at(&point.read_ps, share) } else { 0 };
        let ps = (wait_ps + ((FluidPoint::at(&point.copy_ps, share) * lines) >> 10)).max(1);
        self.copying_until[core as usize] = now + ps;
        if let Some(missed) = &point.missed {
            self.books.add(class, lines * FluidPoint::at(&missed[0], share), 0);
        }
        ps
    }

    fn count(&mut self, class: u8, reads: u64, writes: u64) {
        if self.params.holds[0].copying[0].missed.is_none() {
            self.books.add(class, reads * LINE, writes * LINE);
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
                self.change(now);
                self.throttled = match self.throttling {
                    Throttling::Sockets if ps > 0 => self.throttled + 1,
                    Throttling::Sockets => self.throttled.saturating_sub(1),
                    Throttling::Local { most_ps } => self.level(ps, most_ps),
                };
            }
            Payload::Halt { on } => {
                self.change(now);
                self.halted = if on { self.halted + 1 } else { self.halted.saturating_sub(1) };
            }
            other => unreachable!("a memory of rates was sent {other:?}"),
        }
    }

    /// Brings the traffic of what is not simulated up to `now`. How often that is done changes nothing: rates hold from
    /// one change of the state to the next.
    fn settle(&mut self, now: Time) {
        while self.books.settled() < now {
            let from = self.steady_since;
            let end = self.steady_until(from);
            let copying = self.copying_until.iter().filter(|&&until| until > from).count();
            let (share, point) = (self.share_at(from), point(&self.params, self.hold(), copying));
            self.books.add_workloads(point, share, end.min(now));
            if end <= now {
                self.steady_since = end;
            }
        }
    }

    fn reset(&mut self, now: Time) {
        self.settle(now);
        self.books.reset(self.flights.area(now));
    }
}

/// The rates of one state.
fn point(params: &FluidParams, hold: usize, copying: usize) -> &FluidPoint {
    let known = &params.holds[hold].copying;
    &known[copying.min(known.len() - 1)]
}
