//! Watching events as they happen.

use crate::partition::EVENTS_PER_SLICE;
use crate::{Event, Partition, Progress, Simulation, Time};

/// Watches the events of a partition. It sees them and changes nothing.
pub trait Observer<W: Partition> {
    /// `event` is about to happen to `world`.
    fn before(&mut self, event: &Event<W::Payload>, world: &W);

    /// `event` has happened to `world`.
    fn after(&mut self, event: &Event<W::Payload>, world: &W);
}

impl<W: Partition> Simulation<W> {
    /// The same as [`Simulation::run_until`], while `observer` watches.
    ///
    /// # Panics
    /// If there is more than one partition.
    // Events go through the same compiled function as those of a run that is not watched, one at a time: a second copy
    // of the handlers would keep the compiler from building them into the first, which costs every run some percent.
    pub fn run_until_observed(
        &mut self,
        limit: Time,
        observer: &mut impl Observer<W>,
        mut on_slice: impl FnMut(Progress) -> bool,
    ) -> bool {
        let [(world, scheduler)] = self.parts_mut() else {
            panic!("only a simulation of one partition can be observed")
        };
        let mut told = scheduler.handled();
        while let Some(event) = scheduler.peek(limit) {
            observer.before(&event, world);
            scheduler.run(world, limit, 1);
            observer.after(&event, world);
            if scheduler.handled() >= told + EVENTS_PER_SLICE {
                told = scheduler.handled();
                if !on_slice(Progress { time: scheduler.now(), events: told }) {
                    return false;
                }
            }
        }
        scheduler.settle(limit);
        true
    }
}
