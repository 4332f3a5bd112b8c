//! Local memory as a cache of the pool's pages: which page lies in which frame, and which of its lines are there.
//!
//! Without time: the part gives it its own. A page has a frame or none. A line of a page that has one is there or not,
//! and what is there is clean, dirty, or being written back.

mod bits;

use crate::params::PoolCacheParams;
use bits::Bits;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Frames that are looked at to find one for a page.
const SWEEP: usize = 256;
/// No frame has this number, and no page.
const NONE: u32 = u32::MAX;
const NO_PAGE: u64 = u64::MAX;

/// Room for a page in local memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frame {
    page: u64,
    /// The next frame in the list of those whose pages share a head.
    next: u32,
    /// Counts the pages that had it.
    generation: u32,
    dirty: u32,
    /// Lines that are being written back.
    backs: u32,
    referenced: bool,
    /// Whether it waits for its lines to be fetched, or for its dirty lines to be written back.
    fetching: bool,
    cleaning: bool,
    /// Whether it waits for that because a page could use it.
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

/// A line of a frame, as long as the frame has its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Spot {
    pub(super) frame: u32,
    pub(super) generation: u32,
    pub(super) within: u64,
}

/// A page whose lines are fetched one after the other, beginning after the one that was wanted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Job {
    wanted: Spot,
    done: u64,
}

/// What the cache has of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    /// The line.
    Line(Spot),
    /// Room for it, and whether it is on its way.
    Room(Spot, bool),
    /// Neither.
    Nothing,
}

/// Local memory as a cache of the pool's pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    params: PoolCacheParams,
    page_lines: u64,
    /// By the low bits of a page: the first frame of its list.
    heads: Vec<u32>,
    frames: Vec<Frame>,
    /// Frames that have had a page: the first ones.
    used: usize,
    hand: usize,
    present: Bits,
    dirty: Bits,
    /// Lines on their way here.
    asked: Bits,
    fetching: VecDeque<Job>,
    cleaning: VecDeque<u32>,
    /// Of `cleaning`: frames that a page could use.
    wanted: usize,
}

impl Cache {
    pub(super) fn new(params: PoolCacheParams, page_bytes: u64) -> Self {
        let frames = (params.bytes / page_bytes) as usize;
        let page_lines = page_bytes / 64;
        assert!(frames > 0 && params.transfers > 0, "a cache has frames, and lines come and go");
        Self {
            page_lines,
            heads: vec![NONE; frames.next_power_of_two()],
            frames: vec![EMPTY; frames],
            used: 0,
            hand: 0,
            present: Bits::new(frames, page_lines),
            dirty: Bits::new(frames, page_lines),
            asked: Bits::new(frames, page_lines),
            fetching: VecDeque::with_capacity(params.transfers as usize),
            cleaning: VecDeque::with_capacity(frames),
            wanted: 0,
            params,
        }
    }

    fn head(&self, page: u64) -> usize {
        page as usize & (self.heads.len() - 1)
    }

    /// The line of the cache's memory that a spot is.
    pub(super) fn local_line(&self, spot: Spot) -> u64 {
        u64::from(spot.frame) * self.page_lines + spot.within
    }

    /// The line of the pool that lies, or would lie, at a spot.
    pub(super) fn line_at(&self, spot: Spot) -> u64 {
        self.frames[spot.frame as usize].page * self.page_lines + spot.within
    }

    /// What the cache has of a line of the pool.
    pub(super) fn find(&self, line: u64) -> Held {
        let (page, within) = (line / self.page_lines, line % self.page_lines);
        let mut frame = self.heads[self.head(page)];
        while frame != NONE {
            let Frame { page: other, next, generation, .. } = self.frames[frame as usize];
            if other == page {
                let spot = Spot { frame, generation, within };
                let there = self.present.get(spot);
                return if there { Held::Line(spot) } else { Held::Room(spot, self.asked.get(spot)) };
            }
            frame = next;
        }
        Held::Nothing
    }

    /// Whether a frame still has the page of a spot.
    pub(super) fn is_valid(&self, spot: Spot) -> bool {
        self.frames[spot.frame as usize].generation == spot.generation
    }

    /// Whether a line of a frame is there.
    pub(super) fn is_there(&self, spot: Spot) -> bool {
        self.present.get(spot)
    }

    /// A line is read or written where it lies.
    pub(super) fn touch(&mut self, spot: Spot) {
        self.frames[spot.frame as usize].referenced = true;
    }

    /// Room for the page of a line that has none, and whether another page had it. Nothing if all frames that were
    /// looked at have lines that are not written back yet; one of them will be.
    pub(super) fn claim(&mut self, line: u64) -> Option<(Spot, bool)> {
        let (page, within) = (line / self.page_lines, line % self.page_lines);
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
        let generation = self.frames[frame as usize].generation.wrapping_add(1);
        self.frames[frame as usize] = Frame { page, next: self.heads[head], generation, referenced: true, ..EMPTY };
        self.heads[head] = frame;
        Some((Spot { frame, generation, within }, evicts))
    }

    /// The next frame without a dirty line that was not used since the hand was there last; if there is none among
    /// those it comes by, the first of them without a dirty line. The first dirty one in its way is written back.
    fn victim(&mut self) -> Option<u32> {
        let (mut second, mut cleans) = (None, false);
        for _ in 0..SWEEP.min(self.frames.len()) {
            let at = self.hand;
            self.hand = (at + 1) % self.frames.len();
            let frame = &mut self.frames[at];
            let used = std::mem::take(&mut frame.referenced);
            if frame.dirty + frame.backs > 0 {
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

    /// A line that is not there is on its way now, or nobody waits for it any more.
    pub(super) fn ask(&mut self, spot: Spot, on: bool) {
        self.asked.put(spot, on);
    }

    /// A line has been written to local memory.
    pub(super) fn arrive(&mut self, spot: Spot) {
        self.present.put(spot, true);
        self.asked.put(spot, false);
    }

    /// A line is overwritten where it lies, or where it has room. Returns whether it was clean.
    pub(super) fn overwrite(&mut self, spot: Spot) -> bool {
        self.arrive(spot);
        self.touch(spot);
        let was = self.dirty.put(spot, true);
        self.frames[spot.frame as usize].dirty += u32::from(!was);
        if self.params.early {
            self.clean(spot.frame, false);
        }
        !was
    }

    /// The lines of a page are to be fetched, beginning after this one, unless that is so already or too many pages
    /// are.
    pub(super) fn fetch_page(&mut self, wanted: Spot) {
        let frame = &mut self.frames[wanted.frame as usize];
        if !frame.fetching && self.fetching.len() < self.params.transfers as usize {
            frame.fetching = true;
            self.fetching.push_back(Job { wanted, done: 0 });
        }
    }

    /// The next line to be fetched that nobody waits for; it is on its way from now on.
    pub(super) fn next_fetch(&mut self) -> Option<Spot> {
        while let Some(job) = self.fetching.front_mut() {
            job.done += 1;
            let Job { wanted, done } = *job;
            let valid = self.is_valid(wanted);
            if !valid || done == self.page_lines {
                self.fetching.pop_front();
                if valid {
                    self.frames[wanted.frame as usize].fetching = false;
                }
                continue;
            }
            let spot = Spot { within: (wanted.within + done) % self.page_lines, ..wanted };
            if !self.present.get(spot) && !self.asked.put(spot, true) {
                return Some(spot);
            }
        }
        None
    }

    /// The dirty lines of a frame are to be written back, because its room is `wanted` or in time.
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

    /// The next line to be written back; it counts as clean from now on, and its frame as in use. `busy`: only if a
    /// page could use the room.
    pub(super) fn next_back(&mut self, busy: bool) -> Option<Spot> {
        if busy && self.wanted == 0 {
            return None;
        }
        let frame = *self.cleaning.front()?;
        let within = self.dirty.first(frame).expect("a frame that is cleaned has a dirty line");
        let of = &mut self.frames[frame as usize];
        let spot = Spot { frame, generation: of.generation, within };
        of.dirty -= 1;
        of.backs += 1;
        if of.dirty == 0 {
            of.cleaning = false;
            self.wanted -= usize::from(std::mem::take(&mut of.wanted));
            self.cleaning.pop_front();
        }
        self.dirty.put(spot, false);
        Some(spot)
    }

    /// A line has been written back.
    pub(super) fn written_back(&mut self, spot: Spot) {
        self.frames[spot.frame as usize].backs -= 1;
    }

    /// A page is wanted elsewhere. Its dirty lines are to be written back; once they are, it has no frame any more if
    /// it is to `leave`. Whether that is so, or it has none anyway.
    pub(super) fn give_back(&mut self, page: u64, leave: bool) -> bool {
        let (Held::Line(spot) | Held::Room(spot, _)) = self.find(page * self.page_lines) else { return true };
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

    /// Dirty lines, and those that are being written back.
    pub(super) fn unwritten(&self) -> u64 {
        self.frames.iter().map(|frame| u64::from(frame.dirty + frame.backs)).sum()
    }
}

#[cfg(test)]
mod tests;
