//! The pending events, popped in key order.
//!
//! A wheel of two levels with a heap behind it. The near wheel has 4 096 slots of 64 ps, the far wheel
//! 4 096 blocks of 262 ns (one block = one turn of the near wheel); what lies more than a millisecond ahead waits in the
//! heap. Only the slot under the cursor is ever sorted, and it holds one or two events in practice.

use crate::{Event, EventKey, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

const SLOT_BITS: u32 = 6;
const WHEEL_BITS: u32 = 12;
const WHEEL_SLOTS: u64 = 1 << WHEEL_BITS;
const WORDS: usize = (WHEEL_SLOTS / 64) as usize;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node<P> {
    event: Event<P>,
    next: u32,
}

/// One turn of slots: the head of a list per slot, and two levels of bits that say which slots hold any.
#[derive(Clone, Debug)]
struct Wheel {
    heads: Box<[u32]>,
    occupied: [u64; WORDS],
    summary: u64,
}

impl Wheel {
    fn new() -> Self {
        Self { heads: vec![NONE; WHEEL_SLOTS as usize].into_boxed_slice(), occupied: [0; WORDS], summary: 0 }
    }

    /// Links `node` into the slot and returns the node that was first before.
    #[inline]
    fn link(&mut self, slot: u64, node: u32) -> u32 {
        let index = (slot & (WHEEL_SLOTS - 1)) as usize;
        self.occupied[index / 64] |= 1 << (index % 64);
        self.summary |= 1 << (index / 64);
        std::mem::replace(&mut self.heads[index], node)
    }

    /// Empties the slot and returns its first node.
    #[inline]
    fn take(&mut self, slot: u64) -> u32 {
        let index = (slot & (WHEEL_SLOTS - 1)) as usize;
        self.occupied[index / 64] &= !(1 << (index % 64));
        if self.occupied[index / 64] == 0 {
            self.summary &= !(1 << (index / 64));
        }
        std::mem::replace(&mut self.heads[index], NONE)
    }

    /// The first occupied slot after `cursor`, looking one whole turn ahead.
    #[inline]
    fn next_after(&self, cursor: u64) -> Option<u64> {
        let start = cursor + 1;
        let index = (start & (WHEEL_SLOTS - 1)) as usize;
        let (word, bit) = (index / 64, index % 64);
        let here = self.occupied[word] & (u64::MAX << bit);
        if here != 0 {
            return Some(start + u64::from(here.trailing_zeros()) - bit as u64);
        }
        if self.summary == 0 {
            return None;
        }
        let turned = self.summary.rotate_right((word as u32 + 1) % 64);
        let words_ahead = u64::from(turned.trailing_zeros()) + 1;
        let found = (word + words_ahead as usize) % WORDS;
        let bits = if found == word { self.occupied[word] & !(u64::MAX << bit) } else { self.occupied[found] };
        if bits == 0 {
            return None;
        }
        Some(start - bit as u64 + words_ahead * 64 + u64::from(bits.trailing_zeros()))
    }
}

/// An event that waits behind the far wheel; the earliest is the greatest, as `BinaryHeap` wants it.
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
#[derive(Clone, Debug)]
pub struct Queue<P> {
    nodes: Vec<Node<P>>,
    free: u32,
    near: Wheel,
    far: Wheel,
    beyond: BinaryHeap<Waiting<P>>,
    /// Events at or before the slot under the cursor, latest first.
    current: Vec<Event<P>>,
    cursor: u64,
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
            cursor: 0,
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
        let slot = event.time.ps() >> SLOT_BITS;
        if slot <= self.cursor {
            self.insert_current(event);
        } else if slot - self.cursor <= WHEEL_SLOTS {
            let node = self.node(event);
            self.nodes[node as usize].next = self.near.link(slot, node);
        } else if (slot >> WHEEL_BITS) - (self.cursor >> WHEEL_BITS) < WHEEL_SLOTS {
            let node = self.node(event);
            self.nodes[node as usize].next = self.far.link(slot >> WHEEL_BITS, node);
        } else {
            self.beyond.push(Waiting(event));
        }
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        if self.current.is_empty() && !self.advance() {
            return None;
        }
        self.len -= 1;
        self.current.pop()
    }

    /// Removes the earliest event if it happens at or before `limit`.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event<P>> {
        if self.current.is_empty() && !self.advance() {
            return None;
        }
        if self.current.last()?.time > limit {
            return None;
        }
        self.len -= 1;
        self.current.pop()
    }

    /// When the earliest event happens.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        if self.current.is_empty() && !self.advance() {
            return None;
        }
        self.current.last().map(|event| event.time)
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

    fn insert_current(&mut self, event: Event<P>) {
        let key = event.key();
        let mut index = self.current.len();
        while index > 0 && self.current[index - 1].key() < key {
            index -= 1;
        }
        self.current.insert(index, event);
    }

    /// Moves the cursor to the next slot that holds events. False when none is left.
    fn advance(&mut self) -> bool {
        if self.len == 0 {
            return false;
        }
        loop {
            let block = self.cursor >> WHEEL_BITS;
            match self.near.next_after(self.cursor) {
                Some(slot) if slot >> WHEEL_BITS == block => {
                    self.cursor = slot;
                    self.drain(slot);
                    return true;
                }
                near => {
                    let near = near.map(|slot| slot >> WHEEL_BITS);
                    let far = self.far.next_after(block);
                    let beyond = self.beyond.peek().map(|waiting| waiting.0.time.ps() >> (SLOT_BITS + WHEEL_BITS));
                    match [near, far, beyond].into_iter().flatten().min() {
                        Some(next) => self.enter_block(next),
                        None => return false,
                    }
                }
            }
        }
    }

    /// Puts the cursor right before `block` and brings the events of that block near.
    fn enter_block(&mut self, block: u64) {
        self.cursor = (block << WHEEL_BITS) - 1;
        let mut node = self.far.take(block);
        while node != NONE {
            let Node { event, next } = self.nodes[node as usize].clone();
            self.nodes[node as usize].next = self.near.link(event.time.ps() >> SLOT_BITS, node);
            node = next;
        }
        while let Some(waiting) = self.beyond.peek() {
            if (waiting.0.time.ps() >> (SLOT_BITS + WHEEL_BITS)) - block >= WHEEL_SLOTS - 1 {
                break;
            }
            if let Some(Waiting(event)) = self.beyond.pop() {
                self.place(event);
            }
        }
    }

    /// Moves the events of a slot to `current`, latest first.
    #[inline]
    fn drain(&mut self, slot: u64) {
        let mut node = self.near.take(slot);
        while node != NONE {
            let place = &mut self.nodes[node as usize];
            let next = place.next;
            place.next = self.free;
            self.free = node;
            self.current.push(place.event);
            node = next;
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|event| std::cmp::Reverse::<EventKey>(event.key()));
        }
    }

    /// All pending events in order; the queue stays as it is.
    #[must_use]
    pub fn to_sorted(&self) -> Vec<Event<P>> {
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.pop()).collect()
    }
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
