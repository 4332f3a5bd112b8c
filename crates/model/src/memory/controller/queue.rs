//! Pending requests of one direction: one list per bank, oldest first.

use super::plan::request_key;
use super::IncomingRequest;
use crate::memory::table::Table;
use crate::memory::DramAddress;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

const NONE: u16 = u16::MAX;
/// Buckets of the filter that shows which lines are certainly not queued.
const BUCKETS: usize = 1024;

/// Request in the RPQ or WPQ.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct QueueEntry {
    pub(super) tag: u32,
    pub(super) row: u32,
    pub(super) column: u16,
    pub(super) bank: u8,
    pub(super) class: u8,
    /// Column accesses that the request still needs.
    pub(super) accesses: u8,
    /// True if no command has been issued for the request.
    pub(super) untouched: bool,
    prev: u16,
    next: u16,
    /// Clock of arrival, and time of arrival.
    pub(super) arrived: u64,
    pub(super) queued: Time,
    /// Order of arrival, and bank: see [`request_key`].
    pub(super) key: u64,
}

impl QueueEntry {
    pub(super) const NONE: Self = Self {
        tag: 0,
        row: 0,
        column: 0,
        bank: 0,
        class: 0,
        accesses: 0,
        untouched: true,
        prev: NONE,
        next: NONE,
        arrived: 0,
        queued: Time::ZERO,
        key: 0,
    };

    /// Creates an entry for a request that arrives at time `now`, in clock `clock`.
    pub(super) fn new(incoming: &IncomingRequest, accesses: u8, order: u64, clock: u64, now: Time) -> Self {
        let DramAddress { bank, row, column, .. } = incoming.place;
        let IncomingRequest { tag, class, .. } = *incoming;
        let key = request_key(order, usize::from(bank));
        Self { tag, row, column, bank, class, accesses, key, arrived: clock, queued: now, ..Self::NONE }
    }

    fn bucket(bank: u8, row: u32, column: u16) -> usize {
        let line = u64::from(row) << 24 ^ u64::from(bank) << 16 ^ u64::from(column);
        // Fibonacci hashing: the upper 10 bits select one of 1024 buckets.
        (line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
    }
}

/// Requests of one bank.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BankQueue {
    head: u16,
    tail: u16,
    /// Oldest request for the open row (hit), and oldest request for another row (rival).
    hit: u16,
    rival: u16,
}

const EMPTY: BankQueue = BankQueue { head: NONE, tail: NONE, hit: NONE, rival: NONE };

/// RPQ or WPQ of a subchannel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PendingQueue {
    entries: Vec<QueueEntry>,
    /// First unused entry; the others follow by `next`.
    free: u16,
    len: u32,
    lists: Table<BankQueue>,
    /// Keys of the oldest hit and of the oldest rival, per bank.
    hit_keys: Table<u64>,
    rival_keys: Table<u64>,
    /// Banks with requests, one bit each.
    pub(super) banks: u64,
    /// Banks with requests for their open row, one bit each.
    pub(super) hits: u64,
    /// Banks with requests for another row than the open one, one bit each.
    pub(super) rivals: u64,
    /// Banks whose oldest hit is older than any rival, one bit each.
    pub(super) older_hits: u64,
    capacity: u32,
    /// Number of queued lines per bucket; empty if lines are not looked up.
    filter: Vec<u16>,
}

impl PendingQueue {
    /// Creates an empty queue. `searched` is true if lines will be looked up.
    pub(super) fn new(capacity: u32, searched: bool) -> Self {
        Self {
            // The last entry links past the end; a full queue is never pushed to, so that link is not followed.
            entries: (1..=capacity as u16).map(|next| QueueEntry { next, ..QueueEntry::NONE }).collect(),
            free: 0,
            len: 0,
            lists: Table::of(|_| EMPTY),
            hit_keys: Table::of(|_| 0),
            rival_keys: Table::of(|_| 0),
            banks: 0,
            hits: 0,
            rivals: 0,
            older_hits: 0,
            capacity,
            filter: if searched { vec![0; BUCKETS] } else { vec![] },
        }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Returns the key of the oldest request of a bank for its open row.
    #[inline]
    pub(super) fn hit_key(&self, bank: usize) -> u64 {
        self.hit_keys[bank]
    }

    /// Returns the key of the oldest request of a bank for another row than the open one.
    #[inline]
    pub(super) fn rival_key(&self, bank: usize) -> u64 {
        self.rival_keys[bank]
    }

    /// Returns the clock of arrival of the oldest request of a bank for another row than the open one.
    #[inline]
    pub(super) fn rival_arrived(&self, bank: usize) -> u64 {
        self.entries[usize::from(self.lists[bank].rival)].arrived
    }

    /// Returns the row of the oldest request of a bank for another row than the open one.
    #[inline]
    pub(super) fn rival_row(&self, bank: usize) -> u32 {
        self.entries[usize::from(self.lists[bank].rival)].row
    }

    /// Returns the oldest request of a bank for another row than the open one.
    #[inline]
    pub(super) fn rival_mut(&mut self, bank: usize) -> &mut QueueEntry {
        &mut self.entries[usize::from(self.lists[bank].rival)]
    }

    /// Returns the oldest request of a bank for its open row.
    #[inline]
    pub(super) fn hit_mut(&mut self, bank: usize) -> &mut QueueEntry {
        &mut self.entries[usize::from(self.lists[bank].hit)]
    }

    /// Returns the bank of the oldest request of the queue.
    pub(super) fn oldest_bank(&self) -> Option<usize> {
        let key = |bank: usize| self.entries[usize::from(self.lists[bank].head)].key;
        super::bits(self.banks).min_by_key(|&bank| key(bank))
    }

    /// Returns the key of the oldest request of the queue, or `u64::MAX` if it is empty.
    pub(super) fn oldest_key(&self) -> u64 {
        super::bits(self.banks)
            .map(|bank| self.entries[usize::from(self.lists[bank].head)].key)
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Returns the number of requests for open rows.
    pub(super) fn hitting(&self) -> u32 {
        super::bits(self.hits).map(|bank| self.hitting_in(bank)).sum()
    }

    fn hitting_in(&self, bank: usize) -> u32 {
        let mut at = self.lists[bank].hit;
        let (mut count, row) = (0, self.entries[usize::from(at)].row);
        while at != NONE {
            count += 1;
            at = self.find(self.entries[usize::from(at)].next, |other| other == row);
        }
        count
    }

    /// Returns true if a request for the line at `place` is queued.
    pub(super) fn holds(&self, place: DramAddress) -> bool {
        // An empty bucket proves that the line is not queued.
        if self.filter[QueueEntry::bucket(place.bank, place.row, place.column)] == 0 {
            return false;
        }
        let mut at = self.lists[usize::from(place.bank)].head;
        while at != NONE {
            let entry = &self.entries[usize::from(at)];
            if entry.row == place.row && entry.column == place.column {
                return true;
            }
            at = entry.next;
        }
        false
    }

    /// Adds a request; `open_row` is the open row of its bank. Returns true if the request is the first of its bank
    /// for that row, or the first for another row.
    #[inline]
    pub(super) fn push(&mut self, entry: QueueEntry, open_row: Option<u32>) -> bool {
        let index = self.free;
        self.free = self.entries[usize::from(index)].next;
        self.len += 1;
        let bank = usize::from(entry.bank);
        let list = &mut self.lists[bank];
        let prev = list.tail;
        self.entries[usize::from(index)] = QueueEntry { prev, next: NONE, ..entry };
        list.tail = index;
        if prev == NONE {
            list.head = index;
            self.banks |= 1 << bank;
        } else {
            self.entries[usize::from(prev)].next = index;
        }
        if !self.filter.is_empty() {
            // A count and not a flag, because several queued lines may share a bucket.
            self.filter[QueueEntry::bucket(entry.bank, entry.row, entry.column)] += 1;
        }
        let hits = open_row == Some(entry.row);
        // Only the oldest hit and the oldest rival compete for the next command of their bank.
        let first = if hits { self.lists[bank].hit } else { self.lists[bank].rival } == NONE;
        if first && hits {
            self.set_hit(bank, index);
        } else if first {
            self.set_rival(bank, index);
        }
        first
    }

    /// Removes the oldest request of a closed bank, which opens `row` for it.
    #[inline]
    pub(super) fn remove_opener(&mut self, bank: usize, row: u32) -> QueueEntry {
        let entry = self.unlink(bank, self.lists[bank].rival);
        self.find_oldest(bank, row);
        entry
    }

    /// Removes the oldest request of a bank for its open row, and finds the next.
    #[inline]
    pub(super) fn remove_hit(&mut self, bank: usize) -> QueueEntry {
        let index = self.lists[bank].hit;
        let entry = self.unlink(bank, index);
        // The list is in the order of arrival, so the next hit stands behind the one removed.
        let next = self.find(entry.next, |row| row == entry.row);
        self.set_hit(bank, next);
        entry
    }

    #[inline(always)]
    fn unlink(&mut self, bank: usize, index: u16) -> QueueEntry {
        let entry = self.entries[usize::from(index)];
        let list = &mut self.lists[bank];
        if entry.next == NONE {
            list.tail = entry.prev;
        } else {
            self.entries[usize::from(entry.next)].prev = entry.prev;
        }
        if entry.prev != NONE {
            self.entries[usize::from(entry.prev)].next = entry.next;
        } else {
            list.head = entry.next;
            if entry.next == NONE {
                self.banks &= !(1 << bank);
            }
        }
        if !self.filter.is_empty() {
            self.filter[QueueEntry::bucket(entry.bank, entry.row, entry.column)] -= 1;
        }
        self.entries[usize::from(index)].next = self.free;
        self.free = index;
        self.len -= 1;
        entry
    }

    fn set_hit(&mut self, bank: usize, index: u16) {
        self.lists[bank].hit = index;
        if index == NONE {
            self.hits &= !(1 << bank);
        } else {
            self.hit_keys[bank] = self.entries[usize::from(index)].key;
            self.hits |= 1 << bank;
        }
        self.note_older_hits(bank);
    }

    fn set_rival(&mut self, bank: usize, index: u16) {
        self.lists[bank].rival = index;
        if index == NONE {
            self.rivals &= !(1 << bank);
        } else {
            self.rival_keys[bank] = self.entries[usize::from(index)].key;
            self.rivals |= 1 << bank;
        }
        self.note_older_hits(bank);
    }

    #[inline]
    fn note_older_hits(&mut self, bank: usize) {
        let older = self.rivals >> bank & 1 == 0 || self.hit_keys[bank] < self.rival_keys[bank];
        self.older_hits = self.older_hits & !(1 << bank) | self.hits & u64::from(older) << bank;
    }

    /// Notes that a bank has opened `row`.
    #[inline]
    pub(super) fn row_opened(&mut self, bank: usize, row: u32) {
        if self.banks >> bank & 1 == 1 {
            self.find_oldest(bank, row);
        }
    }

    /// Notes that a bank has closed its row: all its requests need another one.
    #[inline]
    pub(super) fn row_closed(&mut self, bank: usize) {
        let bit = 1 << bank;
        if self.banks & bit == 0 {
            return;
        }
        let list = &mut self.lists[bank];
        (list.hit, list.rival) = (NONE, list.head);
        self.rival_keys[bank] = self.entries[usize::from(list.head)].key;
        self.hits &= !bit;
        self.older_hits &= !bit;
        self.rivals |= bit;
    }

    /// Finds the oldest request of a bank for its open row, and the oldest for another row.
    fn find_oldest(&mut self, bank: usize, row: u32) {
        let head = self.lists[bank].head;
        let bit = 1 << bank;
        self.hits &= !bit;
        self.rivals &= !bit;
        self.older_hits &= !bit;
        (self.lists[bank].hit, self.lists[bank].rival) = (NONE, NONE);
        let Some(&QueueEntry { row: first, next, key, .. }) = self.entries.get(usize::from(head)) else { return };
        // The head is one of the two, so only the other has to be looked for.
        if first == row {
            (self.lists[bank].hit, self.hit_keys[bank]) = (head, key);
            self.hits |= bit;
            self.older_hits |= bit;
            self.set_rival(bank, self.find(next, |other| other != row));
        } else {
            (self.lists[bank].rival, self.rival_keys[bank]) = (head, key);
            self.rivals |= bit;
            self.set_hit(bank, self.find(next, |other| other == row));
        }
    }

    /// Returns the first entry from `at` on whose row satisfies `wanted`.
    #[inline]
    fn find(&self, mut at: u16, wanted: impl Fn(u32) -> bool) -> u16 {
        while at != NONE && !wanted(self.entries[usize::from(at)].row) {
            at = self.entries[usize::from(at)].next;
        }
        at
    }
}
