//! The pending requests of a channel: one list per bank and direction, oldest first.

use crate::request::RequestId;
use serde::{Deserialize, Serialize};

pub(crate) const NONE: u16 = u16::MAX;

/// A request in the RPQ or WPQ.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) request: RequestId,
    pub(crate) row: u32,
    pub(crate) bank: u8,
    pub(crate) class: u8,
    /// Clock of arrival.
    pub(crate) arrived: u64,
    /// Order of arrival.
    pub(crate) order: u64,
    /// Whether an activation was made for it.
    pub(crate) activated: bool,
    next: u16,
}

/// A bank's share of a queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct List {
    head: u16,
    tail: u16,
    /// The oldest request for the open row.
    hit: u16,
}

const EMPTY: List = List { head: NONE, tail: NONE, hit: NONE };

/// The RPQ or the WPQ of a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    free: Vec<u16>,
    lists: Vec<List>,
    /// Banks with requests, one bit each.
    pub(crate) banks: u64,
    next_order: u64,
    capacity: u32,
}

impl Queue {
    pub(crate) fn new(capacity: u32, banks: u32) -> Self {
        let entry = Entry {
            request: RequestId::NONE,
            row: 0,
            bank: 0,
            class: 0,
            arrived: 0,
            order: 0,
            activated: false,
            next: NONE,
        };
        Self {
            entries: vec![entry; capacity as usize],
            free: (0..capacity as u16).rev().collect(),
            lists: vec![EMPTY; banks as usize],
            banks: 0,
            next_order: 0,
            capacity,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.capacity - self.free.len() as u32
    }

    pub(crate) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    #[inline]
    pub(crate) fn entry(&self, index: u16) -> &Entry {
        &self.entries[usize::from(index)]
    }

    pub(crate) fn mark_activated(&mut self, index: u16) {
        self.entries[usize::from(index)].activated = true;
    }

    /// The oldest request of a bank.
    #[inline]
    pub(crate) fn oldest(&self, bank: usize) -> Option<u16> {
        let head = self.lists[bank].head;
        (head != NONE).then_some(head)
    }

    /// The oldest request of a bank for its open row.
    #[inline]
    pub(crate) fn hit(&self, bank: usize) -> Option<u16> {
        let hit = self.lists[bank].hit;
        (hit != NONE).then_some(hit)
    }

    /// Adds a request; `open_row` is the row that the bank has open.
    pub(crate) fn push(&mut self, request: RequestId, row: u32, bank: u8, class: u8, arrived: u64, open_row: Option<u32>) {
        let index = self.free.pop().expect("the queue has room");
        let order = self.next_order;
        self.next_order += 1;
        self.entries[usize::from(index)] =
            Entry { request, row, bank, class, arrived, order, activated: false, next: NONE };
        let list = &mut self.lists[usize::from(bank)];
        if list.head == NONE {
            list.head = index;
            self.banks |= 1 << bank;
        } else {
            self.entries[usize::from(list.tail)].next = index;
        }
        list.tail = index;
        if list.hit == NONE && open_row == Some(row) {
            list.hit = index;
        }
    }

    /// Removes the oldest hit of a bank and finds the next.
    pub(crate) fn remove_hit(&mut self, bank: usize) -> Entry {
        let list = self.lists[bank];
        let index = list.hit;
        let entry = self.entries[usize::from(index)];
        let mut previous = NONE;
        let mut at = list.head;
        while at != index {
            previous = at;
            at = self.entries[usize::from(at)].next;
        }
        let list = &mut self.lists[bank];
        if previous == NONE {
            list.head = entry.next;
        } else {
            self.entries[usize::from(previous)].next = entry.next;
        }
        if entry.next == NONE {
            list.tail = previous;
        }
        let next_hit = self.find(entry.next, entry.row);
        self.lists[bank].hit = next_hit;
        if self.lists[bank].head == NONE {
            self.banks &= !(1 << bank);
        }
        self.free.push(index);
        entry
    }

    /// The bank opened `row`, or closed its row.
    pub(crate) fn row_changed(&mut self, bank: usize, row: Option<u32>) {
        let head = self.lists[bank].head;
        self.lists[bank].hit = row.map_or(NONE, |row| self.find(head, row));
    }

    fn find(&self, mut at: u16, row: u32) -> u16 {
        while at != NONE && self.entries[usize::from(at)].row != row {
            at = self.entries[usize::from(at)].next;
        }
        at
    }
}
