//! Memory of programs whose pages migrate, and copies of such pages.

use super::Programs;
use crate::lfb::Lfb;
use crate::line::{RequestId, Walk};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng, Time};
use serde::{Deserialize, Serialize};

/// Memory that a program accesses.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub enum ProgramMemory {
    /// A buffer that stays where it is.
    #[default]
    Fixed,
    /// A buffer whose pages migrate.
    Migrating(Box<MigratingBuffer>),
    /// Pages that the program copies.
    Copied(Box<PageCopies>),
}

impl ProgramMemory {
    /// Returns true for [`ProgramMemory::Fixed`].
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed)
    }
}

/// Buffer of a program, page by page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MigratingBuffer {
    base: u64,
    /// Number of its first page among those that migrate.
    first: u32,
    page_bytes: u64,
    /// First physical line of each page.
    lines: Vec<u64>,
    /// Pages that are unmapped, by their number in the buffer.
    unmapped: Vec<usize>,
    /// Address of the next access, which waits for its page.
    stalled: Option<u64>,
    /// Part that the samples go to.
    tiering: ComponentId,
    /// Accesses for each one that is sampled, and accesses since the last sample.
    sample: u32,
    unsampled: u32,
}

impl MigratingBuffer {
    /// Creates the buffer at virtual address `base`, whose pages of `page_bytes` begin at `lines` and are numbered from
    /// `first` on. One access of `sample` is told to `tiering`.
    #[must_use]
    pub fn new(base: u64, page_bytes: u64, first: u32, lines: Vec<u64>, tiering: ComponentId, sample: u32) -> Self {
        Self { base, first, page_bytes, lines, unmapped: Vec::new(), stalled: None, tiering, sample, unsampled: 0 }
    }

    /// Returns the physical line of an address, wherever its page is now.
    fn line(&self, address: u64) -> u64 {
        self.lines[self.page(address)] + address % self.page_bytes / 64
    }

    fn page(&self, address: u64) -> usize {
        ((address - self.base) / self.page_bytes) as usize
    }

    /// Returns the next line of a walk, or `None` while its page is unmapped.
    fn next(&mut self, walk: &mut Walk, rng: &mut Rng) -> Option<u64> {
        let address = self.stalled.take().unwrap_or_else(|| walk.advance(rng));
        if self.unmapped.contains(&self.page(address)) {
            self.stalled = Some(address);
            return None;
        }
        Some(self.line(address))
    }

    /// Returns the number in the buffer of a page, if it is one of the buffer.
    fn own(&self, page: u32) -> Option<usize> {
        page.checked_sub(self.first).map(|own| own as usize).filter(|&own| own < self.lines.len())
    }

    /// Returns true if this access is sampled.
    fn samples(&mut self) -> bool {
        self.unsampled += 1;
        let samples = self.unsampled >= self.sample;
        if samples {
            self.unsampled = 0;
        }
        samples
    }
}

/// Copies of pages, one at a time. A line of the old place is loaded, then its line of the new place stored to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageCopies {
    page_lines: u64,
    tiering: ComponentId,
    from: Option<u64>,
    to: Option<u64>,
    /// Accesses that have begun, and that have ended.
    begun: u64,
    ended: u64,
}

impl PageCopies {
    /// Creates the copies of pages of `page_lines` lines, the end of each of which is told to `tiering`.
    #[must_use]
    pub fn new(page_lines: u64, tiering: ComponentId) -> Self {
        Self { page_lines, tiering, from: None, to: None, begun: 0, ended: 0 }
    }

    /// Notes an end of the next copy. Returns the accesses of the copy once both ends are known.
    fn order(&mut self, line: u64, to: bool) -> Option<u64> {
        *if to { &mut self.to } else { &mut self.from } = Some(line);
        let complete = self.from.is_some() && self.to.is_some();
        complete.then(|| {
            (self.begun, self.ended) = (0, 0);
            2 * self.page_lines
        })
    }

    /// Returns the next line, and true if it is loaded.
    fn next(&mut self) -> (u64, bool) {
        let load = self.begun % 2 == 0;
        let page = if load { self.from } else { self.to }.expect("a copy has both ends");
        let line = page + self.begun / 2;
        self.begun += 1;
        (line, load)
    }

    /// Counts an access that has ended. Returns true if the page is copied.
    fn end(&mut self) -> bool {
        self.ended += 1;
        let copied = self.ended == 2 * self.page_lines;
        if copied {
            (self.from, self.to) = (None, None);
        }
        copied
    }
}

impl Programs {
    /// Returns the line of the next access of a program, and true if it is a load; `None` if it waits for its page.
    #[inline]
    pub(super) fn next_access(&mut self, index: usize) -> Option<(u64, bool)> {
        let program = &mut self.programs[index];
        // Pure loads and pure stores draw no random number.
        let load = |rng: &mut Rng| program.reads >= 1 << 32 || (program.reads > 0 && rng.chance(program.reads));
        match &mut program.memory {
            ProgramMemory::Fixed => {
                let load = load(&mut self.rng);
                Some((program.walk.next(&self.pages, &mut self.rng), load))
            }
            ProgramMemory::Migrating(buffer) => {
                let line = buffer.next(&mut program.walk, &mut self.rng)?;
                Some((line, load(&mut self.rng)))
            }
            ProgramMemory::Copied(copies) => Some(copies.next()),
        }
    }

    /// Returns the dirty line that leaves the caches for a store of a program to `line`.
    #[inline]
    pub(super) fn next_eviction(&mut self, index: usize, line: u64) -> u64 {
        let program = &mut self.programs[index];
        match &program.memory {
            ProgramMemory::Fixed => program.evictions.next(&self.pages, &mut self.rng),
            ProgramMemory::Migrating(buffer) => {
                program.evictions.next_at(|address| buffer.line(address), &mut self.rng)
            }
            // Its own line leaves, so that a copy ends when the CHA has admitted its last write-back.
            ProgramMemory::Copied(_) => line,
        }
    }

    /// Samples a read that has ended, if it is its turn.
    pub(super) fn sample(&mut self, index: usize, id: RequestId, context: &mut Context) {
        let ProgramMemory::Migrating(buffer) = &mut self.programs[index].memory else { return };
        if buffer.samples() {
            let request = context.requests.get(id);
            let latency_ns = (context.now().since(request.entered) / 1000) as u32;
            context.send(buffer.tiering, 1, Payload::Sampled { line: request.line, latency_ns });
        }
    }

    /// Counts an access of a copy that has ended.
    pub(super) fn end_copy(&mut self, index: usize, context: &mut Context) {
        let ProgramMemory::Copied(copies) = &mut self.programs[index].memory else { return };
        if copies.end() {
            context.send(copies.tiering, 1, Payload::PageCopied);
        }
    }

    /// Invalidates the translation of a page, which takes its time on any core of the workloads.
    pub(super) fn unmap_page(&mut self, page: u32, tiering: ComponentId, context: &mut Context) {
        for program in &mut self.programs {
            if let ProgramMemory::Migrating(buffer) = &mut program.memory {
                let own = buffer.own(page);
                buffer.unmapped.extend(own);
            }
        }
        self.next_issue = self.next_issue.max(context.now()) + self.shootdown_ps;
        context.send(tiering, self.shootdown_ps.max(1), Payload::PageUnmapped { page });
    }

    /// Maps a page at its new place, and continues accesses that wait for it.
    pub(super) fn map_page(&mut self, page: u32, line: u64, lfb: &mut Lfb, context: &mut Context) {
        for (program, ready) in self.programs.iter_mut().zip(&mut self.ready) {
            let ProgramMemory::Migrating(buffer) = &mut program.memory else { continue };
            let Some(own) = buffer.own(page) else { continue };
            buffer.unmapped.retain(|&unmapped| unmapped != own);
            let old = std::mem::replace(&mut buffer.lines[own], line);
            program.evictions.relocate(old..old + buffer.page_bytes / 64, line);
            if *ready == STALLED {
                *ready = context.now();
            }
        }
        self.take_idle(lfb, context);
        self.prefetch(lfb, context);
    }

    /// Notes an end of a copy, and begins it once both are known.
    pub(super) fn copy_page(&mut self, line: u64, to: bool, lfb: &mut Lfb, context: &mut Context) {
        for program in &mut self.programs {
            if let ProgramMemory::Copied(copies) = &mut program.memory {
                if let Some(accesses) = copies.order(line, to) {
                    program.owed = Some(accesses << 16);
                }
            }
        }
        self.take_idle(lfb, context);
        self.prefetch(lfb, context);
    }
}

/// Time at which a program that waits for a page may make its next access: when the page is mapped.
pub(super) const STALLED: Time = Time::MAX;
