//! Observation of events as they occur.

use crate::partition::EVENTS_PER_SLICE;
use crate::{Event, Partition, Progress, Simulation, Time};

/// Observer of the events of a partition. It changes nothing.
pub trait Observer<W: Partition> {
    /// Observes `event` before `world` handles it.
    fn before(&mut self, event: &Event<W::Payload>, world: &W);

    /// Observes `event` after `world` has handled it.
    fn after(&mut self, event: &Event<W::Payload>, world: &W);
}

impl<W: Partition> Simulation<W> {
    /// Runs as [`Simulation::run_until`], with calls to `observer` for every event. Within a window the events of one
    /// partition follow those of another.
    ///
    /// # Panics
    /// Panics under the same conditions as [`Simulation::run_until`].
    // Events pass one at a time through the same compiled function as in an unobserved run. A second copy of the
    // handlers would keep the compiler from inlining them into the first, which costs every run some percent.
    pub fn run_until_observed(
        &mut self,
        limit: Time,
        observer: &mut impl Observer<W>,
        mut on_slice: impl FnMut(Progress) -> bool,
    ) -> bool {
        // As in `run_until`: events sent between two runs are delivered before the first window is computed.
        let owners = self.owners();
        self.exchange(&owners);
        let mut left = EVENTS_PER_SLICE;
        while let Some(end) = self.window_end(limit) {
            for index in 0..self.parts().len() {
                let (world, scheduler) = &mut self.parts_mut()[index];
                // `peek` restores the event, and `run` with a maximum of one handles that very event: keys are unique.
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
