//! Sources of accesses of a core with caches: an application, a stream, the kernel's work for storage, or a rank.

use super::RankOperations;
use crate::app::{Generator, Step};
use crate::line::{Translator, Walk};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Instructions per line of data that a core consumes: a checksum over 64 B, eight words of it at a time.
const CONSUME_INSTRUCTIONS: u32 = 16;
/// Instructions per line of kernel structures; the data around the line is in the L1.
const KERNEL_INSTRUCTIONS: u32 = 8;
/// One line of work, in the units of `owed`.
const LINE: u64 = 1 << 16;

/// Block of storage data that a core will read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Virtual address of the next line.
    pub address: u64,
    /// Lines left.
    pub lines: u32,
    /// Drive that moved the block.
    pub ssd: u8,
    /// Job of the drive.
    pub job: u16,
}

/// Kernel work for storage, and the data that the cores consume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Storage {
    /// Lines of the kernel's structures.
    pub walk: Walk,
    /// Share of these lines that the kernel only reads, in units of 2^-32.
    pub loads: u64,
    /// Lines per page of IO, in units of 2^-16.
    pub lines_per_page: u64,
    /// Lines of work left, in units of 2^-16.
    pub owed: u64,
    /// Lines of one request, in units of 2^-16. Requests are processed side by side, each along a chain of pointers.
    pub request: u64,
    /// Blocks to read; the first is being read.
    pub blocks: VecDeque<Block>,
}

impl Storage {
    /// Returns the requests that have work left.
    pub(super) fn requests(&self) -> u64 {
        if self.owed < LINE {
            0
        } else {
            self.owed.div_ceil(self.request.max(LINE))
        }
    }

    /// Adds one line of work.
    pub(super) fn owe_line(&mut self) {
        self.owed += LINE;
    }

    fn next(&mut self, pages: &mut Translator, rng: &mut Rng) -> Option<LineAccess> {
        if self.owed >= LINE {
            self.owed -= LINE;
            // Pure loads and pure stores draw no random number.
            let load = self.loads >= 1 << 32 || (self.loads > 0 && rng.chance(self.loads));
            let line = self.walk.next(pages.pages(), rng);
            return Some(LineAccess { line, instructions: KERNEL_INSTRUCTIONS, store: !load, ..LineAccess::default() });
        }
        // Work of the kernel goes first: blocks are consumed when it is done.
        let block = self.blocks.front_mut().filter(|block| block.lines > 0)?;
        let line = pages.physical(block.address) / 64;
        block.address += 64;
        block.lines -= 1;
        let ends = block.lines == 0;
        Some(LineAccess { line, instructions: CONSUME_INSTRUCTIONS, ends, ..LineAccess::default() })
    }
}

/// Loads and stores over a buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream {
    /// Lines of the buffer.
    pub walk: Walk,
    /// Share of loads, in units of 2^-32.
    pub reads: u64,
}

/// Source of the accesses of a core with caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Source {
    /// Thread of an application.
    App(Box<Generator>),
    /// Loads and stores over a buffer.
    Stream(Stream),
    /// Kernel work for storage.
    Storage(Storage),
    /// Operations of a rank of a job.
    RankOperations(Box<RankOperations>),
}

/// Access to a physical line, and the instructions before it; see [`Step`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LineAccess {
    pub(super) line: u64,
    pub(super) instructions: u32,
    pub(super) store: bool,
    pub(super) depends: bool,
    pub(super) begins: bool,
    pub(super) ends: bool,
}

impl Source {
    /// Returns the next access, if there is anything to do.
    pub(super) fn next(&mut self, pages: &mut Translator, rng: &mut Rng) -> Option<LineAccess> {
        match self {
            Self::App(generator) => {
                let Step { address, instructions, store, depends, begins, ends } = generator.step(rng)?;
                let line = pages.physical(address) / 64;
                Some(LineAccess { line, instructions, store, depends, begins, ends })
            }
            Self::Stream(stream) => {
                let load = stream.reads >= 1 << 32 || (stream.reads > 0 && rng.chance(stream.reads));
                let line = stream.walk.next(pages.pages(), rng);
                Some(LineAccess { line, instructions: 1, store: !load, ..LineAccess::default() })
            }
            Self::Storage(storage) => storage.next(pages, rng),
            Self::RankOperations(rank_operations) => {
                let Step { address, instructions, store, depends, begins, ends } = rank_operations.next(rng)?;
                let line = pages.physical(address) / 64;
                Some(LineAccess { line, instructions, store, depends, begins, ends })
            }
        }
    }
}
