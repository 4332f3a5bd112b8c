//! The next command: what may go, what goes first.

use super::wanted::Wanted;
use super::{bits, Controller, Incoming, Kind, Mode};
use crate::memory::calendar::Ready;
use crate::params::Scheduler;
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
        let number = (self.0 & ((1 << NUMBER_BITS) - 1)) as usize;
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

impl Moment {
    fn is_ready(&self, kind: Kind) -> u64 {
        self.ready[kind as usize]
    }
}

impl Controller {
    /// The first clock from `clock` on at which a command bus is free.
    #[inline]
    fn floor(&self, clock: u64) -> u64 {
        clock.max(self.row_bus.min(self.column_bus))
    }

    /// The next command, at `clock` or later.
    pub(super) fn plan_from(&mut self, clock: u64) -> Plan {
        let floor = self.floor(clock);
        let ready = self.timing.advance(floor);
        let refresh = self.plan_refresh(floor);
        let among = !self.refresher.held;
        let writing = self.mode == Mode::Write || self.idle_drain;
        let first = self.wanted(writing, among, floor);
        let spare = !writing && self.reads.banks != 0 && self.writes.len() >= self.params.spare_writes;
        let second = if spare { self.wanted(true, among & self.spare_banks(), floor) } else { Wanted::NOTHING };
        if first.is_empty() && second.is_empty() && self.active_banks == [0; 2] {
            return refresh;
        }
        self.search(Moment { clock: floor, ready, next: u64::MAX }, refresh, &first, &second)
    }

    /// Looks from moment to moment until something may go.
    #[inline]
    fn search(&self, mut moment: Moment, refresh: Plan, first: &Wanted, second: &Wanted) -> Plan {
        let owned = self.active_banks[0] | self.active_banks[1];
        let wanted = [first.columns | second.columns | owned, first.opens | second.opens, first.closes | second.closes];
        loop {
            moment.next = refresh.clock;
            let mut key = if owned == 0 { Key::NONE } else { self.find_active(&mut moment) };
            if key == Key::NONE {
                if refresh.clock <= moment.clock {
                    return refresh;
                }
                key = self.find(first, &mut moment);
                if key == Key::NONE && !second.is_empty() {
                    key = self.find(second, &mut moment);
                }
            }
            if key != Key::NONE {
                return Plan { clock: moment.clock, key };
            }
            self.move_on(&mut moment, wanted);
            if moment.clock == u64::MAX {
                return refresh;
            }
        }
    }

    /// Goes on to the next moment at which a gate opens or one of the banks that are wanted becomes ready.
    #[inline]
    fn move_on(&self, moment: &mut Moment, wanted: Ready) {
        let calendar = self.timing.calendar();
        let waits = (0..3).any(|kind| wanted[kind] & !moment.ready[kind] != 0);
        let mut clock = moment.clock;
        while waits {
            clock = calendar.next_after(clock);
            if clock > moment.next || clock == u64::MAX {
                break;
            }
            let before = moment.ready;
            calendar.collect(clock, &mut moment.ready);
            if (0..3).any(|kind| wanted[kind] & (moment.ready[kind] ^ before[kind]) != 0) {
                moment.clock = clock;
                return;
            }
        }
        moment.clock = moment.next;
    }

    /// What goes first of what is wanted, if anything may go at this moment.
    #[inline]
    fn find(&self, wanted: &Wanted, moment: &mut Moment) -> Key {
        let write = wanted.write;
        let columns = self.open_to_columns(wanted.columns & moment.is_ready(Kind::Column), write, moment);
        let opens = self.open_to_activations(wanted.opens & moment.is_ready(Kind::Activate), moment);
        let closes = self.open_to_precharges(wanted.closes & moment.is_ready(Kind::Precharge), moment);
        if columns | opens | closes == 0 {
            return Key::NONE;
        }
        let queue = if write { &self.writes } else { &self.reads };
        let [second, third] = self.lower_classes();
        let direction = if write { WRITE } else { 0 };
        let oldest = |banks: u64, keys: &[u64], class: u64| match bits(banks).map(|bank| keys[bank]).min() {
            Some(key) => class | direction | key,
            None => u64::MAX,
        };
        let column = oldest(columns, &queue.hit_keys, FIRST | CAS);
        let open = oldest(opens, &queue.rival_keys, second | ACTIVATE);
        let close = oldest(closes, &queue.rival_keys, third | PRECHARGE);
        Key(column.min(open).min(close))
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

    /// The request whose row was opened for it alone, if one may be served at this moment.
    #[inline]
    fn find_active(&self, moment: &mut Moment) -> Key {
        let mut best = u64::MAX;
        for (write, direction) in [(false, 0), (true, WRITE)] {
            let ready = self.active_banks[usize::from(write)] & moment.is_ready(Kind::Column);
            for bank in bits(self.open_to_columns(ready, write, moment)) {
                best = best.min(OWNERS | ACTIVE | direction | request_key(self.active[bank].order, bank));
            }
        }
        Key(best)
    }

    /// Those of the banks that the bus and their neighbours let be accessed at this moment.
    #[inline]
    fn open_to_columns(&self, banks: u64, write: bool, moment: &mut Moment) -> u64 {
        let floor = self.timing.column_floor(write).max(self.column_bus);
        self.open_now(banks, floor, moment, |bank| self.timing.group_cas(bank, write))
    }

    #[inline]
    fn open_to_activations(&self, banks: u64, moment: &mut Moment) -> u64 {
        self.open_now(banks, self.row_bus, moment, |bank| self.timing.group_act(bank))
    }

    #[inline]
    fn open_to_precharges(&self, banks: u64, moment: &mut Moment) -> u64 {
        if self.dram.timing.ppd == 0 && self.row_bus <= moment.clock {
            return banks;
        }
        self.open_now(banks, self.row_bus, moment, |bank| self.timing.rank_precharge(bank))
    }

    /// Those of the banks whose group's gate is open at this moment. Notes when another one opens.
    #[inline]
    fn open_now(&self, banks: u64, floor: u64, moment: &mut Moment, gate: impl Fn(usize) -> u64) -> u64 {
        if banks == 0 {
            return 0;
        }
        if floor > moment.clock {
            moment.next = moment.next.min(floor);
            return 0;
        }
        let (mut left, mut open) = (banks, 0);
        while left != 0 {
            let bank = left.trailing_zeros() as usize;
            let group = left & self.timing.banks_of_group(bank);
            left &= !group;
            let from = gate(bank);
            if from <= moment.clock {
                open |= group;
            } else {
                moment.next = moment.next.min(from);
            }
        }
        open
    }

    /// The next command, given that a request has just come, which changes what its bank would do and nothing else.
    #[inline]
    pub(super) fn replan(&mut self, incoming: &Incoming, clock: u64) -> Plan {
        let (plan, read, floor) = (self.plan, incoming.read, self.floor(clock));
        let bank = usize::from(incoming.place.bank);
        let among = (1 << bank) & !self.refresher.held;
        if self.params.scheduler == Scheduler::Fcfs {
            return self.plan_from(clock);
        }
        if self.mode == Mode::Write || self.idle_drain {
            return if read { plan } else { plan.min(self.plan_bank(true, bank, among, floor)) };
        }
        let spare = self.params.spare_writes;
        let at_a_threshold = if read { self.reads.len() == 1 } else { self.writes.len() == spare };
        if at_a_threshold && self.writes.len() >= spare || read && plan.writes() {
            return self.plan_from(clock);
        }
        if read {
            return plan.min(self.plan_bank(false, bank, among, floor));
        }
        if self.reads.banks != 0 && self.writes.len() >= spare {
            let offered = self.plan_bank(true, bank, among & self.spare_banks(), floor);
            if plan.writes() || offered.clock < plan.clock {
                return plan.min(offered);
            }
        }
        plan
    }

    /// What one bank would do next for a direction, if it is among `among`.
    #[inline]
    fn plan_bank(&self, write: bool, bank: usize, among: u64, floor: u64) -> Plan {
        let wanted = self.wanted(write, among, floor);
        let queue = if write { &self.writes } else { &self.reads };
        let [second, third] = self.lower_classes();
        let direction = if write { WRITE } else { 0 };
        let row_floor = floor.max(self.row_bus);
        let mut plan = Plan::NEVER;
        let mut offer = |clock: u64, key: u64| plan = plan.min(Plan { clock, key: Key(direction | key) });
        if wanted.columns != 0 {
            let clock = self.timing.earliest_cas(bank, write).max(floor).max(self.column_bus);
            offer(clock, FIRST | CAS | queue.hit_keys[bank]);
        }
        if wanted.opens != 0 {
            let clock = self.timing.earliest_act(bank).max(row_floor);
            offer(clock, second | ACTIVATE | queue.rival_keys[bank]);
        }
        if wanted.closes != 0 {
            let clock = self.timing.earliest_precharge(bank).max(row_floor);
            offer(clock, third | PRECHARGE | queue.rival_keys[bank]);
        }
        plan
    }

    /// Banks that writes may use while reads wait: those of ranks that no read waits for.
    fn spare_banks(&self) -> u64 {
        let hits = if self.params.spare_rows { u64::MAX } else { self.writes.hits };
        self.unread_ranks() & hits
    }

    fn unread_ranks(&self) -> u64 {
        (0..self.dram.ranks as usize)
            .map(|rank| self.timing.banks_of_rank(rank))
            .filter(|banks| banks & self.reads.banks == 0)
            .fold(0, |all, banks| all | banks)
    }
}
