//! Checks the commands of one controller.

use hostnet_model::memory::{CommandKind, CommandRecord};
use hostnet_params::{DramParams, TimingParams};

use crate::history::{Entry, History};
use crate::organisation::{Organisation, Place};
use crate::refresh::RefreshWatch;
use crate::rules::{auto_precharge, bus_clocks, Event, Rule, Scope, CLOCK_ORDER, ROW_STATE, RULES};
use crate::violation::{Fault, Violation};

/// A rule with its distance in clocks on this device.
#[derive(Clone, Copy)]
struct Distance {
    rule: &'static Rule,
    clocks: u64,
}

/// The rules that bind each command, indexed by the kind of the command.
#[derive(Clone)]
pub(crate) struct RuleBook {
    timing: TimingParams,
    organisation: Organisation,
    distances: [Vec<Distance>; 9],
}

impl RuleBook {
    pub(crate) fn new(dram: &DramParams) -> Self {
        let mut distances: [Vec<Distance>; 9] = Default::default();
        for rule in RULES {
            let clocks = (rule.clocks)(&dram.timing);
            rule.to.iter().for_each(|&kind| distances[kind as usize].push(Distance { rule, clocks }));
        }
        RuleBook { timing: dram.timing, organisation: Organisation::new(dram), distances }
    }

    pub(crate) fn organisation(&self) -> &Organisation {
        &self.organisation
    }
}

/// State of one controller.
#[derive(Clone)]
pub(crate) struct Channel {
    history: History,
    /// The ACT of every open row, by rank and bank.
    open: Vec<Option<CommandRecord>>,
    refresh: RefreshWatch,
    last: CommandRecord,
}

impl Channel {
    /// Creates a controller whose first command is `first`.
    pub(crate) fn new(dram: &DramParams, book: &RuleBook, watch_refresh: bool, first: CommandRecord) -> Self {
        let organisation = &book.organisation;
        Channel {
            history: History::new(organisation),
            open: vec![None; organisation.ranks * organisation.banks()],
            refresh: RefreshWatch::new(dram, organisation, watch_refresh, first),
            last: first,
        }
    }

    /// Reports every rule that the command breaks, then counts the command as issued.
    pub(crate) fn check(&mut self, book: &RuleBook, record: &CommandRecord, report: &mut dyn FnMut(Violation)) {
        let place = book.organisation.place(record);
        // Equal clocks are left to the rule of the command bus, since a device may have two buses.
        if record.clock < self.last.clock {
            let off_by_clocks = self.last.clock - record.clock;
            report(Violation { off_by_clocks, ..Violation::state(CLOCK_ORDER, Fault::OutOfOrder, self.last, *record) });
        }
        // All rules are checked against the state before the command; `issue` changes it afterwards.
        self.check_rows(book, record, &place, report);
        for distance in &book.distances[record.kind as usize] {
            self.check_distance(book, distance, record, &place, report);
        }
        self.refresh.check(record, report);
        self.issue(book, record, &place);
        self.last = *record;
    }

    /// Reports the ranks whose refresh is overdue when the stream ends at `end_clock`.
    pub(crate) fn finish(&mut self, end_clock: u64, report: &mut dyn FnMut(Violation)) {
        // A REF that would come at the end shows what is overdue; it is checked and not issued.
        let clock = end_clock.max(self.last.clock);
        let end =
            CommandRecord { clock, kind: CommandKind::Refresh, bank_group: 0, bank: 0, row: 0, column: 0, ..self.last };
        self.refresh.check(&end, report);
    }

    fn check_rows(&self, book: &RuleBook, record: &CommandRecord, place: &Place, report: &mut dyn FnMut(Violation)) {
        use CommandKind::{
            Activate, Precharge, PrechargeAll, Read, ReadPrecharge, Refresh, RefreshSameBank, Write, WritePrecharge,
        };
        match record.kind {
            Activate | Refresh | RefreshSameBank => {
                let banks = book.organisation.banks_of(record.kind, place);
                // Several rows may be open: the one opened first is named, whatever its bank.
                let open = banks.filter_map(|bank| self.open[self.slot(place.rank, bank)]).min_by_key(|act| act.clock);
                if let Some(act) = open {
                    report(Violation::state(ROW_STATE, Fault::RowOpen, act, *record));
                }
            }
            Read | ReadPrecharge | Write | WritePrecharge => {
                if self.open[self.slot(place.rank, place.bank)].is_none() {
                    let closed = self.history.last(Event::Close, Scope::Bank, place);
                    let first = closed.map_or(*record, |entry| entry.record);
                    report(Violation::state(ROW_STATE, Fault::RowClosed, first, *record));
                }
            }
            // PRE of a closed bank is harmless (JESD79-4, PRECHARGE command).
            Precharge | PrechargeAll => {}
        }
    }

    fn check_distance(
        &self,
        book: &RuleBook,
        distance: &Distance,
        record: &CommandRecord,
        place: &Place,
        report: &mut dyn FnMut(Violation),
    ) {
        let Rule { name, from, scope, .. } = *distance.rule;
        let entry = match scope {
            Scope::Bank | Scope::Row => book
                .organisation
                .banks_of(record.kind, place)
                // tRAS, tRTP and tWR bind only open rows: a bank that closes by itself keeps them on its own.
                .filter(|&bank| scope == Scope::Bank || self.open[self.slot(place.rank, bank)].is_some())
                .filter_map(|bank| self.history.last(from, scope, &Place { bank, ..*place }))
                // Distances of one rule are equal, so the latest event binds.
                .max_by_key(|entry| entry.clock),
            _ => self.history.last(from, scope, place),
        };
        let Some(entry) = entry else { return };
        let allowed = entry.clock.saturating_add(distance.clocks);
        // `<`: a command at the least distance is allowed.
        if record.clock < allowed {
            report(Violation::early(name, entry.record, *record, allowed));
        }
    }

    fn issue(&mut self, book: &RuleBook, record: &CommandRecord, place: &Place) {
        let entry = Entry { clock: record.clock, record: *record };
        match record.kind {
            CommandKind::Activate => {
                self.history.activated(place, entry);
                let slot = self.slot(place.rank, place.bank);
                self.open[slot] = Some(*record);
            }
            CommandKind::Read => self.history.accessed(Event::Read, place, entry),
            CommandKind::Write => self.history.accessed(Event::Write, place, entry),
            CommandKind::ReadPrecharge => {
                self.history.accessed(Event::Read, place, entry);
                self.close_by_itself(book, place, entry, false);
            }
            CommandKind::WritePrecharge => {
                self.history.accessed(Event::Write, place, entry);
                self.close_by_itself(book, place, entry, true);
            }
            CommandKind::Precharge | CommandKind::PrechargeAll => {
                self.history.in_rank(Event::Precharge, place, entry);
                // tRP counts from the last PRE, also from one of a closed bank (JESD79-4).
                book.organisation.banks_of(record.kind, place).for_each(|bank| self.close(place.rank, bank, entry));
            }
            CommandKind::Refresh => {
                self.history.in_rank(Event::Refresh, place, entry);
                self.refresh.refreshed(record, place);
            }
            CommandKind::RefreshSameBank => {
                self.history.set_refreshed(place, entry);
                let banks = book.organisation.banks_of(record.kind, place);
                banks.for_each(|bank| self.history.bank_refreshed(place.rank, bank, entry));
                self.refresh.refreshed(record, place);
            }
        }
        // A command may take several clocks of its bus, so the event lies at its end.
        let free = record.clock.saturating_add(bus_clocks(&book.timing, record.kind));
        self.history.on_bus(place, Entry { clock: free, record: *record });
    }

    /// Closes the row of an RDA or a WRA: its precharge begins after tRTP or tWR and after tRAS.
    fn close_by_itself(&mut self, book: &RuleBook, place: &Place, entry: Entry, write: bool) {
        let mut clock = entry.clock.saturating_add(auto_precharge(&book.timing, write));
        if let Some(act) = self.open[self.slot(place.rank, place.bank)] {
            // The auto-precharge waits for tRAS inside the device.
            clock = clock.max(act.clock.saturating_add(book.timing.ras.into()));
        }
        self.close(place.rank, place.bank, Entry { clock, ..entry });
    }

    fn close(&mut self, rank: usize, bank: usize, entry: Entry) {
        let slot = self.slot(rank, bank);
        self.open[slot] = None;
        self.history.closed(rank, bank, entry);
    }

    fn slot(&self, rank: usize, bank: usize) -> usize {
        self.history.banks() * rank + bank
    }
}
