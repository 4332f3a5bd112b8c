//! Partitions, and the conservative windows that keep them in step.
//!
//! A world is cut only at links with latency. Within a window as long as the least latency across any cut, no
//! partition can disturb another, so they may run side by side; at the end of the window the events that cross
//! are handed over. The key of an event does not depend on who ran when, so the result does not either.

use crate::{ComponentId, Event, Queue, Time};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};

/// The state of one partition: its components, and what happens to them.
pub trait Partition {
    /// What events carry.
    type Payload: Copy;

    /// Handles one event. Everything that follows from it is sent through `scheduler`.
    fn on_event(&mut self, event: Event<Self::Payload>, scheduler: &mut Scheduler<Self::Payload>);
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
        Self {
            now: Time::ZERO,
            queue: Queue::with_capacity(events_capacity),
            sequences: vec![0; components],
            first: first.0,
            handled: 0,
            outgoing: Vec::new(),
        }
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

    /// The most events that were ever pending at once.
    #[must_use]
    pub fn pending_max(&self) -> usize {
        self.queue.len_max()
    }

    /// Sends `payload` from `source` to `target`, to happen `delay_ps` from now.
    ///
    /// # Panics
    /// If the delay is 0 (what happens now is a function call) or `source` is of another partition.
    #[inline]
    pub fn send(&mut self, source: ComponentId, target: ComponentId, delay_ps: u64, payload: P) {
        assert!(delay_ps > 0, "an event needs a delay of at least 1 ps");
        let count = &mut self.sequences[(source.0 - self.first) as usize];
        let sequence = *count;
        *count += 1;
        let event = Event { time: self.now + delay_ps, sequence, source, target, payload };
        if self.owns(target) {
            self.queue.push(event);
        } else {
            self.outgoing.push(event);
        }
    }

    #[inline]
    fn owns(&self, component: ComponentId) -> bool {
        component.0.wrapping_sub(self.first) < self.sequences.len() as u32
    }

    /// Handles every event up to and including `limit`, at most `events_max` of them. True when none is left.
    fn run<W: Partition<Payload = P>>(&mut self, world: &mut W, limit: Time, events_max: u64) -> bool {
        let stop = self.handled.saturating_add(events_max);
        while self.handled < stop {
            let Some(event) = self.queue.pop_until(limit) else {
                self.now = self.now.max(limit);
                return true;
            };
            self.now = event.time;
            self.handled += 1;
            world.on_event(event, self);
        }
        false
    }
}

/// How a run stands, told between slices of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Every partition has reached this time.
    pub time: Time,
    /// Events handled by all partitions so far.
    pub events: u64,
}

/// Partitions with their schedulers, run in conservative windows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "W: Serialize, W::Payload: Copy + Serialize",
    deserialize = "W: Deserialize<'de>, W::Payload: Copy + Deserialize<'de>"
))]
pub struct Simulation<W: Partition> {
    parts: Vec<(W, Scheduler<W::Payload>)>,
    /// The least latency across a cut, in ps.
    window_ps: u64,
}

const EVENTS_PER_SLICE: u64 = 1 << 18;

impl<W: Partition> Simulation<W> {
    /// A simulation of `parts`; no event may cross between two of them in less than `window_ps`.
    ///
    /// # Panics
    /// If there is no partition, or more than one and the window is 0.
    #[must_use]
    pub fn new(parts: Vec<(W, Scheduler<W::Payload>)>, window_ps: u64) -> Self {
        assert!(!parts.is_empty(), "a simulation needs a partition");
        assert!(parts.len() == 1 || window_ps > 0, "partitions need a link with latency between them");
        Self { parts, window_ps }
    }

    /// The partitions.
    pub fn worlds(&self) -> impl Iterator<Item = &W> {
        self.parts.iter().map(|part| &part.0)
    }

    /// The partitions, each with its scheduler, to look at and to change between runs.
    pub fn parts_mut(&mut self) -> &mut [(W, Scheduler<W::Payload>)] {
        &mut self.parts
    }

    /// The partitions, each with its scheduler.
    #[must_use]
    pub fn parts(&self) -> &[(W, Scheduler<W::Payload>)] {
        &self.parts
    }

    /// Where the run stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            time: self.parts.iter().map(|part| part.1.now).min().unwrap_or_default(),
            events: self.parts.iter().map(|part| part.1.handled).sum(),
        }
    }

    /// Handles every event up to and including `limit` on the calling thread. Between slices of work it calls
    /// `on_slice`; when that returns false the run stops early, and can be continued. True when `limit` was reached.
    pub fn run_until(&mut self, limit: Time, mut on_slice: impl FnMut(Progress) -> bool) -> bool {
        if let [(world, scheduler)] = &mut self.parts[..] {
            while !scheduler.run(world, limit, EVENTS_PER_SLICE) {
                if !on_slice(Progress { time: scheduler.now, events: scheduler.handled }) {
                    return false;
                }
            }
            return true;
        }
        let mut told = 0;
        while let Some(end) = self.window_end(limit) {
            for (world, scheduler) in &mut self.parts {
                scheduler.run(world, end, u64::MAX);
            }
            self.exchange();
            let progress = self.progress();
            if progress.events >= told + EVENTS_PER_SLICE {
                told = progress.events;
                if !on_slice(progress) {
                    return false;
                }
            }
        }
        self.settle(limit);
        true
    }

    /// The last moment of the next window, or none when nothing happens up to `limit`.
    fn window_end(&mut self, limit: Time) -> Option<Time> {
        let next = self.parts.iter_mut().filter_map(|part| part.1.queue.next_time()).min()?;
        (next <= limit).then(|| limit.min(next.saturating_add(self.window_ps - 1)))
    }

    fn exchange(&mut self) {
        for index in 0..self.parts.len() {
            let mut outgoing = std::mem::take(&mut self.parts[index].1.outgoing);
            for event in outgoing.drain(..) {
                let home = self.parts.iter_mut().find(|part| part.1.owns(event.target));
                let (_, scheduler) = home.expect("an event was sent to a component that does not exist");
                assert!(event.time > scheduler.now, "an event crossed a cut faster than the window");
                scheduler.queue.push(event);
            }
            self.parts[index].1.outgoing = outgoing;
        }
    }

    fn settle(&mut self, limit: Time) {
        for (_, scheduler) in &mut self.parts {
            scheduler.now = scheduler.now.max(limit);
        }
    }
}

impl<W: Partition + Send> Simulation<W>
where
    W::Payload: Send,
{
    /// The same as [`Simulation::run_until`] to its end, with the partitions spread over `threads` threads.
    pub fn run_until_parallel(&mut self, limit: Time, threads: usize) {
        let threads = threads.clamp(1, self.parts.len());
        if threads == 1 {
            self.run_until(limit, |_| true);
            return;
        }
        let owners: Vec<(u32, u32)> =
            self.parts.iter().map(|part| (part.1.first, part.1.sequences.len() as u32)).collect();
        let shared = Shared {
            mailboxes: self.parts.iter().map(|_| Mutex::new(Vec::new())).collect(),
            next: AtomicU64::new(u64::MAX),
            barrier: Barrier::new(threads),
        };
        let window_ps = self.window_ps;
        let share = self.parts.len().div_ceil(threads);
        let mut chunks: Vec<_> = self.parts.chunks_mut(share).collect();
        let missing = threads - chunks.len();
        std::thread::scope(|scope| {
            for (index, chunk) in chunks.drain(..).enumerate() {
                let (shared, owners) = (&shared, &owners);
                scope.spawn(move || shared.work(chunk, index * share, owners, limit, window_ps));
            }
            for _ in 0..missing {
                let (shared, owners) = (&shared, &owners);
                scope.spawn(move || shared.work::<W>(&mut [], 0, owners, limit, window_ps));
            }
        });
        self.settle(limit);
    }
}

/// What the threads of one parallel run share.
struct Shared<P> {
    mailboxes: Vec<Mutex<Vec<Event<P>>>>,
    next: AtomicU64,
    barrier: Barrier,
}

impl<P: Copy> Shared<P> {
    fn work<W: Partition<Payload = P>>(
        &self,
        parts: &mut [(W, Scheduler<P>)],
        first_index: usize,
        owners: &[(u32, u32)],
        limit: Time,
        window_ps: u64,
    ) {
        loop {
            for (index, (_, scheduler)) in parts.iter_mut().enumerate() {
                let mut mail = self.mailboxes[first_index + index].lock().unwrap_or_else(PoisonError::into_inner);
                mail.drain(..).for_each(|event| scheduler.queue.push(event));
                if let Some(time) = scheduler.queue.next_time() {
                    self.next.fetch_min(time.ps(), Ordering::SeqCst);
                }
            }
            self.barrier.wait();
            let next = Time::from_ps(self.next.load(Ordering::SeqCst));
            if self.barrier.wait().is_leader() {
                self.next.store(u64::MAX, Ordering::SeqCst);
            }
            self.barrier.wait();
            if next > limit || next == Time::MAX {
                return;
            }
            let end = limit.min(next.saturating_add(window_ps - 1));
            for (world, scheduler) in parts.iter_mut() {
                scheduler.run(world, end, u64::MAX);
                self.post(scheduler, owners);
            }
            self.barrier.wait();
        }
    }

    fn post(&self, scheduler: &mut Scheduler<P>, owners: &[(u32, u32)]) {
        for event in scheduler.outgoing.drain(..) {
            let home = owners.iter().position(|&(first, count)| event.target.0.wrapping_sub(first) < count);
            let home = home.expect("an event was sent to a component that does not exist");
            self.mailboxes[home].lock().unwrap_or_else(PoisonError::into_inner).push(event);
        }
    }
}
