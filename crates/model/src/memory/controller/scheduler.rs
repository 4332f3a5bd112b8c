//! State from which the next command is chosen.

use super::candidates::Candidates;
use super::direction::Direction;
use super::queue::{PendingQueue, QueueEntry};
use super::refresh::Refresher;
use crate::memory::table::Table;
use crate::memory::timing::DramTiming;
use crate::params::{DramParams, MemoryControllerParams};
use serde::{Deserialize, Serialize};

/// Queues, banks and buses of a subchannel, from which the next command is planned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommandScheduler {
    pub(super) dram: DramParams,
    pub(super) params: MemoryControllerParams,
    pub(super) timing: DramTiming,
    pub(super) refresher: Refresher,
    pub(super) reads: PendingQueue,
    pub(super) writes: PendingQueue,
    pub(super) owners: BankOwners,
    pub(super) direction: Direction,
    pub(super) candidates: Candidates,
    pub(super) buses: CommandBuses,
}

impl CommandScheduler {
    /// Creates the state of an idle subchannel whose write queue has `write_entries` entries.
    pub(super) fn new(dram: &DramParams, params: &MemoryControllerParams, write_entries: u32) -> Self {
        let searched = params.forwarding || params.merging;
        Self {
            timing: DramTiming::new(dram),
            refresher: Refresher::new(dram, params),
            // Forwarding and merging search queued writes; no line is looked up among the reads.
            reads: PendingQueue::new(params.rpq_entries, false),
            writes: PendingQueue::new(write_entries, searched),
            owners: BankOwners::new(),
            direction: Direction::new(),
            candidates: Candidates::new(params),
            buses: CommandBuses::new(dram),
            dram: dram.clone(),
            params: params.clone(),
        }
    }

    /// Returns the number of queued requests.
    #[inline]
    pub(super) fn queued(&self) -> u32 {
        self.reads.len() + self.writes.len()
    }

    /// Notes that the row of a bank is closed.
    #[inline(always)]
    pub(super) fn row_closed(&mut self, bank: usize) {
        self.candidates.row_closed(bank, self.timing.earliest_act(bank));
        self.reads.row_closed(bank);
        self.writes.row_closed(bank);
    }
}

/// Requests that own an opened bank until their column access, because their queue entry is freed by the activation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BankOwners {
    pub(super) entries: Table<QueueEntry>,
    /// Order of arrival of each owner.
    pub(super) keys: Table<u64>,
    /// Banks owned by reads, and by writes, one bit each.
    pub(super) banks: [u64; 2],
}

impl BankOwners {
    fn new() -> Self {
        Self { entries: Table::of(|_| QueueEntry::NONE), keys: Table::of(|_| 0), banks: [0; 2] }
    }

    /// Returns the banks with an owner, one bit each.
    #[inline]
    pub(super) fn all(&self) -> u64 {
        self.banks[0] | self.banks[1]
    }

    /// Makes a request the owner of a bank.
    #[inline]
    pub(super) fn own(&mut self, bank: usize, entry: QueueEntry, write: bool) {
        self.entries[bank] = entry;
        self.keys[bank] = entry.key;
        self.banks[usize::from(write)] |= 1 << bank;
    }

    /// Makes a column access of the owner of a bank; returns the owner, and true if the access was its last.
    #[inline]
    pub(super) fn access(&mut self, bank: usize, write: bool) -> (QueueEntry, bool) {
        let entry = self.entries[bank];
        let last = entry.accesses == 1;
        if last {
            self.banks[usize::from(write)] &= !(1 << bank);
        } else {
            self.entries[bank].accesses -= 1;
        }
        (entry, last)
    }
}

/// First clocks at which row and column commands may be issued.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct CommandBuses {
    pub(super) row: u64,
    pub(super) column: u64,
    /// True if row commands have a separate bus (HBM).
    separate: bool,
    cas_clocks: u32,
}

impl CommandBuses {
    fn new(dram: &DramParams) -> Self {
        Self { row: 0, column: 0, separate: dram.row_bus, cas_clocks: dram.timing.cas_clocks }
    }

    /// Returns the first clock at which one of the buses is free.
    #[inline]
    pub(super) fn first_free(&self) -> u64 {
        self.row.min(self.column)
    }

    /// Occupies the bus of row commands for `clocks` from `clock` on.
    #[inline]
    pub(super) fn use_row(&mut self, clock: u64, clocks: u32) {
        self.row = clock + u64::from(clocks);
        if !self.separate {
            self.column = self.row;
        }
    }

    /// Occupies the bus of column commands for one command from `clock` on.
    #[inline]
    pub(super) fn use_column(&mut self, clock: u64) {
        self.column = clock + u64::from(self.cas_clocks);
        if !self.separate {
            self.row = self.column;
        }
    }
}
