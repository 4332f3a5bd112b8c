//! Local memory as a cache of pool pages: the frame of each page, and the lines of the page that are present.
//!
//! The cache has no notion of time. A page has one frame or none. A line of a page with a frame is present or not. A
//! present line is clean, dirty, or being written back.

mod bits;

use crate::params::PoolCacheParams;
use bits::LineBits;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum number of frames examined to find a victim.
const SWEEP: usize = 256;
/// Frame number that marks the end of a list.
const NONE: u32 = u32::MAX;
/// Page number of an empty frame.
const NO_PAGE: u64 = u64::MAX;

/// Frame for a page in local memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frame {
    page: u64,
    /// Next frame in the hash chain.
    next: u32,
    /// Number of pages that have had the frame.
    generation: u32,
    /// Dirty lines.
    dirty: u32,
    /// Lines that are being written back.
    backs: u32,
    referenced: bool,
    /// True while the frame is queued for a fetch of its lines.
    fetching: bool,
    /// True while the frame is queued for the write-back of its dirty lines.
    cleaning: bool,
    /// True if the frame is queued for write-back because a page needs a frame.
    wanted: bool,
}

const EMPTY: Frame = Frame {
    page: NO_PAGE,
    next: NONE,
    generation: 0,
    dirty: 0,
    backs: 0,
    referenced: false,
    fetching: false,
    cleaning: false,
    wanted: false,
};

/// Line of a frame. Valid as long as the frame keeps its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct FrameLine {
    pub(super) frame: u32,
    pub(super) generation: u32,
    pub(super) within: u64,
}

/// Fetch of a whole page, line by line, starting after the line that was demanded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PageFetch {
    wanted: FrameLine,
    done: u64,
}

/// Result of a lookup in the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CacheLookup {
    /// The line is present.
    Line(FrameLine),
    /// The page has a frame but the line is not present. The flag is true if the line is in flight.
    Room(FrameLine, bool),
    /// The page has no frame.
    Nothing,
}

/// Cache of pool pages in local memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    params: PoolCacheParams,
    page_lines: u64,
    /// First frame of each hash chain, by the low bits of a page.
    heads: Vec<u32>,
    frames: Vec<Frame>,
    /// Number of frames that have ever had a page. These come first.
    used: usize,
    /// Clock hand: the next frame to examine.
    hand: usize,
    present: LineBits,
    dirty: LineBits,
    /// Lines in flight to the cache.
    asked: LineBits,
    fetching: VecDeque<PageFetch>,
    cleaning: VecDeque<u32>,
    /// Number of frames in `cleaning` because a page needs a frame.
    wanted: usize,
}

impl Cache {
    pub(super) fn new(params: PoolCacheParams, page_bytes: u64) -> Self {
        let frames = (params.bytes / page_bytes) as usize;
        let page_lines = page_bytes / 64;
        assert!(frames > 0 && params.transfers > 0, "a cache has frames, and lines come and go");
        Self {
            page_lines,
            // A power of two, so that the chain is found by a mask.
            heads: vec![NONE; frames.next_power_of_two()],
            frames: vec![EMPTY; frames],
            used: 0,
            hand: 0,
            present: LineBits::new(frames, page_lines),
            dirty: LineBits::new(frames, page_lines),
            asked: LineBits::new(frames, page_lines),
            fetching: VecDeque::with_capacity(params.transfers as usize),
            cleaning: VecDeque::with_capacity(frames),
            wanted: 0,
            params,
        }
    }

    fn head(&self, page: u64) -> usize {
        page as usize & (self.heads.len() - 1)
    }

    /// Returns the line of the cache's memory at a spot.
    pub(super) fn local_line(&self, spot: FrameLine) -> u64 {
        u64::from(spot.frame) * self.page_lines + spot.within
    }

    /// Returns the pool line that belongs at a spot.
    pub(super) fn line_at(&self, spot: FrameLine) -> u64 {
        self.frames[spot.frame as usize].page * self.page_lines + spot.within
    }

    /// Looks up a pool line.
    pub(super) fn find(&self, line: u64) -> CacheLookup {
        let (page, within) = (line / self.page_lines, line % self.page_lines);
        let mut frame = self.heads[self.head(page)];
        while frame != NONE {
            let Frame { page: other, next, generation, .. } = self.frames[frame as usize];
            if other == page {
                let spot = FrameLine { frame, generation, within };
                let there = self.present.get(spot);
                return if there { CacheLookup::Line(spot) } else { CacheLookup::Room(spot, self.asked.get(spot)) };
            }
            frame = next;
        }
        CacheLookup::Nothing
    }

    /// Returns true if a frame still has the page of a spot.
    pub(super) fn is_valid(&self, spot: FrameLine) -> bool {
        self.frames[spot.frame as usize].generation == spot.generation
    }

    /// Returns true if the line at a spot is present.
    pub(super) fn is_there(&self, spot: FrameLine) -> bool {
        self.present.get(spot)
    }

    /// Marks the page of a spot as used.
    pub(super) fn touch(&mut self, spot: FrameLine) {
        self.frames[spot.frame as usize].referenced = true;
    }

    /// Claims a frame for the page of a line. Returns the spot, and true if another page was evicted. Returns `None`
    /// if all frames examined have lines that are not written back. One of them is then queued for write-back.
    pub(super) fn claim(&mut self, line: u64) -> Option<(FrameLine, bool)> {
        let (page, within) = (line / self.page_lines, line % self.page_lines);
        // Frames that were never used go first: they evict nothing.
        let fresh = self.used < self.frames.len();
        let frame = if fresh { self.used as u32 } else { self.victim()? };
        self.used += usize::from(fresh);
        let evicts = !fresh && self.frames[frame as usize].page != NO_PAGE;
        if evicts {
            self.unlink(frame);
        }
        for bits in [&mut self.present, &mut self.dirty, &mut self.asked] {
            bits.of(frame).fill(0);
        }
        let head = self.head(page);
        // Lines in flight for the page before find another generation and are dropped.
        let generation = self.frames[frame as usize].generation.wrapping_add(1);
        self.frames[frame as usize] = Frame { page, next: self.heads[head], generation, referenced: true, ..EMPTY };
        self.heads[head] = frame;
        Some((FrameLine { frame, generation, within }, evicts))
    }

    /// Returns the victim of a clock sweep: the next frame without dirty lines that has not been used since the last
    /// pass, or else the first frame without dirty lines. The first unused frame with dirty lines is queued for
    /// write-back.
    fn victim(&mut self) -> Option<u32> {
        let (mut second, mut cleans) = (None, false);
        // The sweep is bounded, because demand does not wait for it (docs/models/pool.md, Replacement).
        for _ in 0..SWEEP.min(self.frames.len()) {
            let at = self.hand;
            self.hand = (at + 1) % self.frames.len();
            let frame = &mut self.frames[at];
            // A second chance: a used frame loses its mark and is skipped once.
            let used = std::mem::take(&mut frame.referenced);
            if frame.dirty + frame.backs > 0 {
                // One write-back per sweep, so that a burst of misses does not flush the cache.
                if !used && !cleans {
                    cleans = true;
                    self.clean(at as u32, true);
                }
            } else if !used {
                return Some(at as u32);
            } else if second.is_none() {
                second = Some(at as u32);
            }
        }
        second
    }

    fn unlink(&mut self, frame: u32) {
        let Frame { page, next, dirty, backs, cleaning, .. } = self.frames[frame as usize];
        assert!(dirty + backs == 0 && !cleaning, "what is dirty is written back before its page leaves");
        let head = self.head(page);
        if self.heads[head] == frame {
            self.heads[head] = next;
            return;
        }
        let mut before = self.heads[head];
        while self.frames[before as usize].next != frame {
            before = self.frames[before as usize].next;
        }
        self.frames[before as usize].next = next;
    }

    /// Marks a missing line as in flight, or as no longer expected.
    pub(super) fn ask(&mut self, spot: FrameLine, on: bool) {
        self.asked.put(spot, on);
    }

    /// Marks a line as present.
    pub(super) fn arrive(&mut self, spot: FrameLine) {
        self.present.put(spot, true);
        self.asked.put(spot, false);
    }

    /// Marks a line as written in the cache. Returns true if the line was clean.
    pub(super) fn overwrite(&mut self, spot: FrameLine) -> bool {
        self.arrive(spot);
        self.touch(spot);
        let was = self.dirty.put(spot, true);
        self.frames[spot.frame as usize].dirty += u32::from(!was);
        if self.params.early {
            self.clean(spot.frame, false);
        }
        !was
    }

    /// Queues a fetch of the lines of a page, starting after this one, unless one is queued already or the queue is
    /// full.
    pub(super) fn fetch_page(&mut self, wanted: FrameLine) {
        let frame = &mut self.frames[wanted.frame as usize];
        // A full queue drops the fetch: it is best effort.
        if !frame.fetching && self.fetching.len() < self.params.transfers as usize {
            frame.fetching = true;
            self.fetching.push_back(PageFetch { wanted, done: 0 });
        }
    }

    /// Returns the next line to fetch without demand and marks it as in flight.
    pub(super) fn next_fetch(&mut self) -> Option<FrameLine> {
        while let Some(job) = self.fetching.front_mut() {
            job.done += 1;
            let PageFetch { wanted, done } = *job;
            let valid = self.is_valid(wanted);
            // The page has lost its frame, or all its lines have been looked at.
            if !valid || done == self.page_lines {
                self.fetching.pop_front();
                if valid {
                    self.frames[wanted.frame as usize].fetching = false;
                }
                continue;
            }
            let spot = FrameLine { within: (wanted.within + done) % self.page_lines, ..wanted };
            if !self.present.get(spot) && !self.asked.put(spot, true) {
                return Some(spot);
            }
        }
        None
    }

    /// Queues the write-back of the dirty lines of a frame. `wanted` is true if a page needs the frame.
    fn clean(&mut self, frame: u32, wanted: bool) {
        let of = &mut self.frames[frame as usize];
        if of.dirty == 0 {
            return;
        }
        if !of.cleaning {
            of.cleaning = true;
            self.cleaning.push_back(frame);
        }
        if wanted && !of.wanted {
            of.wanted = true;
            self.wanted += 1;
        }
    }

    /// Returns the next line to write back and marks it as clean. The frame stays in use meanwhile. If `busy` is set,
    /// returns a line only if a page needs the frame.
    pub(super) fn next_back(&mut self, busy: bool) -> Option<FrameLine> {
        // While requests wait for credits, only write-backs that free a frame may take bandwidth.
        if busy && self.wanted == 0 {
            return None;
        }
        let frame = *self.cleaning.front()?;
        let within = self.dirty.first(frame).expect("a frame that is cleaned has a dirty line");
        let of = &mut self.frames[frame as usize];
        let spot = FrameLine { frame, generation: of.generation, within };
        of.dirty -= 1;
        // Clean but in flight: the frame must not leave before the lender has the line.
        of.backs += 1;
        if of.dirty == 0 {
            of.cleaning = false;
            self.wanted -= usize::from(std::mem::take(&mut of.wanted));
            self.cleaning.pop_front();
        }
        self.dirty.put(spot, false);
        Some(spot)
    }

    /// Counts a line that has been written back.
    pub(super) fn written_back(&mut self, spot: FrameLine) {
        self.frames[spot.frame as usize].backs -= 1;
    }

    /// Prepares a page to be given away: queues the write-back of its dirty lines, and then, if `leave` is set, frees
    /// its frame. Returns true if no dirty line is left.
    pub(super) fn give_back(&mut self, page: u64, leave: bool) -> bool {
        let (CacheLookup::Line(spot) | CacheLookup::Room(spot, _)) = self.find(page * self.page_lines) else {
            return true;
        };
        let Frame { dirty, backs, generation, .. } = self.frames[spot.frame as usize];
        if dirty + backs > 0 {
            self.clean(spot.frame, true);
            return false;
        }
        if leave {
            self.unlink(spot.frame);
            self.frames[spot.frame as usize] = Frame { generation: generation.wrapping_add(1), ..EMPTY };
        }
        true
    }

    /// Returns the number of lines that are dirty or being written back.
    pub(super) fn unwritten(&self) -> u64 {
        self.frames.iter().map(|frame| u64::from(frame.dirty + frame.backs)).sum()
    }
}

#[cfg(test)]
mod tests;
