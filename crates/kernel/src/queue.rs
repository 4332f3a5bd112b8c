//! The pending events, popped in key order.
//!
//! A wheel of two levels with a heap behind it. The near wheel has 4 096 slots of 64 ps and begins at the time of
//! the last pop; the far wheel has 4 096 blocks of 262 ns (one block = one turn of the near wheel); what lies more than
//! a millisecond ahead waits in the heap. Only the slot that is being popped is ever sorted, and it holds one or two
//! events in practice.

use crate::wheel::{Wheel, NONE, SLOTS, SLOT_COUNT_BITS};
use crate::{Event, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A slot of the near wheel spans 2^6 ps.
const SLOT_BITS: u32 = 6;
/// How many events of the slot being popped an event may be moved past before it goes to a heap instead.
const INSERT_MAX: usize = 32;

#[derive(Clone, Debug)]
struct Node<P> {
    event: Event<P>,
    next: u32,
}

/// An event in a heap; the earliest is the greatest, as `BinaryHeap` wants it.
#[derive(Clone, Debug)]
struct Waiting<P>(Event<P>);

impl<P> PartialEq for Waiting<P> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}
impl<P> Eq for Waiting<P> {}
impl<P> PartialOrd for Waiting<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<P> Ord for Waiting<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key().cmp(&self.0.key())
    }
}

/// Pending events. [`Queue::pop`] returns them in the order of their keys, whatever the order of the pushes.
///
/// It is fast while events are pushed at or after the last one popped, as a simulation does.
#[derive(Clone, Debug)]
pub struct Queue<P> {
    nodes: Vec<Node<P>>,
    free: u32,
    /// Slots from `start` on, for one turn.
    near: Wheel,
    /// Blocks after `block`, for one turn.
    far: Wheel,
    /// Everything a turn of the far wheel or more after `block`.
    beyond: BinaryHeap<Waiting<P>>,
    /// Events of the slots before `start`, latest first.
    current: Vec<Event<P>>,
    /// More of them, pushed when `current` was long.
    late: BinaryHeap<Waiting<P>>,
    start: u64,
    /// The block whose events are all near; `start` lies in it or at its end.
    block: u64,
    len: usize,
    len_max: usize,
}

impl<P: Copy> Default for Queue<P> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<P: Copy> Queue<P> {
    /// An empty queue with room for `capacity` events before it has to allocate.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(capacity),
            free: NONE,
            near: Wheel::new(),
            far: Wheel::new(),
            beyond: BinaryHeap::with_capacity(capacity.min(1024)),
            current: Vec::with_capacity(capacity.min(1024)),
            late: BinaryHeap::new(),
            start: 0,
            block: 0,
            len: 0,
            len_max: 0,
        }
    }

    /// How many events are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The largest number of events that were ever pending at once.
    #[must_use]
    pub fn len_max(&self) -> usize {
        self.len_max
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event<P>) {
        self.len += 1;
        self.len_max = self.len_max.max(self.len);
        self.place(event);
    }

    #[inline]
    fn place(&mut self, event: Event<P>) {
        let slot = slot_of(event.time);
        if slot < self.start {
            self.insert_current(event);
        } else if slot - self.start < SLOTS as u64 {
            let node = self.node(event);
            self.nodes[node as usize].next = self.near.link(slot, node);
        } else if block_of(slot) - self.block < SLOTS as u64 {
            let node = self.node(event);
            self.nodes[node as usize].next = self.far.link(block_of(slot), node);
        } else {
            self.beyond.push(Waiting(event));
        }
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        self.pop_until(Time::MAX)
    }

    /// Removes the earliest event if it happens at or before `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event<P>> {
        if self.current.is_empty() && self.late.is_empty() {
            self.pop_slot(limit)
        } else {
            self.pop_current(limit)
        }
    }

    /// When the earliest event happens.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let current = self.current.last().map(|event| event.time);
        let late = self.late.peek().map(|waiting| waiting.0.time);
        if let Some(time) = current.into_iter().chain(late).min() {
            return Some(time);
        }
        let near = self.near.next_from(self.start);
        let near_time = near.and_then(|slot| self.list_time(self.near.first(slot)));
        if near.is_some_and(|slot| block_of(slot) == self.block) {
            return near_time;
        }
        let far_time = self.far.next_from(self.block + 1).and_then(|block| self.list_time(self.far.first(block)));
        let beyond_time = self.beyond.peek().map(|waiting| waiting.0.time);
        [near_time, far_time, beyond_time].into_iter().flatten().min()
    }

    /// The earliest time in the list that begins with `node`.
    fn list_time(&self, node: u32) -> Option<Time> {
        let node_at = |node: u32| self.nodes.get(node as usize);
        std::iter::successors(node_at(node), |place| node_at(place.next)).map(|place| place.event.time).min()
    }

    #[inline]
    fn node(&mut self, event: Event<P>) -> u32 {
        if self.free == NONE {
            self.nodes.push(Node { event, next: NONE });
            return (self.nodes.len() - 1) as u32;
        }
        let node = self.free;
        let place = &mut self.nodes[node as usize];
        self.free = place.next;
        place.event = event;
        node
    }

    /// Takes the event out of `node`; returns it with the node that followed.
    #[inline]
    fn release(&mut self, node: u32) -> (Event<P>, u32) {
        let place = &mut self.nodes[node as usize];
        let next = std::mem::replace(&mut place.next, self.free);
        self.free = node;
        (place.event, next)
    }

    /// Adds an event to the slot that is being popped.
    fn insert_current(&mut self, event: Event<P>) {
        let key = event.key();
        let passed = self.current.iter().rev().take(INSERT_MAX + 1).take_while(|other| other.key() < key).count();
        if passed > INSERT_MAX {
            self.late.push(Waiting(event));
        } else {
            self.current.insert(self.current.len() - passed, event);
        }
    }

    /// Pops the earliest event of the slot that is being popped.
    #[inline]
    fn pop_current(&mut self, limit: Time) -> Option<Event<P>> {
        if !self.late.is_empty() {
            return self.pop_late(limit);
        }
        if self.current.last()?.time > limit {
            return None;
        }
        self.len -= 1;
        self.current.pop()
    }

    #[cold]
    fn pop_late(&mut self, limit: Time) -> Option<Event<P>> {
        let late = &self.late.peek()?.0;
        let earlier = self.current.last().filter(|event| event.key() < late.key());
        if earlier.unwrap_or(late).time > limit {
            return None;
        }
        self.len -= 1;
        if earlier.is_some() {
            self.current.pop()
        } else {
            self.late.pop().map(|waiting| waiting.0)
        }
    }

    /// Begins the next slot that holds events and pops its earliest. The wheels never move past `limit`, so that
    /// what is pushed after a pause still finds its slot.
    #[inline]
    fn pop_slot(&mut self, limit: Time) -> Option<Event<P>> {
        let slot = self.next_slot(slot_of(limit))?;
        self.start = slot + 1;
        let first = self.near.take(slot);
        let (event, mut node) = self.release(first);
        if node == NONE && event.time <= limit {
            self.len -= 1;
            return Some(event);
        }
        self.current.push(event);
        while node != NONE {
            let (event, next) = self.release(node);
            self.current.push(event);
            node = next;
        }
        self.current.sort_unstable_by_key(|event| Reverse(event.key()));
        self.pop_current(limit)
    }

    /// The first occupied slot up to `limit`; its block and all before it are near when it is found.
    #[inline]
    fn next_slot(&mut self, limit: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        loop {
            let near = self.near.next_from(self.start);
            if let Some(slot) = near.filter(|&slot| block_of(slot) == self.block) {
                return (slot <= limit).then_some(slot);
            }
            let far = self.far.next_from(self.block + 1);
            let beyond = self.beyond.peek().map(|waiting| block_of(slot_of(waiting.0.time)));
            let block = [near.map(block_of), far, beyond].into_iter().flatten().min()?;
            if block > block_of(limit) {
                return None;
            }
            self.enter(block);
        }
    }

    /// Moves on to `block` and brings its events near.
    fn enter(&mut self, block: u64) {
        self.block = block;
        self.start = block << SLOT_COUNT_BITS;
        let mut node = self.far.take(block);
        while node != NONE {
            let slot = slot_of(self.nodes[node as usize].event.time);
            let first = self.near.link(slot, node);
            node = std::mem::replace(&mut self.nodes[node as usize].next, first);
        }
        while let Some(waiting) = self.beyond.peek() {
            if block_of(slot_of(waiting.0.time)) - block >= SLOTS as u64 {
                break;
            }
            if let Some(Waiting(event)) = self.beyond.pop() {
                self.place(event);
            }
        }
    }

    /// All pending events in order; the queue stays as it is.
    #[must_use]
    pub fn to_sorted(&self) -> Vec<Event<P>> {
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.pop()).collect()
    }
}

#[inline]
fn slot_of(time: Time) -> u64 {
    time.ps() >> SLOT_BITS
}

#[inline]
fn block_of(slot: u64) -> u64 {
    slot >> SLOT_COUNT_BITS
}

impl<P: Copy + Serialize> Serialize for Queue<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.to_sorted(), self.len_max as u64).serialize(serializer)
    }
}

impl<'de, P: Copy + Deserialize<'de>> Deserialize<'de> for Queue<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (events, len_max) = <(Vec<Event<P>>, u64)>::deserialize(deserializer)?;
        let mut queue = Self::with_capacity(events.len());
        for event in events {
            queue.push(event);
        }
        queue.len_max = queue.len_max.max(len_max as usize);
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ComponentId, Rng};

    #[test]
    fn allocates_nothing_in_the_steady_state() {
        let mut rng = Rng::new(1, 1);
        let mut queue = Queue::with_capacity(300);
        let mut sequence = 0;
        let mut event = |now: Time| {
            sequence += 1;
            let delay_ps = if sequence % 16 == 0 { rng.below(20_000_000) } else { rng.below(200_000) };
            Event {
                time: now + 1 + delay_ps,
                sequence,
                source: ComponentId(0),
                target: ComponentId(0),
                payload: [0; 2],
            }
        };
        (0..300).for_each(|_| queue.push(event(Time::ZERO)));
        let capacities =
            |queue: &Queue<[u64; 2]>| (queue.nodes.capacity(), queue.current.capacity(), queue.beyond.capacity());
        let before = capacities(&queue);
        for _ in 0..100_000 {
            let popped = queue.pop().expect("300 are pending");
            queue.push(event(popped.time));
        }
        assert_eq!(capacities(&queue), before);
        assert_eq!(queue.late.capacity(), 0);
    }
}
