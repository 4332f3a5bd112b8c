//! The next command: what may go, what goes first.

use super::{bits, Controller, Incoming, Kind, Mode};
use crate::memory::calendar::Ready;
use crate::params::{Protect, Scheduler};
use serde::{Deserialize, Serialize};

/// What a controller does next, for a request of the given direction or for a refresh of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing, ever.
    None,
    /// Read or write for the request that owns the bank.
    Active { bank: usize, write: bool },
    /// Read or write a line of the open row.
    Cas { bank: usize, write: bool },
    /// Open the row that the oldest request of the bank wants.
    Activate { bank: usize, write: bool },
    /// Close a row that is in the way.
    Precharge { bank: usize, write: bool },
    /// Keep new commands from the banks that are to be refreshed.
    Hold { rank: usize },
    /// Close rows that are in the way of a refresh.
    PrechargeFor { rank: usize },
    /// Refresh.
    Refresh { rank: usize },
}

/// An action and its urgency in one number; the least goes first. From the top: class of urgency (3 bits), order of arrival
/// of the request, what to do (3), direction (1), bank or rank (6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key(u64);

const NUMBER_BITS: u32 = 6;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const WRITE: u64 = 1 << NUMBER_BITS;
const WHAT_AT: u32 = NUMBER_BITS + 1;
const ORDER_AT: u32 = WHAT_AT + 3;

const ACTIVE: u64 = 0 << WHAT_AT;
const CAS: u64 = 1 << WHAT_AT;
const ACTIVATE: u64 = 2 << WHAT_AT;
const PRECHARGE: u64 = 3 << WHAT_AT;
const HOLD: u64 = 4 << WHAT_AT;
const PRECHARGE_FOR: u64 = 5 << WHAT_AT;
const REFRESH: u64 = 6 << WHAT_AT;

/// Classes of urgency; within one the oldest request goes first.
const OWNERS: u64 = 0 << 61;
const REFRESHES: u64 = 1 << 61;
const FIRST: u64 = 2 << 61;
const SECOND: u64 = 3 << 61;
const THIRD: u64 = 4 << 61;

/// The part of a key that a request has: its order of arrival and its bank.
#[inline]
pub(super) fn request_key(order: u64, bank: usize) -> u64 {
    order << ORDER_AT | bank as u64
}

impl Key {
    const NONE: Self = Self(u64::MAX);

    fn action(self) -> Action {
        let number = (self.0 & NUMBER) as usize;
        let write = self.0 & WRITE != 0;
        match self.0 & (7 << WHAT_AT) {
            ACTIVE => Action::Active { bank: number, write },
            CAS => Action::Cas { bank: number, write },
            ACTIVATE => Action::Activate { bank: number, write },
            PRECHARGE => Action::Precharge { bank: number, write },
            HOLD => Action::Hold { rank: number },
            PRECHARGE_FOR => Action::PrechargeFor { rank: number },
            REFRESH => Action::Refresh { rank: number },
            _ => Action::None,
        }
    }
}

/// The next action and its clock. Earlier clocks come first, then what is more urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) clock: u64,
    key: Key,
}

impl Plan {
    /// Nothing to do.
    pub(super) const NEVER: Self = Self { clock: u64::MAX, key: Key::NONE };

    pub(super) fn hold(clock: u64, rank: usize) -> Self {
        Self { clock, key: Key(REFRESHES | HOLD | rank as u64) }
    }

    pub(super) fn precharge_for(clock: u64, rank: usize) -> Self {
        Self { clock, key: Key(REFRESHES | PRECHARGE_FOR | rank as u64) }
    }

    pub(super) fn refresh(clock: u64, rank: usize) -> Self {
        Self { clock, key: Key(REFRESHES | REFRESH | rank as u64) }
    }

    /// What to do.
    #[inline]
    pub(super) fn action(self) -> Action {
        self.key.action()
    }

    /// Whether it is the beginning of a refresh.
    #[inline]
    pub(super) fn is_hold(self) -> bool {
        self.key.0 & (7 << WHAT_AT) == HOLD
    }

    /// Whether it is for a write.
    #[inline]
    fn writes(self) -> bool {
        self.key.0 & WRITE != 0 && self.key != Key::NONE
    }
}

/// A moment in the search for the next command.
struct Moment {
    clock: u64,
    /// Banks that are ready by then, as far as they are alone.
    ready: Ready,
    /// The next moment that may be different.
    next: u64,
}

/// What is searched for: a direction, and what it wants.
#[derive(Clone, Copy)]
struct Search {
    write: bool,
    wanted: Ready,
}

const COLUMN: usize = Kind::Column as usize;
const OPEN: usize = Kind::Activate as usize;
const CLOSE: usize = Kind::Precharge as usize;

impl Controller {
    /// The first clock from `clock` on at which a command bus is free.
    #[inline]
    fn floor(&self, clock: u64) -> u64 {
        clock.max(self.row_bus.min(self.column_bus))
    }

    /// Banks that belong to a request until its column access.
    #[inline]
    pub(super) fn owned(&self) -> u64 {
        self.active_banks[0] | self.active_banks[1]
    }

    /// The next command, at `clock` or later.
    pub(super) fn plan_from(&mut self, clock: u64) -> Plan {
        let floor = self.floor(clock);
        let ready = self.timing.advance(floor);
        let moment = Moment { clock: floor, ready, next: u64::MAX };
        let refresh = self.plan_refresh(floor);
        let among = !self.refresher.held;
        let write = self.mode == Mode::Write || self.idle_drain;
        let first = Search { write, wanted: self.wanted(write, among, floor) };
        if write || self.reads.banks == 0 || self.writes.len() < self.params.spare_writes {
            return self.search(moment, refresh, first.wanted, |moment| self.find(first, moment));
        }
        let spare = Search { write: true, wanted: self.wanted_by_spare_writes(among, floor) };
        let either = std::array::from_fn(|kind| first.wanted[kind] | spare.wanted[kind]);
        self.search(moment, refresh, either, |moment| match self.find(first, moment) {
            Key::NONE => self.find(spare, moment),
            key => key,
        })
    }

    /// Looks from moment to moment until something may go.
    #[inline]
    fn search(&self, mut moment: Moment, refresh: Plan, wanted: Ready, find: impl Fn(&mut Moment) -> Key) -> Plan {
        let owned = self.owned();
        let [columns, opens, closes] = wanted;
        if columns | opens | closes | owned == 0 {
            return refresh;
        }
        loop {
            moment.next = refresh.clock;
            let mut key = if owned == 0 { Key::NONE } else { self.find_active(&mut moment) };
            if key == Key::NONE {
                if refresh.clock <= moment.clock {
                    return refresh;
                }
                key = find(&mut moment);
            }
            if key != Key::NONE {
                return Plan { clock: moment.clock, key };
            }
            self.move_on(&mut moment, [columns | owned, opens, closes]);
            if moment.clock == u64::MAX {
                return refresh;
            }
        }
    }

    /// Goes on to the next moment at which a gate opens or one of the banks that are wanted becomes ready.
    #[inline]
    fn move_on(&self, moment: &mut Moment, [columns, opens, closes]: Ready) {
        let calendar = self.timing.calendar();
        let waiting = |ready: &Ready| (columns & !ready[COLUMN], opens & !ready[OPEN], closes & !ready[CLOSE]);
        let before = waiting(&moment.ready);
        let mut clock = moment.clock;
        while before != (0, 0, 0) {
            clock = calendar.next_after(clock);
            if clock > moment.next || clock == u64::MAX {
                break;
            }
            calendar.collect(clock, &mut moment.ready);
            if waiting(&moment.ready) != before {
                moment.clock = clock;
                return;
            }
        }
        moment.clock = moment.next;
    }

    /// What goes first of what is wanted, if anything may go at this moment.
    #[inline]
    fn find(&self, Search { write, wanted }: Search, moment: &mut Moment) -> Key {
        let columns = self.open_to_columns(wanted[COLUMN] & moment.ready[COLUMN], write, moment);
        let opens = self.open_to_activations(wanted[OPEN] & moment.ready[OPEN], moment);
        let closes = self.open_to_precharges(wanted[CLOSE] & moment.ready[CLOSE], moment);
        let queue = if write { &self.writes } else { &self.reads };
        let [second, third] = self.lower_classes();
        let direction = if write { WRITE } else { 0 };
        let mut best = u64::MAX;
        for bank in bits(columns) {
            best = best.min(FIRST | CAS | direction | queue.hit_keys[bank]);
        }
        for bank in bits(opens) {
            best = best.min(second | ACTIVATE | direction | queue.rival_keys[bank]);
        }
        for bank in bits(closes) {
            best = best.min(third | PRECHARGE | direction | queue.rival_keys[bank]);
        }
        Key(best)
    }

    /// The classes of urgency of activations and of precharges.
    #[inline]
    fn lower_classes(&self) -> [u64; 2] {
        if self.params.scheduler == Scheduler::ColumnFirst {
            [SECOND, THIRD]
        } else {
            [FIRST, FIRST]
        }
    }

    /// The oldest request that owns its bank and may be served at this moment.
    #[inline]
    fn find_active(&self, moment: &mut Moment) -> Key {
        let floors = [false, true].map(|write| self.timing.column_floor(write).max(self.column_bus));
        let floor = floors[0].min(floors[1]);
        if floor > moment.clock {
            moment.next = moment.next.min(floor);
            return Key::NONE;
        }
        for &key in &self.active_order {
            let (bank, write) = ((key & NUMBER) as usize, key & WRITE != 0);
            if moment.ready[COLUMN] >> bank & 1 == 1 {
                let gate = self.timing.group_cas(bank, write).max(self.column_bus);
                if gate <= moment.clock {
                    return Key(OWNERS | ACTIVE | key);
                }
                moment.next = moment.next.min(gate);
            }
        }
        Key::NONE
    }

    /// Those of the banks that the bus and their neighbours let be accessed at this moment.
    #[inline]
    fn open_to_columns(&self, banks: u64, write: bool, moment: &mut Moment) -> u64 {
        if banks == 0 {
            return 0;
        }
        let floor = self.timing.column_floor(write).max(self.column_bus);
        let direction = usize::from(write);
        self.open_now(banks, floor, moment, |(banks, _, cas)| (banks, cas[direction]))
    }

    #[inline]
    fn open_to_activations(&self, banks: u64, moment: &mut Moment) -> u64 {
        if banks == 0 {
            return 0;
        }
        self.open_now(banks, self.row_bus, moment, |(banks, act, _)| (banks, act))
    }

    #[inline]
    fn open_to_precharges(&self, banks: u64, moment: &mut Moment) -> u64 {
        if banks == 0 || self.dram.timing.ppd == 0 && self.row_bus <= moment.clock {
            return banks;
        }
        let mut open = 0;
        for bank in bits(banks) {
            let gate = self.timing.rank_precharge(bank).max(self.row_bus);
            if gate <= moment.clock {
                open |= 1 << bank;
            } else {
                moment.next = moment.next.min(gate);
            }
        }
        open
    }

    /// Those of the banks whose rank and group have their gates open at this moment. Notes when another gate opens.
    #[inline]
    fn open_now(
        &self,
        banks: u64,
        floor: u64,
        moment: &mut Moment,
        gate: impl Fn((u64, u64, [u64; 2])) -> (u64, u64),
    ) -> u64 {
        let mut later = floor;
        let mut open = 0;
        if floor <= moment.clock {
            later = u64::MAX;
            for rank in self.timing.ranks() {
                let (members, from) = gate(rank);
                let mut left = banks & members;
                if left != 0 && from > moment.clock {
                    later = later.min(from);
                    continue;
                }
                while left != 0 {
                    let (members, from) = gate(self.timing.group(left.trailing_zeros() as usize));
                    if from <= moment.clock {
                        open |= left & members;
                    } else {
                        later = later.min(from);
                    }
                    left &= !members;
                }
            }
        }
        moment.next = moment.next.min(later);
        open
    }

    /// Keeps note of a request that has come to own its bank.
    pub(super) fn add_owner(&mut self, order: u64, bank: usize, write: bool) {
        let key = request_key(order, bank) | if write { WRITE } else { 0 };
        let at = self.active_order.partition_point(|&other| other < key);
        self.active_order.insert(at, key);
    }

    /// Forgets the owner of a bank.
    pub(super) fn remove_owner(&mut self, bank: usize) {
        self.active_order.retain(|&key| key & NUMBER != bank as u64);
    }

    /// Whether the last request to come may have made writes fill the slots that no read can use, or stopped them.
    #[inline]
    pub(super) fn at_a_threshold(&self, read: bool) -> bool {
        let spare = self.params.spare_writes;
        self.writes.len() >= spare && if read { self.reads.len() == 1 } else { self.writes.len() == spare }
    }

    /// The next command, given that a request has just come, which changes what its bank would do and nothing else.
    #[inline]
    pub(super) fn replan(&mut self, incoming: &Incoming, clock: u64) -> Plan {
        let (plan, read, floor) = (self.plan, incoming.read, self.floor(clock));
        let bank = usize::from(incoming.place.bank);
        let among = (1 << bank) & !self.refresher.held;
        if self.params.scheduler == Scheduler::Fcfs || self.may_save_row(bank, read) {
            return self.plan_from(clock);
        }
        if self.mode == Mode::Write || self.idle_drain {
            let wanted = self.wanted(true, among, floor);
            return if read { plan } else { plan.min(self.plan_bank(true, bank, wanted, floor)) };
        }
        let spare = self.params.spare_writes;
        if self.at_a_threshold(read) || read && plan.writes() {
            return self.plan_from(clock);
        }
        if read {
            return plan.min(self.plan_bank(false, bank, self.wanted(false, among, floor), floor));
        }
        if self.reads.banks != 0 && self.writes.len() >= spare {
            let offered = self.plan_bank(true, bank, self.wanted_by_spare_writes(among, floor), floor);
            if plan.writes() || offered.clock < plan.clock {
                return plan.min(offered);
            }
        }
        plan
    }

    /// Whether a request that has just come to `bank` may forbid to close its row, as is planned.
    #[inline]
    fn may_save_row(&self, bank: usize, read: bool) -> bool {
        self.params.protect == Protect::AllHits && self.plan.action() == Action::Precharge { bank, write: !read }
    }

    /// What one bank would do next for a direction, whose requests want that of it.
    #[inline]
    fn plan_bank(&self, write: bool, bank: usize, wanted: Ready, floor: u64) -> Plan {
        let queue = if write { &self.writes } else { &self.reads };
        let [second, third] = self.lower_classes();
        let direction = if write { WRITE } else { 0 };
        let row_floor = floor.max(self.row_bus);
        let mut plan = Plan::NEVER;
        let mut offer = |clock: u64, key: u64| plan = plan.min(Plan { clock, key: Key(direction | key) });
        if wanted[COLUMN] != 0 {
            let clock = self.timing.earliest_cas(bank, write).max(floor).max(self.column_bus);
            offer(clock, FIRST | CAS | queue.hit_keys[bank]);
        }
        if wanted[OPEN] != 0 {
            let clock = self.timing.earliest_act(bank).max(row_floor);
            offer(clock, second | ACTIVATE | queue.rival_keys[bank]);
        }
        if wanted[CLOSE] != 0 {
            let clock = self.timing.earliest_precharge(bank).max(row_floor);
            offer(clock, third | PRECHARGE | queue.rival_keys[bank]);
        }
        plan
    }

    /// What writes want and may have while reads wait: in ranks that no read waits for, and perhaps of open rows only.
    fn wanted_by_spare_writes(&self, among: u64, clock: u64) -> Ready {
        let wanted = self.wanted(true, among & self.unread_ranks(), clock);
        if self.params.spare_rows {
            wanted
        } else {
            [wanted[COLUMN], 0, 0]
        }
    }

    fn unread_ranks(&self) -> u64 {
        (0..self.dram.ranks as usize)
            .map(|rank| self.timing.banks_of_rank(rank))
            .filter(|banks| banks & self.reads.banks == 0)
            .fold(0, |all, banks| all | banks)
    }
}
