//! Chips that read and write each other's memory, on a torus: a partition each.
//!
//! A cycle of a chip is an event at its end. What comes from another chip comes half a cycle before, so that it never
//! meets a cycle that is being done, and its order among others depends only on who sent it.

use crate::chip::Chip;
use crate::{Books, ChipError, ChipParams, OpKind};
use hostnet_kernel::{mix, ComponentId, Event, Partition, Scheduler, Simulation, Time};
use serde::{Deserialize, Serialize};

/// Where a chip of a rack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which chip it is.
    pub chip: u16,
    /// Chips along each dimension of the torus.
    pub sides: [u16; 3],
}

impl Place {
    /// Chips of the rack.
    #[must_use]
    pub fn chips(&self) -> u16 {
        self.sides.iter().product()
    }

    /// Hops to another chip, the shorter way around in each dimension.
    #[must_use]
    pub fn hops(&self, other: u16) -> u32 {
        let (mut one, mut other, mut hops) = (self.chip, other, 0);
        for side in self.sides {
            let ahead = (other % side + side - one % side) % side;
            hops += u32::from(ahead.min(side - ahead));
            one /= side;
            other /= side;
        }
        hops
    }
}

/// What leaves a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outbound {
    pub(crate) to: u16,
    pub(crate) word: Word,
}

/// What chips say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Word {
    /// Read or write a line, for a line of an operation of the sender.
    Request { flight: u32, kind: OpKind, line: u64 },
    /// It is done, and took some cycles.
    Answer { flight: u32, cycles: u64 },
}

/// What happens to a chip of a rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happening(What);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum What {
    /// A cycle is to be done.
    Cycle(u64),
    /// A word comes, for a cycle.
    Word { cycle: u64, from: u16, word: Word },
}

/// A chip of a rack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RackChip {
    chip: Chip,
    place: Place,
    clock_ps: u64,
    /// The cycle for which an event is on its way.
    planned: Option<u64>,
}

impl RackChip {
    /// The chip.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    fn own(&self) -> ComponentId {
        ComponentId(u32::from(self.place.chip))
    }

    /// When a cycle ends.
    fn end_ps(&self, cycle: u64) -> u64 {
        (cycle + 1) * self.clock_ps
    }

    fn plan(&mut self, scheduler: &mut Scheduler<Happening>) {
        let Some(cycle) = self.chip.next_cycle() else { return };
        if self.planned.is_none_or(|planned| cycle < planned) {
            self.planned = Some(cycle);
            let delay = self.end_ps(cycle) - scheduler.now().ps();
            scheduler.send(self.own(), self.own(), delay, Happening(What::Cycle(cycle)));
        }
    }

    fn send_out(&mut self, cycle: u64, scheduler: &mut Scheduler<Happening>) {
        for Outbound { to, word } in self.chip.take_outbound() {
            let cycles = u64::from(self.place.hops(to)) * self.chip.hop_cycles();
            let there = cycle + cycles;
            let delay = cycles * self.clock_ps - self.clock_ps / 2;
            let what = What::Word { cycle: there, from: self.place.chip, word };
            scheduler.send(self.own(), ComponentId(u32::from(to)), delay, Happening(what));
        }
    }
}

impl Partition for RackChip {
    type Payload = Happening;
    type Cargo = ();

    fn on_event(&mut self, event: Event<Happening>, scheduler: &mut Scheduler<Happening>) {
        match event.payload.0 {
            What::Cycle(cycle) if self.planned == Some(cycle) => {
                self.planned = None;
                self.chip.run_until(cycle + 1);
                self.send_out(cycle, scheduler);
            }
            // An earlier cycle has been planned since.
            What::Cycle(_) => return,
            What::Word { cycle, from, word } => {
                self.chip.run_until(cycle);
                self.chip.hear(from, word);
            }
        }
        self.plan(scheduler);
    }

    fn unload(&mut self, _: &Happening) {}

    fn load(&mut self, _: &mut Happening, (): ()) {}
}

/// The chips of a rack.
pub struct Rack {
    simulation: Simulation<RackChip>,
    clock_ps: u64,
}

impl Rack {
    /// A torus of equal chips, each with random numbers of its own; a remote address lies on any other chip.
    ///
    /// # Errors
    /// When a chip cannot be built, or there are fewer than 2 or more than 512.
    pub fn new(params: &ChipParams, sides: [u16; 3], clock_ps: u64) -> Result<Self, ChipError> {
        let count: u64 = sides.iter().map(|side| u64::from(*side)).product();
        if clock_ps < 2 {
            return Err(ChipError::new("clock_ps", format!("{clock_ps} is out of range; at least 2 is needed")));
        }
        if !(2..=512).contains(&count) {
            let rule = format!("{count} chips; a torus has 2 to 512");
            return Err(ChipError::new("sides", rule));
        }
        let parts = (0..count as u16).map(|chip| {
            let place = Place { chip, sides };
            let seed = mix(params.seed ^ mix(u64::from(chip) + 1));
            let chip = Chip::in_rack(ChipParams { seed, ..params.clone() }, place)?;
            let mut scheduler = Scheduler::new(ComponentId(u32::from(place.chip)), 1, 64);
            let mut one = RackChip { chip, place, clock_ps, planned: None };
            one.plan(&mut scheduler);
            Ok((one, scheduler))
        });
        let parts = parts.collect::<Result<Vec<_>, ChipError>>()?;
        let window = u64::from(params.rack.hop_cycles) * clock_ps - clock_ps / 2;
        Ok(Self { simulation: Simulation::new(parts, window), clock_ps })
    }

    /// Goes on until a cycle, on so many threads at most.
    pub fn run_until(&mut self, cycle: u64, threads: usize) {
        let limit = Time::from_ps(cycle * self.clock_ps);
        if threads > 1 {
            self.simulation.run_until_parallel(limit, threads);
        } else {
            self.simulation.run_until(limit, |_| true);
        }
        for (one, _) in self.simulation.parts_mut() {
            one.chip.run_until(cycle);
        }
    }

    /// Begins to count anew.
    pub fn clear(&mut self) {
        self.simulation.parts_mut().iter_mut().for_each(|(one, _)| one.chip.clear());
    }

    /// Lets cores begin no more operations.
    pub fn stop(&mut self) {
        self.simulation.parts_mut().iter_mut().for_each(|(one, _)| one.chip.stop());
    }

    /// The chips.
    pub fn chips(&self) -> impl Iterator<Item = &Chip> {
        self.simulation.worlds().map(RackChip::chip)
    }

    /// What each chip has counted.
    #[must_use]
    pub fn books(&self) -> Vec<Books> {
        self.chips().map(Chip::books).collect()
    }
}
