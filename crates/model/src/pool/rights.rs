//! What a server may do with the pages that it shares, and what it has asked for. Without time, and without lists of
//! those who wait: the part has those.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a server may do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Right {
    Nothing,
    Read,
    Write,
}

/// A page that is to be given away, or to be written no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Leaving<T> {
    /// Whether it is read on.
    pub(super) keeps: bool,
    /// How often it was asked for: a message that comes twice has the same.
    pub(super) round: u32,
    /// What is to be answered when all is done.
    pub(super) answer: T,
}

/// What a server has of a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Page<T> {
    right: Right,
    /// Reads and writes that are at its lender or on their way.
    open: u32,
    /// What was asked for: its place.
    ask: Option<u32>,
    leaving: Option<Leaving<T>>,
}

impl<T> Default for Page<T> {
    /// As it is until anybody asks to write it.
    fn default() -> Self {
        Self { right: Right::Read, open: 0, ask: None, leaving: None }
    }
}

/// A request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ask {
    pub(super) page: u64,
    pub(super) writes: bool,
    pub(super) sequence: u32,
    pub(super) since: Time,
    /// Counts the times that its timer was set.
    pub(super) timer: u32,
    /// Times that it was sent.
    pub(super) sent: u32,
    /// Whether it has not been granted yet.
    open: bool,
}

/// What a server may do with the pages that it shares. `T` is what it answers when it has given one away.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rights<T> {
    pages: BTreeMap<u64, Page<T>>,
    asks: Vec<Ask>,
    free: Vec<u32>,
    sequence: u32,
}

impl<T: Copy> Rights<T> {
    pub(super) fn new() -> Self {
        Self { pages: BTreeMap::new(), asks: Vec::new(), free: Vec::new(), sequence: 0 }
    }

    /// Whether a page may be read, or written, now.
    pub(super) fn has(&self, page: u64, writes: bool) -> bool {
        let wanted = if writes { Right::Write } else { Right::Read };
        self.pages.get(&page).map_or(!writes, |page| page.right >= wanted && page.leaving.is_none())
    }

    /// A read or write of a page sets out to its lender.
    pub(super) fn begin(&mut self, page: u64) {
        self.pages.entry(page).or_default().open += 1;
    }

    /// One has ended.
    pub(super) fn end(&mut self, page: u64) {
        let of = self.pages.get_mut(&page).expect("what ends has begun");
        of.open -= 1;
        if of.open == 0 && of.right == Right::Read && of.ask.is_none() && of.leaving.is_none() {
            self.pages.remove(&page);
        }
    }

    /// A page is wanted: the place of a request for it that has to go out. Nothing if one has, or if the page is to be
    /// given away first.
    pub(super) fn want(&mut self, page: u64, writes: bool, now: Time) -> Option<u32> {
        let of = self.pages.entry(page).or_default();
        if of.ask.is_some() || of.leaving.is_some() {
            return None;
        }
        self.sequence = self.sequence.wrapping_add(1);
        let ask = Ask { page, writes, sequence: self.sequence, since: now, timer: 0, sent: 0, open: true };
        let place = self.free.pop().unwrap_or(self.asks.len() as u32);
        match self.asks.get_mut(place as usize) {
            Some(old) => *old = Ask { timer: old.timer, ..ask },
            None => self.asks.push(ask),
        }
        of.ask = Some(place);
        Some(place)
    }

    /// The request of a place, if it waits.
    pub(super) fn asked(&self, place: u32) -> Option<&Ask> {
        self.asks.get(place as usize).filter(|ask| ask.open)
    }

    /// The request of a place goes out, if it waits: how often it has before.
    pub(super) fn send(&mut self, place: u32) -> Option<(Ask, u32)> {
        let ask = self.asks.get_mut(place as usize).filter(|ask| ask.open)?;
        ask.sent += 1;
        Some((*ask, ask.sent - 1))
    }

    /// The timer of the request of a place is set: its number; any before it is void.
    pub(super) fn set_timer(&mut self, place: u32) -> u32 {
        let ask = &mut self.asks[place as usize];
        ask.timer = ask.timer.wrapping_add(1);
        ask.timer
    }

    /// A request is granted: what it was. Nothing if it is not the one that waits.
    pub(super) fn granted(&mut self, place: u32, sequence: u32) -> Option<Ask> {
        let ask = *self.asked(place).filter(|ask| ask.sequence == sequence)?;
        let Ask { page, writes, .. } = ask;
        self.asks[place as usize].open = false;
        self.free.push(place);
        let of = self.pages.get_mut(&page).expect("it was asked for");
        of.ask = None;
        of.right = of.right.max(if writes { Right::Write } else { Right::Read });
        Some(ask)
    }

    /// A page is to be given away. What it was asked for meanwhile has a new number from now on, as what was granted
    /// before is void.
    pub(super) fn leave(&mut self, page: u64, leaving: Leaving<T>) -> Option<u32> {
        let of = self.pages.entry(page).or_default();
        if of.leaving.as_ref().is_some_and(|other| other.round == leaving.round) {
            return None;
        }
        of.right = of.right.min(if leaving.keeps { Right::Read } else { Right::Nothing });
        of.leaving = Some(leaving);
        let place = of.ask?;
        self.sequence = self.sequence.wrapping_add(1);
        self.asks[place as usize].sequence = self.sequence;
        Some(place)
    }

    /// What is to be done for a page that is to be given away and that nothing is on its way for any more.
    pub(super) fn may_leave(&self, page: u64) -> Option<Leaving<T>> {
        self.pages.get(&page).filter(|page| page.open == 0).and_then(|page| page.leaving)
    }

    /// Whether a page is to be given away.
    pub(super) fn is_leaving(&self, page: u64) -> bool {
        self.pages.get(&page).is_some_and(|page| page.leaving.is_some())
    }

    /// It is given away.
    pub(super) fn left(&mut self, page: u64) {
        self.pages.get_mut(&page).expect("it was to be given away").leaving = None;
    }

    /// Reads and writes of a page that are at its lender or on their way.
    #[cfg(test)]
    pub(super) fn open(&self, page: u64) -> u32 {
        self.pages.get(&page).map_or(0, |page| page.open)
    }
}
