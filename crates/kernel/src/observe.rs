//! Watching events as they happen.

use crate::partition::EVENTS_PER_SLICE;
use crate::{Event, Partition, Progress, Scheduler, Simulation, Time};

/// Watches the events of a partition. It sees them and changes nothing.
pub trait Observer<W: Partition> {
    /// `event` is about to happen to `world`.
    fn before(&mut self, event: &Event<W::Payload>, world: &W);

    /// `event` has happened to `world`.
    fn after(&mut self, event: &Event<W::Payload>, world: &W);
}

/// A partition under observation.
struct Observed<'a, W, O> {
    world: &'a mut W,
    observer: &'a mut O,
}

impl<W: Partition, O: Observer<W>> Partition for Observed<'_, W, O> {
    type Payload = W::Payload;

    fn on_event(&mut self, event: Event<W::Payload>, scheduler: &mut Scheduler<W::Payload>) {
        self.observer.before(&event, self.world);
        self.world.on_event(event, scheduler);
        self.observer.after(&event, self.world);
    }
}

impl<W: Partition> Simulation<W> {
    /// The same as [`Simulation::run_until`], while `observer` watches. A run that is not watched is other code, so it
    /// does not pay for this.
    ///
    /// # Panics
    /// If there is more than one partition.
    pub fn run_until_observed(
        &mut self,
        limit: Time,
        observer: &mut impl Observer<W>,
        mut on_slice: impl FnMut(Progress) -> bool,
    ) -> bool {
        let [(world, scheduler)] = self.parts_mut() else {
            panic!("only a simulation of one partition can be observed")
        };
        let mut observed = Observed { world, observer };
        while !scheduler.run(&mut observed, limit, EVENTS_PER_SLICE) {
            if !on_slice(Progress { time: scheduler.now(), events: scheduler.handled() }) {
                return false;
            }
        }
        true
    }
}
