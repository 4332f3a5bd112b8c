//! What a partition sees of the kernel: its clock and a way to send events.

use crate::{ComponentId, Event, Queue, Time};
use serde::{Deserialize, Serialize};

/// When an event will be handled for which memory is fetched. What one stage reads the stage before has fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// After some tens of others: what the event itself names may be fetched.
    Tens,
    /// After several: what follows from that.
    Several,
    /// After a few.
    Few,
    /// At once.
    None,
}

/// Each later stage, and how many events lie between one that is handled and one at that stage.
const AHEAD: [(Ahead, usize); 3] = [(Ahead::Several, 5), (Ahead::Few, 2), (Ahead::None, 0)];

/// The state of one partition: its components, and what happens to them.
pub trait Partition {
    /// What events carry.
    type Payload: Copy;
    /// What travels beside an event that crosses a cut, because its payload only names it: a packet in the partition's
    /// own store, say. `()` when payloads are complete.
    type Cargo: Send;

    /// Handles one event. Everything that follows from it is sent through `scheduler`.
    fn on_event(&mut self, event: Event<Self::Payload>, scheduler: &mut Scheduler<Self::Payload>);

    /// An event will be handled soon: what that takes may be fetched into the caches of the processor. Of
    /// [`Ahead::Tens`] it is a guess, and the event may have been handled already.
    #[inline(always)]
    fn prepare(&self, event: &Event<Self::Payload>, ahead: Ahead) {
        let _ = (event, ahead);
    }

    /// Takes out what `payload`, on its way to another partition, names.
    fn unload(&mut self, payload: &Self::Payload) -> Self::Cargo;

    /// Takes in what came with `payload` from another partition, and makes the payload name it here.
    fn load(&mut self, payload: &mut Self::Payload, cargo: Self::Cargo);
}

/// The clock of a partition and its way to send events.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "P: Copy + Serialize", deserialize = "P: Copy + Deserialize<'de>"))]
pub struct Scheduler<P> {
    now: Time,
    queue: Queue<P>,
    /// Events sent so far, per component; indexed by `ComponentId` less `first`.
    sequences: Vec<u64>,
    first: u32,
    handled: u64,
    /// Events for other partitions, handed over at the end of the window.
    outgoing: Vec<Event<P>>,
}

impl<P: Copy> Scheduler<P> {
    /// The scheduler of the partition that owns `components` components from `first` on.
    #[must_use]
    pub fn new(first: ComponentId, components: usize, events_capacity: usize) -> Self {
        Self::with_queue(first, components, Queue::with_capacity(events_capacity))
    }

    /// The same for a partition whose events wait in `queue`; see [`Queue::with_slots`].
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

    /// What stands for this one where its partition is elsewhere: it has the same components and time, and no events.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self { now: self.now, ..Self::new(ComponentId(self.first), self.sequences.len(), 0) }
    }

    /// The time of the event being handled.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handled so far.
    #[must_use]
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Events pending now.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// The most events that were ever pending at once. An event from another partition counts from the end of the
    /// window in which it was sent, so this depends on how the world was cut and where runs were stopped.
    #[must_use]
    pub fn pending_max(&self) -> usize {
        self.queue.len_max()
    }

    /// All that the future of this partition depends on, apart from its components: the time, the events handled, the
    /// events pending in their order, and the events sent per component. It does not depend on where runs were stopped.
    pub fn state(&self) -> (Time, u64, Vec<Event<P>>, &[u64]) {
        (self.now, self.handled, self.queue.to_sorted(), &self.sequences)
    }

    /// Sends `payload` from `source` to `target`, to happen `delay_ps` from now.
    ///
    /// # Panics
    /// If the delay is 0 (what happens now is a function call), the event lies past the range of [`Time`], or
    /// `source` is of another partition.
    #[inline(always)]
    pub fn send(&mut self, source: ComponentId, target: ComponentId, delay_ps: u64, payload: P) {
        assert!(delay_ps > 0, "an event needs a delay of at least 1 ps");
        let time = self.now.saturating_add(delay_ps);
        assert!(time < Time::MAX, "an event lies past the end of time");
        let count = &mut self.sequences[source.0.wrapping_sub(self.first) as usize];
        let sequence = *count;
        *count += 1;
        let event = Event { time, sequence, source, target, payload };
        if !(self.owns(target) && self.queue.push_near(event)) {
            self.send_far(event);
        }
    }

    /// Sends an event to another partition, or to a place in the queue that is not at hand.
    #[inline(never)]
    fn send_far(&mut self, event: Event<P>) {
        if self.owns(event.target) {
            self.queue.push_anywhere(event);
        } else {
            self.outgoing.push(event);
        }
    }

    #[inline]
    pub(crate) fn owns(&self, component: ComponentId) -> bool {
        component.0.wrapping_sub(self.first) < self.sequences.len() as u32
    }

    /// The components of this partition: the first, and how many.
    pub(crate) fn components(&self) -> (ComponentId, usize) {
        (ComponentId(self.first), self.sequences.len())
    }

    /// When the next event of this partition happens.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// The events sent to other partitions that have not been handed over yet.
    pub(crate) fn outgoing(&mut self) -> &mut Vec<Event<P>> {
        &mut self.outgoing
    }

    /// Takes in an event that another partition sent.
    ///
    /// # Panics
    /// If this partition has already passed its time.
    pub(crate) fn receive(&mut self, event: Event<P>) {
        assert!(event.time > self.now, "an event crossed a cut faster than the window");
        self.queue.push(event);
    }

    /// Takes out all that is pending or has not been handed over yet.
    pub(crate) fn take_pending(&mut self) -> Vec<Event<P>> {
        let mut pending = self.queue.take_all();
        pending.append(&mut self.outgoing);
        pending
    }

    /// Takes over an event from a scheduler that had it pending, or was to hand it over.
    pub(crate) fn take_over(&mut self, event: Event<P>) {
        if self.owns(event.target) {
            self.queue.push(event);
        } else {
            self.outgoing.push(event);
        }
    }

    /// The components of schedulers with nothing pending, so many each. What was handled counts for the first.
    pub(crate) fn recut(from: Vec<Self>, components: &[usize]) -> Vec<Self> {
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

    /// The next event, if it happens at or before `limit`. It stays pending.
    pub(crate) fn peek(&mut self, limit: Time) -> Option<Event<P>> {
        let event = self.queue.pop_until(limit)?;
        self.queue.push(event);
        Some(event)
    }

    /// Moves an idle partition's clock on to `time`.
    pub(crate) fn settle(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    /// Has memory fetched for events to come.
    #[inline(always)]
    fn prepare<W: Partition<Payload = P>>(&mut self, world: &W) {
        for _ in 0..2 {
            if let Some(event) = self.queue.coming() {
                world.prepare(event, Ahead::Tens);
            }
        }
        for (ahead, others) in AHEAD {
            if let Some(event) = self.queue.ahead(others) {
                world.prepare(event, ahead);
            }
        }
    }

    /// Handles every event up to and including `limit`, at most `events_max` of them. True when none is left.
    pub(crate) fn run<W: Partition<Payload = P>>(&mut self, world: &mut W, limit: Time, events_max: u64) -> bool {
        self.queue.set_limit(limit);
        for _ in 0..events_max {
            let Some(node) = self.queue.take_due() else {
                self.settle(limit);
                return true;
            };
            let event = self.queue.release(node);
            self.now = event.time;
            self.handled += 1;
            if self.queue.is_fetched() {
                self.prepare(world);
            }
            world.on_event(event, self);
        }
        false
    }
}
