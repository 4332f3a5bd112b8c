//! Who may read and who may write the pages that servers share: one of them writes a page, or any number read it.
//!
//! Without time, and the same at the controller and in a switch. Of a page nobody has asked to write, all that share it
//! may read it. A request that takes nothing from others is granted at once. For any other those concerned are told,
//! each time with a new number, and it is granted when all have answered; requests that come meanwhile wait in their
//! order. Whatever is lost, the one who asks does so again: what it is told of says no less than what it may do, so
//! that a message too many does no harm.

use crate::line::{PoolKind, PoolMessage};
use crate::params::RegionParams;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Servers of a region, by their places in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Set([u64; 4]);

impl Set {
    fn first(members: usize) -> Self {
        let mut set = Self::default();
        (0..members).for_each(|at| set.put(at, true));
        set
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 != 0
    }

    fn put(&mut self, at: usize, on: bool) {
        let bit = 1 << (at % 64);
        let word = &mut self.0[at / 64];
        *word = if on { *word | bit } else { *word & !bit };
    }

    fn without(mut self, at: usize) -> Self {
        self.put(at, false);
        self
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..256).filter(move |&at| self.has(at))
    }
}

/// A request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ask {
    /// Who asks.
    pub(crate) host: u16,
    /// Whether it wants to write.
    pub(crate) writes: bool,
    /// Its place for the request, and its number there.
    pub(crate) slot: u32,
    pub(crate) sequence: u32,
    /// Bytes on the wire of what is sent for it.
    pub(crate) small_bytes: u16,
}

impl Ask {
    /// What a message asks for, if it does.
    fn of(message: &PoolMessage) -> Option<Self> {
        let PoolMessage { kind, requester, small_bytes, slot, sequence, .. } = *message;
        let writes = kind == PoolKind::Own;
        (writes || kind == PoolKind::Share).then_some(Self { host: requester, writes, slot, sequence, small_bytes })
    }

    fn message(&self, kind: PoolKind, page: u64, round: u32) -> PoolMessage {
        let Self { host: requester, small_bytes, slot, sequence, .. } = *self;
        PoolMessage { kind, requester, small_bytes, slot, sequence, line: page, round }
    }
}

/// A request that waits for answers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Turn {
    ask: Ask,
    left: Set,
}

/// What is known of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Page {
    sharers: Set,
    /// Whether the only one that has it may write it.
    writable: bool,
    turn: Option<Turn>,
    round: u32,
    waiting: VecDeque<Ask>,
}

/// To whom, and what.
pub(crate) type Order = (u16, PoolMessage);

/// Who may read and who may write the pages that servers share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Directory {
    regions: Vec<RegionParams>,
    /// Those that anybody has asked for.
    pages: BTreeMap<u64, Page>,
    /// Requests that were granted, and servers that were told to give a page away or to write it no more.
    pub(crate) decided: u64,
    pub(crate) told: u64,
}

impl Directory {
    /// Of regions in the order of their pages.
    pub(crate) fn new(regions: Vec<RegionParams>) -> Self {
        Self { regions, pages: BTreeMap::new(), decided: 0, told: 0 }
    }

    /// A message about a page has come from a server: what is to be sent is added to `orders`.
    pub(crate) fn on_message(&mut self, from: u16, message: &PoolMessage, orders: &mut Vec<Order>) {
        let number = message.line;
        let at = self.regions.partition_point(|region| region.first_page <= number) - 1;
        let members = &self.regions[at].members;
        let page = self.pages.entry(number).or_insert_with(|| Page {
            sharers: Set::first(members.len()),
            writable: false,
            turn: None,
            round: 0,
            waiting: VecDeque::new(),
        });
        let before = orders.len();
        let mut step = Step { number, members, orders };
        match Ask::of(message) {
            Some(ask) => page.ask(ask, &mut step),
            None => page.left(from, message.round, &mut step),
        }
        let granted = orders[before..].iter().filter(|(_, message)| message.kind == PoolKind::Granted).count();
        self.decided += granted as u64;
        self.told += (orders.len() - before - granted) as u64;
    }

    /// Begins to count anew.
    pub(crate) fn reset(&mut self) {
        (self.decided, self.told) = (0, 0);
    }

    /// What a server may do with a page as far as is known here: whether read it, and whether write it.
    #[cfg(test)]
    pub(super) fn known(&self, number: u64, host: u16) -> (bool, bool) {
        let at = self.regions.partition_point(|region| region.first_page <= number) - 1;
        let Ok(me) = self.regions[at].members.binary_search(&host) else { return (false, false) };
        self.pages.get(&number).map_or((true, false), |page| {
            let has = page.sharers.has(me);
            (has, has && page.writable)
        })
    }
}

/// A page that is decided about, and what is to be sent for it.
struct Step<'a> {
    number: u64,
    members: &'a [u16],
    orders: &'a mut Vec<Order>,
}

impl Step<'_> {
    fn place(&self, host: u16) -> usize {
        self.members.binary_search(&host).expect("only those that share a page ask for it")
    }
}

impl Page {
    /// Somebody asks, perhaps again: then those whose answers are missing are told again, too.
    fn ask(&mut self, ask: Ask, step: &mut Step) {
        let Some(turn) = &mut self.turn else { return self.begin(ask, step) };
        if turn.ask.host == ask.host && turn.ask.writes == ask.writes {
            turn.ask = ask;
            return self.tell(step);
        }
        match self.waiting.iter_mut().find(|other| other.host == ask.host) {
            Some(other) => {
                *other = ask;
                self.tell(step);
            }
            None => self.waiting.push_back(ask),
        }
    }

    fn begin(&mut self, ask: Ask, step: &mut Step) {
        let others = self.sharers.without(step.place(ask.host));
        let left = if ask.writes || self.writable { others } else { Set::default() };
        if left.is_empty() {
            return self.grant(ask, step);
        }
        self.round = self.round.wrapping_add(1);
        self.turn = Some(Turn { ask, left });
        self.tell(step);
    }

    /// Tells those whose answers are missing.
    fn tell(&self, step: &mut Step) {
        let Some(Turn { ask, left }) = self.turn else { return };
        let kind = if ask.writes { PoolKind::Revoke } else { PoolKind::Demote };
        let message = ask.message(kind, step.number, self.round);
        step.orders.extend(left.iter().map(|at| (step.members[at], message)));
    }

    fn grant(&mut self, ask: Ask, step: &mut Step) {
        let me = step.place(ask.host);
        if ask.writes {
            self.sharers = Set::default();
            self.writable = true;
        } else {
            // Whoever is known to write and asks to read has lost a message; it may still ask for the other again.
            self.writable &= self.sharers.without(me).is_empty() && self.sharers.has(me);
        }
        self.sharers.put(me, true);
        step.orders.push((ask.host, ask.message(PoolKind::Granted, step.number, 0)));
    }

    /// A server has given the page away, or writes it no more.
    fn left(&mut self, from: u16, round: u32, step: &mut Step) {
        let at = step.place(from);
        let Some(turn) = self.turn.as_mut().filter(|turn| round == self.round && turn.left.has(at)) else { return };
        turn.left.put(at, false);
        let Turn { ask, left } = *turn;
        if ask.writes {
            self.sharers.put(at, false);
        }
        if !left.is_empty() {
            return;
        }
        self.turn = None;
        self.writable = false;
        self.grant(ask, step);
        while self.turn.is_none() {
            let Some(next) = self.waiting.pop_front() else { return };
            self.begin(next, step);
        }
    }
}
