//! Lines that a copy requests ahead.

use super::{FetchPurpose, FetchResult, LineFetch, Lines, StackCounts};
use crate::lfb::Lfb;
use crate::part::Context;

/// Lines of a page of 4 KiB, which the streamer of an L2 does not leave.
const STREAM_LINES: u64 = 64;

impl Lines {
    /// Names the `lines` virtual lines from `line` on that follow the source of the copy and have been written. The
    /// streamer prefetches those in the same page.
    pub(in crate::os) fn name_lines_after_source(&mut self, line: u64, lines: u32) {
        if self.fetch.prefetch().is_some() && !self.copy.in_place {
            // The streamer does not leave its page (Intel optimisation manual, Data prefetching).
            let within = (STREAM_LINES - line % STREAM_LINES).min(lines.into()) as u32;
            self.copy.beyond = (self.pages.physical(line * 64) / 64, within);
        }
    }

    /// Requests the next lines of the source of the copy.
    pub(super) fn fetch_ahead(&mut self, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        let ahead = self.arrived.len() as u64;
        // As many slots as lines ahead: a slot is free again when its line is copied.
        while self.copy.asked < self.copy.taken + ahead {
            let Some(&(line, lines)) = self.copy.runs.front() else { return self.run_past_end(lfb, context) };
            let slot = (self.copy.asked % ahead) as usize;
            let purpose = FetchPurpose::Source(slot as u16);
            let line_fetch = LineFetch { line, store: false, purpose, class: self.copy.class };
            match self.fetch.fetch_line(line_fetch, lfb, context) {
                FetchResult::Full => return,
                FetchResult::Cached => {
                    // A hit costs the copy nothing beyond its work.
                    self.arrived[slot] = true;
                    counts.source_hits += 1;
                }
                FetchResult::Requested => {}
            }
            counts.source_lines += 1;
            self.copy.asked += 1;
            if lines > 1 {
                self.copy.runs[0] = (line + 1, lines - 1);
            } else {
                self.copy.runs.pop_front();
            }
        }
    }

    /// Requests lines after the source of the copy: the streamer does not know where the source ends.
    fn run_past_end(&mut self, lfb: &mut Lfb, context: &mut Context) {
        let ahead = self.arrived.len() as u64;
        while self.copy.asked + self.copy.run_past_end < self.copy.taken + ahead && self.copy.beyond.1 > 0 {
            let (line, lines) = self.copy.beyond;
            let line_fetch =
                LineFetch { line, store: false, purpose: FetchPurpose::Speculative, class: self.copy.class };
            if self.fetch.fetch_line(line_fetch, lfb, context) == FetchResult::Full {
                return;
            }
            self.copy.beyond = (line + 1, lines - 1);
            self.copy.run_past_end += 1;
        }
    }
}
