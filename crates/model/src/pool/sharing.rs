//! Shared pages of a region: accesses wait until the server has the right to the page, and pages are given away on
//! request.
//!
//! Requests for pages go to the controller. A switch on the path answers those for pages that it decides on. A page
//! leaves once no line of the page is in flight to or from its lender, and its dirty lines have been written back.

use super::rights::{PageOrder, PageRequest, PageRights};
use super::PoolPort;
use crate::line::{Fifo, PoolKind, PoolMessage, Request, RequestId};
use crate::params::SharedPagesParams;
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of doublings of the retry timeout. Pages in high demand take long to be granted, and a controller
/// that is asked repeatedly has no time for answers.
const DOUBLINGS: u32 = 6;

/// Answer that is sent once a page has left, with its receiver.
type Answer = (u16, PoolMessage);

/// Shared pages of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sharing {
    params: SharedPagesParams,
    page_lines: u64,
    pub(super) rights: PageRights<Answer>,
    /// Requests that wait for a page, by page.
    waiting: BTreeMap<u64, Fifo<Request>>,
}

impl Sharing {
    pub(super) fn new(params: SharedPagesParams, page_bytes: u64) -> Self {
        Self { params, page_lines: page_bytes / 64, rights: PageRights::new(), waiting: BTreeMap::new() }
    }
}

impl PoolPort {
    /// Returns the number of requests that wait for the right to read or write a page.
    #[must_use]
    pub fn waiting_for_pages(&self) -> usize {
        self.sharing.as_ref().map_or(0, |sharing| sharing.waiting.values().map(|list| list.len() as usize).sum())
    }

    /// Returns true if a line may be read or written now. Otherwise the request waits for the page.
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

    /// Counts an access that leaves for the lender of its page, or that has ended there.
    pub(super) fn count_access(&mut self, line: u64, begins: bool, context: &mut Context) {
        let Some(sharing) = &mut self.sharing else { return };
        let page = line / sharing.page_lines;
        if begins {
            return sharing.rights.begin(page);
        }
        sharing.rights.end(page);
        self.try_to_leave(page, context);
    }

    /// Returns the number used in messages and timers of the page request in a slot.
    fn ask_number(&self, place: u32) -> u32 {
        self.slots.len() as u32 + self.transfers() + place
    }

    fn send_ask(&mut self, place: u32, context: &mut Context) {
        let number = self.ask_number(place);
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let Some((PageRequest { page, writes, sequence, .. }, before)) = sharing.rights.send(place) else { return };
        let kind = if writes { PoolKind::Own } else { PoolKind::Share };
        let controller = sharing.params.controller;
        let line = sharing.params.first_page + page;
        let message = self.message(kind, number, sequence, line);
        // The latency of the grant from the port is added here in advance, so that a grant takes effect on arrival.
        self.send(message, controller, self.params.latency_ps, context);
        self.set_ask_timer(place, self.params.timeout_ps << before.min(DOUBLINGS), context);
    }

    fn set_ask_timer(&mut self, place: u32, delay_ps: u64, context: &mut Context) {
        let connection = self.ask_number(place);
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let timer = Payload::Timer { connection, generation: sharing.rights.set_timer(place) };
        context.send(context.id, delay_ps, timer);
    }

    /// Handles a timeout of a page request.
    pub(super) fn on_page_timeout(&mut self, place: u32, generation: u32, context: &mut Context) {
        let asked = self.sharing.as_ref().and_then(|sharing| sharing.rights.asked(place));
        if asked.is_some_and(|ask| ask.timer == generation) {
            self.counts.retries += 1;
            self.send_ask(place, context);
        }
    }

    /// Handles a NACK for a page request.
    pub(super) fn on_page_nack(&mut self, place: u32, sequence: u32, context: &mut Context) {
        let asked = self.sharing.as_ref().and_then(|sharing| sharing.rights.asked(place));
        if asked.is_some_and(|ask| ask.sequence == sequence) {
            self.counts.nacks += 1;
            self.set_ask_timer(place, self.params.retry_ps, context);
        } else {
            self.counts.stale += 1;
        }
    }

    /// Handles the grant of a page: starts the requests that wait for it.
    pub(super) fn on_granted(&mut self, message: PoolMessage, context: &mut Context) {
        let place = message.slot - self.ask_number(0);
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let Some(PageRequest { page, writes, since, .. }) = sharing.rights.granted(place, message.sequence) else {
            self.counts.stale += 1;
            return;
        };
        self.counts.granted[usize::from(writes)] += 1;
        self.counts.grant_latency.record(context.now().since(since));
        if !sharing.rights.is_leaving(page) {
            self.begin_waiting(page, context);
        }
    }

    /// Restarts the requests that wait for a page. Those that still lack the right request the page again.
    fn begin_waiting(&mut self, page: u64, context: &mut Context) {
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let mut waiting = sharing.waiting.remove(&page).unwrap_or_default();
        while let Some(id) = waiting.pop(context.requests) {
            self.on_request(id, context);
        }
    }

    /// Handles an order to give a page away or to stop writing it.
    pub(super) fn on_page_order(&mut self, from: u16, message: PoolMessage, context: &mut Context) {
        let keeps = message.kind == PoolKind::Demote;
        let sharing = self.sharing.as_mut().expect("only those that share a page are told");
        let page = message.line - sharing.params.first_page;
        let answer = (from, PoolMessage { kind: PoolKind::Left, ..message });
        let asked = sharing.rights.leave(page, PageOrder { keeps, round: message.round, answer });
        self.counts.taken += 1;
        // The grant in flight is void, so the page is requested again.
        if let Some(place) = asked {
            self.send_ask(place, context);
        }
        // Another server will write the page, so prefetched lines become stale.
        if let Some(prefetcher) = self.prefetcher.as_mut().filter(|_| !keeps) {
            prefetcher.forget(page);
        }
        self.try_to_leave(page, context);
        self.start_transfers(context);
    }

    /// Returns true if a line belongs to a page that another server has requested.
    pub(super) fn is_leaving(&self, line: u64) -> bool {
        self.sharing.as_ref().is_some_and(|sharing| sharing.rights.is_leaving(line / sharing.page_lines))
    }

    /// Completes an order for a page if no access or dirty line of the page is left.
    pub(super) fn try_to_leave(&mut self, page: u64, context: &mut Context) {
        let sharing = self.sharing.as_mut().expect("pages are shared");
        let Some(PageOrder { keeps, answer: (to, message), .. }) = sharing.rights.may_leave(page) else { return };
        if self.paging.as_mut().is_some_and(|paging| !paging.cache.give_back(page, !keeps)) {
            return;
        }
        sharing.rights.left(page);
        self.send(message, to, self.params.latency_ps, context);
        // Requests that arrived meanwhile ask for the page again.
        self.begin_waiting(page, context);
    }
}
