//! Prefetchers of an L2: the streamer and the adjacent-line prefetcher.
//!
//! The streamer tracks the pages of the accesses that reach the L2. After two steps in one direction it requests the
//! lines ahead, two per access, up to its distance and never beyond the page (Intel optimisation manual, "Data
//! prefetching").

use crate::params::PrefetchParams;
use serde::{Deserialize, Serialize};

const PAGE_LINES: u64 = 64;
const NO_PAGE: u64 = u64::MAX;
/// Lines that the streamer may request per access.
const PER_ACCESS: usize = 2;

/// Page that the streamer tracks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Page {
    page: u64,
    /// Number of the last access to the page; the page used longest ago is replaced.
    used: u64,
    line: u8,
    /// Steps in one direction so far: above 0 ascending, below 0 descending.
    steps: i8,
    /// Next line to request, counted from the start of the page; outside of the page when all lines are requested.
    next: i16,
}

/// Prefetchers of one L2.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Prefetcher {
    params: PrefetchParams,
    pages: Vec<Page>,
    clock: u64,
}

impl Prefetcher {
    pub(super) fn new(params: &PrefetchParams) -> Self {
        let page = Page { page: NO_PAGE, used: 0, line: 0, steps: 0, next: 0 };
        let pages = if params.stream { params.pages as usize } else { 0 };
        Self { params: params.clone(), pages: vec![page; pages], clock: 0 }
    }

    /// Records an access that has reached the L2. Returns the lines that the streamer requests.
    pub(super) fn on_access(&mut self, line: u64) -> impl Iterator<Item = u64> {
        let mut wanted = [None; PER_ACCESS];
        let page = line / PAGE_LINES;
        if let Some(found) = self.pages.iter_mut().find(|tracked| tracked.page == page) {
            self.clock += 1;
            found.used = self.clock;
            step(found, (line % PAGE_LINES) as u8);
            // The first step only gives a direction; the second confirms it.
            if found.steps.unsigned_abs() >= 2 {
                wanted.iter_mut().for_each(|slot| *slot = ask(found, self.params.distance_lines));
            }
        // Ties go to the first entry, so that untouched entries fill in order.
        } else if let Some(oldest) = self.pages.iter_mut().min_by_key(|tracked| tracked.used) {
            self.clock += 1;
            *oldest = Page { page, used: self.clock, line: (line % PAGE_LINES) as u8, steps: 0, next: 0 };
        }
        wanted.into_iter().flatten().map(move |within| page * PAGE_LINES + within)
    }

    /// Returns the other line of the pair after a miss, unless `waiting` accesses hold more than half of the `entries`
    /// LFB entries: Intel's manual says that prefetching holds back when many requests are outstanding (the half is
    /// assumed).
    pub(super) fn adjacent(&self, line: u64, waiting: u32, entries: u32) -> Option<u64> {
        // Pairs are aligned to 128 B, so the other line differs in the lowest bit.
        (self.params.adjacent && waiting * 2 <= entries).then_some(line ^ 1)
    }
}

/// Records an access within a page.
fn step(page: &mut Page, line: u8) {
    let ascending = line > page.line;
    if line == page.line {
        return;
    }
    page.steps = match (ascending, page.steps) {
        (true, 0..) => page.steps.saturating_add(1),
        (false, ..=0) => page.steps.saturating_sub(1),
        (true, _) => 1,
        (false, _) => -1,
    };
    // A new direction starts its prefetches at the line that turned.
    if page.steps.abs() == 1 {
        page.next = i16::from(line);
    }
    page.line = line;
    let ahead = i16::from(line) + if ascending { 1 } else { -1 };
    // Lines that accesses have reached meanwhile need no prefetch.
    page.next = if ascending { page.next.max(ahead) } else { page.next.min(ahead) };
}

/// Returns the next line ahead, if it is within the distance and the page.
fn ask(page: &mut Page, distance: u32) -> Option<u64> {
    let next = page.next;
    // Physical pages need not be adjacent, so the streamer stays within 4 KiB.
    let within = (0..PAGE_LINES as i16).contains(&next);
    if !within || (next - i16::from(page.line)).unsigned_abs() > distance as u16 {
        return None;
    }
    page.next += if page.steps > 0 { 1 } else { -1 };
    Some(next as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefetcher(distance_lines: u32) -> Prefetcher {
        Prefetcher::new(&PrefetchParams { stream: true, adjacent: true, credits: 8, pages: 4, distance_lines })
    }

    #[test]
    fn two_steps_in_one_direction_start_a_stream_that_stays_in_its_page() {
        let mut streamer = prefetcher(20);
        let mut ask = |line: u64| streamer.on_access(640 + line).map(|line| line - 640).collect::<Vec<u64>>();
        assert!(ask(57).is_empty());
        assert!(ask(58).is_empty());
        assert_eq!(ask(59), [60, 61]);
        assert_eq!(ask(60), [62, 63]);
        assert!(ask(61).is_empty(), "the next line is in another page");
    }

    #[test]
    fn streams_descend_and_keep_their_distance() {
        let mut streamer = prefetcher(3);
        let mut ask = |line: u64| streamer.on_access(line).collect::<Vec<u64>>();
        assert!(ask(40).is_empty() && ask(39).is_empty());
        assert_eq!(ask(38), [37, 36]);
        assert_eq!(ask(37), [35, 34], "34 is three lines ahead of 37");
        assert_eq!(ask(36), [33]);
        assert!(ask(37).is_empty(), "a step back is no stream yet");
    }

    #[test]
    fn many_accesses_in_flight_leave_no_room_for_pairs() {
        let pairs = prefetcher(1);
        assert_eq!([pairs.adjacent(7, 6, 12), pairs.adjacent(6, 7, 12)], [Some(6), None]);
    }
}
