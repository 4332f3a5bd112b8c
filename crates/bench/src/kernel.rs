//! Benchmarks the event queue against a binary heap in the hold model: the number of pending events is constant,
//! because each popped event is replaced by a later one.

use crate::sample::{interleaved, Sample};
use crate::{peak_bytes, Row, Size};
use hostnet_kernel::{ComponentId, Event, Queue, Rng, Time};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

/// Payload of the events; it makes an event 40 bytes long, as in a server.
type Payload = [u32; 4];
const _: () = assert!(size_of::<Event<Payload>>() == 40);

/// Number of event sources. A power of two.
const SOURCES: usize = 256;

/// Parameters of one hold model.
#[derive(Clone, Copy, Debug)]
struct Hold {
    pending: usize,
    /// Smallest and largest delay, in ps.
    delays_ps: (u64, u64),
    events: usize,
}

/// Benchmarks the queue at 256, 4 096 and 65 536 pending events with delays of 0.3 to 262 ns, and at the usual load
/// of a simulated server, each against a `BinaryHeap` with the same events as the reference.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let events = match size {
        Size::Quick => 2_000,
        Size::Full => 2_000_000,
    };
    let loads = [(300, (700, 200_000)), (256, (300, 262_000)), (4096, (300, 262_000)), (65_536, (300, 262_000))];
    loads.into_iter().flat_map(|(pending, delays_ps)| compare(size, Hold { pending, delays_ps, events })).collect()
}

fn compare(size: Size, model: Hold) -> [Row; 2] {
    let repetitions = if size == Size::Quick { 1 } else { 11 };
    let queue = || hold(model, Queue::with_capacity(model.pending));
    let heap = || hold(model, Heap { events: BinaryHeap::with_capacity(model.pending), len_max: 0 });
    let samples = interleaved(repetitions, &[&heap, &queue]);
    let row = |index: usize, name: &str| {
        let Sample { seconds, events, pending_max, hash } = samples.typical(index);
        let (low, high) = model.delays_ps;
        Row {
            benchmark: format!("{name}, {} pending, {} to {} ns", model.pending, low as f64 / 1e3, high as f64 / 1e3),
            events_per_s: events as f64 / seconds,
            lines_per_s: None,
            events_per_line: None,
            pending_max,
            memory_max_bytes: peak_bytes(),
            times_reference: (index > 0).then(|| samples.times_as_fast(index, 0)),
            hash: format!("{hash:016x}"),
        }
    };
    [row(0, "BinaryHeap"), row(1, "Queue")]
}

/// Operations that both queues support.
trait Pending {
    fn push(&mut self, event: Event<Payload>);
    fn pop(&mut self) -> Option<Event<Payload>>;
    fn len_max(&self) -> usize;
}

impl Pending for Queue<Payload> {
    #[inline]
    fn push(&mut self, event: Event<Payload>) {
        self.push(event);
    }
    #[inline]
    fn pop(&mut self) -> Option<Event<Payload>> {
        self.pop()
    }
    fn len_max(&self) -> usize {
        self.len_max()
    }
}

/// The reference: the standard heap, with the earliest event as its maximum.
struct Heap {
    events: BinaryHeap<Earliest>,
    len_max: usize,
}

impl Pending for Heap {
    #[inline]
    fn push(&mut self, event: Event<Payload>) {
        self.events.push(Earliest(event));
        self.len_max = self.len_max.max(self.events.len());
    }
    #[inline]
    fn pop(&mut self) -> Option<Event<Payload>> {
        self.events.pop().map(|earliest| earliest.0)
    }
    fn len_max(&self) -> usize {
        self.len_max
    }
}

struct Earliest(Event<Payload>);

impl PartialEq for Earliest {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}
impl Eq for Earliest {}
impl PartialOrd for Earliest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Earliest {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key().cmp(&self.0.key())
    }
}

/// Generates events at random times, with a sequence number per source.
struct Source {
    rng: Rng,
    low_ps: u64,
    range_ps: u64,
    sequences: [u64; SOURCES],
}

impl Source {
    #[inline]
    fn next(&mut self, now: Time) -> Event<Payload> {
        let drawn = self.rng.next_u64();
        let delay_ps = self.low_ps + (((drawn >> 32) * self.range_ps) >> 32);
        let source = drawn as usize % SOURCES;
        let sequence = self.sequences[source];
        self.sequences[source] += 1;
        let id = ComponentId(source as u32);
        Event { time: now + delay_ps, sequence, source: id, target: id, payload: [sequence as u32; 4] }
    }
}

/// Fills the queue, replaces every event once, and then measures.
fn hold(model: Hold, mut queue: impl Pending) -> Sample {
    let (low_ps, high_ps) = model.delays_ps;
    let mut source = Source { rng: Rng::new(1, 0), low_ps, range_ps: high_ps - low_ps, sequences: [0; SOURCES] };
    (0..model.pending).for_each(|_| queue.push(source.next(Time::ZERO)));
    turn(&mut queue, &mut source, model.pending);
    let start = Instant::now();
    let hash = turn(&mut queue, &mut source, model.events);
    let seconds = start.elapsed().as_secs_f64();
    Sample { seconds, events: model.events as u64, pending_max: queue.len_max() as u64, hash }
}

/// Pops and replaces `count` events. Returns a hash of the popped events in their order.
fn turn(queue: &mut impl Pending, source: &mut Source, count: usize) -> u64 {
    let mut hash = 0_u64;
    for _ in 0..count {
        let Some(event) = queue.pop() else { break };
        let popped = event.time.ps() ^ (event.sequence << 40) ^ (u64::from(event.source.0 ^ event.payload[0]) << 56);
        hash = (hash ^ popped).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        queue.push(source.next(event.time));
    }
    hash
}
