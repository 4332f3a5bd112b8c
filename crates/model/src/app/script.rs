//! Queue of a thread's next accesses, planned in pieces of a few lines.

use super::memory::Walks;
use super::Step;
use crate::params::LINE_BYTES;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Maximum number of pieces in a script.
const PIECES: usize = 32;

/// Type of access of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum PieceKind {
    #[default]
    Load,
    Store,
    /// Loads from one buffer and stores to another, line by line.
    Copy,
}

/// Accesses to consecutive lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    from: u64,
    to: u64,
    steps: u32,
    done: u32,
    /// Instructions before the first access, in addition to those of a line.
    before: u32,
    /// Instructions per line.
    each: u32,
    kind: PieceKind,
    depends: bool,
    ends: bool,
}

impl Piece {
    /// Creates a load of `lines` lines.
    pub(super) fn load(address: u64, lines: u32) -> Self {
        Self { from: address / LINE_BYTES * LINE_BYTES, steps: lines, each: 1, ..Self::default() }
    }

    /// Creates a store to `lines` lines.
    pub(super) fn store(address: u64, lines: u32) -> Self {
        Self { kind: PieceKind::Store, ..Self::load(address, lines) }
    }

    /// Creates a copy of `lines` lines.
    pub(super) fn copy(from: u64, to: u64, lines: u32) -> Self {
        Self { to: to / LINE_BYTES * LINE_BYTES, kind: PieceKind::Copy, each: 2, ..Self::load(from, 2 * lines) }
    }

    /// Adds instructions before the first access.
    pub(super) fn after(self, before: u32) -> Self {
        Self { before, ..self }
    }

    /// Sets the instructions per line.
    pub(super) fn each(self, each: u32) -> Self {
        Self { each, ..self }
    }

    /// Marks the address as data of the accesses before, so that the first access waits for them.
    pub(super) fn dependent(self) -> Self {
        Self { depends: true, ..self }
    }

    fn step(&mut self) -> Step {
        let first = self.done == 0;
        let (base, line, store, instructions) = match self.kind {
            PieceKind::Load => (self.from, self.done, false, self.each),
            PieceKind::Store => (self.from, self.done, true, self.each),
            // Loads and stores alternate line by line, and share the instructions of a line.
            PieceKind::Copy if self.done % 2 == 0 => (self.from, self.done / 2, false, self.each / 2),
            PieceKind::Copy => (self.to, self.done / 2, true, self.each - self.each / 2),
        };
        self.done += 1;
        Step {
            address: base + u64::from(line) * LINE_BYTES,
            instructions: instructions + if first { self.before } else { 0 },
            store,
            // The other lines follow the first, whose address is known then.
            depends: self.depends && first,
            begins: false,
            ends: self.ends && self.done == self.steps,
        }
    }
}

/// Planned pieces, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Script {
    pieces: [Piece; PIECES],
    at: usize,
    len: usize,
    begins: bool,
    /// Instructions that wait for the next access.
    waiting: u32,
}

impl Script {
    pub(super) fn new() -> Self {
        Self { pieces: [Piece::default(); PIECES], at: 0, len: 0, begins: false, waiting: 0 }
    }

    /// Returns the next step, or `None` if more must be planned.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Step> {
        if self.at == self.len {
            // Starts over, so that the pieces fit a fixed array.
            (self.at, self.len) = (0, 0);
            return None;
        }
        let piece = &mut self.pieces[self.at];
        let mut step = piece.step();
        if piece.done == piece.steps {
            self.at += 1;
        }
        step.begins = std::mem::take(&mut self.begins);
        Some(step)
    }

    /// Marks the next piece as the beginning of an operation. Call when no piece is left.
    pub(super) fn begin(&mut self) {
        self.begins = true;
    }

    /// Marks the last piece as the end of the operation.
    pub(super) fn end(&mut self) {
        self.pieces[self.len - 1].ends = true;
    }

    /// Appends a piece. Instructions of a piece without lines move to the next piece.
    #[inline]
    pub(super) fn add(&mut self, piece: Piece) {
        let before = piece.before + self.waiting;
        if piece.steps == 0 {
            self.waiting = before;
            return;
        }
        self.waiting = 0;
        self.pieces[self.len] = Piece { before, ..piece };
        self.len += 1;
    }

    /// Appends a piece at a random address, preceded by a page walk if the TLB misses.
    #[inline]
    pub(super) fn add_random(&mut self, piece: Piece, walks: Option<&Walks>, rng: &mut Rng) {
        if let Some(entry) = walks.and_then(|walks| walks.entry(piece.from, rng)) {
            // The walk waits for the address as the access does; the access then waits for the walk.
            self.add(Piece { each: 0, depends: piece.depends, before: piece.before, ..Piece::load(entry, 1) });
            self.add(Piece { before: 0, ..piece });
        } else {
            self.add(piece);
        }
    }
}
