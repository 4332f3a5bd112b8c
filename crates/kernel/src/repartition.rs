//! Redistribution of the components of a world over other partitions.

use crate::{ComponentId, Partition, Scheduler};

/// Repartitions a simulation: moves all components and pending events of `from` to the partitions `to`, which own
/// consecutive ranges of the given numbers of components. Data that an event refers to moves with it, in the order of
/// the event keys. The count of handled events goes to the first partition.
///
/// # Panics
/// Panics if the components of `from` are not contiguous, if their number differs from that of `to`, or if the
/// partitions of `from` are at different times.
#[must_use]
pub fn repartition<W: Partition>(
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
    // Names that a world gives to loaded data must not depend on the old cut.
    moved.sort_unstable_by_key(|(event, _)| event.key());
    let (worlds, components): (Vec<W>, Vec<usize>) = to.into_iter().unzip();
    let schedulers = Scheduler::repartition(from.into_iter().map(|part| part.1).collect(), &components);
    let mut parts: Vec<_> = worlds.into_iter().zip(schedulers).collect();
    for (mut event, cargo) in moved {
        let owner = |id: ComponentId| parts.iter().position(|(_, scheduler)| scheduler.owns(id));
        // An event for a partition that is not in `to` is still to be delivered by its sender.
        let owner = owner(event.target).or_else(|| owner(event.source)).expect("an event is sent or received here");
        let (world, scheduler) = &mut parts[owner];
        world.load(&mut event.payload, cargo);
        scheduler.take_over(event);
    }
    parts
}
