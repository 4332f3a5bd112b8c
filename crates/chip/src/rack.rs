//! Chips that read and write each other's memory, on a torus; each chip is a partition.
//!
//! A cycle of a chip is an event at the end of the cycle. Messages of other chips arrive half a cycle earlier, so
//! that they never coincide with a cycle that is being processed, and their order depends only on their senders.

use crate::chip::Chip;
use crate::rack_message::{Outbound, RackMessage};
use crate::torus::{Pattern, Place, Torus};
use crate::{ChipError, ChipParams, ChipStats};
use hostnet_kernel::{mix, ComponentId, Event, Partition, ProcessGroup, Scheduler, Simulation, Time};
use serde::{Deserialize, Serialize};

/// An event of a chip of a rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RackEvent(RackEventKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RackEventKind {
    /// A cycle must be simulated.
    Cycle(u64),
    /// A message arrives, for a cycle.
    RackMessage { cycle: u64, from: u16, word: RackMessage },
}

/// A chip of a rack, as a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RackChip {
    /// The chip; `None` if another process simulates it.
    chip: Option<Chip>,
    place: Place,
    clock_ps: u64,
    /// Cycle for which an event is scheduled.
    planned: Option<u64>,
}

impl RackChip {
    /// Returns the chip, if this process simulates it.
    #[must_use]
    pub fn chip(&self) -> Option<&Chip> {
        self.chip.as_ref()
    }

    fn own(&self) -> ComponentId {
        ComponentId(u32::from(self.place.chip))
    }

    /// Returns the time at which a cycle ends, in ps.
    fn end_ps(&self, cycle: u64) -> u64 {
        (cycle + 1) * self.clock_ps
    }

    fn plan(&mut self, scheduler: &mut Scheduler<RackEvent>) {
        let Some(cycle) = self.chip.as_ref().and_then(Chip::next_cycle) else { return };
        // An event cannot be withdrawn: one that is overtaken is ignored when it comes.
        if self.planned.is_none_or(|planned| cycle < planned) {
            self.planned = Some(cycle);
            let delay = self.end_ps(cycle) - scheduler.now().ps();
            scheduler.send(self.own(), self.own(), delay, RackEvent(RackEventKind::Cycle(cycle)));
        }
    }

    fn send_out(&mut self, cycle: u64, scheduler: &mut Scheduler<RackEvent>) {
        let own = self.own();
        let Some(chip) = &mut self.chip else { return };
        for Outbound { to, word } in chip.take_outbound() {
            let cycles = u64::from(self.place.hops(to)) * chip.hop_cycles();
            let there = cycle + cycles;
            // Half a cycle early, so that the message never coincides with a cycle of the receiver.
            let delay = cycles * self.clock_ps - self.clock_ps / 2;
            let what = RackEventKind::RackMessage { cycle: there, from: self.place.chip, word };
            scheduler.send(own, ComponentId(u32::from(to)), delay, RackEvent(what));
        }
    }
}

impl Partition for RackChip {
    type Payload = RackEvent;
    type Cargo = ();

    fn on_event(&mut self, event: Event<RackEvent>, scheduler: &mut Scheduler<RackEvent>) {
        let Some(chip) = &mut self.chip else { return };
        match event.payload.0 {
            RackEventKind::Cycle(cycle) if self.planned == Some(cycle) => {
                self.planned = None;
                chip.run_until(cycle + 1);
                self.send_out(cycle, scheduler);
            }
            // An earlier cycle has been scheduled since.
            RackEventKind::Cycle(_) => return,
            RackEventKind::RackMessage { cycle, from, word } => {
                // The message is handled before its cycle, after all earlier ones.
                chip.run_until(cycle);
                chip.receive_message(from, word);
            }
        }
        self.plan(scheduler);
    }

    fn unload(&mut self, _: &RackEvent) {}

    fn load(&mut self, _: &mut RackEvent, (): ()) {}
}

/// A rack: a torus of chips.
pub struct Rack {
    simulation: Simulation<RackChip>,
    clock_ps: u64,
}

impl Rack {
    /// Creates a torus of equal chips, each with its own random numbers.
    ///
    /// # Errors
    /// Fails if a chip cannot be built, if there are fewer than 2 or more than 512 chips, or if no chip is as many
    /// hops away as the pattern requires.
    pub fn new(params: &ChipParams, torus: Torus, clock_ps: u64) -> Result<Self, ChipError> {
        Self::share(params, torus, clock_ps, |_| true)
    }

    /// Like [`Rack::new`], but in one of several processes, which simulates the chips for which `has` returns true.
    ///
    /// # Errors
    /// Returns the same errors as [`Rack::new`].
    pub fn share(
        params: &ChipParams,
        torus: Torus,
        clock_ps: u64,
        has: impl Fn(u16) -> bool,
    ) -> Result<Self, ChipError> {
        let (sides, count) = (torus.sides, torus.chips());
        // Messages arrive half a cycle early, which must be at least 1 ps.
        if clock_ps < 2 {
            return Err(ChipError::new("clock_ps", format!("{clock_ps} is out of range; at least 2 is needed")));
        }
        if !(2..=512).contains(&count) {
            let rule = format!("{count} chips; a torus has 2 to 512");
            return Err(ChipError::new("sides", rule));
        }
        if torus.pattern != Pattern::Uniform && !(1..=torus.diameter()).contains(&params.rack.hops) {
            let rule = format!("{} hops, where two chips are at most {} apart", params.rack.hops, torus.diameter());
            return Err(ChipError::new("hops", rule));
        }
        let parts = (0..count as u16).map(|chip| {
            let place = Place { chip, sides };
            // mix(0) is 0: + 1 keeps the first chip from having the seed of a single one.
            let seed = mix(params.seed ^ mix(u64::from(chip) + 1));
            let targets = place.targets(torus.pattern, params.rack.hops);
            let params = ChipParams { seed, ..params.clone() };
            let chip = has(chip).then(|| Chip::in_rack(params, place, targets)).transpose()?;
            let mut scheduler = Scheduler::new(ComponentId(u32::from(place.chip)), 1, 64);
            let mut one = RackChip { chip, place, clock_ps, planned: None };
            one.plan(&mut scheduler);
            Ok((one, scheduler))
        });
        let parts = parts.collect::<Result<Vec<_>, ChipError>>()?;
        // Messages arrive half a cycle early, so the window is half a cycle shorter than a hop.
        let window = u64::from(params.rack.hop_cycles) * clock_ps - clock_ps / 2;
        Ok(Self { simulation: Simulation::new(parts, window), clock_ps })
    }

    /// Simulates up to `cycle`, on at most `threads` threads.
    pub fn run_until(&mut self, cycle: u64, threads: usize) {
        let limit = Time::from_ps(cycle * self.clock_ps);
        if threads > 1 {
            self.simulation.run_until_parallel(limit, threads);
        } else {
            self.simulation.run_until(limit, |_| true);
        }
        // Chips without events stand at an earlier cycle, and reports compare all of them at one.
        self.settle(cycle);
    }

    /// Like [`Rack::run_until`], but distributed over several processes, each of which must call this function.
    pub fn run_until_across(&mut self, cycle: u64, threads: usize, across: &mut ProcessGroup) {
        self.simulation.run_until_across(Time::from_ps(cycle * self.clock_ps), threads, across);
        self.settle(cycle);
    }

    /// Advances every chip to `cycle`, also those without events.
    fn settle(&mut self, cycle: u64) {
        self.here().for_each(|chip| {
            chip.run_until(cycle);
        });
    }

    /// Returns the chips of this process.
    fn here(&mut self) -> impl Iterator<Item = &mut Chip> {
        self.simulation.parts_mut().iter_mut().filter_map(|(one, _)| one.chip.as_mut())
    }

    /// Returns true if nothing is left to do on the chips of this process.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.simulation.parts().iter().all(|(_, scheduler)| scheduler.next_time().is_none())
    }

    /// Resets the statistics of all chips.
    pub fn clear(&mut self) {
        self.here().for_each(Chip::clear);
    }

    /// Stops cores from beginning further operations.
    pub fn stop(&mut self) {
        self.here().for_each(Chip::stop);
    }

    /// Returns the chips of this process, in their order.
    pub fn chips(&self) -> impl Iterator<Item = &Chip> {
        self.simulation.worlds().filter_map(RackChip::chip)
    }

    /// Returns the statistics of each chip.
    #[must_use]
    pub fn stats(&self) -> Vec<ChipStats> {
        self.chips().map(Chip::stats).collect()
    }
}
