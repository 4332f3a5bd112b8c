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
    /// The same as [`Simulation::run_until`], while `observer` watches: the events of one partition after those of
    /// another within a window.
    ///
    /// # Panics
    /// As [`Simulation::run_until`].
    // Events go through the same compiled function as those of a run that is not watched, one at a time: a second copy
    // of the handlers would keep the compiler from building them into the first, which costs every run some percent.
    pub fn run_until_observed(
        &mut self,
        limit: Time,
        observer: &mut impl Observer<W>,
        mut on_slice: impl FnMut(Progress) -> bool,
    ) -> bool {
        let owners = self.owners();
        self.exchange(&owners);
        let mut left = EVENTS_PER_SLICE;
        while let Some(end) = self.window_end(limit) {
            for index in 0..self.parts().len() {
                let (world, scheduler) = &mut self.parts_mut()[index];
                while let Some(event) = scheduler.peek(end) {
                    observer.before(&event, world);
                    scheduler.run(world, end, 1);
                    observer.after(&event, world);
                    left -= 1;
                    if left == 0 {
                        break;
                    }
                }
                if left == 0 {
                    left = EVENTS_PER_SLICE;
                    if !on_slice(self.progress()) {
                        return false;
                    }
                }
            }
            self.exchange(&owners);
        }
        self.settle(limit);
        true
    }
}
