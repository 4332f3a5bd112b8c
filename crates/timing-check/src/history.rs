//! The last command of each kind in each place, from which distances are counted.
//!
//! Every distance is fixed, so of several events of one kind in one place only the latest can bind.

use hostnet_model::memory::CommandRecord;

use crate::organisation::{Organisation, Place};
use crate::rules::{Event, Scope};

/// An event with the command that caused it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Clock of the event. RDA and WRA close their row later than they are issued.
    pub(crate) clock: u64,
    pub(crate) record: CommandRecord,
}

type Entries = [Option<Entry>; Event::COUNT];

/// The newest event of all places, and the newest one outside the place of that event.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    last: Option<(usize, Entry)>,
    elsewhere: Option<(usize, Entry)>,
}

impl Newest {
    fn record(&mut self, place: usize, entry: Entry) {
        // Two entries are enough: of the places other than the newest only the newest event can bind.
        if self.last.is_some_and(|(last, _)| last != place) {
            self.elsewhere = self.last;
        }
        self.last = Some((place, entry));
    }

    fn outside(&self, place: usize) -> Option<&Entry> {
        [&self.last, &self.elsewhere].into_iter().flatten().find(|(other, _)| *other != place).map(|(_, entry)| entry)
    }

    fn anywhere(&self) -> Option<&Entry> {
        self.last.as_ref().map(|(_, entry)| entry)
    }
}

#[derive(Clone, Debug)]
struct RankHistory {
    banks: Vec<Entries>,
    groups: Vec<Entries>,
    /// Newest REFSB by the set of banks that it refreshes, other events by bank group.
    newest: [Newest; Event::COUNT],
    /// The last four ACTs, the oldest first.
    activations: [Option<Entry>; 4],
}

/// Events of one controller.
#[derive(Clone, Debug)]
pub(crate) struct History {
    ranks: Vec<RankHistory>,
    by_rank: [Newest; Event::COUNT],
    buses: [Option<Entry>; 2],
}

impl History {
    pub(crate) fn new(organisation: &Organisation) -> Self {
        let rank = RankHistory {
            banks: vec![[None; Event::COUNT]; organisation.banks()],
            groups: vec![[None; Event::COUNT]; organisation.groups],
            newest: [Newest::default(); Event::COUNT],
            activations: [None; 4],
        };
        History { ranks: vec![rank; organisation.ranks], by_rank: [Newest::default(); Event::COUNT], buses: [None; 2] }
    }

    /// Returns the number of banks of a rank.
    pub(crate) fn banks(&self) -> usize {
        self.ranks.first().map_or(0, |rank| rank.banks.len())
    }

    /// Returns the event from which a command at `place` must keep its distance.
    pub(crate) fn last(&self, event: Event, scope: Scope, place: &Place) -> Option<&Entry> {
        let rank = &self.ranks[place.rank];
        let sort = event as usize;
        match scope {
            Scope::Bank | Scope::Row => rank.banks[place.bank][sort].as_ref(),
            // REFSB is recorded by set, see `set_refreshed`.
            Scope::OtherBanks => rank.newest[sort].outside(place.set),
            Scope::Group => rank.groups[place.group][sort].as_ref(),
            Scope::OtherGroups => rank.newest[sort].outside(place.group),
            Scope::Rank => rank.newest[sort].anywhere(),
            Scope::RankFourBack => rank.activations[0].as_ref(),
            Scope::OtherRanks => self.by_rank[sort].outside(place.rank),
            Scope::Bus => self.buses[place.bus].as_ref(),
        }
    }

    /// Records an ACT.
    pub(crate) fn activated(&mut self, place: &Place, entry: Entry) {
        self.in_group(Event::Activate, place, entry);
        let activations = &mut self.ranks[place.rank].activations;
        // tFAW looks at the fourth last ACT only.
        activations.rotate_left(1);
        activations[3] = Some(entry);
    }

    /// Records a column access.
    pub(crate) fn accessed(&mut self, event: Event, place: &Place, entry: Entry) {
        self.in_group(event, place, entry);
        self.by_rank[event as usize].record(place.rank, entry);
    }

    /// Records that the precharge of a bank begins, or begins again, at the clock of the entry.
    pub(crate) fn closed(&mut self, rank: usize, bank: usize, entry: Entry) {
        keep_later(&mut self.ranks[rank].banks[bank][Event::Close as usize], entry);
    }

    /// Records a PRE, PREA or REF in the rank.
    pub(crate) fn in_rank(&mut self, event: Event, place: &Place, entry: Entry) {
        self.ranks[place.rank].newest[event as usize].record(place.group, entry);
    }

    /// Records a REFSB of the rank, by the set of banks that it refreshes.
    pub(crate) fn set_refreshed(&mut self, place: &Place, entry: Entry) {
        self.ranks[place.rank].newest[Event::RefreshBanks as usize].record(place.set, entry);
    }

    /// Records that a bank was refreshed by a REFSB.
    pub(crate) fn bank_refreshed(&mut self, rank: usize, bank: usize, entry: Entry) {
        self.ranks[rank].banks[bank][Event::RefreshBanks as usize] = Some(entry);
    }

    /// Records a command that leaves its bus free from the clock of the entry on.
    pub(crate) fn on_bus(&mut self, place: &Place, entry: Entry) {
        keep_later(&mut self.buses[place.bus], entry);
    }

    fn in_group(&mut self, event: Event, place: &Place, entry: Entry) {
        let rank = &mut self.ranks[place.rank];
        rank.banks[place.bank][event as usize] = Some(entry);
        rank.groups[place.group][event as usize] = Some(entry);
        rank.newest[event as usize].record(place.group, entry);
    }
}

/// Keeps the later of two events. Events may lie after their commands, so a later command may have the earlier event.
fn keep_later(last: &mut Option<Entry>, entry: Entry) {
    if last.is_none_or(|last| last.clock <= entry.clock) {
        *last = Some(entry);
    }
}
