//! Pages that several servers see: a read or write waits until its server may do that, and what others want leaves.
//!
//! Requests for pages go to the controller; a switch on their way answers those that it decides about itself. A page
//! that another server wants leaves once no line of it is on its way to its lender or from there, and its dirty lines
//! are back.

use super::rights::{Ask, Leaving, Rights};
use super::PoolPort;
use crate::line::{Fifo, PoolKind, PoolMessage, Request, RequestId};
use crate::params::SharedParams;
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often the time after which a page is asked for again doubles: pages that many want are long in coming, and a
/// controller that is asked again and again has no time for answers.
const DOUBLINGS: u32 = 6;

/// Whom a server answers when a page has left, and what.
type Answer = (u16, PoolMessage);

/// The pages that a server shares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sharing {
    params: SharedParams,
    page_lines: u64,
    pub(super) rights: Rights<Answer>,
    /// Those who wait for a page.
    waiting: BTreeMap<u64, Fifo<Request>>,
}

impl Sharing {
    pub(super) fn new(params: SharedParams, page_bytes: u64) -> Self {
        Self { params, page_lines: page_bytes / 64, rights: Rights::new(), waiting: BTreeMap::new() }
    }
}

impl PoolPort {
    /// Requests that wait until their server may read or write a page.
    #[must_use]
    pub fn waiting_for_pages(&self) -> usize {
        self.sharing.as_ref().map_or(0, |sharing| sharing.waiting.values().map(|list| list.len() as usize).sum())
    }

    /// Whether the line may be read or written now, as far as it is of a page that servers share. If not, the request
    /// waits.
    pub(super) fn may_begin(&mut self, id: RequestId, line: u64, read: bool, context: &mut Context) -> bool {
        let Some(sharing) = &mut self.sharing else { return true };
        let page = line / sharing.page_lines;
        if sharing.rights.has(page, !read) {
            return true;
        }
        sharing.waiting.entry(page).or_default().push(context.requests, id);
        if let Some(place) = sharing.rights.want(page, !read, context.now()) {
            self.send_ask(place, context);
        }
        false
    }

    /// A read or write sets out to the lender of its page, or has ended there.
    pub(super) fn note_open(&mut self, line: u64, begins: bool, context: &mut Context) {
        let Some(sharing) = &mut self.sharing else { return };
        let page = line / sharing.page_lines;
        if begins {
            return sharing.rights.begin(page);
        }
        sharing.rights.end(page);
        self.try_to_leave(page, context);
    }

    /// The number of messages and timers of the request for a page with a place.
    fn ask_number(&self, place: u32) -> u32 {
        self.slots.len() as u32 + self.transfers() + place
    }

    fn send_ask(&mut self, place: u32, context: &mut Context) {
        let number = self.ask_number(place);
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let Some((Ask { page, writes, sequence, .. }, before)) = sharing.rights.send(place) else { return };
        let kind = if writes { PoolKind::Own } else { PoolKind::Share };
        let controller = sharing.params.controller;
        let line = sharing.params.first_page + page;
        let message = self.message(kind, number, sequence, line);
        // The way of the grant from the port to here stands before the request, so that a grant is of use at once.
        self.send(message, controller, self.params.latency_ps, context);
        self.set_ask_timer(place, self.params.timeout_ps << before.min(DOUBLINGS), context);
    }

    fn set_ask_timer(&mut self, place: u32, delay_ps: u64, context: &mut Context) {
        let connection = self.ask_number(place);
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let timer = Payload::Timer { connection, generation: sharing.rights.set_timer(place) };
        context.send(context.id, delay_ps, timer);
    }

    /// The timer of a request for a page has run out.
    pub(super) fn on_late_ask(&mut self, place: u32, generation: u32, context: &mut Context) {
        let asked = self.sharing.as_ref().and_then(|sharing| sharing.rights.asked(place));
        if asked.is_some_and(|ask| ask.timer == generation) {
            self.counts.retries += 1;
            self.send_ask(place, context);
        }
    }

    /// A message of a request for a page was dropped on its way.
    pub(super) fn on_dropped_ask(&mut self, place: u32, sequence: u32, context: &mut Context) {
        let asked = self.sharing.as_ref().and_then(|sharing| sharing.rights.asked(place));
        if asked.is_some_and(|ask| ask.sequence == sequence) {
            self.counts.nacks += 1;
            self.set_ask_timer(place, self.params.retry_ps, context);
        } else {
            self.counts.stale += 1;
        }
    }

    /// A page may be read or written from now on: those who wait for that begin.
    pub(super) fn on_granted(&mut self, message: PoolMessage, context: &mut Context) {
        let place = message.slot - self.ask_number(0);
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let Some(Ask { page, writes, since, .. }) = sharing.rights.granted(place, message.sequence) else {
            self.counts.stale += 1;
            return;
        };
        self.counts.granted[usize::from(writes)] += 1;
        self.counts.grant_latency.record(context.now().since(since));
        if !sharing.rights.is_leaving(page) {
            self.begin_waiting(page, context);
        }
    }

    /// Those who wait for a page begin, as far as they may; for the others it is asked for.
    fn begin_waiting(&mut self, page: u64, context: &mut Context) {
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let mut waiting = sharing.waiting.remove(&page).unwrap_or_default();
        while let Some(id) = waiting.pop(context.requests) {
            self.on_request(id, context);
        }
    }

    /// Another server wants a page.
    pub(super) fn give_away(&mut self, from: u16, message: PoolMessage, context: &mut Context) {
        let keeps = message.kind == PoolKind::Demote;
        let sharing = self.sharing.as_mut().expect("only those that share a page are told");
        let page = message.line - sharing.params.first_page;
        let answer = (from, PoolMessage { kind: PoolKind::Left, ..message });
        let asked = sharing.rights.leave(page, Leaving { keeps, round: message.round, answer });
        self.counts.taken += 1;
        if let Some(place) = asked {
            self.send_ask(place, context);
        }
        if let Some(prefetcher) = self.prefetcher.as_mut().filter(|_| !keeps) {
            prefetcher.forget(page);
        }
        self.try_to_leave(page, context);
        self.turn_pages(context);
    }

    /// Whether a line is of a page that another server wants.
    pub(super) fn is_leaving(&self, line: u64) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.rights.is_leaving(line / sharing.page_lines))
    }

    /// A page leaves if it is to and nothing keeps it.
    pub(super) fn try_to_leave(&mut self, page: u64, context: &mut Context) {
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let Some(Leaving { keeps, answer: (to, message), .. }) = sharing.rights.may_leave(page) else { return };
        if self.paging.as_mut().is_some_and(|paging| !paging.cache.give_back(page, !keeps)) {
            return;
        }
        sharing.rights.left(page);
        self.send(message, to, self.params.latency_ps, context);
        self.begin_waiting(page, context);
    }
}
