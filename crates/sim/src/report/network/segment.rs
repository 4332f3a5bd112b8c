//! A segment of the critical path of a job.

use super::critical_path::{Does, Piece};

/// Messages between two ranks, or what one does, in steps of a name: pieces of the path of a job.
pub(super) struct Stretch {
    pub(super) phase: u8,
    pub(super) does: Does,
    pub(super) ranks: (u32, u32),
    pub(super) summed: bool,
    pub(super) pieces: Vec<Piece>,
}

impl Stretch {
    pub(super) fn ps(&self) -> u64 {
        self.pieces.iter().map(Piece::ps).sum()
    }

    /// When they were, from and to in ps.
    pub(super) fn intervals(&self) -> Vec<(u64, u64)> {
        self.pieces.iter().map(|piece| (piece.from.ps(), piece.to.ps())).collect()
    }
}
