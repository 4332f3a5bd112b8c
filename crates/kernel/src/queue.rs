//! Queue of pending events, popped in key order.
//!
//! The queue is a timing wheel of two levels with a heap behind it. The near wheel has 4 096 slots of 64 ps and begins
//! at the time of the last pop. The far wheel has 4 096 blocks of 262 ns; one block is one revolution of the near
//! wheel. Events more than a millisecond ahead wait in the heap. Worlds whose events lie further apart use wider
//! slots. A slot usually holds one or two events. A slot with many events is sorted when it is popped.

use crate::wheel::{Wheel, NONE, SLOTS, SLOT_COUNT_BITS};
use crate::{Event, EventKey, Time};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Binary logarithm of the default width of a near slot, in ps.
const SLOT_BITS: u32 = 6;
/// Binary logarithm of the widest slot, in ps: a revolution of the far wheel then fills the range of [`Time`].
const SLOT_BITS_MAX: u32 = 36;
/// Number of events in a slot above which the slot is sorted.
const UNSORTED_MAX: usize = 4;
/// Number of events that an insertion into the current slot may shift. Beyond it the event goes to a heap.
const SHIFTED_MAX: usize = 32;

/// Number of pending events at or above which the next ones are prefetched. Fewer events stay in the processor's
/// caches. In a network, prefetching is 7% slower with some thousand events, and 20% faster with a hundred thousand.
const PREFETCH_EVENTS_MIN: usize = 1 << 14;

/// Pending event, linked to the next node of its list: a slot, a block, or the free list.
#[derive(Clone, Debug)]
struct Node<P> {
    event: Event<P>,
    next: u32,
}

/// Node with the key of its event, so that nodes are ordered without visiting them. The earliest is the greatest.
type KeyedNode = Reverse<(EventKey, u32)>;

/// Queue of pending events. [`Queue::pop`] returns them in the order of their keys, in whatever order they were
/// pushed.
///
/// The queue is fast as long as no event is pushed with a time before that of the last event popped; a simulation never
/// pushes such an event. An event is written once, into a node, and read once; in between only the index of the node
/// moves.
#[derive(Clone, Debug)]
pub struct Queue<P> {
    nodes: Vec<Node<P>>,
    free: u32,
    slot_bits: u32,
    /// Slots of one revolution from `start` on.
    near: Wheel,
    /// Blocks of one revolution after `block`.
    far: Wheel,
    /// Events a revolution of the far wheel or more after `block`.
    overflow: BinaryHeap<KeyedNode>,
    /// Nodes of the slots before `start`, sorted with the latest first.
    current: Vec<KeyedNode>,
    /// Further nodes of those slots, pushed when `current` was long; empty when `current` is empty.
    late: BinaryHeap<KeyedNode>,
    /// Next node to prefetch, in the slot after the one being popped.
    coming: u32,
    start: u64,
    /// Block with all of its events in the near wheel; `start` lies in the block or at its end.
    block: u64,
    /// Latest time of an event that this call may pop.
    limit: Time,
    /// End of the slots, from `start` on, in which a lone event is the earliest one: these slots belong to `block` and
    /// lie before `limit`, and no event is pending in an earlier slot.
    clear_until: u64,
    len: usize,
    /// Largest `len` before this queue was restored. Since then `nodes` has one node per event of the maximum.
    len_max: usize,
}

impl<P: Copy> Default for Queue<P> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<P: Copy> Queue<P> {
    /// Creates an empty queue with room for `capacity` events before it has to allocate.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_slots(capacity, SLOT_BITS)
    }

    /// Creates an empty queue with slots of `2^slot_bits` ps, 36 bits at most; the default is 6. The width does not
    /// change the order of events. The queue is fast when a few events fall into a slot, and most are pushed less than
    /// 4096 slots ahead.
    #[must_use]
    pub fn with_slots(capacity: usize, slot_bits: u32) -> Self {
        Self {
            nodes: Vec::with_capacity(capacity),
            free: NONE,
            slot_bits: slot_bits.min(SLOT_BITS_MAX),
            near: Wheel::new(),
            far: Wheel::new(),
            // A slot usually holds one or two events, and few lie beyond the wheels: 1024 is room enough.
            overflow: BinaryHeap::with_capacity(capacity.min(1024)),
            current: Vec::with_capacity(capacity.min(1024)),
            late: BinaryHeap::new(),
            coming: NONE,
            start: 0,
            block: 0,
            limit: Time::MAX,
            clear_until: 0,
            len: 0,
            len_max: 0,
        }
    }

    /// Returns the number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if no event is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the largest number of events that were ever pending at once.
    #[must_use]
    pub fn len_max(&self) -> usize {
        self.len_max.max(self.nodes.len())
    }

    /// Adds an event.
    #[inline(always)]
    pub fn push(&mut self, event: Event<P>) {
        if self.has_near(event.time) {
            self.push_near(event);
        } else {
            self.push_slow(event);
        }
    }

    /// Returns true if a node is free and an event at `time` falls into the near wheel.
    #[inline(always)]
    pub(crate) fn has_near(&self, time: Time) -> bool {
        // The difference wraps for slots before `start`, which belong to `current`.
        (self.free as usize) < self.nodes.len() && self.slot_of(time).wrapping_sub(self.start) < SLOTS as u64
    }

    /// Adds an event for whose time [`Queue::has_near`] is true.
    // Inlined wherever an event is made. If the event passed through memory, its parts would be read back in other
    // widths than they were written in, which stalls the processor for longer than everything else takes.
    #[inline(always)]
    pub(crate) fn push_near(&mut self, event: Event<P>) {
        let slot = self.slot_of(event.time);
        let node = self.free;
        let place = &mut self.nodes[node as usize];
        self.len += 1;
        self.free = place.next;
        *place = Node { event, next: self.near.link(slot, node) };
    }

    /// Adds an event by the slow path, at any time.
    #[inline(never)]
    pub(crate) fn push_slow(&mut self, event: Event<P>) {
        self.len += 1;
        let node = self.node(event);
        let slot = self.slot_of(event.time);
        // Slots before `start` have been opened already: their events are in `current`.
        if slot < self.start {
            self.insert_current(node);
        } else {
            self.place(slot, node);
        }
    }

    /// Links a node whose slot is at or after `start` into a wheel or the heap.
    fn place(&mut self, slot: u64, node: u32) {
        let next = if slot - self.start < SLOTS as u64 {
            self.near.link(slot, node)
        } else if block_of(slot) - self.block < SLOTS as u64 {
            self.far.link(block_of(slot), node)
        } else {
            self.overflow.push(self.waiting(node));
            NONE
        };
        self.nodes[node as usize].next = next;
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        self.pop_until(Time::MAX)
    }

    /// Removes the earliest event if it occurs at or before `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event<P>> {
        // A run pops with one limit many times: `clear_until` stays valid meanwhile.
        if limit != self.limit {
            self.set_limit(limit);
        }
        let node = self.take_due()?;
        Some(self.release(node))
    }

    /// Sets the latest time of the events that [`Queue::take_due`] returns.
    pub(crate) fn set_limit(&mut self, limit: Time) {
        self.limit = limit;
        // 0 sends the next pop to the slow path, which computes it for the new limit.
        self.clear_until = 0;
    }

    /// Unlinks and returns the node of the earliest event, if the event occurs at or before the limit. The caller must
    /// release the node.
    // Returns the node and not the event. An optional event would be taken apart for its discriminant and stored in
    // other widths than it is then read in, which stalls the processor.
    #[inline(always)]
    pub(crate) fn take_due(&mut self) -> Option<u32> {
        let slot = self.near.next_from(self.start).unwrap_or(u64::MAX);
        if slot < self.clear_until {
            let node = self.near.first(slot);
            // A lone event before `clear_until` is the earliest: no comparison of keys, no check of the limit.
            if self.nodes[node as usize].next == NONE {
                // The slot is empty now; an event pushed into it later belongs to `current`.
                self.start = slot + 1;
                self.near.take(slot);
                return Some(node);
            }
        }
        self.pop_slow()
    }

    /// Removes the node of the earliest event by the slow path. The wheels never advance past the limit, so that
    /// events pushed after a pause still find their slots.
    #[inline(never)]
    fn pop_slow(&mut self) -> Option<u32> {
        let node = if self.current.is_empty() { self.pop_slot() } else { self.pop_current() };
        // The slot of the limit itself is left out: an event there may occur after the limit.
        let end_of_block = (self.block + 1) << SLOT_COUNT_BITS;
        self.clear_until = if self.current.is_empty() { end_of_block.min(self.slot_of(self.limit)) } else { 0 };
        node
    }

    /// Returns true if so many events are pending that prefetching pays off.
    #[inline(always)]
    pub(crate) fn is_prefetching(&self) -> bool {
        self.len >= PREFETCH_EVENTS_MIN
    }

    /// Returns the next event of the slot after the one being popped, in the order of its list, and prefetches the one
    /// after. As the list changes meanwhile, some events are missed, and some may no longer be pending.
    #[inline(always)]
    pub(crate) fn coming(&mut self) -> Option<&Event<P>> {
        let place = self.nodes.get(self.coming as usize)?;
        self.coming = place.next;
        prefetch_index(&self.nodes, place.next as usize);
        Some(&place.event)
    }

    /// Returns the event of the current slot that follows after `others` other events, if there is one.
    #[inline(always)]
    pub(crate) fn ahead(&self, others: usize) -> Option<&Event<P>> {
        let at = self.current.len().checked_sub(others + 1)?;
        let Reverse((_, node)) = self.current[at];
        Some(&self.nodes[node as usize].event)
    }

    /// Returns the time of the earliest event.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let current = self.current.last().map(|waiting| waiting.0 .0.time);
        let late = self.late.peek().map(|waiting| waiting.0 .0.time);
        if let Some(time) = current.into_iter().chain(late).min() {
            return Some(time);
        }
        let near = self.near.next_from(self.start);
        let near_time = near.and_then(|slot| self.list_time(self.near.first(slot)));
        // Slots of the next block may be in the near wheel while earlier events of that block are still in the far one.
        if near.is_some_and(|slot| block_of(slot) == self.block) {
            return near_time;
        }
        let far_time = self.far.next_from(self.block + 1).and_then(|block| self.list_time(self.far.first(block)));
        let beyond_time = self.overflow.peek().map(|waiting| waiting.0 .0.time);
        [near_time, far_time, beyond_time].into_iter().flatten().min()
    }

    /// Returns the earliest time in the list that begins with `node`.
    fn list_time(&self, node: u32) -> Option<Time> {
        let node_at = |node: u32| self.nodes.get(node as usize);
        std::iter::successors(node_at(node), |place| node_at(place.next)).map(|place| place.event.time).min()
    }

    #[inline(always)]
    fn slot_of(&self, time: Time) -> u64 {
        time.ps() >> self.slot_bits
    }

    fn time(&self, node: u32) -> Time {
        self.nodes[node as usize].event.time
    }

    fn key(&self, node: u32) -> EventKey {
        self.nodes[node as usize].event.key()
    }

    fn waiting(&self, node: u32) -> KeyedNode {
        Reverse((self.key(node), node))
    }

    /// Writes an event into a free node.
    #[inline(always)]
    fn node(&mut self, event: Event<P>) -> u32 {
        let node = self.free;
        if node == NONE {
            self.nodes.push(Node { event, next: NONE });
            return (self.nodes.len() - 1) as u32;
        }
        let place = &mut self.nodes[node as usize];
        self.free = place.next;
        place.event = event;
        node
    }

    /// Frees a node that is in no list, and returns its event.
    #[inline(always)]
    pub(crate) fn release(&mut self, node: u32) -> Event<P> {
        self.len -= 1;
        let place = &mut self.nodes[node as usize];
        place.next = self.free;
        self.free = node;
        place.event
    }

    /// Adds a node to the slot that is being popped.
    fn insert_current(&mut self, node: u32) {
        self.clear_until = 0;
        let waiting = self.waiting(node);
        // `current` has the earliest event last, and a new event is usually among the next: few are shifted.
        let passed = self.current.iter().rev().take(SHIFTED_MAX + 1).take_while(|&other| *other > waiting).count();
        if passed > SHIFTED_MAX {
            self.late.push(waiting);
        } else {
            self.current.insert(self.current.len() - passed, waiting);
        }
    }

    /// Pops the earliest node of the slot that is being popped.
    fn pop_current(&mut self) -> Option<u32> {
        if !self.late.is_empty() {
            self.advance_late();
        }
        let Reverse((key, node)) = *self.current.last()?;
        // The slot of the limit also has later events, which stay for the next run.
        if key.time > self.limit {
            return None;
        }
        self.current.pop();
        if self.current.is_empty() {
            self.current.extend(self.late.pop());
        }
        Some(node)
    }

    /// Makes the earliest node the last of `current`.
    #[cold]
    fn advance_late(&mut self) {
        if self.late.peek() > self.current.last() {
            self.current.extend(self.late.pop());
        }
    }

    /// Advances to the next slot that holds events and pops its earliest. A few events are searched, many are sorted.
    fn pop_slot(&mut self) -> Option<u32> {
        let slot = match self.near.next_from(self.start) {
            // A slot of the next block must wait until `enter` has moved the rest of that block into the near wheel.
            Some(slot) if block_of(slot) == self.block => slot,
            _ => self.next_block()?,
        };
        if slot > self.slot_of(self.limit) {
            return None;
        }
        let first = self.near.first(slot);
        let (mut earliest, mut before) = (first, NONE);
        let mut key = self.key(first);
        let mut at = first;
        // A few events are searched in place, without a copy of their keys.
        for _ in 0..UNSORTED_MAX {
            let next = self.nodes[at as usize].next;
            if next == NONE {
                return (key.time <= self.limit).then(|| self.unlink(slot, before, earliest));
            }
            let next_key = self.key(next);
            if next_key < key {
                (earliest, before, key) = (next, at, next_key);
            }
            at = next;
        }
        self.start = slot + 1;
        self.near.take(slot);
        self.open(first);
        self.pop_current()
    }

    /// Removes `node` from the list of a slot, where it follows `before`.
    fn unlink(&mut self, slot: u64, before: u32, node: u32) -> u32 {
        let next = self.nodes[node as usize].next;
        if before != NONE {
            self.nodes[before as usize].next = next;
        } else if next != NONE {
            self.near.set_first(slot, next);
        } else {
            self.near.take(slot);
        }
        // Not slot + 1: the slot may hold further events.
        self.start = slot;
        node
    }

    /// Sorts the list that begins with `node` into `current`.
    #[inline(never)]
    fn open(&mut self, mut node: u32) {
        while node != NONE {
            self.current.push(self.waiting(node));
            node = self.nodes[node as usize].next;
        }
        self.current.sort_unstable();
        self.coming = self.near.next_from(self.start).map_or(NONE, |slot| self.near.first(slot));
    }

    /// Advances to the next block that holds events, if it begins by the limit. Returns its first occupied slot.
    #[cold]
    fn next_block(&mut self) -> Option<u64> {
        let near = self.near.next_from(self.start).map(block_of);
        let far = self.far.next_from(self.block + 1);
        let overflow = self.overflow.peek().map(|waiting| block_of(self.slot_of(waiting.0 .0.time)));
        let block = [near, far, overflow].into_iter().flatten().min()?;
        // The wheel must not pass the limit, or events pushed after a pause would lie before its start.
        if block > block_of(self.slot_of(self.limit)) {
            return None;
        }
        self.enter(block);
        self.near.next_from(self.start)
    }

    /// Advances to `block` and moves its events into the near wheel.
    fn enter(&mut self, block: u64) {
        self.block = block;
        self.start = block << SLOT_COUNT_BITS;
        let mut node = self.far.take(block);
        while node != NONE {
            let first = self.near.link(self.slot_of(self.time(node)), node);
            node = std::mem::replace(&mut self.nodes[node as usize].next, first);
        }
        while let Some(Reverse((key, node))) = self.overflow.peek() {
            let (slot, node) = (self.slot_of(key.time), *node);
            // The heap has the earliest first: all others lie beyond the far wheel as well.
            if block_of(slot) - block >= SLOTS as u64 {
                break;
            }
            self.overflow.pop();
            self.place(slot, node);
        }
    }

    /// Creates an empty queue with the slot width of `others` and the largest of their maximum lengths.
    pub(crate) fn like<'a>(others: impl Iterator<Item = &'a Self>) -> Self
    where
        P: 'a,
    {
        let start = Self::with_capacity(0);
        others.fold(start, |queue, other| Self {
            len_max: queue.len_max.max(other.len_max()),
            slot_bits: other.slot_bits,
            ..queue
        })
    }

    /// Removes all pending events, and returns them in order.
    pub(crate) fn take_all(&mut self) -> Vec<Event<P>> {
        std::iter::from_fn(|| self.pop()).collect()
    }

    /// Returns all pending events in order; the queue is unchanged.
    #[must_use]
    pub fn to_sorted(&self) -> Vec<Event<P>> {
        // Popped from a copy, so that the order is that of a run by construction.
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.pop()).collect()
    }
}

#[inline]
fn block_of(slot: u64) -> u64 {
    slot >> SLOT_COUNT_BITS
}

impl<P: Copy + Serialize> Serialize for Queue<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Sorted events, so that equal states have equal bytes however their events came into the queue.
        (self.to_sorted(), self.len_max() as u64, self.slot_bits).serialize(serializer)
    }
}

impl<'de, P: Copy + Deserialize<'de>> Deserialize<'de> for Queue<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (events, len_max, slot_bits) = <(Vec<Event<P>>, u64, u32)>::deserialize(deserializer)?;
        let mut queue = Self::with_slots(events.len(), slot_bits);
        for event in events {
            queue.push(event);
        }
        queue.len_max = len_max as usize;
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
            |queue: &Queue<[u64; 2]>| (queue.nodes.capacity(), queue.current.capacity(), queue.overflow.capacity());
        let before = capacities(&queue);
        for _ in 0..100_000 {
            let popped = queue.pop().expect("300 are pending");
            queue.push(event(popped.time));
        }
        assert_eq!(capacities(&queue), before);
        assert_eq!(queue.late.capacity(), 0);
    }
}
