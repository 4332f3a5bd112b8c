//! Prefetcher, and the queue of prefetched lines.

use crate::params::PoolPrefetchParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Number of streams tracked at a time. A power of two.
const STREAMS: usize = 32;
/// Line number that marks an empty entry.
const NONE: u64 = u64::MAX;

/// Line that has been prefetched or is in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    line: u64,
    sequence: u32,
    sent: Time,
    ready: bool,
}

const EMPTY: Entry = Entry { line: NONE, sequence: 0, sent: Time::ZERO, ready: false };

/// Stream of reads within a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stream {
    page: u64,
    last: u64,
    stride: i64,
    /// Last line that has been prefetched.
    ahead: u64,
}

/// Result of a lookup in the prefetch queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrefetchLookup {
    /// The line is ready.
    Line,
    /// The line is in flight.
    InFlight,
    Nothing,
}

/// Prefetcher of a server, by the server's own numbering of pool lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Prefetcher {
    params: PoolPrefetchParams,
    page_lines: u64,
    timeout_ps: u64,
    entries: Vec<Entry>,
    next: usize,
    streams: Vec<Stream>,
    sequence: u32,
    /// Lines to be prefetched next.
    pub(super) wanted: Vec<u64>,
}

impl Prefetcher {
    pub(super) fn new(params: PoolPrefetchParams, page_bytes: u64, timeout_ps: u64) -> Self {
        Self {
            params,
            page_lines: page_bytes / 64,
            timeout_ps,
            entries: vec![EMPTY; params.queue as usize],
            next: 0,
            streams: vec![Stream { page: NONE, last: 0, stride: 0, ahead: 0 }; STREAMS],
            sequence: 0,
            wanted: Vec::with_capacity(params.depth as usize),
        }
    }

    /// Removes a line from the queue, because it is read or written.
    pub(super) fn take(&mut self, line: u64) -> PrefetchLookup {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.line == line) else {
            return PrefetchLookup::Nothing;
        };
        // A line in flight is removed, too: the read sends its own request.
        let ready = std::mem::replace(entry, EMPTY).ready;
        if ready {
            PrefetchLookup::Line
        } else {
            PrefetchLookup::InFlight
        }
    }

    /// Removes all lines of a page from the queue.
    pub(super) fn forget(&mut self, page: u64) {
        let page_lines = self.page_lines;
        self.entries.iter_mut().filter(|entry| entry.line / page_lines == page).for_each(|entry| *entry = EMPTY);
    }

    /// Trains the prefetcher with a read. Lists the lines to prefetch in `wanted`, all within the page.
    pub(super) fn follow(&mut self, line: u64) {
        self.wanted.clear();
        let page = line / self.page_lines;
        // Direct-mapped: another page of the same index takes the stream over.
        let stream = &mut self.streams[page as usize % STREAMS];
        if stream.page != page {
            let stride = if self.params.stride { 0 } else { 1 };
            *stream = Stream { page, last: line, stride, ahead: line };
        } else if self.params.stride {
            let step = line.wrapping_sub(stream.last) as i64;
            if step == 0 {
                return;
            }
            // A new stride has to be seen twice before it is followed.
            if step != stream.stride {
                *stream = Stream { page, last: line, stride: step, ahead: line };
                return;
            }
            stream.last = line;
        }
        let stride = stream.stride;
        if stride == 0 {
            return;
        }
        // Lines ahead were prefetched before, so the next ones follow those.
        let begin = if stride > 0 { stream.ahead.max(line) } else { stream.ahead.min(line) };
        let mut at = begin as i64;
        let end = line as i64 + stride * i64::from(self.params.depth);
        while (end - at) * stride.signum() > 0 {
            at += stride;
            // Pages lie at different lenders, so prefetches stay within one.
            if at < 0 || at as u64 / self.page_lines != page {
                break;
            }
            stream.ahead = at as u64;
            self.wanted.push(at as u64);
        }
    }

    /// Reserves a queue entry for a prefetch. Returns the index of the entry and the sequence number of the request.
    ///
    /// # Errors
    /// Returns `false` if the line is in the queue already, and `true` if the next entry is still in flight.
    pub(super) fn place(&mut self, line: u64, now: Time) -> Result<(u32, u32), bool> {
        if self.entries.iter().any(|entry| entry.line == line) {
            return Err(false);
        }
        let entry = &mut self.entries[self.next];
        // An entry that has waited longer than the timeout was lost and may be reused.
        if entry.line != NONE && !entry.ready && now.since(entry.sent) < self.timeout_ps {
            return Err(true);
        }
        self.sequence = self.sequence.wrapping_add(1);
        *entry = Entry { line, sequence: self.sequence, sent: now, ready: false };
        let place = self.next as u32;
        self.next = (self.next + 1) % self.entries.len();
        Ok((place, self.sequence))
    }

    /// Marks a prefetched line as ready. Returns the line, or `None` if its entry has been reused or removed.
    pub(super) fn arrive(&mut self, place: u32, sequence: u32) -> Option<u64> {
        let entry = self.entries.get_mut(place as usize)?;
        if entry.line == NONE || entry.sequence != sequence {
            return None;
        }
        entry.ready = true;
        Some(entry.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefetcher(stride: bool) -> Prefetcher {
        Prefetcher::new(PoolPrefetchParams { stride, depth: 4, queue: 8 }, 4096, 1000)
    }

    #[test]
    fn next_lines_stay_within_their_page() {
        let mut ahead = prefetcher(false);
        ahead.follow(60);
        assert_eq!(ahead.wanted, [61, 62, 63]);
        ahead.follow(61);
        assert_eq!(ahead.wanted, [0_u64; 0]);
        ahead.follow(64);
        assert_eq!(ahead.wanted, [65, 66, 67, 68]);
        ahead.follow(65);
        assert_eq!(ahead.wanted, [69]);
    }

    #[test]
    fn a_stride_is_known_from_its_third_line_on() {
        let mut ahead = prefetcher(true);
        for (line, wanted) in [(0, vec![]), (3, vec![]), (6, vec![9, 12, 15, 18]), (9, vec![21])] {
            ahead.follow(line);
            assert_eq!(ahead.wanted, wanted, "after line {line}");
        }
        ahead.follow(63);
        assert_eq!(ahead.wanted, [0_u64; 0]);
        let mut back = prefetcher(true);
        for (line, wanted) in [(7, vec![]), (5, vec![]), (3, vec![1])] {
            back.follow(line);
            assert_eq!(back.wanted, wanted, "after line {line}");
        }
    }

    #[test]
    fn a_line_is_read_ahead_once_and_taken_once() {
        let mut ahead = prefetcher(false);
        let (place, sequence) = ahead.place(5, Time::ZERO).expect("a free place");
        assert_eq!(ahead.place(5, Time::ZERO), Err(false));
        assert_eq!((ahead.arrive(place, sequence), ahead.arrive(place, sequence + 1)), (Some(5), None));
        assert_eq!((ahead.take(5), ahead.take(5)), (PrefetchLookup::Line, PrefetchLookup::Nothing));
        assert_eq!(ahead.arrive(place, sequence), None, "it was taken");
        ahead.place(6, Time::ZERO).expect("a free place");
        assert_eq!(ahead.take(6), PrefetchLookup::InFlight);
    }

    #[test]
    fn as_many_are_on_their_way_as_the_queue_has_places() {
        let mut ahead = prefetcher(false);
        (0..8).for_each(|line| assert!(ahead.place(line, Time::ZERO).is_ok()));
        assert_eq!(ahead.place(8, Time::ZERO), Err(true));
        assert!(ahead.place(8, Time::ZERO + 1000).is_ok(), "what was lost does not keep its place for ever");
    }
}
