//! Scheduler of a partition: its clock, and the means to send events.

use crate::{ComponentId, Event, Queue, Time};
use serde::{Deserialize, Serialize};

/// Number of events before the one that memory is prefetched for. Each stage reads memory that the stage before has
/// prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefetchStage {
    /// Some tens of other events: memory that the event itself names may be prefetched.
    Tens,
    /// Several other events: memory that follows from that may be prefetched.
    Several,
    /// A few other events.
    Few,
    /// No other event: the event is the next.
    None,
}

/// Later stages of prefetching, each with the number of events between the current event and the prefetched one.
const PREFETCH_STAGES: [(PrefetchStage, usize); 3] =
    [(PrefetchStage::Several, 5), (PrefetchStage::Few, 2), (PrefetchStage::None, 0)];

/// State of one partition: its components and their event handlers.
pub trait Partition {
    /// Content of an event.
    type Payload: Copy;
    /// Data that travels beside an event across a cut, because its payload only names the data, such as a packet in
    /// the partition's own store. `()` if payloads are self-contained.
    type Cargo: Send;

    /// Handles one event. All resulting events are sent through `scheduler`.
    fn on_event(&mut self, event: Event<Self::Payload>, scheduler: &mut Scheduler<Self::Payload>);

    /// Prefetches the memory that the handler of an event will access. With [`PrefetchStage::Tens`] the event
    /// is a guess and may already have been handled.
    #[inline(always)]
    fn prepare(&self, event: &Event<Self::Payload>, ahead: PrefetchStage) {
        let _ = (event, ahead);
    }

    /// Removes and returns the data that `payload`, which leaves for another partition, names.
    fn unload(&mut self, payload: &Self::Payload) -> Self::Cargo;

    /// Stores the data that arrived with `payload` from another partition, and updates the payload to name it here.
    fn load(&mut self, payload: &mut Self::Payload, cargo: Self::Cargo);
}

/// Clock of a partition, and its queue of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "P: Copy + Serialize", deserialize = "P: Copy + Deserialize<'de>"))]
pub struct Scheduler<P> {
    now: Time,
    queue: Queue<P>,
    /// Events sent so far per component, indexed by `ComponentId` minus `first`.
    sequences: Vec<u64>,
    first: u32,
    handled: u64,
    /// Events for other partitions, which are delivered at the end of the window.
    outgoing: Vec<Event<P>>,
}

impl<P: Copy> Scheduler<P> {
    /// Creates the scheduler of the partition that owns `components` components from `first` on.
    #[must_use]
    pub fn new(first: ComponentId, components: usize, events_capacity: usize) -> Self {
        Self::with_queue(first, components, Queue::with_capacity(events_capacity))
    }

    /// Like [`Scheduler::new`], with `queue` as the event queue; see [`Queue::with_slots`].
    #[must_use]
    pub fn with_queue(first: ComponentId, components: usize, queue: Queue<P>) -> Self {
        Self {
            now: Time::ZERO,
            queue,
            sequences: vec![0; components],
            first: first.0,
            handled: 0,
            outgoing: Vec::new(),
        }
    }

    /// Creates a stand-in for this scheduler where another process has its partition: the same components and time,
    /// and no events.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self { now: self.now, ..Self::new(ComponentId(self.first), self.sequences.len(), 0) }
    }

    /// Returns the time of the event being handled.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of events handled so far.
    #[must_use]
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Returns the number of events that are pending.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Returns the largest number of events that were ever pending at once. An event from another partition counts
    /// from the end of the window in which it was sent, so the number depends on the partitioning and on where the
    /// run was stopped.
    #[must_use]
    pub fn pending_max(&self) -> usize {
        self.queue.len_max()
    }

    /// Returns everything that the future of this partition depends on, apart from its components: the time, the
    /// events handled, the pending events in order, and the events sent per component. The state does not depend on
    /// the stops of the run.
    pub fn state(&self) -> (Time, u64, Vec<Event<P>>, &[u64]) {
        (self.now, self.handled, self.queue.to_sorted(), &self.sequences)
    }

    /// Sends `payload` from `source` to `target`, `delay_ps` after the current time.
    ///
    /// # Panics
    /// Panics if the delay is 0 (immediate effects are function calls), if the event lies past the range of [`Time`],
    /// or if `source` belongs to another partition.
    #[inline(always)]
    pub fn send(&mut self, source: ComponentId, target: ComponentId, delay_ps: u64, payload: P) {
        // An event at the current time could precede one already handled in the order of keys (wall 4).
        assert!(delay_ps > 0, "an event needs a delay of at least 1 ps");
        let time = self.now.saturating_add(delay_ps);
        assert!(time < Time::MAX, "an event lies past the end of time");
        // The index wraps for a component before `first`, so that the access panics.
        let count = &mut self.sequences[source.0.wrapping_sub(self.first) as usize];
        let sequence = *count;
        *count += 1;
        // The common case is inlined; everything else is one call, which keeps handlers small. Each makes the event by
        // itself, so that its parts go straight into a node, and not by way of the stack.
        if self.owns(target) && self.queue.has_near(time) {
            self.queue.push_near(Event { time, sequence, source, target, payload });
        } else {
            self.send_far(Event { time, sequence, source, target, payload });
        }
    }

    /// Sends an event to another partition, or by the slow path of the queue.
    #[inline(never)]
    fn send_far(&mut self, event: Event<P>) {
        if self.owns(event.target) {
            self.queue.push_slow(event);
        } else {
            self.outgoing.push(event);
        }
    }

    #[inline]
    pub(crate) fn owns(&self, component: ComponentId) -> bool {
        // One comparison for both ends: components before `first` wrap to large numbers.
        component.0.wrapping_sub(self.first) < self.sequences.len() as u32
    }

    /// Returns the first component of this partition, and the number of its components.
    pub(crate) fn components(&self) -> (ComponentId, usize) {
        (ComponentId(self.first), self.sequences.len())
    }

    /// Returns the time of the next event of this partition.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Returns the events sent to other partitions that have not been delivered yet.
    pub(crate) fn outgoing(&mut self) -> &mut Vec<Event<P>> {
        &mut self.outgoing
    }

    /// Enqueues an event that another partition sent.
    ///
    /// # Panics
    /// Panics if the time of the event is not after the clock of this partition.
    pub(crate) fn receive(&mut self, event: Event<P>) {
        assert!(event.time > self.now, "an event crossed a cut faster than the window");
        self.queue.push(event);
    }

    /// Removes and returns all events that are pending or not delivered yet.
    pub(crate) fn take_pending(&mut self) -> Vec<Event<P>> {
        let mut pending = self.queue.take_all();
        pending.append(&mut self.outgoing);
        pending
    }

    /// Takes over an event that was pending, or waiting for delivery, in another scheduler.
    pub(crate) fn take_over(&mut self, event: Event<P>) {
        if self.owns(event.target) {
            self.queue.push(event);
        } else {
            self.outgoing.push(event);
        }
    }

    /// Redistributes the components of schedulers without pending events, `components` per new scheduler. All events
    /// handled so far are attributed to the first one.
    pub(crate) fn repartition(from: Vec<Self>, components: &[usize]) -> Vec<Self> {
        let Some(like) = from.first() else { return Vec::new() };
        let (now, mut first, mut handled) = (like.now, like.first, from.iter().map(|part| part.handled).sum());
        let queue = Queue::like(from.iter().map(|part| &part.queue));
        let mut next = first;
        let mut sequences = Vec::new();
        for mut part in from {
            assert_eq!((part.now, part.first), (now, next), "partitions stand at one time and follow each other");
            next += part.sequences.len() as u32;
            sequences.append(&mut part.sequences);
        }
        assert_eq!(components.iter().sum::<usize>(), sequences.len(), "every component is in a partition");
        let mut sequences = sequences.into_iter();
        let part = |&components: &usize| {
            let own = sequences.by_ref().take(components).collect();
            let part = Self {
                now,
                queue: queue.clone(),
                sequences: own,
                first,
                handled: std::mem::take(&mut handled),
                outgoing: Vec::new(),
            };
            first += components as u32;
            part
        };
        components.iter().map(part).collect()
    }

    /// Returns the next event, if it occurs at or before `limit`; the event stays pending.
    pub(crate) fn peek(&mut self, limit: Time) -> Option<Event<P>> {
        let event = self.queue.pop_until(limit)?;
        self.queue.push(event);
        Some(event)
    }

    /// Advances the clock of an idle partition to `time`.
    pub(crate) fn settle(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Prefetches memory for the coming events.
    #[inline(always)]
    fn prepare<W: Partition<Payload = P>>(&mut self, world: &W) {
        for _ in 0..2 {
            if let Some(event) = self.queue.coming() {
                world.prepare(event, PrefetchStage::Tens);
            }
        }
        for (ahead, others) in PREFETCH_STAGES {
            if let Some(event) = self.queue.ahead(others) {
                world.prepare(event, ahead);
            }
        }
    }

    /// Handles the events up to and including `limit`, at most `events_max` of them. Returns true if none is left.
    pub(crate) fn run<W: Partition<Payload = P>>(&mut self, world: &mut W, limit: Time, events_max: u64) -> bool {
        self.queue.set_limit(limit);
        for _ in 0..events_max {
            let Some(node) = self.queue.take_due() else {
                // The clock stands at the limit even without an event there, so all partitions begin a window alike.
                self.settle(limit);
                return true;
            };
            let event = self.queue.release(node);
            self.now = event.time;
            self.handled += 1;
            if self.queue.is_prefetching() {
                self.prepare(world);
            }
            world.on_event(event, self);
        }
        false
    }
}
