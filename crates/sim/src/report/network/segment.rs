//! A segment of the critical path of a job.

use super::critical_path::{PathActivity, PathPiece};

/// Pieces of the critical path of a job with the same step name, activity and ranks.
pub(super) struct PathSegment {
    /// Name of the steps, as an index.
    pub(super) phase: u8,
    pub(super) activity: PathActivity,
    /// The rank, twice, or the ranks that send and receive.
    pub(super) ranks: (u32, u32),
    /// True if switches sum up the messages.
    pub(super) summed: bool,
    pub(super) pieces: Vec<PathPiece>,
}

impl PathSegment {
    /// Returns the total time of the pieces, in ps.
    pub(super) fn ps(&self) -> u64 {
        self.pieces.iter().map(PathPiece::ps).sum()
    }

    /// Returns the time intervals of the pieces, from and to in ps.
    pub(super) fn intervals(&self) -> Vec<(u64, u64)> {
        self.pieces.iter().map(|piece| (piece.from.ps(), piece.to.ps())).collect()
    }
}
