//! Directory of shared pages: either one server may write a page, or any number may read it.
//!
//! The directory has no notion of time, and is the same at the controller and in a switch. Until a server asks to
//! write a page, all members may read it. A request that conflicts with no other server is granted immediately. For
//! any other request, the servers concerned are ordered to give up their rights, each time with a new round number,
//! and the request is granted when all have answered. Requests that arrive meanwhile wait in order. A server repeats
//! a request if a message is lost. The rights recorded here are never less than those that a server holds, so a
//! duplicate message does no harm.

use crate::line::{PoolKind, PoolMessage};
use crate::params::SharedRegionParams;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Set of servers of a region, by their position in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct MemberSet([u64; 4]);

impl MemberSet {
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

/// Request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageRequest {
    /// Server that requests the page.
    pub(crate) host: u16,
    /// True for a request to write, false for a request to read.
    pub(crate) writes: bool,
    /// Slot of the request at the server.
    pub(crate) slot: u32,
    /// Sequence number of the request in its slot.
    pub(crate) sequence: u32,
    /// Bytes on the wire of a message for the request.
    pub(crate) small_bytes: u16,
}

impl PageRequest {
    /// Returns the request that a message makes, if any.
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

/// Request that waits for answers of other servers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingGrant {
    ask: PageRequest,
    left: MemberSet,
}

/// Directory entry of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PageEntry {
    sharers: MemberSet,
    /// True if the only sharer may write the page.
    writable: bool,
    pending_grant: Option<PendingGrant>,
    /// Number of the last round of orders.
    round: u32,
    waiting: VecDeque<PageRequest>,
}

/// Message to be sent, with its receiver.
pub(crate) type Order = (u16, PoolMessage);

/// Rights of all servers to the shared pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Directory {
    regions: Vec<SharedRegionParams>,
    /// Entries of the pages that a server has asked for.
    pages: BTreeMap<u64, PageEntry>,
    /// Requests granted.
    pub(crate) decided: u64,
    /// Servers ordered to give a page away or to stop writing it.
    pub(crate) told: u64,
}

impl Directory {
    /// Creates the directory of regions that are ordered by their pages.
    pub(crate) fn new(regions: Vec<SharedRegionParams>) -> Self {
        Self { regions, pages: BTreeMap::new(), decided: 0, told: 0 }
    }

    /// Handles a message about a page from a server. Appends the messages to be sent to `orders`.
    pub(crate) fn on_message(&mut self, from: u16, message: &PoolMessage, orders: &mut Vec<Order>) {
        let number = message.line;
        let at = self.regions.partition_point(|region| region.first_page <= number) - 1;
        let members = &self.regions[at].members;
        let page = self.pages.entry(number).or_insert_with(|| PageEntry {
            sharers: MemberSet::first(members.len()),
            writable: false,
            pending_grant: None,
            round: 0,
            waiting: VecDeque::new(),
        });
        let before = orders.len();
        let mut step = PageDecision { number, members, orders };
        match PageRequest::of(message) {
            Some(ask) => page.ask(ask, &mut step),
            None => page.left(from, message.round, &mut step),
        }
        let granted = orders[before..].iter().filter(|(_, message)| message.kind == PoolKind::Granted).count();
        self.decided += granted as u64;
        self.told += (orders.len() - before - granted) as u64;
    }

    /// Resets the counters.
    pub(crate) fn reset(&mut self) {
        (self.decided, self.told) = (0, 0);
    }

    /// Returns the rights of a server to a page as recorded here: to read, and to write.
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

/// Decision about a page, with the messages to be sent for it.
struct PageDecision<'a> {
    number: u64,
    members: &'a [u16],
    orders: &'a mut Vec<Order>,
}

impl PageDecision<'_> {
    fn place(&self, host: u16) -> usize {
        self.members.binary_search(&host).expect("only those that share a page ask for it")
    }
}

impl PageEntry {
    /// Handles a request, which may be a repeated one. A repeated request also repeats the orders that have not been
    /// answered.
    fn ask(&mut self, ask: PageRequest, step: &mut PageDecision) {
        let Some(pending_grant) = &mut self.pending_grant else { return self.begin(ask, step) };
        if pending_grant.ask.host == ask.host && pending_grant.ask.writes == ask.writes {
            // The repetition has a new sequence number, which the grant must carry.
            pending_grant.ask = ask;
            // The orders or their answers may be what was lost.
            return self.tell(step);
        }
        // One place per server in the queue, however often it asks.
        match self.waiting.iter_mut().find(|other| other.host == ask.host) {
            Some(other) => {
                *other = ask;
                self.tell(step);
            }
            None => self.waiting.push_back(ask),
        }
    }

    fn begin(&mut self, ask: PageRequest, step: &mut PageDecision) {
        let others = self.sharers.without(step.place(ask.host));
        // A request to read conflicts only with a writer.
        let left = if ask.writes || self.writable { others } else { MemberSet::default() };
        if left.is_empty() {
            return self.grant(ask, step);
        }
        // Answers to orders of earlier rounds are ignored.
        self.round = self.round.wrapping_add(1);
        self.pending_grant = Some(PendingGrant { ask, left });
        self.tell(step);
    }

    /// Sends orders to the servers that have not answered.
    fn tell(&self, step: &mut PageDecision) {
        let Some(PendingGrant { ask, left }) = self.pending_grant else { return };
        let kind = if ask.writes { PoolKind::Revoke } else { PoolKind::Demote };
        let message = ask.message(kind, step.number, self.round);
        step.orders.extend(left.iter().map(|at| (step.members[at], message)));
    }

    fn grant(&mut self, ask: PageRequest, step: &mut PageDecision) {
        let me = step.place(ask.host);
        if ask.writes {
            // The writer is the only sharer; it is added below.
            self.sharers = MemberSet::default();
            self.writable = true;
        } else {
            // A recorded writer that asks to read has lost a message. It may still repeat its request to write.
            self.writable &= self.sharers.without(me).is_empty() && self.sharers.has(me);
        }
        self.sharers.put(me, true);
        step.orders.push((ask.host, ask.message(PoolKind::Granted, step.number, 0)));
    }

    /// Handles the answer of a server that has given the page away or stopped writing it. After the last answer,
    /// grants the request and starts the next one.
    fn left(&mut self, from: u16, round: u32, step: &mut PageDecision) {
        let at = step.place(from);
        let Some(pending_grant) =
            // A duplicate, or an answer to an earlier round.
            self.pending_grant.as_mut().filter(|pending_grant| round == self.round && pending_grant.left.has(at))
        else {
            return;
        };
        pending_grant.left.put(at, false);
        let PendingGrant { ask, left } = *pending_grant;
        // Asked to stop writing, a server stays a reader.
        if ask.writes {
            self.sharers.put(at, false);
        }
        if !left.is_empty() {
            return;
        }
        self.pending_grant = None;
        self.writable = false;
        self.grant(ask, step);
        // Several readers in a row can be granted at once.
        while self.pending_grant.is_none() {
            let Some(next) = self.waiting.pop_front() else { return };
            self.begin(next, step);
        }
    }
}
