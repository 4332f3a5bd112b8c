//! Partitions that take over the components of others: a world that is cut elsewhere than before.

use crate::{ComponentId, Partition, Scheduler};

/// Cuts a world elsewhere: every component of `from` and all that is pending passes to the worlds `to`, which own so
/// many components each, one after the other. What events name travels with them, in the order of their keys. What has
/// been handled counts for the first.
///
/// # Panics
/// If the components of `from` do not follow each other, are not as many as those of `to`, or `from` does not stand at
/// one time.
#[must_use]
pub fn recut<W: Partition>(
    mut from: Vec<(W, Scheduler<W::Payload>)>,
    to: Vec<(W, usize)>,
) -> Vec<(W, Scheduler<W::Payload>)> {
    let mut moved = Vec::new();
    for (world, scheduler) in &mut from {
        moved.extend(scheduler.take_pending().into_iter().map(|event| {
            let cargo = world.unload(&event.payload);
            (event, cargo)
        }));
    }
    moved.sort_unstable_by_key(|(event, _)| event.key());
    let (worlds, components): (Vec<W>, Vec<usize>) = to.into_iter().unzip();
    let schedulers = Scheduler::recut(from.into_iter().map(|part| part.1).collect(), &components);
    let mut parts: Vec<_> = worlds.into_iter().zip(schedulers).collect();
    for (mut event, cargo) in moved {
        let owner = |id: ComponentId| parts.iter().position(|(_, scheduler)| scheduler.owns(id));
        // What is for a partition that is not among these is still to be handed over by its sender.
        let owner = owner(event.target).or_else(|| owner(event.source)).expect("an event is sent or received here");
        let (world, scheduler) = &mut parts[owner];
        world.load(&mut event.payload, cargo);
        scheduler.take_over(event);
    }
    parts
}
