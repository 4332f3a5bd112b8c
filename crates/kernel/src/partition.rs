//! Partitions, and the conservative windows that synchronise them.
//!
//! A world is cut only at links with latency. A window is as long as the least latency across any cut. Within it no
//! partition can affect another, so the partitions may run in parallel; the events that cross a cut are delivered at
//! the end of the window. The key of an event does not depend on the order in which partitions ran, so neither does
//! the result.

use crate::exchange::ProcessGroup;
use crate::parallel::ParallelRun;
use crate::{ComponentId, Event, Partition, Scheduler, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Progress of a run, reported between slices of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time that every partition has reached.
    pub time: Time,
    /// Events handled by all partitions so far.
    pub events: u64,
}

/// Simulation of a world in partitions, each with its scheduler, in conservative windows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "W: Serialize, W::Payload: Copy + Serialize",
    deserialize = "W: Deserialize<'de>, W::Payload: Copy + Deserialize<'de>"
))]
pub struct Simulation<W: Partition> {
    parts: Vec<(W, Scheduler<W::Payload>)>,
    /// Least latency across a cut, in ps.
    window_ps: u64,
    /// Events being delivered, each with its new partition; empty between calls, and kept for its capacity.
    #[serde(skip)]
    crossing: Vec<(usize, Event<W::Payload>, W::Cargo)>,
}

pub(crate) const EVENTS_PER_SLICE: u64 = 1 << 18;

impl<W: Partition> Simulation<W> {
    /// Creates a simulation of `parts`. No event may cross from one to another in less than `window_ps`.
    ///
    /// # Panics
    /// Panics if there is no partition, if there are several and the window is 0, or if two of them own the same
    /// component.
    #[must_use]
    pub fn new(parts: Vec<(W, Scheduler<W::Payload>)>, window_ps: u64) -> Self {
        assert!(!parts.is_empty(), "a simulation needs a partition");
        assert!(parts.len() == 1 || window_ps > 0, "partitions need a link with latency between them");
        assert!(!ComponentOwners::of(&parts).overlap(), "two partitions own the same component");
        Self { parts, window_ps, crossing: Vec::new() }
    }

    /// Iterates over the worlds of the partitions.
    pub fn worlds(&self) -> impl Iterator<Item = &W> {
        self.parts.iter().map(|part| &part.0)
    }

    /// Returns the minimum latency between any two partitions (the lookahead), in ps. The partitions synchronise at
    /// this interval. The value is meaningless if there is only one partition.
    #[must_use]
    pub fn window_ps(&self) -> u64 {
        self.window_ps
    }

    /// Returns the partitions with their schedulers, for changes between runs.
    pub fn parts_mut(&mut self) -> &mut [(W, Scheduler<W::Payload>)] {
        &mut self.parts
    }

    /// Returns the partitions with their schedulers.
    #[must_use]
    pub fn parts(&self) -> &[(W, Scheduler<W::Payload>)] {
        &self.parts
    }

    /// Consumes the simulation and returns the partitions with their schedulers.
    #[must_use]
    pub fn into_parts(self) -> Vec<(W, Scheduler<W::Payload>)> {
        self.parts
    }

    /// Returns the progress of the run.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            // The minimum, because every partition has reached it.
            time: self.parts.iter().map(|part| part.1.now()).min().unwrap_or_default(),
            events: self.parts.iter().map(|part| part.1.handled()).sum(),
        }
    }

    pub(crate) fn owners(&self) -> ComponentOwners {
        ComponentOwners::of(&self.parts)
    }

    /// Handles every event up to and including `limit` on the calling thread. Calls `on_slice` between slices of work;
    /// if it returns false the run stops early, and can be continued. Returns true if `limit` was reached.
    ///
    /// # Panics
    /// Panics if an event was sent to a component that does not exist, or if an event for another partition was
    /// sent with a delay shorter than the window (the lookahead).
    pub fn run_until(&mut self, limit: Time, on_slice: impl FnMut(Progress) -> bool) -> bool {
        let owners = ComponentOwners::of(&self.parts);
        // Events sent between two runs must be delivered before the first window is computed.
        self.exchange(&owners);
        if self.parts.len() == 1 {
            self.run_single(&owners, limit, on_slice)
        } else {
            self.run_windows(&owners, limit, on_slice)
        }
    }

    fn run_single(
        &mut self,
        owners: &ComponentOwners,
        limit: Time,
        mut on_slice: impl FnMut(Progress) -> bool,
    ) -> bool {
        loop {
            let (world, scheduler) = &mut self.parts[0];
            let finished = scheduler.run(world, limit, EVENTS_PER_SLICE);
            self.exchange(owners);
            if finished {
                return true;
            }
            if !on_slice(self.progress()) {
                return false;
            }
        }
    }

    fn run_windows(
        &mut self,
        owners: &ComponentOwners,
        limit: Time,
        mut on_slice: impl FnMut(Progress) -> bool,
    ) -> bool {
        let mut reported = self.progress().events;
        while let Some(end) = self.window_end(limit) {
            for (world, scheduler) in &mut self.parts {
                scheduler.run(world, end, u64::MAX);
            }
            self.exchange(owners);
            let progress = self.progress();
            // Windows may hold only a few events, and a report per window would cost more than the events.
            if progress.events >= reported + EVENTS_PER_SLICE {
                reported = progress.events;
                if !on_slice(progress) {
                    return false;
                }
            }
        }
        self.settle(limit);
        true
    }

    /// Returns the last instant of the next window, or `None` if no event occurs up to `limit`.
    pub(crate) fn window_end(&self, limit: Time) -> Option<Time> {
        let next = self.parts.iter().filter_map(|part| part.1.next_time()).min()?;
        // An event sent at `next` crosses a cut at `next + window_ps` at the earliest.
        (next <= limit).then(|| limit.min(next.saturating_add(self.window_ps - 1)))
    }

    /// Delivers the events that crossed a cut.
    pub(crate) fn exchange(&mut self, owners: &ComponentOwners) {
        // The vector is taken and put back, so that windows allocate nothing.
        let mut crossing = std::mem::take(&mut self.crossing);
        for (world, scheduler) in &mut self.parts {
            for event in scheduler.outgoing().drain(..) {
                let (event, cargo) = detach_event(world, event);
                crossing.push((owners.home(event.target), event, cargo));
            }
        }
        // The names that a world gives to loaded data must not depend on the order of partitions.
        crossing.sort_unstable_by_key(|(_, event, _)| event.key());
        for (home, event, cargo) in crossing.drain(..) {
            let (world, scheduler) = &mut self.parts[home];
            receive(world, scheduler, (event, cargo));
        }
        self.crossing = crossing;
    }

    pub(crate) fn settle(&mut self, limit: Time) {
        for (_, scheduler) in &mut self.parts {
            scheduler.settle(limit);
        }
    }
}

/// Event in transit to another partition, with the data that travels beside it.
pub(crate) type CrossingEvent<W> = (Event<<W as Partition>::Payload>, <W as Partition>::Cargo);

/// Detaches an event that leaves a partition, with the data that its payload names.
pub(crate) fn detach_event<W: Partition>(world: &mut W, event: Event<W::Payload>) -> CrossingEvent<W> {
    let cargo = world.unload(&event.payload);
    (event, cargo)
}

/// Delivers an event from another partition.
pub(crate) fn receive<W: Partition>(world: &mut W, scheduler: &mut Scheduler<W::Payload>, parcel: CrossingEvent<W>) {
    let (mut event, cargo) = parcel;
    world.load(&mut event.payload, cargo);
    scheduler.receive(event);
}

impl<W: Partition + Send> Simulation<W>
where
    W::Payload: Send,
{
    /// Runs as [`Simulation::run_until`] up to `limit`, but with the partitions spread over `threads` threads.
    ///
    /// # Panics
    /// Panics under the same conditions as [`Simulation::run_until`]; a panic of one thread ends all threads and is
    /// propagated.
    pub fn run_until_parallel(&mut self, limit: Time, threads: usize) {
        let threads = threads.min(self.parts.len());
        if threads <= 1 {
            self.run_until(limit, |_| true);
            return;
        }
        ParallelRun::new(self.owners(), self.window_ps, limit).run(&mut self.parts, threads);
        self.settle(limit);
    }

    /// Runs as [`Simulation::run_until_parallel`], but in several processes, each of which calls this function. Each
    /// process runs its own partitions, and of the others only advances the clocks.
    ///
    /// # Panics
    /// Panics under the same conditions as [`Simulation::run_until_parallel`].
    pub fn run_until_across(&mut self, limit: Time, threads: usize, across: &mut ProcessGroup)
    where
        W::Payload: Serialize + DeserializeOwned,
        W::Cargo: Serialize + DeserializeOwned,
    {
        let ranks = across.exchange.ranks();
        let run = ParallelRun::new(self.owners(), self.window_ps, limit);
        run.with(across, ranks, self.parts.len()).run(&mut self.parts, threads);
        self.settle(limit);
    }
}

/// Map from components to the partitions that own them.
pub(crate) struct ComponentOwners {
    /// First component, end of the range, and index of each partition, in order.
    ranges: Vec<(u64, u64, usize)>,
}

impl ComponentOwners {
    fn of<W: Partition>(parts: &[(W, Scheduler<W::Payload>)]) -> Self {
        let range = |(index, part): (usize, &(W, Scheduler<W::Payload>))| {
            let (first, count) = part.1.components();
            // In 64 bits: the end of the last range may be 2^32.
            (u64::from(first.0), u64::from(first.0) + count as u64, index)
        };
        // Empty partitions own nothing; sorted, so that `home` can search by halves.
        let mut ranges: Vec<_> = parts.iter().enumerate().map(range).filter(|range| range.0 < range.1).collect();
        ranges.sort_unstable();
        Self { ranges }
    }

    fn overlap(&self) -> bool {
        self.ranges.windows(2).any(|pair| pair[0].1 > pair[1].0)
    }

    /// Returns the index of the partition that owns `component`.
    ///
    /// # Panics
    /// Panics if no partition owns `component`.
    pub(crate) fn home(&self, component: ComponentId) -> usize {
        let component = u64::from(component.0);
        let after = self.ranges.partition_point(|range| range.0 <= component);
        let range = self.ranges[..after].last().filter(|range| component < range.1);
        range.expect("an event was sent to a component that does not exist").2
    }
}
