//! What each command does: to the DRAM, to the queues, to the buses and to the books.

use super::{Controller, Entry, Issued, Mode, Served};
use crate::memory::{CommandKind, CommandRecord};
use crate::params::{EntryUntil, PagePolicy};
use hostnet_kernel::Time;

impl Controller {
    pub(super) fn issue_conflict(&mut self, clock: u64, bank: usize, write: bool) {
        let queue = if write { &mut self.writes } else { &mut self.reads };
        let entry = queue.rival_mut(bank);
        self.counters.row_conflicts += u64::from(std::mem::take(&mut entry.untouched));
        let count = if write { &mut self.counters.write_conflicts } else { &mut self.counters.read_conflicts };
        *count += 1;
        self.close_row(clock, bank);
    }

    /// Closes the row of a bank by a command of its own.
    pub(super) fn close_row(&mut self, clock: u64, bank: usize) {
        self.use_row_bus(clock, 1);
        self.record(clock, CommandKind::Precharge, bank, 0, 0);
        self.timing.precharge(clock, bank);
        self.row_closed(bank);
    }

    pub(super) fn row_closed(&mut self, bank: usize) {
        self.counters.precharges += 1;
        self.candidates.row_closed(bank);
        self.reads.row_closed(bank);
        self.writes.row_closed(bank);
    }

    pub(super) fn issue_activate(&mut self, now: Time, clock: u64, bank: usize, write: bool) -> Issued {
        let row = self.queue(write).rival_row(bank);
        self.use_row_bus(clock, self.dram.timing.act_clocks);
        self.record(clock, CommandKind::Activate, bank, row, 0);
        self.timing.activate(clock, bank, row);
        self.candidates.row_opened(bank);
        self.note_use(clock);
        let count = if write { &mut self.counters.write_activations } else { &mut self.counters.read_activations };
        *count += 1;
        let (own, other) =
            if write { (&mut self.writes, &mut self.reads) } else { (&mut self.reads, &mut self.writes) };
        other.row_opened(bank, row);
        if self.params.entry_until == EntryUntil::Column {
            self.counters.row_misses += u64::from(std::mem::take(&mut own.rival_mut(bank).untouched));
            own.row_opened(bank, row);
            self.candidates.pending_changed(bank);
            return Issued::default();
        }
        let entry = own.remove_opener(bank, row);
        self.counters.row_misses += u64::from(entry.untouched);
        self.active[bank] = entry;
        self.active_keys[bank] = entry.key;
        self.active_banks[usize::from(write)] |= 1 << bank;
        self.entry_freed(now, &entry, write);
        self.note_empty(now);
        Issued { freed: Some(!write), served: None }
    }

    pub(super) fn issue_active(&mut self, clock: u64, bank: usize, write: bool) -> Issued {
        let entry = self.active[bank];
        let last = entry.accesses == 1;
        if last {
            self.active_banks[usize::from(write)] &= !(1 << bank);
        } else {
            self.active[bank].accesses -= 1;
        }
        self.access(clock, bank, write, &entry);
        let served = last.then(|| self.serve(clock, &entry, write));
        Issued { served, freed: None }
    }

    pub(super) fn issue_column(&mut self, now: Time, clock: u64, bank: usize, write: bool) -> Issued {
        let queue = if write { &mut self.writes } else { &mut self.reads };
        let hit = queue.hit_mut(bank);
        self.counters.row_hits += u64::from(hit.untouched);
        if hit.accesses > 1 {
            let entry = *hit;
            (hit.untouched, hit.accesses) = (false, entry.accesses - 1);
            self.access(clock, bank, write, &entry);
            return Issued::default();
        }
        let entry = queue.remove_hit(bank);
        self.entry_freed(now, &entry, write);
        self.access(clock, bank, write, &entry);
        let served = Some(self.serve(clock, &entry, write));
        self.note_empty(now);
        Issued { served, freed: Some(!write) }
    }

    pub(super) fn entry_freed(&mut self, now: Time, entry: &Entry, write: bool) {
        let domain = if write { &mut self.wpq } else { &mut self.rpq };
        domain.release(now, entry.class, entry.queued);
    }

    pub(super) fn note_empty(&mut self, now: Time) {
        if self.reads.len() + self.writes.len() == 0 {
            self.empty_since = now;
        }
    }

    /// One column access, for `entry`.
    #[inline]
    pub(super) fn access(&mut self, clock: u64, bank: usize, write: bool, entry: &Entry) {
        self.use_column_bus(clock);
        self.timing.cas(clock, bank, write);
        self.candidates.row_accessed(bank);
        self.note_use(clock);
        self.counters.switches += u64::from(write != self.last_was_write);
        self.last_was_write = write;
        let closes = self.closes_after(bank, write);
        if self.recording {
            let kind = match (write, closes) {
                (false, false) => CommandKind::Read,
                (false, true) => CommandKind::ReadPrecharge,
                (true, false) => CommandKind::Write,
                (true, true) => CommandKind::WritePrecharge,
            };
            self.record(clock, kind, bank, entry.row, u32::from(entry.column));
        }
        if closes {
            self.timing.close(self.timing.bank_precharge(bank), bank);
            self.row_closed(bank);
        }
    }

    /// Whether an access closes its row by itself: nobody wants the row any more.
    pub(super) fn closes_after(&self, bank: usize, write: bool) -> bool {
        let policy = self.params.page == PagePolicy::Closed || write && self.params.write_auto_precharge;
        let wanted = self.writes.hits | self.reads.hits | self.active_banks[0] | self.active_banks[1];
        policy && wanted >> bank & 1 == 0
    }

    /// The last access of a request.
    pub(super) fn serve(&mut self, clock: u64, entry: &Entry, write: bool) -> Served {
        self.served += u32::from(write == (self.mode == Mode::Write));
        let t = &self.dram.timing;
        let (lines, latency) =
            if write { (&mut self.counters.writes, t.cwl) } else { (&mut self.counters.reads, t.cl) };
        lines[usize::from(entry.class)] += 1;
        if !write {
            self.loads.read(usize::from(entry.bank));
        }
        Served { tag: entry.tag, read: !write, done: clock + u64::from(latency + t.burst) }
    }

    #[inline]
    pub(super) fn use_row_bus(&mut self, clock: u64, clocks: u32) {
        self.row_bus = clock + u64::from(clocks);
        if !self.dram.row_bus {
            self.column_bus = self.row_bus;
        }
    }

    #[inline]
    pub(super) fn use_column_bus(&mut self, clock: u64) {
        self.column_bus = clock + u64::from(self.dram.timing.cas_clocks);
        if !self.dram.row_bus {
            self.row_bus = self.column_bus;
        }
    }

    #[inline]
    pub(super) fn record(&mut self, clock: u64, kind: CommandKind, bank: usize, row: u32, column: u32) {
        if self.recording {
            let in_group = self.dram.banks_per_group as usize;
            let groups = self.dram.bank_groups as usize;
            self.records.push(CommandRecord {
                clock,
                channel: self.channel,
                kind,
                rank: self.timing.rank_of(bank) as u8,
                bank_group: (bank / in_group % groups) as u8,
                bank: (bank % in_group) as u8,
                row,
                column,
            });
        }
    }
}
