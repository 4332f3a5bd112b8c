//! Effects of each command on the DRAM, the queues, the buses and the counters.

use super::{bits, CommandScheduler, Controller, Issued, QueueEntry, ServedRequest};
use crate::memory::{CommandKind, CommandRecord};
use crate::params::{EntryRelease, PagePolicy};
use hostnet_kernel::Time;

impl Controller {
    #[inline(always)]
    pub(super) fn issue_conflict(&mut self, clock: u64, bank: usize, write: bool) {
        let queue = if write { &mut self.scheduler.writes } else { &mut self.scheduler.reads };
        let entry = queue.rival_mut(bank);
        // The first command of a request classifies it as hit, miss or conflict; later ones do not count.
        self.counters.row_conflicts += u64::from(std::mem::take(&mut entry.untouched));
        let count = if write { &mut self.counters.write_conflicts } else { &mut self.counters.read_conflicts };
        *count += 1;
        self.close_row(clock, bank);
    }

    /// Closes the row of a bank by a precharge of that bank alone.
    #[inline]
    pub(super) fn close_row(&mut self, clock: u64, bank: usize) {
        self.scheduler.buses.use_row(clock, 1);
        self.record(clock, CommandKind::Precharge, bank, 0, 0);
        self.scheduler.timing.precharge(clock, bank);
        self.row_closed(bank);
    }

    #[inline]
    pub(super) fn row_closed(&mut self, bank: usize) {
        self.counters.precharges += 1;
        self.scheduler.row_closed(bank);
    }

    /// Closes rows before a refresh: all rows of the rank by one command, or one row at a time before a same-bank
    /// refresh.
    pub(super) fn issue_precharge_for(&mut self, clock: u64, rank: usize) {
        let CommandScheduler { refresher, timing, buses, .. } = &mut self.scheduler;
        let banks = refresher.banks_of(rank);
        let open = banks & timing.open;
        if refresher.is_same_bank() {
            let ready = bits(open).find(|&bank| timing.earliest_precharge(bank) <= clock);
            self.close_row(clock, ready.expect("a row may be closed at the planned clock"));
            return;
        }
        buses.use_row(clock, 1);
        timing.precharge_all(clock, open);
        self.record(clock, CommandKind::PrechargeAll, banks.trailing_zeros() as usize, 0, 0);
        bits(open).for_each(|bank| self.row_closed(bank));
    }

    pub(super) fn issue_refresh(&mut self, clock: u64, rank: usize) {
        let CommandScheduler { refresher, timing, buses, candidates, dram, .. } = &mut self.scheduler;
        let (banks, same_bank) = (refresher.banks_of(rank), refresher.is_same_bank());
        buses.use_row(clock, 1);
        timing.refresh(clock, banks, same_bank);
        candidates.refreshed();
        refresher.done(rank, dram);
        self.counters.refreshes += 1;
        let kind = if same_bank { CommandKind::RefreshSameBank } else { CommandKind::Refresh };
        self.record(clock, kind, banks.trailing_zeros() as usize, 0, 0);
    }

    #[inline(always)]
    pub(super) fn issue_activate(&mut self, now: Time, clock: u64, bank: usize, write: bool) -> Issued {
        let row = self.scheduler.queue(write).rival_row(bank);
        self.scheduler.buses.use_row(clock, self.scheduler.dram.timing.act_clocks);
        self.record(clock, CommandKind::Activate, bank, row, 0);
        self.scheduler.timing.activate(clock, bank, row);
        self.scheduler.candidates.row_opened(bank, self.scheduler.timing.bank_cas(bank));
        self.note_use(clock);
        let count = if write { &mut self.counters.write_activations } else { &mut self.counters.read_activations };
        *count += 1;
        let (own, other) = if write {
            (&mut self.scheduler.writes, &mut self.scheduler.reads)
        } else {
            (&mut self.scheduler.reads, &mut self.scheduler.writes)
        };
        // The row may serve requests of the other direction, too.
        other.row_opened(bank, row);
        if self.scheduler.params.entry_until == EntryRelease::Column {
            self.counters.row_misses += u64::from(std::mem::take(&mut own.rival_mut(bank).untouched));
            own.row_opened(bank, row);
            self.scheduler.opened_for_queued(bank);
            return Issued::default();
        }
        // The ACT frees the entry; until its column access the request owns the bank, so no other closes the row.
        let entry = own.remove_opener(bank, row);
        self.counters.row_misses += u64::from(entry.untouched);
        self.scheduler.owners.own(bank, entry, write);
        self.entry_freed(now, &entry, write);
        self.note_empty(now);
        Issued { freed: Some(!write), served: None }
    }

    #[inline(always)]
    pub(super) fn issue_active(&mut self, clock: u64, bank: usize, write: bool) -> Issued {
        let (entry, last) = self.scheduler.owners.access(bank, write);
        self.access(clock, bank, write, &entry);
        let served = last.then(|| self.serve(clock, &entry, write));
        Issued { served, freed: None }
    }

    #[inline(always)]
    pub(super) fn issue_column(&mut self, now: Time, clock: u64, bank: usize, write: bool) -> Issued {
        let queue = if write { &mut self.scheduler.writes } else { &mut self.scheduler.reads };
        let hit = queue.hit_mut(bank);
        self.counters.row_hits += u64::from(hit.untouched);
        // A line of several bursts keeps its entry until the last of them.
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

    #[inline(always)]
    pub(super) fn entry_freed(&mut self, now: Time, entry: &QueueEntry, write: bool) {
        let domain = if write { &mut self.wpq } else { &mut self.rpq };
        domain.release(now, entry.class, entry.queued);
    }

    #[inline]
    pub(super) fn note_empty(&mut self, now: Time) {
        if self.scheduler.queued() == 0 {
            self.empty_since = now;
        }
    }

    /// Makes one column access for `entry`.
    #[inline(always)]
    pub(super) fn access(&mut self, clock: u64, bank: usize, write: bool, entry: &QueueEntry) {
        self.scheduler.buses.use_column(clock);
        self.scheduler.timing.cas(clock, bank, write);
        self.scheduler.candidates.row_accessed(bank, self.scheduler.timing.bank_precharge(bank));
        self.note_use(clock);
        self.counters.switches += u64::from(write != self.last_was_write);
        self.last_was_write = write;
        // Decided when the entry has left its queue, so that a request does not keep open a row that only it needed.
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
            // Auto-precharge needs no command slot and begins as soon as tRAS and tRTP or tWR allow (JESD79-4).
            self.scheduler.timing.close(self.scheduler.timing.bank_precharge(bank), bank);
            self.row_closed(bank);
        }
    }

    /// Returns true if an access closes its row by auto-precharge, because no other request needs the row.
    #[inline]
    pub(super) fn closes_after(&self, bank: usize, write: bool) -> bool {
        let policy =
            self.scheduler.params.page == PagePolicy::Closed || write && self.scheduler.params.write_auto_precharge;
        let wanted = self.scheduler.writes.hits | self.scheduler.reads.hits | self.scheduler.owners.all();
        policy && wanted >> bank & 1 == 0
    }

    /// Counts the last access of a request, and returns the served request.
    #[inline(always)]
    pub(super) fn serve(&mut self, clock: u64, entry: &QueueEntry, write: bool) -> ServedRequest {
        self.scheduler.direction.note_served(write);
        let t = &self.scheduler.dram.timing;
        let (lines, latency) =
            if write { (&mut self.counters.writes, t.cwl) } else { (&mut self.counters.reads, t.cl) };
        lines[usize::from(entry.class)] += 1;
        if !write {
            self.loads.read(usize::from(entry.bank));
        }
        ServedRequest { tag: entry.tag, read: !write, done: clock + u64::from(latency + t.burst) }
    }

    #[inline]
    pub(super) fn record(&mut self, clock: u64, kind: CommandKind, bank: usize, row: u32, column: u32) {
        if self.recording {
            let in_group = self.scheduler.dram.banks_per_group as usize;
            let groups = self.scheduler.dram.bank_groups as usize;
            self.records.push(CommandRecord {
                clock,
                channel: self.channel,
                kind,
                rank: self.scheduler.timing.rank_of(bank) as u8,
                bank_group: (bank / in_group % groups) as u8,
                bank: (bank % in_group) as u8,
                row,
                column,
            });
        }
    }
}
