//! Observes a controller from outside, request by request, and checks its decisions.

use crate::memory::setup::{Case, Request};
use hostnet_model::memory::{CommandKind, CommandRecord, Counters, Issued, OfferResult};
use hostnet_model::params::{EntryRelease, PagePolicy, Refresh, RowProtection, SchedulingPolicy};

/// A request that is not served yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Number of the request, in the order of arrival.
    index: usize,
    request: Request,
    arrived: u64,
    accesses: u32,
}

/// Expected state of a bank.
#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    row: Option<u32>,
    /// Column accesses to the row, and the clock of the last command to the row.
    hits: u32,
    used: u64,
    /// Request that owns the open row.
    owner: Option<Pending>,
}

/// Requests of a controller as seen from outside.
pub(crate) struct Watch<'a> {
    case: &'a Case,
    /// Requests with an entry, oldest first: writes, then reads.
    pending: [Vec<Pending>; 2],
    banks: Vec<Bank>,
    /// Last request that returned its entry: writes, then reads.
    last_freed: [Option<usize>; 2],
    /// Clocks for which entries were held: writes, then reads.
    pub(crate) residence: [u64; 2],
    pub(crate) served: [u64; 2],
    pub(crate) forwarded: u64,
    pub(crate) merged: u64,
    /// Clock of the last command.
    last_command: u64,
}

fn direction(command: CommandKind) -> Option<bool> {
    match command {
        CommandKind::Read | CommandKind::ReadPrecharge => Some(true),
        CommandKind::Write | CommandKind::WritePrecharge => Some(false),
        _ => None,
    }
}

impl<'a> Watch<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        let banks = case.dram.ranks * case.dram.bank_groups * case.dram.banks_per_group;
        Self {
            case,
            pending: [Vec::new(), Vec::new()],
            banks: vec![Bank::default(); banks as usize],
            last_freed: [None; 2],
            residence: [0; 2],
            served: [0; 2],
            forwarded: 0,
            merged: 0,
            last_command: 0,
        }
    }

    /// Returns true if no request waits to be served.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.iter().all(Vec::is_empty) && self.banks.iter().all(|bank| bank.owner.is_none())
    }

    /// Returns the number of reads with an entry if `read`, otherwise of writes.
    pub(crate) fn queued(&self, read: bool) -> usize {
        self.pending[usize::from(read)].len()
    }

    /// Returns the clocks for which entries will have been held at `end`.
    pub(crate) fn residence_until(&self, end: u64, read: bool) -> u64 {
        let pending = self.pending[usize::from(read)].iter().map(|pending| end - pending.arrived);
        self.residence[usize::from(read)] + pending.sum::<u64>()
    }

    /// Returns true if an older write to the line of a request waits for its column or for its row.
    fn write_waits(&self, index: usize) -> bool {
        let place = self.case.requests[index].place;
        let owner = self.banks[usize::from(place.bank)].owner.filter(|owner| !owner.request.read);
        self.pending[0].iter().chain(owner.as_ref()).any(|write| write.request.place == place && write.index < index)
    }

    pub(crate) fn on_offer(&mut self, index: usize, clock: u64, offered: OfferResult) {
        let request = self.case.requests[index];
        let params = &self.case.params;
        let [writes, reads] = self.pending.each_ref().map(|list| list.len() as u32);
        let full = if params.shared_queue {
            reads + writes == params.rpq_entries
        } else if request.read {
            reads == params.rpq_entries
        } else {
            writes == params.wpq_entries
        };
        let queued = self.pending[0].iter().any(|write| write.request.place == request.place);
        let expected = match request.read {
            true if params.forwarding && self.write_waits(index) => OfferResult::Forwarded,
            false if params.merging && queued => OfferResult::Merged,
            _ if full => OfferResult::Refused,
            _ => OfferResult::Queued,
        };
        assert_eq!(offered, expected, "request {index}");
        match offered {
            OfferResult::Queued => {
                let accesses = self.case.dram.accesses_per_line;
                self.pending[usize::from(request.read)].push(Pending { index, request, arrived: clock, accesses });
            }
            OfferResult::Forwarded => self.forwarded += 1,
            OfferResult::Merged => self.merged += 1,
            OfferResult::Refused => {}
        }
    }

    /// Handles precharges of rows that have been idle for long.
    pub(crate) fn on_idle_rows(&mut self, clock: u64, commands: &[CommandRecord]) {
        for command in commands {
            assert_eq!(command.kind, CommandKind::Precharge);
            self.close_idle(clock, command);
        }
    }

    fn close_idle(&mut self, clock: u64, command: &CommandRecord) {
        let number = self.bank(command);
        let bank = self.banks[number];
        let due = bank.used + u64::from(self.case.params.idle_close);
        assert_eq!(self.case.params.page, PagePolicy::Timeout);
        assert!(command.clock >= due && command.clock < clock.max(command.clock + 1), "closed early");
        assert!(!self.wants(number, |_| true), "bank {number} is closed although it is wanted");
        self.close(number);
        self.last_command = command.clock;
    }

    fn bank(&self, command: &CommandRecord) -> usize {
        let dram = &self.case.dram;
        let group = u32::from(command.rank) * dram.bank_groups + u32::from(command.bank_group);
        (group * dram.banks_per_group + u32::from(command.bank)) as usize
    }

    fn close(&mut self, bank: usize) {
        assert!(self.banks[bank].owner.is_none(), "the row of bank {bank} is closed before its owner is served");
        self.banks[bank].row = None;
    }

    /// Returns true if a queued request of either direction waits for a matching row of a bank.
    fn wants(&self, bank: usize, row: impl Fn(u32) -> bool) -> bool {
        self.pending
            .iter()
            .flatten()
            .any(|pending| usize::from(pending.request.place.bank) == bank && row(pending.request.place.row))
    }

    /// Returns the position of the oldest queued request of a direction for a matching row of a bank.
    fn oldest(&self, read: bool, bank: usize, row: impl Fn(u32) -> bool) -> Option<usize> {
        self.pending[usize::from(read)]
            .iter()
            .position(|pending| usize::from(pending.request.place.bank) == bank && row(pending.request.place.row))
    }

    /// Handles the commands issued at `clock`, with the counters before and after.
    pub(crate) fn on_issue(
        &mut self,
        clock: u64,
        commands: &[CommandRecord],
        issued: &Issued,
        counted: [&Counters; 2],
    ) {
        let [before, after] = counted;
        let mut freed = None;
        let mut served = None;
        for command in commands {
            let bank = self.bank(command);
            match command.kind {
                CommandKind::Activate => {
                    freed = self.on_activate(command, after.read_activations > before.read_activations);
                }
                CommandKind::Precharge
                    if after.read_conflicts + after.write_conflicts
                        > before.read_conflicts + before.write_conflicts =>
                {
                    self.on_conflict(bank, after.read_conflicts > before.read_conflicts);
                }
                CommandKind::Precharge if command.clock < clock => self.close_idle(clock, command),
                CommandKind::Precharge => {
                    assert_eq!(self.case.params.refresh, Refresh::SameBank, "a row is closed for no reason");
                    self.close(bank);
                }
                CommandKind::PrechargeAll => self.close_rank(bank),
                CommandKind::Refresh | CommandKind::RefreshSameBank => {}
                _ => (freed, served) = self.on_column(command, issued),
            }
            self.last_command = command.clock;
        }
        assert_eq!(issued.freed, freed);
        assert_eq!(issued.served.map(|served| (served.tag as usize, served.read, served.done)), served);
    }

    fn close_rank(&mut self, first: usize) {
        let per_rank = (self.case.dram.bank_groups * self.case.dram.banks_per_group) as usize;
        (first..first + per_rank).for_each(|bank| self.close(bank));
    }

    /// Checks that a row may be closed for another one. Protection considers requests of one direction; those of the
    /// other wait for their mode.
    fn on_conflict(&mut self, bank: usize, read: bool) {
        let params = &self.case.params;
        let row = self.banks[bank].row.expect("an open row is closed");
        let closer = self.oldest(read, bank, |wanted| wanted != row).expect("somebody wants another row");
        let hit = self.oldest(read, bank, |wanted| wanted == row);
        let limited = params.row_hold < u32::MAX || params.row_hits > 0;
        match (params.scheduler, params.protect, hit) {
            (SchedulingPolicy::Fcfs, _, hit) => assert!(hit.is_none_or(|hit| closer < hit), "FCFS overtakes a hit"),
            (_, RowProtection::Nothing, _) | (_, _, None) => {}
            (_, RowProtection::OlderHits, Some(hit)) => assert!(limited || closer < hit, "an older hit is cut off"),
            (_, RowProtection::AllHits, Some(_)) => assert!(limited, "a hit is cut off"),
        }
        self.close(bank);
    }

    fn on_activate(&mut self, command: &CommandRecord, read: bool) -> Option<bool> {
        let bank = self.bank(command);
        assert!(self.banks[bank].row.is_none());
        let first = self.oldest(read, bank, |_| true).expect("a row is opened for somebody");
        assert_eq!(command.row, self.pending[usize::from(read)][first].request.place.row, "the oldest goes first");
        self.banks[bank] = Bank { row: Some(command.row), used: command.clock, ..Bank::default() };
        if self.case.params.entry_until == EntryRelease::Column {
            return None;
        }
        self.banks[bank].owner = Some(self.free(read, first, command.clock));
        Some(read)
    }

    /// Removes a request from its queue.
    fn free(&mut self, read: bool, position: usize, clock: u64) -> Pending {
        let pending = self.pending[usize::from(read)].remove(position);
        self.residence[usize::from(read)] += clock - pending.arrived;
        let last = self.last_freed[usize::from(read)].replace(pending.index);
        let in_order = last.is_none_or(|last| last < pending.index);
        assert!(self.case.params.scheduler != SchedulingPolicy::Fcfs || in_order, "FCFS serves in order");
        pending
    }

    /// Handles a column access. Returns the direction of the freed entry, and the served request.
    fn on_column(&mut self, command: &CommandRecord, issued: &Issued) -> (Option<bool>, Option<(usize, bool, u64)>) {
        let number = self.bank(command);
        let read = direction(command.kind).expect("a column access");
        assert_eq!(self.banks[number].row, Some(command.row), "of the open row");
        self.check_caps(command, number, read);
        let owns =
            |owner: &Pending| owner.request.read == read && u32::from(owner.request.place.column) == command.column;
        let (pending, freed) = if let Some(owner) = self.banks[number].owner.as_mut().filter(|owner| owns(owner)) {
            owner.accesses -= 1;
            let owner = *owner;
            if owner.accesses == 0 {
                self.banks[number].owner = None;
            }
            (owner, None)
        } else {
            let position = self.oldest(read, number, |row| row == command.row).expect("somebody hits the row");
            let pending = &mut self.pending[usize::from(read)][position];
            pending.accesses -= 1;
            let pending = *pending;
            let last = pending.accesses == 0;
            let freed = last.then(|| self.free(read, position, command.clock)).map(|_| read);
            (pending, freed)
        };
        assert_eq!(command.column, u32::from(pending.request.place.column));
        self.note_access(command, number);
        if pending.accesses > 0 {
            assert_eq!(issued.served, None);
            return (None, None);
        }
        let params = &self.case.params;
        let answers = if read { params.forwarding } else { true };
        assert!(
            !answers || !self.write_waits(pending.index),
            "request {} overtakes a write to its line",
            pending.index
        );
        self.served[usize::from(read)] += 1;
        let t = &self.case.dram.timing;
        let done = command.clock + u64::from(if read { t.cl } else { t.cwl } + t.burst);
        (freed, Some((pending.index, read, done)))
    }

    /// Updates the row after an access, and closes it if the command has an auto-precharge.
    fn note_access(&mut self, command: &CommandRecord, number: usize) {
        let bank = &mut self.banks[number];
        bank.used = command.clock;
        bank.hits += 1;
        let write = direction(command.kind) == Some(false);
        let wanted = self.wants(number, |row| row == command.row) || self.banks[number].owner.is_some();
        let params = &self.case.params;
        let policy = params.page == PagePolicy::Closed || write && params.write_auto_precharge;
        let closes = matches!(command.kind, CommandKind::ReadPrecharge | CommandKind::WritePrecharge);
        assert_eq!(closes, policy && !wanted, "{:?} of bank {number}", command.kind);
        if closes {
            self.close(number);
        }
    }

    /// Checks that a row which had its share, by age or by hits, gives way to requests that were queued when the
    /// command was chosen.
    fn check_caps(&self, command: &CommandRecord, number: usize, read: bool) {
        let params = &self.case.params;
        let bank = &self.banks[number];
        if params.scheduler == SchedulingPolicy::Fcfs || bank.owner.is_some() {
            return;
        }
        let list = &self.pending[usize::from(read)];
        let Some(hit) = self.oldest(read, number, |row| row == command.row) else { return };
        let rival = self.oldest(read, number, |row| row != command.row).map(|rival| list[rival]);
        let Some(rival) = rival.filter(|rival| rival.arrived < self.last_command) else { return };
        let kept = params.row_hits == 0 || bank.hits < params.row_hits;
        assert!(kept, "hit {} of a row that another request waits for", bank.hits + 1);
        let waited = self.last_command.saturating_sub(rival.arrived);
        let older = rival.index < list[hit].index;
        assert!(
            !older || waited < u64::from(params.row_hold),
            "a hit passes a request that has waited {waited} clocks"
        );
    }
}
