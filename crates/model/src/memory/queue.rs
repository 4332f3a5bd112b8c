//! The pending requests of a channel: one list per bank and direction, oldest first.

use super::Place;
use crate::request::RequestId;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

pub(crate) const NONE: u16 = u16::MAX;

/// A request in the RPQ or WPQ.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) request: RequestId,
    pub(crate) row: u32,
    pub(crate) bank: u8,
    pub(crate) class: u8,
    /// Clock and time of arrival. A write outlives its request, so the time is kept here.
    pub(crate) arrived: u64,
    pub(crate) queued: Time,
    /// Order of arrival.
    order: u64,
    next: u16,
}

impl Entry {
    /// An entry for a request that arrives at time `queued`, in clock `arrived`.
    pub(crate) fn new(request: RequestId, place: Place, class: u8, arrived: u64, queued: Time) -> Self {
        Self { request, row: place.row, bank: place.bank, class, arrived, queued, order: 0, next: NONE }
    }
}

/// A bank's share of a queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct List {
    head: u16,
    tail: u16,
    /// The oldest request for the open row.
    hit: u16,
    /// Order of arrival of the oldest request, and of the oldest hit.
    pub(crate) head_order: u64,
    pub(crate) hit_order: u64,
    /// Clock of arrival of the oldest request.
    pub(crate) head_arrived: u64,
}

const EMPTY: List = List { head: NONE, tail: NONE, hit: NONE, head_order: 0, hit_order: 0, head_arrived: 0 };

/// The RPQ or the WPQ of a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    free: Vec<u16>,
    lists: Vec<List>,
    /// Banks with requests, one bit each.
    pub(crate) banks: u64,
    /// Banks with requests for their open row, one bit each.
    pub(crate) hits: u64,
    next_order: u64,
    capacity: u32,
}

impl Queue {
    pub(crate) fn new(capacity: u32, banks: u32) -> Self {
        let entry = Entry::new(RequestId::NONE, Place::default(), 0, 0, Time::ZERO);
        Self {
            entries: vec![entry; capacity as usize],
            free: (0..capacity as u16).rev().collect(),
            lists: vec![EMPTY; banks as usize],
            banks: 0,
            hits: 0,
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

    /// A bank's share of the queue.
    #[inline]
    pub(crate) fn list(&self, bank: usize) -> &List {
        &self.lists[bank]
    }

    /// The row that the oldest request of a bank wants.
    pub(crate) fn oldest_row(&self, bank: usize) -> u32 {
        self.entries[usize::from(self.lists[bank].head)].row
    }

    /// Adds a request; `open_row` is the row that the bank has open.
    pub(crate) fn push(&mut self, entry: Entry, open_row: Option<u32>) {
        let index = self.free.pop().expect("the queue has room");
        let order = self.next_order;
        self.next_order += 1;
        self.entries[usize::from(index)] = Entry { order, next: NONE, ..entry };
        let list = &mut self.lists[usize::from(entry.bank)];
        if list.head == NONE {
            list.head = index;
            list.head_order = order;
            list.head_arrived = entry.arrived;
            self.banks |= 1 << entry.bank;
        } else {
            self.entries[usize::from(list.tail)].next = index;
        }
        list.tail = index;
        if list.hit == NONE && open_row == Some(entry.row) {
            self.set_hit(usize::from(entry.bank), index);
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
        if previous == NONE {
            self.set_head(bank, entry.next);
        } else {
            self.entries[usize::from(previous)].next = entry.next;
        }
        if entry.next == NONE {
            self.lists[bank].tail = previous;
        }
        let next_hit = self.find(entry.next, entry.row);
        self.set_hit(bank, next_hit);
        self.free.push(index);
        entry
    }

    fn set_head(&mut self, bank: usize, index: u16) {
        let list = &mut self.lists[bank];
        list.head = index;
        if index == NONE {
            self.banks &= !(1 << bank);
        } else {
            let entry = &self.entries[usize::from(index)];
            list.head_order = entry.order;
            list.head_arrived = entry.arrived;
        }
    }

    fn set_hit(&mut self, bank: usize, index: u16) {
        let list = &mut self.lists[bank];
        list.hit = index;
        if index == NONE {
            self.hits &= !(1 << bank);
        } else {
            list.hit_order = self.entries[usize::from(index)].order;
            self.hits |= 1 << bank;
        }
    }

    /// The bank opened `row`, or closed its row.
    pub(crate) fn row_changed(&mut self, bank: usize, row: Option<u32>) {
        if self.banks >> bank & 1 == 1 {
            let hit = row.map_or(NONE, |row| self.find(self.lists[bank].head, row));
            self.set_hit(bank, hit);
        }
    }

    fn find(&self, mut at: u16, row: u32) -> u16 {
        while at != NONE && self.entries[usize::from(at)].row != row {
            at = self.entries[usize::from(at)].next;
        }
        at
    }
}
