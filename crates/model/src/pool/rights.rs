//! Rights of a server to shared pages, and its requests for them. Has no notion of time, and does not hold the
//! accesses that wait for a page.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Right of a server to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum PageRight {
    Nothing,
    Read,
    Write,
}

/// Order to give a page away or to stop writing it, until it has been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageOrder<T> {
    /// True if the page stays readable.
    pub(super) keeps: bool,
    /// Round number of the directory. A duplicate message has the same.
    pub(super) round: u32,
    /// Answer to send when the order has been carried out.
    pub(super) answer: T,
}

/// State of a page at a server.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PageState<T> {
    right: PageRight,
    /// Reads and writes at the lender or in flight.
    open: u32,
    /// Slot of the outstanding request for the page.
    ask: Option<u32>,
    leaving: Option<PageOrder<T>>,
}

impl<T> Default for PageState<T> {
    /// Returns the state that applies until a server asks to write the page.
    fn default() -> Self {
        Self { right: PageRight::Read, open: 0, ask: None, leaving: None }
    }
}

/// Request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageRequest {
    pub(super) page: u64,
    pub(super) writes: bool,
    pub(super) sequence: u32,
    pub(super) since: Time,
    /// Generation of the timer, which increases each time it is set.
    pub(super) timer: u32,
    /// Number of times that the request was sent.
    pub(super) sent: u32,
    /// True until the request is granted.
    open: bool,
}

/// Rights of a server to shared pages. `T` is the answer that it sends after giving a page away.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PageRights<T> {
    pages: BTreeMap<u64, PageState<T>>,
    asks: Vec<PageRequest>,
    free: Vec<u32>,
    sequence: u32,
}

impl<T: Copy> PageRights<T> {
    pub(super) fn new() -> Self {
        Self { pages: BTreeMap::new(), asks: Vec::new(), free: Vec::new(), sequence: 0 }
    }

    /// Returns true if a page may be read, or written if `writes` is set.
    pub(super) fn has(&self, page: u64, writes: bool) -> bool {
        let wanted = if writes { PageRight::Write } else { PageRight::Read };
        // A page that nobody has asked to write may be read by all.
        self.pages.get(&page).map_or(!writes, |page| page.right >= wanted && page.leaving.is_none())
    }

    /// Counts an access to a page that leaves for its lender.
    pub(super) fn begin(&mut self, page: u64) {
        self.pages.entry(page).or_default().open += 1;
    }

    /// Counts an access to a page that has ended.
    pub(super) fn end(&mut self, page: u64) {
        let of = self.pages.get_mut(&page).expect("what ends has begun");
        of.open -= 1;
        // The default state needs no entry, so the map holds only pages in use.
        if of.open == 0 && of.right == PageRight::Read && of.ask.is_none() && of.leaving.is_none() {
            self.pages.remove(&page);
        }
    }

    /// Creates a request for a page. Returns the slot of the request to be sent, or `None` if a request is
    /// outstanding or the page must be given away first.
    pub(super) fn want(&mut self, page: u64, writes: bool, now: Time) -> Option<u32> {
        let of = self.pages.entry(page).or_default();
        if of.ask.is_some() || of.leaving.is_some() {
            return None;
        }
        self.sequence = self.sequence.wrapping_add(1);
        let ask = PageRequest { page, writes, sequence: self.sequence, since: now, timer: 0, sent: 0, open: true };
        let place = self.free.pop().unwrap_or(self.asks.len() as u32);
        match self.asks.get_mut(place as usize) {
            Some(old) => *old = PageRequest { timer: old.timer, ..ask },
            None => self.asks.push(ask),
        }
        of.ask = Some(place);
        Some(place)
    }

    /// Returns the outstanding request of a slot, if any.
    pub(super) fn asked(&self, place: u32) -> Option<&PageRequest> {
        self.asks.get(place as usize).filter(|ask| ask.open)
    }

    /// Counts a transmission of the outstanding request of a slot. Returns it with the number of earlier
    /// transmissions.
    pub(super) fn send(&mut self, place: u32) -> Option<(PageRequest, u32)> {
        let ask = self.asks.get_mut(place as usize).filter(|ask| ask.open)?;
        ask.sent += 1;
        Some((*ask, ask.sent - 1))
    }

    /// Sets the timer of a request and returns its generation. Any earlier timer becomes invalid.
    pub(super) fn set_timer(&mut self, place: u32) -> u32 {
        let ask = &mut self.asks[place as usize];
        ask.timer = ask.timer.wrapping_add(1);
        ask.timer
    }

    /// Grants a request. Returns it, or `None` if it is not the outstanding one.
    pub(super) fn granted(&mut self, place: u32, sequence: u32) -> Option<PageRequest> {
        let ask = *self.asked(place).filter(|ask| ask.sequence == sequence)?;
        let PageRequest { page, writes, .. } = ask;
        self.asks[place as usize].open = false;
        self.free.push(place);
        let of = self.pages.get_mut(&page).expect("it was asked for");
        of.ask = None;
        // A late grant to read does not take away the right to write.
        of.right = of.right.max(if writes { PageRight::Write } else { PageRight::Read });
        Some(ask)
    }

    /// Records an order to give a page away, unless it is a duplicate. Returns the slot of an outstanding request for
    /// the page, which gets a new sequence number because any earlier grant is void.
    pub(super) fn leave(&mut self, page: u64, leaving: PageOrder<T>) -> Option<u32> {
        let of = self.pages.entry(page).or_default();
        if of.leaving.as_ref().is_some_and(|other| other.round == leaving.round) {
            return None;
        }
        of.right = of.right.min(if leaving.keeps { PageRight::Read } else { PageRight::Nothing });
        of.leaving = Some(leaving);
        let place = of.ask?;
        self.sequence = self.sequence.wrapping_add(1);
        self.asks[place as usize].sequence = self.sequence;
        Some(place)
    }

    /// Returns the order for a page if no access to the page is open.
    pub(super) fn may_leave(&self, page: u64) -> Option<PageOrder<T>> {
        self.pages.get(&page).filter(|page| page.open == 0).and_then(|page| page.leaving)
    }

    /// Returns true if a page must be given away.
    pub(super) fn is_leaving(&self, page: u64) -> bool {
        self.pages.get(&page).is_some_and(|page| page.leaving.is_some())
    }

    /// Completes the order for a page.
    pub(super) fn left(&mut self, page: u64) {
        self.pages.get_mut(&page).expect("it was to be given away").leaving = None;
    }

    /// Returns the number of accesses to a page at its lender or in flight.
    #[cfg(test)]
    pub(super) fn open(&self, page: u64) -> u32 {
        self.pages.get(&page).map_or(0, |page| page.open)
    }
}
